"""The home that a replay writes, and the living processes that its sessions name as their own.

Rules
  1. A replay writes to a folder of its own: one that is missing, empty, or holds our mark and no log that the mark
     does not list.
  2. The homes of this machine's agents, and all folders in them, are refused, with a mark or without.
  3. The mark lists a file before the file is made, so a killed replay can be repeated. Only listed files are
     removed.
  4. Claude Code's registry has one file per process: the first session uses our own process, each further one a
     child that only waits for us, and ends when we end, in whatever way.
  5. Codex has no registry, but a process of that name that has the log open: that is a child, too.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import NamedTuple

from tracklog.agents.discovery import find
from tracklog.agents.roots import all_homes
from tracklog.agents.supported import SUPPORTED
from tracklog.errors import UserError, why_failed
from tracklog.home import open_private
from tracklog.sources.log_file import LogFile, Root

MARK = ".tracklog-replay"
_MARK_TEXT = (
    "Sessions replayed by tracklog: `tracklog replay` may write here. Delete the folder when you like.\n"
)
_PRIVATE_FOLDER = 0o700


class ReplayHome:
    """A folder that replays write to, and the files in it that they made."""

    def __init__(self, path: Path, env: Mapping[str, str] | None = None) -> None:
        self.path = Path(os.path.realpath(path))
        self._env = os.environ if env is None else env

    def claim(self, places: Iterable[PurePosixPath]) -> None:
        """Takes the folder and makes room for these files; raises UserError if it holds other files."""
        self._refuse_homes_in_use()
        with self._refusals():
            self.path.mkdir(mode=_PRIVATE_FOLDER, parents=True, exist_ok=True)
            listed = self._listed()
            places = list(places)
            self.list(places)
            for place in places:
                if str(place) in listed:
                    (self.path / place).unlink(missing_ok=True)
                (self.path / place).parent.mkdir(mode=_PRIVATE_FOLDER, parents=True, exist_ok=True)

    def list(self, places: Iterable[PurePosixPath]) -> None:
        """Writes into the mark that these files are ours."""
        text = "".join(f"{json.dumps(str(place))}\n" for place in places)
        with open(open_private(self.path / MARK, os.O_WRONLY | os.O_CREAT | os.O_APPEND), "ab") as stream:
            stream.write(((_MARK_TEXT if not stream.tell() else "") + text).encode())

    def _listed(self) -> set[str]:
        """What earlier replays made here; raises UserError where others wrote, too."""
        inside = os.listdir(self.path)
        if inside and MARK not in inside:
            raise UserError(
                f"{self.path} holds other files: name an empty folder, or one that is not there yet"
            )
        lines = (self.path / MARK).read_text("utf-8").splitlines()[1:] if inside else []
        listed = {json.loads(line) for line in lines}
        for log in self._logs():
            if str(log.path.relative_to(self.path)) not in listed:
                raise UserError(f"{log.path} was not made by a replay: name another folder")
        return listed

    def _logs(self) -> Iterator[LogFile]:
        for agent in SUPPORTED.values():
            found = find(Root(self.path, agent.name))
            yield from (log for log in found if isinstance(log, LogFile))

    def _refuse_homes_in_use(self) -> None:
        for home in all_homes(self._env):
            if self.path.is_relative_to(os.path.realpath(home)):
                raise UserError(f"{self.path} is in the home of an agent ({home}): name a folder of its own")

    @contextmanager
    def _refusals(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise UserError(
                f"cannot replay into {self.path}: {why_failed(error)}; name another folder"
            ) from error
        except ValueError as error:
            raise UserError(
                f"{self.path / MARK} is damaged: delete the folder, or name another one"
            ) from error


_PATIENCE_S = 2.0
_WAITS_FOR_US = "cat"  # until its stdin is closed
_LONGEST_COMM = 15  # letters of a name in /proc/<pid>/comm
_START_FIELD = 22 - 3  # of /proc/<pid>/stat, counted behind the name of the program


class Host(NamedTuple):
    """A living process, as the registry names it."""

    pid: int
    started_ms: int
    proc_start: str | None  # as Claude Code writes it: the ticks of Linux; elsewhere we leave it out


@contextmanager
def hosts(n: int) -> Iterator[list[Host]]:
    """So many processes, our own first."""
    with ExitStack() as children:
        others = [children.enter_context(stand_in()) for _ in range(n - 1)]
        yield [host_of(pid) for pid in (os.getpid(), *others)][:n]


def host_of(pid: int) -> Host:
    """What is known of a process that lives."""
    import psutil  # slow to load, and needed only by replays that write a registry

    return Host(pid, round(psutil.Process(pid).create_time() * 1000), _proc_start(pid))


def _proc_start(pid: int) -> str | None:
    try:
        status = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:  # no Linux
        return None
    return status.rpartition(b")")[2].split()[_START_FIELD].decode()


@contextmanager
def waiting_as(name: str) -> Iterator[Path]:
    """A program of another name that does nothing but wait: the system shows a process by the name it was started by."""
    with TemporaryDirectory() as folder:
        program = Path(folder, name)
        program.symlink_to(shutil.which(_WAITS_FOR_US) or f"/bin/{_WAITS_FOR_US}")
        yield program


def _wait_for_name(pid: int, name: str) -> None:
    """Wait until the system shows a process by its name: Linux sets it a moment after the program was started."""
    comm, deadline = Path(f"/proc/{pid}/comm"), time.monotonic() + _PATIENCE_S
    with suppress(OSError):  # no Linux, or it has ended
        while comm.read_text().strip() != name[:_LONGEST_COMM] and time.monotonic() < deadline:
            time.sleep(0.001)


@contextmanager
def stand_in(program: Path | None = None, *, holding: Sequence[int] = ()) -> Iterator[int]:
    """The pid of a child that waits for us, and holds the files of these descriptors open."""
    quiet = subprocess.DEVNULL
    with subprocess.Popen(
        [_WAITS_FOR_US],
        executable=program,
        stdin=subprocess.PIPE,
        stdout=quiet,
        stderr=quiet,
        pass_fds=holding,
        start_new_session=True,  # so that Ctrl-C reaches us alone
    ) as child:
        try:
            _wait_for_name(child.pid, program.name if program is not None else _WAITS_FOR_US)
            yield child.pid
        finally:
            if child.stdin is not None:
                child.stdin.close()
            try:
                child.wait(_PATIENCE_S)
            except subprocess.TimeoutExpired:
                child.kill()
