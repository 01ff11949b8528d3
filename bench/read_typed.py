"""What bench/read.py measures of tracklog. The imports stand here so that they are not counted as reading."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tracklog.agents.discovery import find_at
from tracklog.agents.registry import pieces_of
from tracklog.reading.survey import survey as survey_files
from tracklog.sources.log_file import LogFile


def typed_reading(folder: str) -> dict[str, int]:
    """Every line of every file as a typed record, with its bytes and place."""
    n_bytes = 0
    for file in _found(folder):
        for piece in pieces_of(file):
            n_bytes += piece.length + 1
    return {"bytes": n_bytes}


def survey(folder: str) -> dict[str, int]:
    """What `doctor` does: reads every line and looks for unnamed keys at every depth."""
    return {"bytes": survey_files(_found(folder)).bytes}


def _found(folder: str) -> Iterator[LogFile]:
    for home in ("claude", "codex"):
        yield from (file for file in find_at(Path(folder, home)) if isinstance(file, LogFile))
