"""Make a usage report from sums in the index; only the edges of a time range need single requests."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from functools import cache
from operator import add
from sqlite3 import Connection
from typing import NamedTuple

import msgspec

from tracklog.clock import NO_TIME, moment_text
from tracklog.ledger.blocks import block_starts
from tracklog.ledger.ledger import Ledger
from tracklog.ledger.prices.rates import Prices
from tracklog.ledger.pricing import Books, RequestFilter, first_folders, terms_of
from tracklog.ledger.report import NO_DAY, by_time
from tracklog.ledger.stored import tables, tables_sums
from tracklog.ledger.stored.freshness import state_with
from tracklog.ledger.stored.rows import steps_of
from tracklog.ledger.stored.tables import EntryRow
from tracklog.ledger.stored.tables_sums import QUARTER_MS, Cut, Pile, SumFilter, SumRow
from tracklog.ledger.sums import NO_NAME, GroupKeys, GroupSums, step_of
from tracklog.ledger.unlogged_spending import Statement, hidden_rank, repriced
from tracklog.model.session_rules import last_part
from tracklog.model.usage import Group, Hidden, Tokens, UsageReport
from tracklog.store.scope import Files

_QUARTERS = 96  # in a day
_QUARTER_S = 900
_BY_TIME = ("daily", "weekly", "monthly")
_decode_hidden = msgspec.msgpack.Decoder(list[Hidden]).decode


class SumsTellNothing(Exception):  # noqa: N818 - what they do, not a mistake
    """A question that only single requests answer."""


class Needed(NamedTuple):
    """The question."""

    group: Group
    zone: tzinfo
    wanted: RequestFilter
    as_model: str | None = None
    as_of: datetime | None = None

    @property
    def is_what_if(self) -> bool:
        """Whether the query asks for a hypothetical cost."""
        return self.as_model is not None or self.as_of is not None


class _Time(NamedTuple):
    """From when till when, in milliseconds; None: without an end."""

    since: int | None
    until: int | None


def report_from_sums(
    db: Connection, prices: Prices, needed: Needed, files: Files | None
) -> tuple[UsageReport, dict[str, str]]:
    """The same as `ledger.report`, and the folders of sessions where they are needed. Raises SumsTellNothing."""
    return _Asking(db, prices, needed, files).report()


class _StoredSums(GroupSums):
    """Sums that are given in sums already."""

    def add(self, key: str, row: SumRow, prompt: int) -> None:
        """Count requests that are alike; `prompt` is a size that costs as much as theirs."""
        books = self._books
        at = NO_TIME if row.quarter is None else row.quarter * QUARTER_MS
        rates = books.rates(row.model, row.terms, at)
        if rates is not None:
            rates = step_of(rates, prompt)
        sums = self._of(key, row.model, rates)
        sums[:] = map(add, sums, (*row[8:19], self._more_output(row), row.awaited))
        if row.first_ms is not None and row.last_ms is not None:
            self._note_time(key, row.first_ms)
            self._note_time(key, row.last_ms)
        if row.stated_requests:
            stated = self._stated.setdefault(key, [0, 0])
            stated[0] += row.stated_pico_usd
            stated[1] += row.stated_requests

    def _more_output(self, row: SumRow) -> int:
        """Upper bound of the missing output of partial requests."""
        if not row.partial:
            return 0
        most = self._books.most_output(row.model)
        if row.longest > most:
            raise SumsTellNothing
        return row.partial * most - row.partial_output

    def inherit(self, heirs: Iterable[str]) -> None:
        """Count copies."""
        for heir in heirs:
            self._heirs[heir] = self._heirs.get(heir, 0) + 1


class _Asking:
    """One question."""

    def __init__(self, db: Connection, prices: Prices, needed: Needed, files: Files | None) -> None:
        self._db = db
        self._needed = needed
        self._files = files
        self._totals = tables.totals_in(db)
        self._refuse_if_settled_otherwise(prices)
        self._step_of = steps_of(prices)
        wanted = needed.wanted
        self._books = Books(Ledger([]), prices, wanted, as_model=needed.as_model, as_of=needed.as_of)
        self._borders = cache(lambda model, terms: prices.borders(model, terms_of(terms)))
        self._has_sessions = needed.group in ("session", "project") or wanted.is_project is not None
        if self._has_sessions:
            self._books.projects = first_folders(self._cwds()) | tables.folders_in(db)
        self._time = _Time(_ms(wanted.since), _ms(wanted.until))
        if self._time.since is not None and self._time.since < 0:
            raise SumsTellNothing  # before all times, where those without one lie

    def _refuse_if_settled_otherwise(self, prices: Prices) -> None:
        """Steps of prices and hidden spending depend on the prices with which the ledger was settled."""
        if tables.state_of(self._db).get("prices") != state_with(prices)["prices"]:
            raise SumsTellNothing
        if self._needed.group == "session" and self._needed.is_what_if and self._totals:
            raise SumsTellNothing

    def _cwds(self) -> Iterator[tuple[str, str]]:
        """Sessions and folders, those count that come first."""
        for file, session, cwd in tables.cwds_in(self._db):
            if self._files is None or file in self._files.ids:
                yield session, cwd

    def report(self) -> tuple[UsageReport, dict[str, str]]:
        """The answer."""
        books, group = self._books, self._needed.group
        sums = _StoredSums(books, GroupKeys(lambda *_: ""))
        key_of = self._keys()
        for row in self._rows():
            if self._is_meant(row):
                sums.add(key_of(row), row, self._prompt(row))
        more = [entry for entry in tables.entries_with_more(self._db) if self._is_entry_meant(entry)]
        if group == "session":
            sums.inherit(heir for entry in more for heir in json.loads(entry.inherited_by or "[]"))
        hidden, statements = self._of_totals()
        if group == "session" and not books.asks_for_parts:
            sums.note_statements(statements)
        rows, total = sums.rows()
        hidden += [one for entry in more for one in self._compactions(entry)]
        made = UsageReport(
            group=group,
            rows=rows,
            total=total,
            hidden=sorted((one for one in hidden if books.is_hidden_wanted(one)), key=hidden_rank),
            untimed_requests=0
            if self._time == (None, None)
            else tables_sums.untimed_in(self._db, self._part()),
            unpriced_models=dict(sorted(sums.unpriced.items())),
        )
        return made, books.projects

    def _prompt(self, row: SumRow) -> int:
        """A size of a prompt that leads to the step of a row."""
        if not row.step:
            return 0
        return self._borders(row.model, row.terms)[row.step - 1] + 1

    def _part(self) -> SumFilter:
        return SumFilter(None if self._files is None else self._files.ids)

    def _keys(self) -> Callable[[SumRow], str]:
        group, zone = self._needed.group, self._needed.zone
        if group in _BY_TIME:
            at = by_time(zone, group).at
            assert at is not None
            return lambda row: NO_DAY if row.quarter is None else at(row.quarter * QUARTER_MS)
        if group == "blocks":
            quarters = tables_sums.quarters_in(self._db, self._part())
            starts = dict(zip(quarters, block_starts([one * QUARTER_MS for one in quarters]), strict=True))
            return lambda row: NO_DAY if row.quarter is None else moment_text(starts[row.quarter]) or NO_DAY
        if group == "project":
            return self._project
        if group == "model":
            return lambda row: row.model or NO_NAME
        return (lambda row: row.session or "") if group == "session" else (lambda row: row.key or NO_NAME)

    def _project(self, row: SumRow) -> str:
        folder = self._books.projects.get(row.session or "")
        return last_part(folder) if folder else NO_NAME

    def _cut(self) -> Cut:
        group, books = self._needed.group, self._books
        models = tables_sums.models_in(self._db)
        is_hourly = any(books.is_hourly(model, terms) for model, terms in models)
        days = self._days() if group in _BY_TIME else []
        if self._needed.as_model is not None and any(books.borders(*kind) for kind in models):
            raise SumsTellNothing  # the sums know the steps of their own models
        return Cut(
            group,
            _offsets(days, self._needed.zone),
            has_sessions=self._has_sessions,
            has_askers=bool(self._needed.wanted.model),
            is_by_quarter=is_hourly or group == "blocks",
        )

    def _days(self) -> list[int]:
        """The days with requests, in the period or at its edges."""
        since, until = self._time
        behind = None if until is None else until + QUARTER_MS
        return tables_sums.days_in(self._db, self._part()._replace(since_ms=since, until_ms=behind))

    def _rows(self) -> list[SumRow]:
        """All sums of the period."""
        cut = self._cut()
        since, until = self._time
        first = None if since is None else -(-since // QUARTER_MS) * QUARTER_MS
        behind = None if until is None else until // QUARTER_MS * QUARTER_MS
        rows: list[SumRow] = []
        if first is None or behind is None or first < behind:
            whole = self._part()._replace(since_ms=first, until_ms=behind)
            rows += tables_sums.sums_by(self._db, cut, whole)
        for part in _edges(since, until, first, behind):
            rows += tables_sums.sums_of(self._db, self._at_the_edge(*part), cut)
        return rows

    def _at_the_edge(self, first_ms: int, behind_ms: int) -> Pile:
        """Of a part of a quarter, requests are summed up one by one."""
        pile = Pile(self._step_of)
        for entry in tables.entries_at(self._db, first_ms, behind_ms):
            if self._files is None or entry.file in self._files.ids:
                pile.add(entry)
        for kind, at in tables_sums.awaited_at(self._db, first_ms, behind_ms):
            if self._files is None or kind.file in self._files.ids:
                pile.wait(kind, at)
        return pile

    def _is_meant(self, row: SumRow) -> bool:
        """Whether a row passes the filters, except those of time, which the caller checks."""
        wanted = self._needed.wanted
        model = row.model if row.asked_by is None else row.asked_by
        if wanted.model and wanted.model.lower() not in (model or "").lower():
            return False
        return wanted.is_project is None or self._books.is_in_project(row.session or "")

    def _is_entry_meant(self, entry: EntryRow) -> bool:
        at = NO_TIME if entry.at_ms is None else entry.at_ms
        is_here = self._files is None or entry.file in self._files.ids
        return is_here and self._books.fits(at, entry.model, entry.session)

    def _of_totals(self) -> tuple[list[Hidden], dict[str, Statement]]:
        hidden: list[Hidden] = []
        statements: dict[str, Statement] = {}
        for row in self._totals:
            if self._files is not None and row.session not in self._files.sessions:
                continue
            found = _decode_hidden(row.hidden)
            hidden += [repriced(one, self._books.cost) for one in found] if self._needed.is_what_if else found
            if row.stated_pico_usd is not None and row.stated_requests is not None:
                statements[row.session] = Statement(row.stated_pico_usd, row.stated_requests)
        return hidden, statements

    def _compactions(self, entry: EntryRow) -> Iterator[Hidden]:
        if entry.certainty == "missing":
            return
        at = NO_TIME if entry.at_ms is None else entry.at_ms
        for what, model, figures in json.loads(entry.beside or "[]"):
            if what == "compaction":
                model, tokens = model or entry.model, Tokens(*figures)
                yield Hidden(
                    session=entry.session,
                    agent=entry.agent,
                    what="compaction inside a request",
                    model=model,
                    tokens=tokens,
                    cost_pico_usd=self._books.cost(model, tokens, at),
                    at=moment_text(at),
                )


def _edges(
    since: int | None, until: int | None, first: int | None, behind: int | None
) -> Iterator[tuple[int, int]]:
    """The parts of quarters at both ends of a time range; its whole quarters are from `first` to `behind`."""
    if since is not None and first is not None and since < first:
        yield since, first if until is None else min(first, until)
    if until is None or behind is None or behind == until:
        return
    if since is None or since <= behind:  # else it lies within the quarter with which it begins
        yield behind, until


def _offsets(days: Iterable[int], zone: tzinfo) -> list[tuple[int, int]]:
    """The offsets of a zone on some days, in quarters of an hour, and from which quarter on."""
    offset_at = cache(lambda quarter: _offset(quarter, zone))
    offsets: list[tuple[int, int]] = []
    for day in days:
        first, behind = day * _QUARTERS, (day + 1) * _QUARTERS
        has_one = offset_at(first) == offset_at(behind)
        for quarter in (first,) if has_one else range(first, behind):
            if not offsets or offsets[-1][1] != offset_at(quarter):
                offsets.append((quarter, offset_at(quarter)))
    return offsets


def _offset(quarter: int, zone: tzinfo) -> int:
    shift = datetime.fromtimestamp(quarter * _QUARTER_S, zone).utcoffset() or timedelta()
    offset, rest = divmod(shift, timedelta(seconds=_QUARTER_S))
    if rest:
        raise SumsTellNothing  # a zone whose days begin at odd minutes
    return offset


def _ms(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.astimezone(UTC).timestamp() * 1000)
