"""The session of a page: its known facts, its logs by thread, its outline; cached between requests.

Rules
  1. The index is asked. A session that it does not know yet is searched by its name among the logs; its page then has
     rows, and an outline as soon as it is indexed.
  2. No cost grows with the number of other sessions, except that search.
  3. The last few sessions are cached. They are queried again after a moment, and whenever their page is opened.
  4. A thread whose logs have changed places (moved, archived) is opened again.
"""

from __future__ import annotations

import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC
from pathlib import Path
from sqlite3 import Connection
from threading import Lock
from types import MappingProxyType
from typing import Any, NamedTuple

from tracklog.agents.discovery import find_all
from tracklog.agents.registry import identified
from tracklog.agents.supported import support_for
from tracklog.archive.locate import known_log
from tracklog.conversation.branches import BranchPath, PlacedTurn, Sides, ways_of
from tracklog.conversation.lines import ThreadLines
from tracklog.conversation.thread_reader import ThreadReading
from tracklog.ledger.cost_sums import CostSum, sums_in
from tracklog.ledger.prices.rates import Prices
from tracklog.ledger.stored.freshness import was_settled
from tracklog.ledger.stored.query import LedgerQuery, report_of
from tracklog.model.ids import MAIN
from tracklog.model.usage import UsageRow as Spent
from tracklog.reading.session_files import group, thread_of
from tracklog.sessions.tables_columns import active_times
from tracklog.sessions.tables_lists import KnownSession, known_session, listed_sessions, logs_beside
from tracklog.sessions.tables_session import (
    OutlinedBranch,
    OutlinedThread,
    OutlinedTurn,
    branches_of,
    is_settled,
    logs_of_session,
    threads_of,
    turns_of,
    verdicts_of,
)
from tracklog.sources.files import NotReadable, chunks
from tracklog.sources.log_file import THREAD_KINDS, LogFile, Root, is_compressed
from tracklog.sources.tail.identity import is_gone
from tracklog.store.database import Database
from tracklog.store.scope import Scope
from tracklog.store.values import KnownFile

_MARK = 4096  # bytes by which a copy is recognised


class ThreadLogs(NamedTuple):
    """The logs of one thread, the oldest first."""

    thread: str
    files: tuple[LogFile, ...]
    copies: Mapping[str, str] = MappingProxyType(
        {}
    )  # path of a log with which one of them begins -> its path


class SessionHead(NamedTuple):
    """Facts about a session that need none of its lines."""

    agent: str
    id: str
    logs: list[ThreadLogs]  # the main thread first
    numbers: dict[str, int]  # of logs in the index, by path
    facts: dict[str, Any]  # as lists show them; empty if the index does not know it
    only_here: bool = False
    known: KnownSession | None = None
    is_settled: bool = False
    threads: Sequence[OutlinedThread] = ()
    branches: Sequence[OutlinedBranch] = ()
    verdicts_by_thread: dict[str, dict[str, int]] = {}  # noqa: RUF012 - never changed
    active_ms: float | None = (
        None  # its turns together; where their times contradict each other, more than there is
    )
    archive: Path | None = None  # the folder of the archive

    def logs_of(self, thread: str) -> ThreadLogs | None:
        """The logs of one of its threads."""
        return next((one for one in self.logs if one.thread == thread), None)

    @property
    def resume_words(self) -> tuple[str, ...]:
        """The command that resumes it."""
        words = support_for(self.agent).resume_words
        return (*words, self.id) if words else ()

    @property
    def tells_reasoning(self) -> bool:
        """Whether its logs count reasoning apart from the rest of the output."""
        return support_for(self.agent).logs.tells_reasoning

    @property
    def verdicts(self) -> Counter[str]:
        """Number of its calls by verdict."""
        return sum(map(Counter, self.verdicts_by_thread.values()), Counter())

    @property
    def logged(self) -> set[str]:
        """The threads that have a log of their own."""
        return {one.thread for one in self.logs}

    def thread_with(self, name: str) -> str | None:
        """The thread that has the log with this path or file name."""
        return next(
            (
                one.thread
                for one in self.logs
                for file in one.files
                if name in (file.path.name, str(file.path)) or name in one.copies
            ),
            None,
        )


