from __future__ import annotations

from pathlib import Path

from tracklog.app.scope.resolve import ResolvedLogs
from tracklog.sources.log_file import FileKind, LogFile


def test_of_huge_logs_the_newest_are_chosen_and_at_least_one() -> None:
    def file(n: int, size: int) -> LogFile:
        return LogFile("claude", FileKind.TRANSCRIPT, Path(f"{n}.jsonl"), Path(), None, size, n, 1, n)

    def chosen(*files: LogFile) -> list[str]:
        return [file.path.stem for file in ResolvedLogs(list(files), [], []).newest(100).files]

    assert chosen(file(1, 50), file(2, 50), file(3, 50)) == ["3", "2"]
    assert chosen(file(1, 10), file(2, 200)) == ["2"]
    assert chosen(file(1, 10), file(2, 200), file(3, 10)) == ["3", "1"]
    assert chosen() == []
