from __future__ import annotations

from pathlib import Path

from tracklog.app.usage import with_lines
from tracklog.model.events import Place
from tracklog.model.usage import Entry, Tokens


def entry(path: Path, offset: int, at: str | None) -> Entry:
    return Entry(
        key=f"{offset}",
        id=f"{offset}",
        agent="claude",
        session="s",
        thread="main",
        place=Place(str(path), offset),
        at=at,
        model=None,
        tokens=Tokens(),
        certainty="partial",
    )


def test_offsets_become_lines_and_the_oldest_comes_first(tmp_path: Path) -> None:
    log, other = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    log.write_bytes(b"{}\n\n{}\n")
    other.write_bytes(b"{}\n")
    entries = [entry(log, 4, "2026-03-02"), entry(log, 0, "2026-03-01"), entry(other, 0, None)]
    assert [(one.place.path, one.place.line) for one in with_lines(entries)] == [
        (str(other), 1),
        (str(log), 1),
        (str(log), 3),
    ]


def test_of_a_log_that_is_gone_no_line_is_known(tmp_path: Path) -> None:
    assert [one.place.line for one in with_lines([entry(tmp_path / "gone", 7, None)])] == [0]
