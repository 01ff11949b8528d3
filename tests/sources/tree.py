"""Builds small trees of files, and says what was found in them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tracklog.sources.log_file import LogFile, Skipped

ONE = "11111111-aaaa-4aaa-8aaa-111111111111"
TWO = "22222222-bbbb-4bbb-8bbb-222222222222"
NOBODY = 65534

Row = tuple[str, str, str | None]


def plant(top: Path, *names: str, content: bytes = b"{}\n") -> None:
    """Writes a file at each of the relative paths, with the folders it needs."""
    for name in names:
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def files_in(found: Iterable[LogFile | Skipped], top: Path) -> list[Row]:
    """What was found: kind, relative path, session."""
    return [
        (file.kind.value, file.path.relative_to(top).as_posix(), file.session)
        for file in found
        if isinstance(file, LogFile)
    ]


def skipped_in(found: Iterable[LogFile | Skipped], top: Path) -> list[tuple[str, str]]:
    """What was left alone: relative path, reason."""
    return [(odd.path.relative_to(top).as_posix(), odd.why) for odd in found if isinstance(odd, Skipped)]


@contextmanager
def locked(*inside: str) -> Iterator[Path]:
    """A folder with the given files in `locked/`, which may not be entered, and `open.jsonl`, which may be read.

    The superuser can read everything, so a test that runs as root steps down first. The folder is given as the
    current one, since an ordinary user may not pass through the folders above it.
    """
    here, is_root = os.getcwd(), os.geteuid() == 0
    with tempfile.TemporaryDirectory() as name:
        top = Path(name)
        plant(top, *(f"locked/{path}" for path in inside), "open.jsonl")
        top.chmod(0o755)
        (top / "locked").chmod(0)
        os.chdir(top)
        try:
            if is_root:
                os.seteuid(NOBODY)
            yield Path()
        finally:
            if is_root:
                os.seteuid(0)
            os.chdir(here)
            (top / "locked").chmod(0o700)
