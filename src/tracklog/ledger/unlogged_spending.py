"""Spending that no transcript holds: the client's own totals, less all that its logs count.

Late clients write their running totals into the log (`cost-state`). They count requests of which no line is kept:
the summary that /compact asks for, and what the web search tool asks a model.

Rules
  1. Totals count what a session holds: also what it copied from its parent, and what the parent's logs hide. Both are
     the parent's, and taken off.
  2. Totals are compared with what comes before them: what a later process did is not in them.
  3. A process that was killed leaves requests in the log that are in no totals, and so does an earlier client. Where
     the log still has more than the totals, their unlogged part is unknown, and nothing is claimed.
  4. An answer that a person interrupted is in the totals or not, and its lines may come after them (2.1.326). Output
     that is missing beside such an answer is its own, and is within its bounds.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator
from operator import add, sub
from typing import NamedTuple, Protocol

import msgspec

from tracklog.clock import NO_TIME, moment_ms, moment_text
from tracklog.ledger.ledger import Ledger
from tracklog.model.usage import ClientTotals, Hidden, Sight, Tokens


class CostFunction(Protocol):
    """Cost of some tokens."""

    def __call__(self, model: str | None, tokens: Tokens, at: int, *, terms: str = "") -> int | None: ...


_Figures = tuple[
    int, ...
]  # input, output, cache write, cache read, searches, and of the writes 5 minutes and 1 hour
_NOTHING: _Figures = (0,) * 7
_SURE = 5  # every client states so many figures


class Statement(NamedTuple):
    """The cost of a session as the client states it, and of how many requests in its log."""

    cost_pico_usd: int
    requests: int


def hidden_in(
    ledger: Ledger, cost: CostFunction, *, is_what_if: bool = False
) -> tuple[list[Hidden], dict[str, Statement]]:
    """Find spending in totals beyond the logs, and the stated cost of each session.

    Unlogged spending is the client's total less the known costs; a what-if query prices its tokens instead.
    """
    if not ledger.totals:
        return [], {}
    told = _Told(ledger, cost)
    hidden: dict[str, list[Hidden]] = {}
    statements: dict[str, Statement] = {}
    for session in told.parents_first():
        inherited = [one for parent in sorted(told.parents[session]) for one in hidden.get(parent, [])]
        _, totals = told.totals[session]
        hidden[session] = list(_beyond(told, session, totals, inherited))
        if is_what_if:
            hidden[session] = [repriced(one, cost) for one in hidden[session]]
        if totals.cost_pico_usd is not None:
            others = sum(one.cost_pico_usd or 0 for one in inherited) + told.copied_pico_usd[session]
            statements[session] = Statement(max(totals.cost_pico_usd - others, 0), told.n_own[session])
    return [one for found in hidden.values() for one in found], statements


class _Known:
    """What the log of a session counts for a model, as far as its totals include it."""

    def __init__(self) -> None:
        self.ended: _Figures = _NOTHING
        self.cut: _Figures = _NOTHING
        self.behind: _Figures = _NOTHING  # of an answer that was cut, and is written behind the totals
        self.cost_pico_usd = 0
        self.behind_pico_usd = 0
        self.last_at = NO_TIME


class _Told:
    """What the logs of all sessions with totals count."""

    def __init__(self, ledger: Ledger, cost: CostFunction) -> None:
        self.ledger = ledger
        self.totals: dict[str, tuple[int, ClientTotals]] = {}
        for file, totals in sorted(ledger.totals.items(), key=_rank, reverse=True):
            self.totals[ledger.sources[file].session] = (file, totals)
        self.known: dict[tuple[str, str], _Known] = defaultdict(_Known)
        self.parents: dict[str, set[str]] = defaultdict(set)
        self.n_own: dict[str, int] = defaultdict(int)
        self.copied_pico_usd: dict[str, int] = defaultdict(int)
        self._cost = cost
        files = [n for n, source in enumerate(ledger.sources) if source.session in self.totals]
        self._ends = self._first_behind(sight for _, sight in ledger.rows_in(ledger.totals))
        for number, sight in ledger.rows_in(files):
            self._see(number, sight)

    def parents_first(self) -> list[str]:
        """The sessions with totals, each behind those that it was forked from."""
        ordered: dict[str, None] = {}
        entered: set[str] = set()
        for start in sorted(self.totals):
            waiting = [start]
            while waiting:
                session = waiting[-1]
                first = [
                    one for one in sorted(self.parents[session]) if one in self.totals and one not in entered
                ]
                if session in entered or not first:
                    ordered.setdefault(waiting.pop())
                else:
                    waiting += first
                entered.add(session)
        return list(ordered)

    def _first_behind(self, rows: Iterable[Sight]) -> dict[str, int]:
        """The time of the first request behind a session's totals."""
        files = {file: (session, totals.offset) for session, (file, totals) in self.totals.items()}
        ends: dict[str, int] = {}
        for sight in rows:
            session, offset = files.get(sight.first_file, ("", sight.first_offset))
            if sight.first_offset > offset and sight.first_at != NO_TIME:
                ends[session] = min(ends.get(session, sight.first_at), sight.first_at)
        return ends

    def _see(self, number: int, sight: Sight) -> None:
        if sight.output < 0:
            return
        owner = self.ledger.session_of(sight)
        for session in {owner, *self.ledger.heirs_of(number)}:
            if session in self.totals and self._is_counted(sight, session, owner=owner):
                self._tell(number, sight, session, owner=owner)
            elif session in self.totals and self._is_cut_behind(sight, session):
                self._tell_behind(sight, session)

    def _is_counted(self, sight: Sight, session: str, *, owner: str) -> bool:
        file, totals = self.totals[session]
        at = sight.first_at
        if owner == session and _is_within(at, totals.apart):
            return False
        if sight.first_file == file:
            return sight.first_offset < totals.offset
        return session not in self._ends or at < self._ends[session]

    def _is_cut_behind(self, sight: Sight, session: str) -> bool:
        """Whether it is the first request behind the totals, and has no end."""
        file, totals = self.totals[session]
        is_behind = sight.first_file == file and sight.first_offset > totals.offset
        return is_behind and not sight.has_ended and sight.first_at == self._ends.get(session)

    def _tell_behind(self, sight: Sight, session: str) -> None:
        model, terms = self.ledger.model_of(sight), self.ledger.names[sight.file][sight.terms]
        known = self.known[session, plain(model)]
        known.behind = _figures(sight.tokens)
        known.behind_pico_usd = self._cost(model, sight.tokens, sight.first_at, terms=terms) or 0

    def _tell(self, number: int, sight: Sight, session: str, *, owner: str) -> None:
        aside = self.ledger.asides.get(number)
        terms = self.ledger.names[sight.file][sight.terms]
        parts = [(self.ledger.model_of(sight), sight.tokens, terms)]
        for what, name, figures in aside.beside if aside else []:
            if what == "advisor":
                parts.append((name, Tokens(*figures), ""))
        for name, tokens, on in parts:
            spent = self._cost(name, tokens, sight.first_at, terms=on) or 0
            _add(self.known[session, plain(name)], sight, tokens, spent)
            if owner != session:
                self.copied_pico_usd[session] += spent
        if owner == session:
            self.n_own[session] += 1
        else:
            self.parents[session].add(owner)


