"""An index that was closed well could not be read in a folder that may only be read.

The user gave a colleague read access to tracklog's folder. SQLite makes side files next to an index in WAL mode even
for readers, so `usage` ended with "attempt to write a readonly database", and so did every other command.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.views.cli.command import tracklog, with_old_folders
from tests.views.cli.written import working_day


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Permissions that hold for commands with `is_mighty=False`, also as root."""
    folders = [folder, *(path for path in folder.rglob("*") if path.is_dir())]
    for one in folders:
        one.chmod(0o500)
    try:
        yield
    finally:
        for one in folders:
            one.chmod(0o700)


@pytest.mark.parametrize("command", ["usage", "sessions", "calls", "search typo", "sql select(1)"])
def test_every_command_answers_from_it(tmp_path: Path, command: str) -> None:
    working_day().write_in(tmp_path)
    with_old_folders(tmp_path)
    tracklog("index", home=tmp_path)
    tracklog("usage", home=tmp_path)
    ours = tmp_path / ".local/share/tracklog"
    with_sides = tracklog(*command.split(), home=tmp_path)
    for side in ("-wal", "-shm"):
        (ours / f"index.db{side}").unlink(missing_ok=True)
    with read_only(ours):
        alone = tracklog(*command.split(), home=tmp_path, is_mighty=False)
    assert (alone.code, alone.out) == (0, with_sides.out)