def session_head(
    database: Database | None, agent: str, id: str, *, roots: Iterable[Root], scope: Scope
) -> SessionHead | None:
    """The session with this name, limited to its logs in the scope; None if there are none."""
    head = _from_the_index(database, agent, id, scope) if database is not None else None
    if database is not None and head is not None and head.logs:
        return head._replace(archive=database.home.archive)
    named = [file for file in find_all(roots) if isinstance(file, LogFile) and _is_called(file, agent, id)]
    files = [file for file in map(identified, named) if file.agent in (None, agent)]
    logs = _by_thread(files, id)
    return SessionHead(agent, id, logs, {}, {}) if logs else None


def _is_called(file: LogFile, agent: str, id: str) -> bool:
    """Whether a log may belong to the session, by its name; a log in a plain folder is opened later."""
    if file.agent not in (None, agent):
        return False
    return (file.session or "").lower() == id.lower() or id.lower() in file.path.name.lower()


def _from_the_index(database: Database, agent: str, id: str, scope: Scope) -> SessionHead | None:
    db = database.db
    rows = [row for row in logs_of_session(db, agent, id) if scope.holds(row.file.path)]
    if not rows:
        return None
    files = [
        known_log(row.file, row.archived, database.home.archive, is_gone=_is_gone(row.file)) for row in rows
    ]
    logs, numbers = _by_thread(files, id), {row.file.path: row.file.id for row in rows}
    known = known_session(db, agent, id)
    if known is None or not known.is_listed:
        return SessionHead(agent, id, logs, numbers, {}, known=known)
    listed = listed_sessions(db, [known.row])[0]
    return SessionHead(
        agent,
        id,
        logs,
        numbers,
        listed.facts,
        listed.only_here or (bool(logs) and all(file.stored for file in logs[0].files)),
        known,
        is_settled(db, known.row),
        threads_of(db, known.row),
        branches_of(db, known.row),
        verdicts_of(db, known.row),
        active_times(db, [known.row]).get(known.row),
    )


def _is_gone(file: KnownFile) -> bool:
    """Whether a log is no longer at its source, even if the index does not know so yet."""
    return file.state == "kept" or is_gone(file.path)


def _by_thread(files: Sequence[LogFile], id: str) -> list[ThreadLogs]:
    """Groups logs by thread; main logs in the order in which they were written."""
    session = next((one for one in group(files) if one.id.lower() == id.lower()), None)
    if session is None:
        return []
    mains = sorted(session.mains, key=lambda file: (file.mtime_ns, str(file.path)))
    copies = _copies(mains)
    threads: dict[str, list[LogFile]] = {MAIN: [file for file in mains if str(file.path) not in copies]}
    for file in session.files:
        if file not in mains and file.kind in THREAD_KINDS:
            threads.setdefault(thread_of(file), []).append(file)
    return [
        ThreadLogs(thread, tuple(ours), copies if thread == MAIN else MappingProxyType({}))
        for thread, ours in threads.items()
        if ours
    ]


def _copies(mains: Sequence[LogFile]) -> dict[str, str]:
    """Logs that are the beginning of a longer one, such as backups; each with the longer one."""
    kept: list[LogFile] = []
    found: dict[str, str] = {}
    for file in sorted(mains, key=lambda file: -file.size):
        longer = next((one for one in kept if _begins_with(one, file)), None)
        if longer is None:
            kept.append(file)
        else:
            found[str(file.path)] = str(longer.path)
    return found


def _begins_with(longer: LogFile, file: LogFile) -> bool:
    """Whether a log has the first and last bytes of another one, at the same offsets."""
    if file.stored is not None or longer.stored is not None or is_compressed(file.path):
        return file.path.name == longer.path.name and file.size == longer.size
    size = min(file.size, _MARK)
    try:
        return all(
            _bytes_at(file, start, size) == _bytes_at(longer, start, size) for start in (0, file.size - size)
        )
    except NotReadable:
        return False


def _bytes_at(file: LogFile, start: int, size: int) -> bytes:
    return next(chunks(file, start, size=size), b"") if size else b""


def outline(db: Connection, head: SessionHead, thread: str) -> list[OutlinedTurn]:
    """The turns of a thread; none until the index knows them."""
    return turns_of(db, head.known.row, thread) if head.known is not None else []


class ThreadUsage(NamedTuple):
    """What a session or one of its subagents used and cost."""

    row: Spent
    sum: CostSum


