"""The processes that replayed sessions name as their own: real ones, which live as long as the replay does.

One process has one file in the registry of Claude Code. So the first session is run by our own process, and each further
one by a child that does nothing but wait for us: when we end, in whatever way, so does it. Codex has no registry, but
a process of that name, which has the log open: that is a child, too.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

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
    """The pid of a child that waits for us, and holds open what these descriptors stand for."""
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
