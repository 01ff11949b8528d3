"""Files of a replay are whole lines, however the writing of one was cut short."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.replay.replayed import with_permission
from tracklog.replay.growing_files import GrowingFile, ReplayedBytes
from tracklog.replay.recording import recording_of


@contextmanager
def no_file_longer_than(n_bytes: int) -> Iterator[None]:
    """As on a disk that is full: a write stops there, and the next one fails."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_write_that_failed_amid_a_line_is_finished_with_that_line(tmp_path: Path) -> None:
    (session,) = with_permission().write(tmp_path)
    (recorded,) = recording_of(session).files
    first, second = recorded.parts[0].n_bytes, recorded.parts[1].n_bytes
    growing = GrowingFile(tmp_path / "log", ReplayedBytes(recorded, bytes), is_held=False)
    growing.append(first)
    with no_file_longer_than(first + 20), pytest.raises(OSError, match="File too large"):
        growing.append(second - 5)
    assert (tmp_path / "log").stat().st_size == first + 20
    growing.finish_line()
    growing.close()
    whole = session.files[0].path.read_bytes()
    assert (tmp_path / "log").read_bytes() == whole[: first + second]
