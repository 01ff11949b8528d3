"""Sessions and calls as lists show them, from the index.

Rules of this room
  1. The answer is the one that reading the logs gives; sessions that only the archive has are in it, too.
  2. Inputs are read from the log, and only those of calls that are shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from datetime import UTC
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from tracklog.app.index.open import Index
from tracklog.app.old_lists.in_scope import ScopedSessions
from tracklog.app.scope.filters import Filters
from tracklog.ledger.cost_sums import CostSum, sums_by_session, sums_in
from tracklog.ledger.pricing import RequestFilter
from tracklog.sessions.tables_lists import KnownSession, listed_sessions, logs_beside, unreadable_logs
from tracklog.views.documents.sessions import Row, cost_row, listed_row, period_row, session_row
from tracklog.views.text.printing import talk

if TYPE_CHECKING:
    from tracklog.ledger.prices.rates import Prices
    from tracklog.model.session import Call, Session
    from tracklog.reading.session_files import SessionFiles
    from tracklog.sessions.tables_calls import FoundCall

_FEW = 300  # sessions whose costs are asked for one by one
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

    def rows(self) -> Iterator[tuple[KnownSession | Row, str | None]]:
        """The sessions that fit, each with its last time; the row of those that had to be read."""
        for one in self.sessions:
            if isinstance(one, KnownSession):
                if one.is_listed and self._filters.fits(one):
                    yield one, one.last_at
            elif session := self._read(one):
                yield session_row(session, only_here=one.is_only_here), session.last_at

    def rows_of(self, chosen: Sequence[KnownSession | Row]) -> list[Row]:
        """The whole rows of these, in the same order."""
        numbers = [one.row for one in chosen if isinstance(one, KnownSession)]
        listed = dict(zip(numbers, listed_sessions(self._db, numbers), strict=True))
        return [
            listed_row(self._as_now(one, listed[one.row].facts), only_here=listed[one.row].only_here)
            if isinstance(one, KnownSession)
            else one
            for one in chosen
        ]

    def _as_now(self, one: KnownSession, facts: Row) -> Row:
        """What a list tells of a session, in the state in which it is now."""
        state = self.sessions.states.get((one.agent, one.id))
        return facts if state is None else {**facts, "state": state.state, "evidence": state.evidence}

    def add_costs(self, rows: Sequence[Row], prices: Prices) -> None:
        """Writes into the rows of sessions what each of them cost, in whole and in the period that is asked for."""
        apart = {(one.agent, one.id) for one in self.sessions.apart}
        wholes = self._costs(rows, prices, RequestFilter())
        periods = (
            self._costs(rows, prices, self._filters.requests_meant) if self._filters.has_period else None
        )
        for row in rows:
            n = int((row["agent"], row["id"]) in apart)
            row |= cost_row((wholes[n] or {}).get(row["id"], CostSum()))
            row |= period_row(row["id"], periods[n] if periods is not None else None)

    def _costs(
        self, rows: Sequence[Row], prices: Prices, wanted: RequestFilter
    ) -> tuple[dict[str, CostSum] | None, dict[str, CostSum]]:
        """What the requests that are meant came to: of sessions that the index knows, and of those that were read."""
        return self._costs_of_known(rows, prices, wanted), self._costs_of_apart(prices, wanted)

    def _costs_of_known(
        self, rows: Sequence[Row], prices: Prices, wanted: RequestFilter
    ) -> dict[str, CostSum] | None:
        """From the ledger; None if that was never settled (another process writes the index)."""
        from tracklog.ledger.stored.freshness import was_settled
        from tracklog.ledger.stored.query import LedgerQuery, report_of

        if not was_settled(self._db):
            return None
        files = None if len(rows) > _FEW else logs_beside(self._db, {row["id"] for row in rows})
        made, _ = report_of(self._db, prices, LedgerQuery("session", UTC, wanted), files)
        return sums_in(made)

    def _costs_of_apart(self, prices: Prices, wanted: RequestFilter) -> dict[str, CostSum]:
        if not self.sessions.apart:
            return {}
        from tracklog.ledger.scan import spent_in

        return sums_by_session(spent_in(self.sessions.apart), prices, wanted)

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
