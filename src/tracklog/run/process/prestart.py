"""Pre-start the supervisor process to hide the start-up time of Python.

`prestart` is for commands that will start a child, before they know which: it saves the time that Python takes to start.
A supervisor that gets no order ends by itself, at the latest with us. It is started as a file, not as a module: the
compiled one, if there is one.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from tracklog import supervisor
from tracklog.errors import UserError

_HEAD = 16  # bytes of a compiled module's header: magic, flags, time and size of the source (PEP 552)


def leaf(module: ModuleType) -> str:
    """The file to start Python with: the compiled one if there is one, as a source file is compiled at every start."""
    source = os.path.abspath(str(module.__file__))
    compiled = module.__spec__.cached if module.__spec__ is not None else None
    return compiled if compiled is not None and _is_made_of(compiled, source) else source


def _is_made_of(compiled: str, source: str) -> bool:
    """Check the header by Python's own rule; with hash-based ones the source is used."""
    try:
        with open(compiled, "rb") as stream:
            head = stream.read(_HEAD)
        facts = os.stat(source)
    except OSError:
        return False
    made_of = b"".join(
        (int(n) & 0xFFFFFFFF).to_bytes(4, "little") for n in (0, facts.st_mtime, facts.st_size)
    )
    return head[4:] == made_of


class WaitingSupervisor(NamedTuple):
    """A supervisor that waits for its order, and our ends of its pipes."""

    process: subprocess.Popen[bytes]
    life: int
    reports: int
    order: int

    def promise(self, folder: Path | None) -> None:
        """Send it the private folder, which it removes in the end, also if we die before it gets its order."""
        os.write(self.order, os.fsencode(folder.absolute() if folder is not None else "") + b"\0")

    def give(self, order: bytes) -> None:
        """Send it the command to supervise, behind the folder. It reads while we write, so any length fits."""
        with open(self.order, "wb", buffering=0) as stream:
            stream.write(order)

    def discard(self) -> None:
        """Let it end: it is not needed."""
        for descriptor in (self.order, self.life, self.reports):
            os.close(descriptor)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()
        self.process.wait()


_early: list[WaitingSupervisor] = []


def prestart() -> None:
    """Start a supervisor for the next child. Errors are reported when that child is started."""
    with suppress(OSError):
        _early.append(start_supervisor())


def discard_prestarted() -> None:
    """Discard the prestarted supervisors: this process will start no child."""
    while _early:
        _early.pop().discard()


def waiting_supervisor() -> WaitingSupervisor:
    """A supervisor that waits for its order: a prestarted one, if there is one."""
    return _early.pop() if _early else start_supervisor()


def start_supervisor() -> WaitingSupervisor:
    """Start a supervisor."""
    their_life, life = _pipe()
    reports, their_reports = _pipe()
    their_order, order = _pipe()
    theirs = (their_life, their_reports, their_order)
    try:
        return WaitingSupervisor(_started(*theirs), life, reports, order)
    except BaseException:
        for descriptor in (life, reports, order):
            os.close(descriptor)
        raise
    finally:
        for descriptor in theirs:
            os.close(descriptor)


def _pipe() -> tuple[int, int]:
    """A pipe whose ends are never 0, 1 or 2, even if one of these is closed: they are for the client's own streams."""
    low = os.pipe()
    high = [fcntl.fcntl(one, fcntl.F_DUPFD_CLOEXEC, 3) for one in low]
    for one in low:
        os.close(one)
    return high[0], high[1]


def order_for(words: Sequence[str], *, cwd: Path, env: Mapping[str, str]) -> bytes:
    """The order for a supervisor, without the private folder, in its format (`tracklog.supervisor.Order`)."""
    variables = [f"{name}={value}" for name, value in env.items()]
    parts = [os.path.abspath(cwd), str(len(variables))]
    if any("\0" in part for part in (*parts, *variables, *words)):
        raise UserError("a NUL cannot stand in an argument, a path or a variable")
    return b"\0".join(os.fsencode(part) for part in (*parts, *variables, *words))


def _started(life: int, reports: int, order: int) -> subprocess.Popen[bytes]:
    options = ["--life", str(life), "--told", str(reports), "--order", str(order)]
    return subprocess.Popen(
        [sys.executable, "-I", "-S", leaf(supervisor), *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        pass_fds=(life, reports, order),
        start_new_session=True,
    )
