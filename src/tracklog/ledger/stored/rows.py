"""Turn a ledger into rows of the index.

Rules
  1. Rows say what the ledger says, with files named by their numbers in the index.
  2. Nothing in a component depends on anything outside of it: not whose a request is, not what is hidden.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

import msgspec

from tracklog.clock import NO_TIME
from tracklog.ledger.ledger import Ledger, give_to_eldest, marks_of
from tracklog.ledger.prices.rates import Prices
from tracklog.ledger.pricing import Books, RequestFilter, terms_of
from tracklog.ledger.report import public_id
from tracklog.ledger.stored.tables import EntryRow, TotalRow
from tracklog.ledger.stored.tables_sums import QUARTER_MS, Kind, Pile, StepOf
from tracklog.ledger.unlogged_spending import hidden_in
from tracklog.model.usage import Aside, Hidden, Sight, Source, UsageBlock
from tracklog.store.surrogates import storable

_hidden = msgspec.msgpack.Encoder().encode
_Parents = Mapping[str, str]


class LedgerInRows:
    """A settled ledger whose files have numbers in the index."""

    def __init__(self, ledger: Ledger, files: Sequence[int], prices: Prices) -> None:
        self._ledger = ledger
        self._files = files  # by their numbers in the ledger
        self._prices = prices

    def entries(self) -> Iterator[EntryRow]:
        """A row for each request."""
        ledger, files = self._ledger, self._files
        session_of = [storable(source.session) for source in ledger.sources]
        thread_of = cache(self._thread)
        asides, elsewhere = ledger.asides, ledger.elsewhere
        for number, (key, row) in enumerate(zip(ledger.keys(), ledger.raw_rows(), strict=True)):
            output, _, file, offset, input, write, short, long, read, reasoning, searches = row[:11]
            model, terms, _, first_at, first_file, _, _, _, _, thread, entrypoint, has_ended = row[11:]
            names = ledger.names[file]
            made = EntryRow(
                files[first_file],
                self._key(key, row, files[file]),
                ledger.sources[first_file].agent,
                session_of[first_file],
                thread_of(first_file, thread),
                None if first_at == NO_TIME else first_at,
                names[model] or None,
                names[terms],
                ledger.names[first_file][entrypoint] or None,
                "missing" if output < 0 else "final" if has_ended else "partial",
                input,
                max(output, 0),
                reasoning,
                write,
                short,
                long,
                read,
                searches,
                files[file],
                offset,
            )
            if number in asides:
                made = _with_aside(made, asides[number])
            if number in elsewhere and (heirs := ledger.heirs_of(number)):
                owner = ledger.sources[first_file].session
                made = made._replace(inherited_by=json.dumps([heir for heir in heirs if heir != owner]))
            yield made

    def _key(self, key: bytes, row: tuple[int, ...], id: int) -> str:
        """The key of a request; one without an id is named by the number of its log in the index."""
        sight = Sight._make(row)
        if key == b"%d:%d" % (sight.file, sight.offset):
            return f"{id}:{sight.offset}"
        return public_id(self._ledger, key, sight, self._ledger.sources[sight.first_file].session)

    def _thread(self, file: int, name: int) -> str:
        return str(storable(self._ledger.names[file][name] or self._ledger.sources[file].thread))

    def wait(self, pile: Pile) -> None:
        """Add the requests that have no line."""
        for number, awaited in self._ledger.awaited.items():
            at = None if awaited.at == NO_TIME else awaited.at
            quarter = None if at is None else at // QUARTER_MS
            model = self._ledger.names[number][awaited.model] or None
            kind = Kind(
                self._files[number], quarter, self._thread(number, 0), None, model, "", is_awaited=True
            )
            pile.wait(kind, at)

    def totals(self, components: Sequence[int]) -> list[TotalRow]:
        """Rows of the clients' totals, at the current prices; each log has its component."""
        sources = self._ledger.sources
        component_of = {source.session: top for source, top in zip(sources, components, strict=True)}
        books = Books(self._ledger, self._prices, RequestFilter())
        found, statements = hidden_in(self._ledger, books.cost)
        by_session: dict[str, list[Hidden]] = {sources[file].session: [] for file in self._ledger.totals}
        for one in found:
            by_session[one.session].append(one)
        return [
            TotalRow(
                storable(session),
                component_of[session],
                _hidden(hidden),
                *statements.get(session, (None, None)),
            )
            for session, hidden in by_session.items()
        ]


def steps_of(prices: Prices) -> StepOf:
    """The step of the price that applies to a prompt; 0 where a model's price has none."""
    borders = cache(lambda model, terms: prices.borders(model, terms_of(terms)))
    return lambda model, terms, prompt: bisect_left(borders(model, terms), prompt)


def ledger_of(
    sources: Sequence[Source], blocks: Iterable[UsageBlock], parents: _Parents | None = None
) -> Ledger:
    """A ledger from stored blocks; `parents`, if known, decide who owns shared requests."""
    ledger = Ledger(sources)
    for block in sorted(blocks, key=lambda block: block.file):
        ledger.take(block)
    ledger.settle()
    if parents is not None:
        give_to_eldest(ledger, parents)
    return ledger


def components_of(
    sources: Sequence[Source], blocks: Iterable[UsageBlock], families: Mapping[tuple[str, str], str]
) -> list[int]:
    """For each log the first one of its component: those that share a request, a session or a history."""
    top = list(range(len(sources)))

    def top_of(n: int) -> int:
        while top[n] != n:
            top[n] = n = top[top[n]]
        return n

    def join(n: int, name: object) -> None:
        one, other = top_of(first.setdefault(name, n)), top_of(n)
        top[max(one, other)] = min(one, other)

    first: dict[object, int] = {}
    for n, source in enumerate(sources):
        join(n, source.session)
        family = families.get((source.agent, source.session))
        if family is not None:
            join(n, ("family", family))
    for block in blocks:
        for mark in marks_of(block):
            join(block.file, mark)
    return [top_of(n) for n in range(len(sources))]


def _with_aside(entry: EntryRow, aside: Aside) -> EntryRow:
    return entry._replace(
        stated_pico_usd=aside.stated_pico_usd,
        tools=json.dumps(aside.tools) if aside.tools else None,
        beside=json.dumps(aside.beside) if aside.beside else None,
    )
