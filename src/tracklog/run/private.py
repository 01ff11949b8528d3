"""The private folder of a running child: the settings laid over its own, the FIFO of its hooks, what it asks.

Rules of this room
  1. Only we may enter it, from the first moment on.
  2. It is gone when the child has ended, whoever died: we remove it, or the keeper does, or the next of us sweeps it away.
  3. Who removes it knows the names in it (`keeper.NAMES`): nothing else is touched, and no link is followed.
"""

from __future__ import annotations

import errno
import os
import re
import time
from pathlib import Path
from typing import NamedTuple

from tracklog.keeper import NAMES, clear_folder
from tracklog.live.process_start import start_ticks
from tracklog.store.home import Home, open_private, write_private

FIFO_NAME = "stop.fifo"
NOTE_NAME = "keeper"
_PRIVATE_FOLDER, _PRIVATE_FIFO = 0o700, 0o600
_RUN = re.compile(r"[0-9a-f]{16}")
_YOUNG_S = 60.0  # a folder without a note may be about to get one
_OLD_S = 7 * 24 * 3600.0  # a note of a machine that we cannot look into is believed for so long
_NO_FIFO = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS}  # from file systems that have none
_ELSEWHERE = "-"  # the domain of pids where there are no namespaces
_PID = re.compile(r"[1-9][0-9]{0,9}")
_MOST_NOTES = 1 << 16


class Note(NamedTuple):
    """A process that uses a folder."""

    pid: int
    started: str  # as `live.processes` compares it
    domain: str  # in which this pid means it


class PrivateFolder:
    """The folder of one run."""

    def __init__(self, path: Path, *, fifo: Path | None) -> None:
        self.path = path
        self.fifo = fifo  # None where the file system has none

    def write(self, name: str, data: bytes) -> Path:
        """Puts a file there; where it stands."""
        if name not in NAMES:
            raise ValueError(f"{name}: who removes the folder does not know this name")
        write_private(self.path / name, data)
        return self.path / name

    def remove(self) -> None:
        """Removes it; a second time does nothing."""
        clear_folder(str(self.path))


def folder_of(home: Home, run: str) -> Path:
    """Where the private folder of a run is, while it runs."""
    return home.runs / "now" / run


def make_private(home: Home, run: str) -> PrivateFolder:
    """Makes the folder of a run, with its FIFO. OSError: the run goes on without one."""
    path = folder_of(home, run)
    for folder in (home.path, home.runs, path.parent):
        folder.mkdir(_PRIVATE_FOLDER, parents=True, exist_ok=True)
    os.mkdir(path, _PRIVATE_FOLDER)
    fifo = path / FIFO_NAME
    try:
        note_process(path, os.getpid())
        return PrivateFolder(path, fifo=_made_fifo(fifo))
    except OSError:
        clear_folder(str(path))
        raise


def note_process(folder: Path, pid: int) -> None:
    """Notes in a folder that it is in use while this process lives."""
    descriptor = open_private(folder / NOTE_NAME, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW)
    try:
        os.write(descriptor, f"{pid} {_started(pid)} {_domain()}\n".encode())
    finally:
        os.close(descriptor)


def is_kept(home: Home, run: str) -> bool:
    """Whether somebody still keeps a run: its folder goes when all of it is over."""
    folder = folder_of(home, run)
    return folder.exists() and not _is_left(folder)


def left_folders(home: Home) -> list[Path]:
    """The folders of runs that nobody keeps any more."""
    try:
        folders = [path for path in (home.runs / "now").iterdir() if _RUN.fullmatch(path.name)]
    except OSError:
        return []
    return [folder for folder in folders if _is_left(folder)]


def are_all_dead(folder: Path) -> bool:
    """Whether a folder was noted as in use, and every process that noted it is certainly gone."""
    try:
        lives = [_life_of(note) for note in _notes(folder / NOTE_NAME)]
    except OSError:
        return False
    return bool(lives) and set(lives) == {"gone"}


def _made_fifo(path: Path) -> Path | None:
    try:
        os.mkfifo(path, _PRIVATE_FIFO)
    except OSError as error:
        if error.errno not in _NO_FIFO:
            raise
        return None
    return path


def _is_left(folder: Path) -> bool:
    """Whether none of those who noted themselves lives."""
    try:
        age_s = time.time() - folder.lstat().st_mtime
        notes = _notes(folder / NOTE_NAME)
    except OSError:
        return False
    lives = [_life_of(note) for note in notes]
    if "alive" in lives:
        return False
    if not lives:
        return age_s > _YOUNG_S
    return "unknown" not in lives or age_s > _OLD_S


def _notes(path: Path) -> list[Note]:
    """Who noted itself; what is no note says nothing."""
    try:
        descriptor = open_private(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return []
    with open(descriptor, "rb") as stream:
        lines = stream.read(_MOST_NOTES).decode("utf-8", "replace").splitlines()
    words = [line.split(" ", 2) for line in lines]
    return [Note(int(one[0]), one[1], one[2]) for one in words if len(one) == 3 and _PID.fullmatch(one[0])]


def _life_of(note: Note) -> str:
    from tracklog.live.processes import process_of  # slow to load, and there is seldom something to sweep

    started_ms = int(note.started) if note.started.isdigit() else None
    if note.domain == _ELSEWHERE:
        return process_of(note.pid, started_at_ms=started_ms).life
    return process_of(note.pid, proc_start=note.started, pid_domain=note.domain).life


def _started(pid: int) -> str:
    """When a process started: in ticks since the machine did, or in ms where there is no /proc."""
    if (ticks := start_ticks(pid)) is not None:
        return str(ticks)
    import psutil

    return str(round(psutil.Process(pid).create_time() * 1000))


def _domain() -> str:
    """Where our pids mean what they mean: this machine, and this namespace of it."""
    try:
        namespace = os.readlink("/proc/self/ns/pid")
    except OSError:
        return _ELSEWHERE
    try:
        machine = Path("/etc/machine-id").read_text("ascii").strip()
    except (OSError, ValueError):
        machine = ""
    return f"linux:{machine}:{namespace}"
