"""What bench/fold.py measures of tracklog. The imports stand here so that they are not counted as folding."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from tracklog.agents.claude_code.records import READER
from tracklog.agents.claude_code.translate.translator import ClaudeTranslator
from tracklog.agents.discovery import find_at
from tracklog.model.assemble.session import assemble
from tracklog.model.fold.log import FileFold
from tracklog.model.ids import SessionId
from tracklog.reading.session_files import SessionFiles, group
from tracklog.reading.session_reader import folds_of, told_by
from tracklog.sources.lines import cut

_APPENDED = 2000  # records per measurement
_ROUNDS = 5


def folding(folder: str) -> dict[str, int]:
    """Reads and folds every log; one session at a time in memory."""
    return {
        "bytes": sum(
            _bytes(files, list(folds_of(files, told_by, with_text=False))) for files in _sessions(folder)
        )
    }


def assembling(folder: str) -> dict[str, int]:
    """The same, and puts every session together: verdicts, threads, branches."""
    n_bytes = 0
    for files in _sessions(folder):
        folds = list(folds_of(files, told_by, with_text=False))
        assemble(folds, session=SessionId(files.id), agent=files.agent)
        n_bytes += _bytes(files, folds)
    return {"bytes": n_bytes}


def append_cost(n_records: int) -> float:
    """Microseconds to read, translate and fold one more record of a session that has so many already."""
    fold, translator = FileFold("made"), ClaudeTranslator("made")
    _feed(fold, translator, 0, n_records)
    times = []
    for n in range(_ROUNDS):
        start = n_records + n * _APPENDED
        lines = b"".join(_records(start, start + _APPENDED))
        began = time.perf_counter()
        for piece in READER.read(cut([lines])):
            fold.add(translator.translate(piece))
        times.append((time.perf_counter() - began) / _APPENDED * 1e6)
    return median(times)


def _feed(fold: FileFold, translator: ClaudeTranslator, first: int, last: int) -> None:
    for piece in READER.read(cut(_records(first, last))):
        fold.add(translator.translate(piece))


def _records(first: int, last: int) -> Iterator[bytes]:
    """Calls and their results on one branch, a prompt every hundred records."""
    for n in range(first, last):
        envelope = f'"uuid":"u{n}","parentUuid":"u{n - 1}","sessionId":"s","timestamp":"2026-01-01T00:00:00.{n % 1000:03}Z"'
        if n % 100 == 0:
            yield f'{{"type":"user",{envelope},"message":{{"content":"go on"}}}}\n'.encode()
        elif n % 2:
            call = f'{{"type":"tool_use","id":"t{n}","name":"Bash","input":{{"command":"ls"}}}}'
            yield f'{{"type":"assistant",{envelope},"message":{{"id":"m{n}","model":"m","content":[{call}]}}}}\n'.encode()
        else:
            result = f'{{"type":"tool_result","tool_use_id":"t{n - 1}","content":"done","is_error":false}}'
            yield f'{{"type":"user",{envelope},"message":{{"content":[{result}]}},"toolUseResult":{{"stdout":"done"}}}}\n'.encode()


def _sessions(folder: str) -> Iterator[SessionFiles]:
    for home in ("claude", "codex"):
        yield from group(find_at(Path(folder, home)))


def _bytes(files: SessionFiles, folds: list[FileFold]) -> int:
    read = {fold.path for fold in folds}
    return sum(file.size for file in files.files if str(file.path) in read)
