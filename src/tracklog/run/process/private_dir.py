"""The private folder of a running child: its settings, the FIFO of its hooks, permission requests.

Rules
  1. Only our user may enter it, from its creation on.
  2. It is removed when the child has ended, whichever process died: by us, by the supervisor, or by the next
     tracklog.
  3. Removing it deletes only the known names in it (`tracklog.supervisor.NAMES`), and follows no link.
  4. A child's hook puts its payload into a file of the folder, and announces it on the FIFO. Neither side blocks:
     we never do, and a hook writes a few bytes to a pipe that it holds open at both ends.
  5. A hook is a line of shell, as the client waits for it: Python would take ten times as long to start. It always
     exits with 0 and prints nothing: an exit code of 2 would steer the client.
  6. Any process of the child may write to the FIFO: input that is no number is dropped, and memory is bounded.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import shlex
import stat
import time
from pathlib import Path
from typing import Any, NamedTuple

from tracklog.agents.hooks.command import MARK, TIMEOUT_S
from tracklog.home import Home, open_private, write_private
from tracklog.hook import MOST_BYTES
from tracklog.sources.process_start import start_ticks
from tracklog.supervisor import NAMES, clear_folder

PREFIX = "hook."  # of the name of a payload file; the pid of its writer follows
# A FIFO that is opened for reading and writing opens at once, and unread bytes vanish with it. The last `cat` keeps a
# writer on our stdin from being cut off.
TELL = (
    "exec >/dev/null 2>&1; umask 077; set -C; PATH=$PATH:/usr/bin:/bin; "
    f'cd "$1" && [ ! -L "$2" ] && [ -p "$2" ] && cat >{PREFIX}$$ && echo $$ 1<>"$2" || cat; exit 0'
)
_NUMBER = re.compile(rb"[1-9][0-9]{0,9}")
_AT_ONCE = 1 << 16
_MOST_AT_ONCE = 1 << 20  # in one call, so that a writer without an end does not hold us


class Fifo:
    """Our end of the FIFO. We hold a writing end, too, or it would end whenever no hook runs."""

    def __init__(self, path: Path) -> None:
        flags = os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
        self._folder = path.parent
        self._rest = b""
        self._is_closed = False
        self.descriptor = os.open(path, os.O_RDONLY | flags)
        try:
            if not stat.S_ISFIFO(os.fstat(self.descriptor).st_mode):
                raise FileNotFoundError(f"{path} is no FIFO")
            self._writing = os.open(path, os.O_WRONLY | flags)
        except OSError:
            os.close(self.descriptor)
            raise
        with contextlib.suppress(AttributeError, OSError):  # only Linux makes pipes longer
            fcntl.fcntl(self.descriptor, fcntl.F_SETPIPE_SZ, _MOST_AT_ONCE)

    def read_payloads(self) -> list[bytes]:
        """The payloads that were announced since the last call, in order."""
        announced: list[bytes] = []
        n_read = 0
        while not self._is_closed and n_read < _MOST_AT_ONCE:
            try:
                data = os.read(self.descriptor, _AT_ONCE)
            except BlockingIOError:
                break
            n_read += len(data)
            *lines, rest = (self._rest + data).split(b"\n")
            self._rest = rest[:16]  # no number is longer
            announced += [line for line in lines if _NUMBER.fullmatch(line)]
        payloads = [_taken(self._folder / f"{PREFIX}{number.decode()}") for number in announced]
        return [payload for payload in payloads if payload is not None]

    def close(self) -> None:
        """Close both ends; a second call does nothing."""
        if not self._is_closed:
            self._is_closed = True
            os.close(self.descriptor)
            os.close(self._writing)


def _taken(path: Path) -> bytes | None:
    """Read and remove a payload file; None if it is none of ours, or too long."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None  # announced twice, or the folder is gone
    try:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode):
            return None
        os.unlink(path)
        with open(descriptor, "rb", closefd=False) as stream:
            return stream.read() if facts.st_size <= MOST_BYTES else None
    except OSError:
        return None
    finally:
        os.close(descriptor)


def hook_words(fifo: Path) -> list[str]:
    """The command of a reporting hook, as a list of words."""
    return ["/bin/sh", "-c", TELL, MARK, str(fifo.absolute().parent), fifo.name]


