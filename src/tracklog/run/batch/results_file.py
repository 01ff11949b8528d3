"""The results of a list: an append-only file that gets every result as soon as it is known.

Rules
  1. One result is one line, in one write, and synced to disk before it is shown.
  2. The last line of an id counts. The costs of the lines do not overlap: their sum is what was spent.
  3. One process at a time. A line that was torn when its writer died is removed; a file that is not ours is left
     alone.
  4. A list keeps its name (`batch`) as long as its file exists; an emptied file gets a new one.
  5. Runs without a line, because tracklog was killed before it could write, are found in the register by the key
     of their task. A run whose log holds no answer is no answer; but its cost counts.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import msgspec

from tracklog.errors import UserError, why_failed
from tracklog.ledger.prices.rates import Prices
from tracklog.live.run_entries import RunEntry
from tracklog.model.run_request import RunRequest
from tracklog.run.batch.tasks import BatchTask
from tracklog.run.find_logs import ChildLogs
from tracklog.run.log_facts import RunUsage, spent_since
from tracklog.run.result import Result

_NO_ANSWER = ("cancelled", "killed", "crashed")


def left_behind(runs: Iterable[RunEntry], batch: str, recorded: Collection[str]) -> dict[str, list[RunEntry]]:
    """The runs of a list without a line in its results, by the key of their task, in order."""
    found: dict[str, list[RunEntry]] = {}
    for run in runs:
        key = run.started.batch
        if key is not None and key.startswith(f"{batch}:") and run.id not in recorded:
            found.setdefault(key, []).append(run)
    return found


def cut_off(
    run: RunEntry, request: RunRequest, *, env: Mapping[str, str], prices: Callable[[], Prices]
) -> Result:
    """The result of a run without an answer: how it ended, as far as the register knows, and its cost."""
    spent = _spent(run, request, env, prices) if request.persists else None
    return Result(
        {
            "run": run.id,
            "ended_by": run.ended_by if run.ended_by in _NO_ANSWER else "killed",
            "error": "tracklog was ended before it was",
            "session_id": run.session,
            "cost_micro_usd": run.cost_micro_usd if spent is None else spent.cost_micro_usd,
            "unpriced_requests": 0 if spent is None else spent.total.unpriced_requests,
        }
    )


def _spent(
    run: RunEntry, request: RunRequest, env: Mapping[str, str], prices: Callable[[], Prices]
) -> RunUsage | None:
    session, began_ms = run.session, run.began_ms
    if session is None or began_ms <= 0:
        return None
    cwd = Path(run.started.cwd) if run.started.cwd else Path(request.cwd)
    logs = ChildLogs(request.agent, cwd, env, since_ns=began_ms * 1_000_000)
    files = logs.files_of(session)
    if files is None:
        return None
    source = logs.files_of(request.resume) if request.is_fork and request.resume is not None else None
    related = [source] if source is not None else []
    return spent_since(files, related, prices(), since=datetime.fromtimestamp(began_ms / 1000, UTC))


ANSWERED = ("completed", "error", "timeout", "budget")
_BEGINNING = b'{"id":'
_CHUNK = 1 << 20


class _Attempt(msgspec.Struct):
    run: str | None = None


class _Row(msgspec.Struct):
    """The fields of a result in the file that we read back."""

    id: str
    digest: str
    ended_by: str
    batch: str = ""
    cost_micro_usd_all_attempts: int | None = None
    attempts: list[_Attempt] = []


_decode = msgspec.json.Decoder(_Row).decode


class Known(NamedTuple):
    """The last line of an id."""

    digest: str
    ended_by: str


@dataclass
class Earlier:
    """The content of the file when it was opened."""

    by_id: dict[str, Known] = field(default_factory=dict)
    runs: set[str] = field(default_factory=set)
    spent_micro_usd: int = 0
    batch: str = ""
    n_broken: int = 0

    def add(self, line: bytes) -> None:
        """Read a line of the file."""
        try:
            row = _decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            self.n_broken += 1
            return
        self.by_id[row.id] = Known(row.digest, row.ended_by)
        self.runs.update(one.run for one in row.attempts if one.run is not None)
        self.spent_micro_usd += row.cost_micro_usd_all_attempts or 0
        self.batch = self.batch or row.batch

    def is_answered(self, task: BatchTask, *, again: Collection[str] = ()) -> bool:
        """Whether the same task was run before and has its answer."""
        known = self.by_id.get(task.id)
        if known is None or known.digest != task.digest:
            return False
        return known.ended_by in ANSWERED and known.ended_by not in again


class ResultsFile:
    """The file, locked for this process while it is open."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor = _open(path)
        try:
            self.earlier = self._read()
            self.batch = self.earlier.batch or _new_batch(self._descriptor)
        except BaseException:
            os.close(self._descriptor)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._descriptor)

    def append(self, document: Mapping[str, Any]) -> None:
        """Append a result and sync it to disk; on OSError the file is as before."""
        line = as_line(document)
        before = os.fstat(self._descriptor)
        try:
            if os.write(self._descriptor, line) != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(self._descriptor)
        except OSError:
            os.ftruncate(self._descriptor, before.st_size)
            os.utime(
                self._descriptor, ns=(before.st_atime_ns, before.st_mtime_ns)
            )  # an empty file is identified by it
            raise

    def _read(self) -> Earlier:
        self._put_right()
        earlier = Earlier()
        for line in _lines(self._descriptor):
            earlier.add(line)
        if earlier.n_broken and not earlier.by_id:
            raise _not_ours(self.path)
        return earlier

    def _put_right(self) -> None:
        """Complete a last line that only lacks its newline; remove a torn one."""
        start, tail = _tail(self._descriptor)
        if not tail:
            return
        if not (tail.startswith(_BEGINNING[: len(tail)]) or not tail.strip(b"\0")):
            raise _not_ours(self.path)
        probe = Earlier()
        probe.add(tail)
        if probe.n_broken:
            os.ftruncate(self._descriptor, start)
        else:
            os.write(self._descriptor, b"\n")