def _is_within(at: int, spans: list[tuple[int, int]]) -> bool:
    """Whether a time lies in one of the spans, which are in order."""
    n = bisect_left(spans, (at, at)) - 1
    return n >= 0 and spans[n][0] < at < spans[n][1]


def _rank(stated: tuple[int, ClientTotals]) -> tuple[int, int]:
    """A session may have several files: its largest totals count, in the first file that has them."""
    file, totals = stated
    return -(totals.cost_pico_usd or 0), file


def _add(known: _Known, sight: Sight, tokens: Tokens, spent: int) -> None:
    if sight.has_ended:
        known.ended = _plus(known.ended, _figures(tokens))
    else:
        known.cut = _plus(known.cut, _figures(tokens))
    known.cost_pico_usd += spent
    known.last_at = max(known.last_at, sight.first_at)


def _beyond(told: _Told, session: str, totals: ClientTotals, inherited: list[Hidden]) -> Iterator[Hidden]:
    for name, (numbers, cost_pico_usd) in sorted(totals.models.items()):
        known = told.known.get((session, plain(name)), _Known())
        figures, cost = _figures(Tokens(*numbers)), cost_pico_usd
        for one in inherited:
            if plain(one.model) == plain(name):
                figures = _minus(figures, _figures(one.tokens))
                cost = None if cost is None else cost - (one.cost_pico_usd or 0)
        rest, known_pico_usd = _rest(figures, known)
        if not any(rest[:_SURE]) or (_is_output_alone(rest) and any(_plus(known.cut, known.behind))):
            continue
        input, output, write, read, searches, short, long = (max(figure, 0) for figure in rest)
        yield Hidden(
            session=session,
            agent=told.ledger.sources[told.totals[session][0]].agent,
            what="web search" if searches else "requests that no transcript holds, such as /compact",
            model=name,
            tokens=Tokens(input, output, 0, write, short, long, read, searches),
            cost_pico_usd=None if cost is None else max(cost - known_pico_usd, 0),
            at=moment_text(known.last_at),
        )


def _rest(figures: _Figures, known: _Known) -> tuple[_Figures, int]:
    """Totals beyond the log, with or without the answers that were cut, as the client counted; and the known cost."""
    cut, spent = _plus(known.ended, known.cut), known.cost_pico_usd
    ways = ((_plus(cut, known.behind), spent + known.behind_pico_usd), (cut, spent), (known.ended, spent))
    for counted, cost in ways:
        rest = _minus(figures, counted)
        if min(rest[:_SURE]) >= 0:
            return rest, cost
    return _NOTHING, spent


def _is_output_alone(rest: _Figures) -> bool:
    input, _, *others = rest[:_SURE]
    return not (input or any(others))


def repriced(hidden: Hidden, cost: CostFunction) -> Hidden:
    """The same at other prices."""
    return msgspec.structs.replace(
        hidden, cost_pico_usd=cost(hidden.model, hidden.tokens, moment_ms(hidden.at))
    )


def hidden_rank(hidden: Hidden) -> tuple[object, ...]:
    """The order in which hidden spending is listed: it depends on nothing but itself."""
    tokens = msgspec.structs.astuple(hidden.tokens)
    return hidden.session, hidden.what, hidden.model or "", hidden.at or "", tokens


def plain(model: str | None) -> str:
    """The name of a model without the mark of a long context, which only totals have."""
    return (model or "").removesuffix("[1m]")


def _figures(tokens: Tokens) -> _Figures:
    sure = (tokens.input, tokens.output, tokens.cache_write, tokens.cache_read, tokens.web_searches)
    return (*sure, tokens.cache_write_5m, tokens.cache_write_1h)


def _plus(one: _Figures, other: _Figures) -> _Figures:
    return tuple(map(add, one, other))


def _minus(one: _Figures, other: _Figures) -> _Figures:
    return tuple(map(sub, one, other))
