"""Homes of several shapes for `bench.scaling`: each shape in any size."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from bench.made.long_session import write_claude, write_codex
from bench.made.many_sessions import write_many
from bench.made.words import Words
from bench.many import write_home

_RECORDS = 12  # lines of each large session, for each one that is asked for: 100 gives about 2 MB
_OLD_S = 200 * 86_400


def _recent(top: Path, n: int) -> None:
    write_home(top / "claude", n)


def _old(top: Path, n: int) -> None:
    write_many(top, n_sessions=n, n_projects=1)
    long_ago = time.time() - _OLD_S
    for number, log in enumerate(sorted(top.rglob("*.jsonl"))):
        os.utime(log, (long_ago + number, long_ago + number))


def _folders(top: Path, n: int) -> None:
    write_many(top, n_sessions=n, n_projects=n, is_even=True)


def _large(top: Path, n: int) -> None:
    words = Words(1)
    write_codex(top / "codex", n_records=n * _RECORDS, seed=2, words=words)
    for seed in (3, 4):
        write_claude(top / "claude", n_records=n * _RECORDS, seed=seed, words=words)


SHAPES: dict[str, Callable[[Path, int], None]] = {
    "recent": _recent,
    "old": _old,
    "folders": _folders,
    "large": _large,
}


def make(shape: str, top: str, n: str) -> None:
    """Fills a new folder with the homes `claude` and `codex`."""
    for agent in ("claude", "codex"):
        (Path(top) / agent).mkdir(parents=True)
    SHAPES[shape](Path(top), int(n))