def key_of(batch: str, task: BatchTask) -> str:
    """The key of a task of this list in the register."""
    asked = f"{task.id}\0{task.digest}".encode("utf-8", "surrogatepass")
    return f"{batch}:{hashlib.sha256(asked).hexdigest()[:16]}"


def as_line(document: Mapping[str, Any]) -> bytes:
    """A document as a line of the file, in ASCII."""
    return json.dumps(document, separators=(",", ":")).encode() + b"\n"


def _open(path: Path) -> int:
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK, 0o600)
    except OSError as error:
        raise UserError(
            f"cannot write {path}: {why_failed(error)}; name another file with --results"
        ) from error
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise UserError(f"{path} is no regular file: name another with --results")
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(descriptor)
        raise UserError(
            f"another process writes {path} now: wait until it is done, or name another --results"
        ) from error
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _not_ours(path: Path) -> UserError:
    return UserError(f"{path} holds something else than results: name another file with --results")


def _new_batch(descriptor: int) -> str:
    """The name of a list without results: a hash of its empty file and the time when it became empty."""
    facts = os.fstat(descriptor)
    made = f"{facts.st_dev}:{facts.st_ino}:{facts.st_mtime_ns}"
    return hashlib.sha256(made.encode()).hexdigest()[:16]


def _tail(descriptor: int) -> tuple[int, bytes]:
    """The bytes behind the last newline, and their offset."""
    start = os.fstat(descriptor).st_size
    parts: list[bytes] = []
    while start > 0:
        before = max(start - _CHUNK, 0)
        part = os.pread(descriptor, start - before, before)
        if (at := part.rfind(b"\n")) >= 0:
            return before + at + 1, b"".join([part[at + 1 :], *reversed(parts)])
        parts.append(part)
        start = before
    return 0, b"".join(reversed(parts))


def _lines(descriptor: int) -> Iterator[bytes]:
    with open(os.dup(descriptor), "rb") as stream:
        stream.seek(0)
        yield from (line for line in stream if line.strip())