def handler(fifo: Path, *, timeout_s: int = TIMEOUT_S) -> dict[str, Any]:
    """The hook, as an entry of settings."""
    return {"type": "command", "command": f"exec {shlex.join(hook_words(fifo))}", "timeout": timeout_s}


FIFO_NAME = "stop.fifo"
NOTE_NAME = "keeper"
_PRIVATE_FOLDER, _PRIVATE_FIFO = 0o700, 0o600
_RUN = re.compile(r"[0-9a-f]{16}")
_YOUNG_S = 60.0  # a folder without a note may be about to get one
_OLD_S = 7 * 24 * 3600.0  # a note of another machine is believed for so long
_NO_FIFO = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS}  # from file systems that have none
_ELSEWHERE = "-"  # the domain of pids where there are no namespaces
_PID = re.compile(r"[1-9][0-9]{0,9}")
_MOST_NOTES = 1 << 16


class FolderUser(NamedTuple):
    """A process that uses a folder."""

    pid: int
    started: str  # as `_started` gives it
    domain: str  # in which this pid is valid


class PrivateFolder:
    """The folder of one run."""

    def __init__(self, path: Path, *, fifo: Path | None) -> None:
        self.path = path
        self.fifo = fifo  # None where the file system has none

    def write(self, name: str, data: bytes) -> Path:
        """Write a file there and return its path."""
        if name not in NAMES:
            raise ValueError(f"{name}: who removes the folder does not know this name")
        write_private(self.path / name, data)
        return self.path / name

    def remove(self) -> None:
        """Remove the folder; a second call does nothing."""
        clear_folder(str(self.path))


def folder_of(home: Home, run: str) -> Path:
    """The path of the private folder of a run, while it runs."""
    return home.runs / "now" / run


def make_private(home: Home, run: str) -> PrivateFolder:
    """Make the folder of a run, with its FIFO. Raises OSError, after which the run goes on without it."""
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
    """Note in a folder that it is in use while a process lives."""
    descriptor = open_private(folder / NOTE_NAME, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW)
    try:
        os.write(descriptor, f"{pid} {_started(pid)} {_domain()}\n".encode())
    finally:
        os.close(descriptor)


def is_kept(home: Home, run: str) -> bool:
    """Whether a supervisor still runs a run, and will remove its folder."""
    folder = folder_of(home, run)
    return folder.exists() and not _is_left(folder)


def left_folders(home: Home) -> list[Path]:
    """The folders that no living process uses."""
    try:
        folders = [path for path in (home.runs / "now").iterdir() if _RUN.fullmatch(path.name)]
    except OSError:
        return []
    return [folder for folder in folders if _is_left(folder)]


def are_all_dead(folder: Path) -> bool:
    """Whether a folder has notes, and every process that wrote one is certainly gone."""
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
    """Whether no process with a note in the folder lives."""
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


def _notes(path: Path) -> list[FolderUser]:
    """The processes with a note in a folder; other files are ignored."""
    try:
        descriptor = open_private(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return []
    with open(descriptor, "rb") as stream:
        lines = stream.read(_MOST_NOTES).decode("utf-8", "replace").splitlines()
    words = [line.split(" ", 2) for line in lines]
    return [
        FolderUser(int(one[0]), one[1], one[2]) for one in words if len(one) == 3 and _PID.fullmatch(one[0])
    ]


def _life_of(note: FolderUser) -> str:
    from tracklog.sources.processes import process_of  # slow to load, and seldom needed

    started_ms = int(note.started) if note.started.isdigit() else None
    if note.domain == _ELSEWHERE:
        return process_of(note.pid, started_at_ms=started_ms).life
    return process_of(note.pid, proc_start=note.started, pid_domain=note.domain).life


def _started(pid: int) -> str:
    """When a process started: in ticks since boot, or in ms where there is no /proc."""
    if (ticks := start_ticks(pid)) is not None:
        return str(ticks)
    import psutil  # only where there is no /proc

    return str(round(psutil.Process(pid).create_time() * 1000))


def _domain() -> str:
    """The domain in which our pids are valid: this machine, and this pid namespace."""
    try:
        namespace = os.readlink("/proc/self/ns/pid")
    except OSError:
        return _ELSEWHERE
    try:
        machine = Path("/etc/machine-id").read_text("ascii").strip()
    except (OSError, ValueError):
        machine = ""
    return f"linux:{machine}:{namespace}"
