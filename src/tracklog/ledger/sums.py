"""Sums over requests, by group: counted first, priced once.

A price is linear in tokens, so requests of one group on the same rates are summed up and then priced: the result is the
same to the pico-dollar. Those of one file mostly are alike, so sums run over columns: no request is looked at alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import groupby
from operator import add, itemgetter
from typing import NamedTuple

import msgspec

from tracklog.clock import NO_TIME, moment_text
from tracklog.ledger.prices.rates import Rates, cost_pico_usd
from tracklog.ledger.pricing import Books
from tracklog.ledger.unlogged_spending import Statement
from tracklog.model.usage import NO_USAGE, Awaited, Group, Hidden, Sight, Tokens, UsageRow

NO_NAME = "(unknown)"
_DAY_MS = 86_400_000  # prices change at midnight (UTC), but for those that are lower at night
_N = 13  # numbers in a sum: eight of tokens, then these
_REQUESTS, _PARTIAL, _MISSING, _MORE_OUTPUT, _AWAITED = 8, 9, 10, 11, 12
_Kind = tuple[str, str | None, int]  # key, model, which rates
_Raw = tuple[int, ...]  # the fields of a sight
_OUTPUT, _INPUT, _WRITE, _READ, _FIRST_AT = map(
    Sight._fields.index, ("output", "input", "cache_write", "cache_read", "first_at")
)
_PLACES = [Sight._fields.index(name) for name in ("file", "model", "terms")]
_PLACE = itemgetter(*_PLACES)
_COLUMNS = [  # of a sight, in the order of Tokens
    Sight._fields.index(name) for name in Tokens.__struct_fields__
]


class _Together(NamedTuple):
    """Requests, and the same by field."""

    rows: list[_Raw]
    columns: list[_Raw]


class GroupKeys(NamedTuple):
    """The key of a request in a group: by its sight, or by its time alone."""

    of: Callable[[int, Sight], str]
    at: Callable[[int], str] | None = None
    is_by_model: bool = False


class GroupSums:
    """Sums of numbers for each group and each kind of price."""

    def __init__(self, books: Books, keys: GroupKeys) -> None:
        self._books = books
        self._ledger = books.ledger
        self._key_of, self._key_at, self._is_by_model = keys
        self._sums: dict[_Kind, list[int]] = {}
        self._times: dict[str, list[int]] = {}
        self._stated: dict[str, list[int]] = {}
        self._heirs: dict[str, int] = {}
        self._rates: dict[int, Rates | None] = {}  # by which: hashing them would cost more than all the rest
        self.compactions: list[Hidden] = []
        self.unpriced: dict[str, int] = {}

    def add_all(self) -> None:
        """Count all requests that match, those of one file on the same terms together."""
        number = 0
        for rows in self._ledger.raw_runs():
            for together in _on_the_same_terms(rows):
                self._add_together(number, together)
                number += len(together.rows)
        for number in sorted(self._ledger.asides):
            sight = self._ledger.sight(number)
            if sight.output >= 0 and self._books.is_wanted(sight):
                self._add_aside(number, self._key_of(number, sight), sight)

    def _add_together(self, number: int, together: _Together) -> None:
        file, model, terms = _PLACE(together.rows[0])
        names = self._ledger.names[file]
        for key, alike in self._by_key(number, together):
            self._add_alike(key, names[model] or None, terms=names[terms], alike=alike)

    def _by_key(self, number: int, together: _Together) -> Iterable[tuple[str, _Together]]:
        """The rows of each key and of each day on which prices may change; `number` is that of the first row."""
        key_of, key_at, books = self._key_of, self._key_at, self._books
        if key_at is not None and not books.asks:
            times = together.columns[_FIRST_AT]
            first, last = min(times), max(times)
            key = key_at(first)
            if first // _DAY_MS == last // _DAY_MS and key == key_at(
                last
            ):  # then all between are the same, too
                return [(key, together)]
        parts: dict[tuple[str, int], list[_Raw]] = {}
        for n, row in enumerate(together.rows, number):
            sight = Sight._make(row)
            if books.is_wanted(sight):
                parts.setdefault((key_of(n, sight), sight.first_at // _DAY_MS), []).append(row)
        return [(key, _together(rows)) for (key, _), rows in parts.items()]

    def _add_alike(self, key: str, model: str | None, *, terms: str, alike: _Together) -> None:
        """Count requests that have the same key, model, terms and day."""
        if self._books.is_hourly(model, terms) and len(alike.rows) > 1:
            for row in alike.rows:
                self._add_alike(key, model, terms=terms, alike=_together([row]))
            return
        times = alike.columns[_FIRST_AT]
        self._note_time(key, min(times))
        self._note_time(key, max(times))
        rates = self._books.rates(model, terms, times[0])
        for step, together in _by_step(rates, alike):
            self._sum_up(self._of(key, model, step), model, together)

    def _sum_up(self, sums: list[int], model: str | None, together: _Together) -> None:
        rows, columns = together
        sums[_REQUESTS] += len(rows)
        if min(columns[_OUTPUT]) < 0:
            seen = [row for row in rows if row[_OUTPUT] >= 0]
            sums[_MISSING] += len(rows) - len(seen)
            if not seen:
                return
            rows, columns = _together(seen)
        for n, column in enumerate(_COLUMNS):
            sums[n] += sum(columns[column])
        if not all(columns[-1]):
            most = self._books.most_output(model)
            cut = [row[_OUTPUT] for row in rows if not row[-1]]
            sums[_PARTIAL] += len(cut)
            sums[_MORE_OUTPUT] += sum([most - output for output in cut if output < most])

    def _add_aside(self, number: int, key: str, sight: Sight) -> None:
        aside = self._ledger.asides[number]
        if aside.stated_pico_usd is not None:
            stated = self._stated.setdefault(key, [0, 0])
            stated[0] += aside.stated_pico_usd
            stated[1] += 1
        for what, model, figures in aside.beside:
            tokens = Tokens(*figures)
            if what == "compaction":
                self._hide(sight, model or self._ledger.model_of(sight), tokens)
                continue
            key_of_it = (model or NO_NAME) if self._is_by_model else key
            rates = self._books.rates(model, "", sight.first_at)
            rates = step_of(rates, tokens.prompt) if rates is not None else None
            sums = self._of(key_of_it, model, rates)
            for n, figure in enumerate(figures):
                sums[n] += figure
            self._note_time(key_of_it, sight.first_at)

    def _hide(self, sight: Sight, model: str | None, tokens: Tokens) -> None:
        source = self._ledger.sources[sight.file]
        hidden = Hidden(
            session=self._ledger.session_of(sight),
            agent=source.agent,
            what="compaction inside a request",
            model=model,
            tokens=tokens,
            cost_pico_usd=self._books.cost(model, tokens, sight.first_at),
            at=moment_text(sight.first_at),
        )
        self.compactions.append(hidden)

    def await_one(self, file: int, awaited: Awaited) -> None:
        """Count a request that has no line."""
        sight = unseen(file, awaited)
        key = self._key_of(-1, sight)
        self._of(key, self._ledger.names[file][awaited.model] or None, None)[_AWAITED] += 1
        self._note_time(key, awaited.at)

    def note_heirs(self, group: Group) -> None:
        """Note how many requests of others each session holds copies of."""
        if group != "session" or not self._ledger.elsewhere:
            return
        for number, sight in enumerate(self._ledger.rows()):
            if number in self._ledger.elsewhere and self._books.is_wanted(sight):
                owner = self._ledger.session_of(sight)
                for heir in self._ledger.heirs_of(number):
                    if heir != owner:
                        self._heirs[heir] = self._heirs.get(heir, 0) + 1

    def note_statements(self, statements: dict[str, Statement]) -> None:
        """Replace what the records of a session state by the client's own total; the rows are sessions."""
        for session in statements.keys() & {key for key, _, _ in self._sums}:
            self._stated[session] = [statements[session].cost_pico_usd, statements[session].requests]

    def _of(self, key: str, model: str | None, rates: Rates | None) -> list[int]:
        kind = (key, model, id(rates))
        sums = self._sums.get(kind)
        if sums is None:
            sums = self._sums[kind] = [0] * _N
            self._rates[id(rates)] = rates
        return sums

    def _note_time(self, key: str, at: int) -> None:
        if at == NO_TIME:
            return
        span = self._times.get(key)
        if span is None:
            self._times[key] = [at, at]
        elif at < span[0]:
            span[0] = at
        elif at > span[1]:
            span[1] = at

    def rows(self) -> tuple[list[UsageRow], UsageRow]:
        """The rows by key, and their sum."""
        found = {
            key: UsageRow(key=key) for key in sorted({kind[0] for kind in self._sums} | self._heirs.keys())
        }
        total = UsageRow(key="total")
        for (key, model, which), sums in self._sums.items():
            _put(found[key], self._part(model, self._rates[which], sums))
        for key, row in found.items():
            span = self._times.get(key)
            if span is not None:
                row.first_at, row.last_at = moment_text(span[0]), moment_text(span[1])
            row.stated_pico_usd, row.stated_requests = self._stated.get(key, [0, 0])
            row.inherited_requests = self._heirs.get(key, 0)
            _put(total, row)
            total.stated_pico_usd += row.stated_pico_usd
            total.stated_requests += row.stated_requests
            total.inherited_requests += row.inherited_requests
        if self._times:
            total.first_at = moment_text(min(span[0] for span in self._times.values()))
            total.last_at = moment_text(max(span[1] for span in self._times.values()))
        return list(found.values()), total

    def _part(self, model: str | None, rates: Rates | None, sums: list[int]) -> UsageRow:
        tokens = Tokens(*sums[:8])
        n_seen = sums[_REQUESTS] - sums[_MISSING]
        part = UsageRow(
            key="",
            requests=sums[_REQUESTS],
            tokens=tokens,
            partial_requests=sums[_PARTIAL],
            missing_requests=sums[_MISSING] + sums[_AWAITED],
            awaited_requests=sums[_AWAITED],
            most_output=tokens.output + sums[_MORE_OUTPUT],
            models=[model] if model else [],
        )
        if rates is None:
            part.unpriced_requests = n_seen
            if n_seen:
                self.unpriced[model or NO_NAME] = self.unpriced.get(model or NO_NAME, 0) + n_seen
            return part
        rates = msgspec.structs.replace(rates, above=None, higher=None)  # the sizes were looked at before
        part.cost_pico_usd = cost_pico_usd(tokens, rates)
        part.most_cost_pico_usd = part.cost_pico_usd + sums[_MORE_OUTPUT] * rates.output
        uncached = Tokens(input=tokens.prompt, output=tokens.output, web_searches=tokens.web_searches)
        part.uncached_cost_pico_usd = cost_pico_usd(uncached, rates)
        return part