def spent_by(db: Connection, head: SessionHead, prices: Prices, *, thread: str = MAIN) -> ThreadUsage | None:
    """What a session or subagent used and cost, as `usage session` counts it; None until it was counted."""
    if head.known is None or not was_settled(db):
        return None
    question, key = (
        (LedgerQuery("session", UTC), head.id) if thread == MAIN else (LedgerQuery("thread", UTC), thread)
    )
    made, _ = report_of(db, prices, question, logs_beside(db, [head.id]))
    row = next((row for row in made.rows if row.key == key), None)
    return None if row is None else ThreadUsage(row, sums_in(made)[key])


_MOST_OPEN_THREADS = 24
_SESSIONS = 16
_FRESH_S = 3.0
_Key = tuple[str, str, str]
_Places = tuple[tuple[str, str | None], ...]


@dataclass
class OpenSession:
    """A cached session."""

    head: SessionHead
    asked_at: float
    turns: dict[str, list[PlacedTurn]] = field(default_factory=dict)  # of each thread that was opened
    ways: list[BranchPath] | None = None  # of the main thread, once requested


class OpenThreads:
    """Opens sessions and threads, from its cache if possible."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._sessions: OrderedDict[tuple[str, str], OpenSession] = OrderedDict()
        self._threads: OrderedDict[_Key, tuple[_Places, ThreadReading]] = OrderedDict()
        self._lock = Lock()

    def session(
        self,
        database: Database | None,
        agent: str,
        id: str,
        *,
        roots: Iterable[Root],
        scope: Scope,
        fresh: bool,
    ) -> OpenSession | None:
        """A session by its name, `fresh` or from the cache; None if there is none."""
        now, name = self._clock(), (agent, id)
        with self._lock:
            known = self._sessions.get(name)
        if known is not None and not fresh and now - known.asked_at < _FRESH_S:
            return known
        head = session_head(database, agent, id, roots=roots, scope=scope)
        if head is None:
            return None
        made = OpenSession(head, now)
        with self._lock:
            self._sessions[name] = made
            self._sessions.move_to_end(name)
            while len(self._sessions) > _SESSIONS:
                self._sessions.popitem(last=False)
        return made

    def reading(self, head: SessionHead, thread: str) -> ThreadReading | None:
        """The reading of a thread, up to date with its logs; None if the session has no such thread."""
        logs = head.logs_of(thread)
        if logs is None:
            return None
        key = (head.agent, head.id, thread)
        places = (
            *((str(file.path), str(file.stored) if file.stored else None) for file in logs.files),
            *logs.copies.items(),
        )
        with self._lock:
            known = self._threads.get(key)
        if known is None or known[0] != places:
            known = (places, ThreadReading(ThreadLines(logs.files, copies=logs.copies), archive=head.archive))
        else:
            known[1].lines.look()
        with self._lock:
            self._threads[key] = known
            self._threads.move_to_end(key)
            while len(self._threads) > _MOST_OPEN_THREADS:
                self._threads.popitem(last=False)
        return known[1]


def placed_turns(
    database: Database | None, session: OpenSession, reading: ThreadReading, thread: str
) -> list[PlacedTurn]:
    """The outline of a thread with its lines, as far as the index knows it."""
    if thread not in session.turns:
        known = outline(database.db, session.head, thread) if database is not None else []
        paths = {number: path for path, number in session.head.numbers.items()}
        session.turns[thread] = [
            PlacedTurn(turn, _seq(reading, paths.get(turn.file or 0), turn.line)) for turn in known
        ]
    return session.turns[thread]


def sides_of(session: OpenSession, reading: ThreadReading, thread: str) -> Sides:
    """The branch of each line of a thread; only the main thread has branches."""
    return reading.sides(session.head.branches if thread == MAIN else ())


def ways_through(
    database: Database | None, session: OpenSession, reading: ThreadReading, thread: str
) -> list[BranchPath]:
    """The branches of a thread with their turns; only the main thread has any."""
    if thread != MAIN:
        return []
    if session.ways is None:
        turns = placed_turns(database, session, reading, thread)
        session.ways = ways_of(session.head.branches, turns, sides_of(session, reading, thread))
    return session.ways


def _seq(reading: ThreadReading, path: str | None, line: int | None) -> int | None:
    return None if line is None or path is None else reading.lines.seq_of(path, line)
