"""The sample home that comes with tracklog: real logs of real clients, small enough to ship.

Rules
  1. Nothing that is not ours is overwritten: a folder must be empty, or hold the mark that we left in it.
  2. The mark is written first, so a copy that was cut short can be finished later.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import NamedTuple

from tracklog.errors import UserError, why_failed

MARK = ".tracklog-demo"
HOMES = ("claude", "codex")
_MARK_TEXT = (
    b"The sample home of tracklog. `tracklog demo` may write here; delete the folder when you like.\n"
)


class Sample(NamedTuple):
    """Path and size of the sample."""

    path: Path
    files: int
    bytes: int

    @property
    def roots(self) -> tuple[Path, ...]:
        """The homes in it, as --root takes them."""
        return tuple(self.path / home for home in HOMES)


def write_sample_in(home: Path) -> Sample:
    """Writes the sample to tracklog's own home, which is for its user alone."""
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise _refusal(home, error) from error
    return write_sample(home / "demo")


def write_sample(target: Path) -> Sample:
    """Writes the sample home, or makes whole again what is left of it."""
    try:
        _claim(target)
        contents = dict(_shipped())
        for name, content in contents.items():
            _write(target / name, content)
    except OSError as error:
        raise _refusal(target, error) from error
    return Sample(target, len(contents), sum(map(len, contents.values())))


def _refusal(target: Path, error: OSError) -> UserError:
    return UserError(f"cannot write the demo to {target}: {why_failed(error)}; name another folder")


def _claim(target: Path) -> None:
    target.mkdir(mode=0o700, parents=True, exist_ok=True)
    inside = os.listdir(target)
    if inside and MARK not in inside:
        raise UserError(f"{target} holds other files: name an empty folder, or one that is not there yet")
    _write(target / MARK, _MARK_TEXT)


def _shipped() -> Iterator[tuple[str, bytes]]:
    top = files("tracklog") / "demo"
    for home in HOMES:
        yield from _files_below(top / home, home)


def _files_below(folder: Traversable, name: str) -> Iterator[tuple[str, bytes]]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        path = f"{name}/{entry.name}"
        if entry.is_dir():
            yield from _files_below(entry, path)
        else:
            yield path, entry.read_bytes()


def _write(path: Path, content: bytes) -> None:
    if path.is_file() and path.read_bytes() == content:
        return
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.{os.getpid()}.new")
    beside.write_bytes(content)
    beside.replace(path)
