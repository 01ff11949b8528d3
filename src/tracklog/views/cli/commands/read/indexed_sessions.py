"""Sessions and calls as lists show them, from the index.

Rules of this room
  1. The answer is the one that reading the logs gives; sessions that only the archive has are in it, too.
  2. Inputs are read from the log, and only those of calls that are shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from tracklog.app.index.open import Index
from tracklog.app.scope.filters import Filters
from tracklog.app.scope.indexed_sessions import ScopedSessions
from tracklog.sessions.tables_lists import KnownSession, unreadable_logs
from tracklog.views.text.printing import talk

if TYPE_CHECKING:
    from tracklog.model.session import Call, Session
    from tracklog.reading.session_files import SessionFiles
    from tracklog.sessions.tables_calls import FoundCall

_AT_ONCE = 2000  # calls whose inputs are in memory


class CallInSession(NamedTuple):
    """A call, what of its session is needed to show it, and where its input stands if that was not read."""

    call: Call
    model: str | None
    path: str
    cwd: str | None
    found: FoundCall | None = None

    def is_listed_elsewhere(self, known: AbstractSet[str]) -> bool:
        """Whether it is a copy, and the session that made it is among these."""
        return self.call.is_inherited and self.call.session in known


class IndexedStories:
    """The sessions of an index that are meant; those that do not fit the filters are not there."""

    def __init__(self, index: Index, *, agent: str | None, filters: Filters) -> None:
        self._database = index.database
        self._db = index.database.db
        self._filters = filters
        self.sessions = ScopedSessions(index.database, index.scope, agent=agent, look=index.look)
        self.n_not_understood = sum(one.not_understood for one in self.sessions.known)

    def say_what_is_not_readable(self) -> None:
        """As the reading of the logs would."""
        for path, what in dict(unreadable_logs(self._db, self.sessions.known)).items():
            talk(f"tracklog: {path}: {what}")

    @property
    def is_empty(self) -> bool:
        """Whether the index knows nothing of what is meant."""
        return not self.sessions.known and not self.sessions.apart

    def calls(self, verdicts: Sequence[str], *, with_models: bool) -> Iterator[CallInSession]:
        """The calls of the sessions that fit; a copy is left out where its original is listed."""
        known = self.sessions.ids
        for one in self.sessions:
            found = (
                self._known_calls(one, verdicts, with_models=with_models)
                if isinstance(one, KnownSession)
                else self._read_calls(one)
            )
            yield from (call for call in found if not (call.call.is_inherited and call.call.session in known))

    def _known_calls(
        self, one: KnownSession, verdicts: Sequence[str], *, with_models: bool
    ) -> Iterator[CallInSession]:
        from tracklog.sessions.tables_calls import ask_calls, models_of

        if not one.is_listed or not self._filters.fits(one):
            return
        models = models_of(self._db, one) if with_models else {}
        for found in ask_calls(self._db, one, verdicts=verdicts):
            request = found.call.request
            model = models.get(request) if request else None
            yield CallInSession(found.call, model, one.path or "", one.cwd, found)

    def _read_calls(self, files: SessionFiles) -> Iterator[CallInSession]:
        session = self._read(files)
        if session is not None:
            yield from calls_of(session)

    def _read(self, files: SessionFiles) -> Session | None:
        from tracklog.model.session_rules import is_about_a_file, is_listed

        session = self.sessions.read(files)
        self.n_not_understood += sum(not is_about_a_file(problem) for problem in session.problems)
        return session if is_listed(session) and self._filters.fits(session) else None

    def with_inputs(
        self, calls: Iterable[CallInSession], *, needs: Callable[[CallInSession], bool]
    ) -> Iterator[CallInSession]:
        """The same calls in the same order, those that need it with their inputs."""
        from tracklog.sessions.call_inputs import fill_inputs, logs_by_number
        from tracklog.sessions.tables_calls import offsets_of

        log_of = logs_by_number(self._database)
        rest = iter(calls)
        while some := list(islice(rest, _AT_ONCE)):
            without = [one.found for one in some if one.found is not None and needs(one)]
            if without:
                fill_inputs(without, log_of, lambda file, lines: offsets_of(self._db, file, lines))
            yield from some


def calls_of(session: Session) -> Iterator[CallInSession]:
    """The calls of a session that was read."""
    models = {request.id: request.model for request in session.requests}
    path = session.paths[0] if session.paths else ""
    for call in session.calls_by_thread:
        model = models.get(call.request) if call.request else None
        yield CallInSession(call, model, path, session.cwd)
