"""Which processes live: whether a pid is still the process that was meant, and which client may write which log.

Rules
  1. A pid alone proves nothing: numbers are used again. The start time must fit, as the client noted it.
  2. A pid of another container or machine says nothing here: then the answer is unknown, never gone.
  3. Every question has an answer: processes end while we look, belong to others, or may not be looked at.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import NamedTuple

import psutil

from tracklog.sources.process_start import NEAR_MS, Alive, pids_named, start_ticks

_ENDED = (b"Z", b"X")  # states of a process that nobody has taken leave of yet (proc(5), field 3)
_PLAIN_NUMBER = re.compile(r"[0-9]{1,20}")


def process_of(
    pid: int,
    *,
    proc_start: str | None = None,
    started_at_ms: int | None = None,
    pid_domain: str | None = None,
    owner: int | None = None,
) -> Alive:
    """Whether the process that a client registered as `pid` lives; `owner` is whose the registry file is."""
    process = _living(pid)
    same = _started_as(process, proc_start) if isinstance(process, psutil.Process) and proc_start else None
    if same:
        return _alive(pid)
    if pid_domain is not None and not _is_ours(pid_domain):
        return Alive("unknown", f"process {pid} runs in another container or on another machine", pid)
    if isinstance(process, Alive):
        return process
    if same is False:
        return _reused(pid)
    if owner is not None and (user := _user_of(process)) is not None and user != owner:
        return Alive("gone", f"process {pid} is another user's now", pid)
    if started_at_ms is None:
        return Alive("unknown", f"process {pid} lives, but nothing says since when it should", pid)
    # It registers after it has started, sometimes only when a dialog was answered: who began later is another.
    return _alive(pid) if started_ms_of(process) <= started_at_ms + NEAR_MS else _reused(pid)


def is_running(pid: int) -> bool:
    """Whether a process of this number has not ended: a quick look between two thorough ones."""
    try:
        told = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:  # it is gone, or this system has no /proc
        return psutil.pid_exists(pid)
    return not told.rpartition(b")")[2].strip().startswith(_ENDED)


class RunningClient(NamedTuple):
    """A running client."""

    pid: int
    started_ms: int
    cwd: str | None  # None: we may not look
    logs: frozenset[str] | None  # that it has open: real paths; None: we may not look


def running_clients(
    program: str, programs: Mapping[int, bytes] | None, *, log_name: re.Pattern[str] | None = None
) -> list[RunningClient]:
    """All processes of a program that can be seen, with the files of this name that each has open."""
    found = (_client(process, log_name) for process in processes_named(program, programs))
    return [client for client in found if client is not None]


def _client(process: psutil.Process, log_name: re.Pattern[str] | None) -> RunningClient | None:
    try:
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        logs = _open_logs(process, log_name) if log_name is not None else frozenset()
        return RunningClient(process.pid, started_ms_of(process), cwd_of(process), logs)
    except psutil.NoSuchProcess:
        return None
    except psutil.AccessDenied:
        return RunningClient(process.pid, started_ms_of(process), None, None)


def _open_logs(process: psutil.Process, log_name: re.Pattern[str]) -> frozenset[str] | None:
    try:
        paths = [file.path for file in process.open_files()]
    except psutil.AccessDenied:
        return None
    return frozenset(os.path.realpath(path) for path in paths if log_name.fullmatch(os.path.basename(path)))


def processes_named(word: str, programs: Mapping[int, bytes] | None) -> Iterator[psutil.Process]:
    """The processes whose name, or whose program, has this word in it."""
    pids = pids_named(word, programs)
    for pid in psutil.pids() if pids is None else pids:
        try:
            process = psutil.Process(pid)
            words = [process.name(), *map(os.path.basename, process.cmdline()[:2])]
        except psutil.Error:
            continue
        if any(word in one.lower() for one in words):
            yield process


def _living(pid: int) -> psutil.Process | Alive:
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return Alive("gone", f"process {pid} has ended", pid)
    except psutil.NoSuchProcess:
        return _unseen(pid)
    except psutil.AccessDenied:
        return Alive("unknown", f"process {pid} is another user's", pid)
    except (ValueError, OverflowError, TypeError):  # no system has such a pid
        return Alive("gone", f"there is no process {pid}", pid)
    return process


def _unseen(pid: int) -> Alive:
    """A process that /proc does not show may still live: systems can hide the processes of others."""
    try:
        os.kill(pid, 0)  # asks whether it is there, and sends nothing
    except PermissionError:
        return Alive("unknown", f"process {pid} is another user's", pid)
    except (OSError, OverflowError):
        pass  # it is not there: what follows says so
    return Alive("gone", f"there is no process {pid}", pid)


def _alive(pid: int) -> Alive:
    return Alive("alive", f"process {pid} lives", pid)


def _reused(pid: int) -> Alive:
    return Alive("gone", f"process {pid} is another one now: it started later", pid)


def _started_as(process: psutil.Process, noted: str) -> bool | None:
    """Whether the start time is the noted one; None if we cannot tell."""
    if _PLAIN_NUMBER.fullmatch(noted):
        ticks = start_ticks(process.pid)
        return None if ticks is None else ticks == int(noted)
    return _is_near(started_ms_of(process), noted)


def _is_near(started_ms: int, noted: str) -> bool | None:
    """Whether a start is the one that macOS tells as `Thu Sep 10 08:31:58 2026`, in local time or in UTC."""
    try:
        told = datetime.strptime(noted.strip(), "%a %b %d %H:%M:%S %Y")
        moments = (told.timestamp(), told.replace(tzinfo=UTC).timestamp())
    except (ValueError, OverflowError, OSError):
        return None
    return any(abs(moment * 1000 - started_ms) <= NEAR_MS for moment in moments)


def started_ms_of(process: psutil.Process) -> int:
    try:
        return int(process.create_time() * 1000)
    except psutil.Error:
        return 0


def _user_of(process: psutil.Process) -> int | None:
    try:
        return int(process.uids().real)
    except psutil.Error:
        return None


def cwd_of(process: psutil.Process) -> str | None:
    try:
        return process.cwd()
    except psutil.AccessDenied:
        return None


def _is_ours(domain: str) -> bool:
    """Whether pids of this domain (`linux:<machine>:pid:[<namespace>]`) mean processes that we can see."""
    system, _, rest = domain.partition(":")
    ours = _our_domain()
    if system != "linux" or ours is None:
        return system != "linux" and ours is None
    machine, _, namespace = rest.partition(":")
    # The first namespace has the same number on every machine: only both together tell.
    return namespace == ours[1] and ours[0] in (None, machine)


@cache
def _our_domain() -> tuple[str | None, str] | None:
    """This machine's id and our pid namespace; None where there are no namespaces."""
    try:
        namespace = os.readlink("/proc/self/ns/pid")
    except OSError:
        return None
    try:
        machine = Path("/etc/machine-id").read_text("ascii").strip()
    except (OSError, ValueError):
        return None, namespace
    return machine or None, namespace