def _put(row: UsageRow, part: UsageRow) -> None:
    row.tokens = added(row.tokens, part.tokens)
    row.requests += part.requests
    row.cost_pico_usd += part.cost_pico_usd
    row.unpriced_requests += part.unpriced_requests
    row.partial_requests += part.partial_requests
    row.missing_requests += part.missing_requests
    row.awaited_requests += part.awaited_requests
    row.most_output += part.most_output
    row.most_cost_pico_usd += part.most_cost_pico_usd
    row.uncached_cost_pico_usd += part.uncached_cost_pico_usd
    row.models = sorted({*row.models, *part.models})


def added(one: Tokens, other: Tokens) -> Tokens:
    """The sum of two."""
    return Tokens(*map(add, msgspec.structs.astuple(one), msgspec.structs.astuple(other)))


def _together(rows: list[_Raw]) -> _Together:
    return _Together(rows, list(zip(*rows, strict=True)))


def _on_the_same_terms(rows: list[_Raw]) -> Iterable[_Together]:
    """Runs of rows with the same file, model and terms: mostly all."""
    if not rows:
        return []
    together = _together(rows)
    places = map(together.columns.__getitem__, _PLACES)
    if all(column.count(column[0]) == len(rows) for column in places):
        return [together]
    return [_together(list(alike)) for _, alike in groupby(rows, key=_PLACE)]


