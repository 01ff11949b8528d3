"""When a process started, and which processes have a word in their name, from /proc. It loads little."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple

_MOST_COMMAND = 8_192  # bytes of a command line
_START_TICKS = (
    19  # of the fields of /proc/<pid>/stat behind the name, which may hold anything (proc(5), field 22)
)


def start_ticks(pid: int) -> int | None:
    """In ticks since the machine started, as clients note it on Linux; None if it is gone, or there is no /proc."""
    try:
        told = Path(f"/proc/{pid}/stat").read_bytes()
        return int(told.rpartition(b")")[2].split()[_START_TICKS])
    except (OSError, ValueError, IndexError):
        return None


def programs() -> dict[int, bytes] | None:
    """The name and the beginning of the command line of each process; None without /proc."""
    try:
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return None
    return {pid: _program(pid).lower() for pid in pids} or None


def pids_named(word: str, known: Mapping[int, bytes] | None = None) -> list[int] | None:
    """The processes whose name or command line begins with a program of this name; None without /proc.

    A coarse filter, so that nothing is loaded where no such process runs: the caller looks closer. `known` are the
    programs, where the caller has read them already.
    """
    wanted = word.encode()
    found = known or programs()
    return None if found is None else [pid for pid, program in found.items() if wanted in program]


def _program(pid: int) -> bytes:
    """The name and the first two words of the command line of a process."""
    try:
        comm = _start_of(f"/proc/{pid}/comm")
        line = _start_of(f"/proc/{pid}/cmdline")
    except OSError:
        return b""
    return b"\0".join([comm, *(os.path.basename(one) for one in line.split(b"\0")[:2])])


def _start_of(path: str) -> bytes:
    """The first bytes of a file, without the cost of a file object: this is read of every process."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(file, _MOST_COMMAND)
    finally:
        os.close(file)


class Alive(NamedTuple):
    """Whether the process of a session lives, and how we know."""

    life: Literal["alive", "gone", "unknown"]
    why: str = ""
    pid: int | None = None
    has_left: bool = False  # it took its registry file away, or took up another session
    at_ms: int | None = None  # when it left; None: nobody saw it
    is_sure: bool = True  # False: no process was found that could be it
    began_ms: int | None = None  # when the process did, at the latest


UNKNOWN_PROCESS = Alive("unknown")
NEAR_MS = 2_000  # two clocks may differ by so much about one start
