"""Answer `calls`: the tool calls of one session or of all, from the index if there is one, else from the logs.

For one session no index is brought up to date: it answers if it knows all that the logs say by now.

Rules
  1. A call that a fork copied is listed once, where it was made; a copy only if its original is gone.
  2. Calls come as they are read, and only some of them are in memory.
  3. The index has no inputs: they are read from the logs, and only those of calls that are listed.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tracklog.app.index.open import Index, index_if_fresh, indexed
from tracklog.app.scope.filters import Filters
from tracklog.app.talk import QUIET, Talk
from tracklog.model.session_rules import is_tool

if TYPE_CHECKING:
    from tracklog.app.scope.indexed_sessions import IndexedSessions
    from tracklog.app.scope.read_sessions import SessionReader
    from tracklog.model.session import Call, Session
    from tracklog.sessions.tables_calls import FoundCall
    from tracklog.sessions.tables_lists import KnownSession

# Lazy imports: the list in the index needs no reader, and the one of the logs no index.

_AT_ONCE = 2000  # calls whose inputs are in memory


class CallsQuery(NamedTuple):
    """Which calls to list, and in which order."""

    roots: Sequence[Path] = ()
    session: str | None = None  # an id, the start of one, a file, or @last; None: all sessions
    agent: str | None = None
    filters: Filters = Filters()
    tools: Sequence[str] = ()  # any of these
    verdicts: Sequence[str] = ()  # any of these
    slower_than_ms: float | None = None
    is_slowest_first: bool = False
    limit: int | None = None
    home: Path | None = None
    syncs: bool = True  # whether the index is brought up to date first

    def fits(self, one: ListedCall) -> bool:
        """Whether a call is listed."""
        call = one.call
        return (
            (not self.verdicts or call.verdict in self.verdicts)
            and (not self.tools or any(is_tool(call.name, tool) for tool in self.tools))
            and (self.slower_than_ms is None or (call.took_ms or 0) >= self.slower_than_ms)
            and self.filters.fits_time(call.called_at)
            and self.filters.fits_model(one.model)
        )

    def chosen(self, calls: Iterable[ListedCall]) -> Iterator[ListedCall]:
        """The calls that fit, in order, as many as are wanted."""
        fitting = filter(self.fits, calls)
        if not self.is_slowest_first:
            return islice(fitting, self.limit)
        if self.limit:
            return iter(heapq.nlargest(self.limit, fitting, key=_ms))
        return iter(sorted(fitting, key=_ms, reverse=True))


class ListedCall(NamedTuple):
    """A call with what a list shows of its session."""

    call: Call
    model: str | None
    path: str
    cwd: str | None
    found: FoundCall | None = None  # as the index has it, without its input

    @property
    def did(self) -> str | None:
        """What it did in a few words, as the index has them; None if they are to be made of its input."""
        return None if self.found is None else self.found.did


class CallList:
    """The calls that fit, as they are read."""

    def __init__(
        self,
        calls: Iterable[ListedCall],
        source: IndexedSessions | SessionReader,
        *,
        has_sessions: bool = True,
    ) -> None:
        self._calls = calls
        self._source = source
        self.has_sessions = has_sessions  # whether there is any session to look in

    def __iter__(self) -> Iterator[ListedCall]:
        return iter(self._calls)

    @property
    def n_not_understood(self) -> int:
        """Lines in which there may be more calls, of the sessions that were read so far."""
        return self._source.n_not_understood


@contextmanager
def list_calls(
    query: CallsQuery, talk: Talk = QUIET, *, with_inputs: bool = True, shows_progress: bool = True
) -> Iterator[CallList]:
    """The calls that fit, from the index if it knows the roots, else from the logs.

    Without inputs, only calls whose summary the index cut have theirs.
    """
    with _index_for(query, talk) as index:
        sessions = None if index is None else _sessions_in(index, query)
        if sessions is not None:
            sessions.say_what_is_not_readable(talk)
            calls = query.chosen(_calls_in_index(sessions, query))
            yield CallList(_with_inputs(sessions, calls, of_all=with_inputs), sessions)
            return
    yield calls_in_logs(query, talk, shows_progress=shows_progress)


def calls_in_logs(query: CallsQuery, talk: Talk = QUIET, *, shows_progress: bool = True) -> CallList:
    """The calls that fit, with their results, which the index does not hold."""
    from tracklog.app.scope.read_sessions import SessionReader  # all readers come with it

    reader = SessionReader(query.roots, agent=query.agent, filters=query.filters, home=query.home, talk=talk)
    each = (
        reader.each(shows_progress=shows_progress) if query.session is None else [reader.named(query.session)]
    )
    known = reader.ids
    calls = query.chosen(
        one for session in each for one in _calls_of(session) if not _is_elsewhere(one, known)
    )
    return CallList(calls, reader, has_sessions=query.session is not None or bool(reader.groups))


def _index_for(query: CallsQuery, talk: Talk) -> AbstractContextManager[Index | None]:
    """The index, brought up to date for a list of all calls. For one session it is taken as it is, if it knows all."""
    if query.session is None:
        return indexed(query.roots, home=query.home, talk=talk, syncs=query.syncs)
    return index_if_fresh(query.roots, home=query.home)


def _sessions_in(index: Index, query: CallsQuery) -> IndexedSessions | None:
    """The sessions whose calls are wanted; None where the logs must be read."""
    from tracklog.app.scope.indexed_sessions import IndexedSessions

    sessions = IndexedSessions(index, agent=query.agent, filters=query.filters)
    can_tell = not sessions.is_empty if query.session is None else sessions.narrow_to(query.session)
    return sessions if can_tell else None


def _calls_in_index(sessions: IndexedSessions, query: CallsQuery) -> Iterator[ListedCall]:
    from tracklog.app.scope.indexed_sessions import ReadSession

    known = sessions.ids
    for one in sessions:
        calls = _calls_of(one.session) if isinstance(one, ReadSession) else _known_calls(sessions, one, query)
        yield from (call for call in calls if not _is_elsewhere(call, known))


def _known_calls(sessions: IndexedSessions, one: KnownSession, query: CallsQuery) -> Iterator[ListedCall]:
    from tracklog.sessions.tables_calls import ask_calls, models_of

    db = sessions.database.db
    models = models_of(db, one) if query.filters.model is not None else {}
    for found in ask_calls(db, one, verdicts=query.verdicts):
        request = found.call.request
        yield ListedCall(found.call, models.get(request) if request else None, one.path or "", one.cwd, found)


def _calls_of(session: Session) -> Iterator[ListedCall]:
    models = {request.id: request.model for request in session.requests}
    path = session.paths[0] if session.paths else ""
    for call in session.calls_by_thread:
        yield ListedCall(call, models.get(call.request) if call.request else None, path, session.cwd)


def _is_elsewhere(one: ListedCall, known: set[str]) -> bool:
    """Whether a call is a copy, and the session that made it is among these."""
    return one.call.is_inherited and one.call.session in known


def _with_inputs(
    sessions: IndexedSessions, calls: Iterable[ListedCall], *, of_all: bool
) -> Iterator[ListedCall]:
    """The same calls in the same order: all with their inputs, or only those whose summary was cut."""
    from tracklog.sessions.call_inputs import fill_inputs, logs_by_number
    from tracklog.sessions.tables_calls import offsets_of

    database = sessions.database
    log_of = logs_by_number(database)
    rest = iter(calls)
    while some := list(islice(rest, _AT_ONCE)):
        without = [one.found for one in some if one.found is not None and (of_all or one.found.did is None)]
        if without:
            fill_inputs(without, log_of, lambda file, lines: offsets_of(database.db, file, lines))
        yield from some


def _ms(one: ListedCall) -> float:
    return one.call.took_ms or 0.0