def _by_step(rates: Rates | None, together: _Together) -> Iterable[tuple[Rates | None, _Together]]:
    """The rows of each step, where a price depends on the size of a request."""
    if rates is None or rates.above is None:
        return [(rates, together)]
    columns = together.columns
    sizes = list(map(sum, zip(columns[_INPUT], columns[_WRITE], columns[_READ], strict=True)))
    if max(sizes) <= rates.above:
        return [(rates, together)]
    by_step: dict[int, tuple[Rates, list[_Raw]]] = {}
    for row, size in zip(together.rows, sizes, strict=True):
        step = step_of(rates, size)
        by_step.setdefault(id(step), (step, []))[1].append(row)
    return [(step, _together(rows)) for step, rows in by_step.values()]


def step_of(rates: Rates, prompt: int) -> Rates:
    """The step of a price that a prompt of this size has."""
    while rates.above is not None and rates.higher is not None and prompt > rates.above:
        rates = rates.higher
    return rates


def unseen(file: int, awaited: Awaited) -> Sight:
    """A request that left no line, at the place of its missing answer."""
    spent = (NO_USAGE, awaited.at, file, awaited.offset, *[0] * 7, awaited.model, 0, False)
    first = (awaited.at, file, awaited.offset, False, False, False, 0, 0)
    return Sight._make((*spent, *first, False))
