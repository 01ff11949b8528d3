"""Sums of like requests in the index, so that a report reads few single requests.

Rules
  1. Requests are alike if no price and no query distinguishes them: same log, thread, model, terms, quarter of an
     hour, and, if a price depends on the size of a prompt, the same step of it.
  2. Sums hold no money, only the price steps.
  3. The usage of an advisor within a request is a row of its own, without a request.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from tracklog.ledger.stored.tables import EntryRow
from tracklog.store.surrogates import as_text

QUARTER_MS = 900_000
_QUARTERS = 96  # in a day
_NOTHING = (0,) * 8
_DOLLAR = 10**12  # pico-dollars: sums of them may be larger than what SQLite can hold
StepOf = Callable[[str | None, str, int], int]  # of a model, on terms, for the size of a prompt


class Kind(NamedTuple):
    """The common properties of the requests of a row."""

    file: int
    quarter: int | None
    thread: str
    entrypoint: str | None
    model: str | None
    terms: str
    step: int = 0
    asked_by: str | None = None
    is_awaited: bool = False


class SumRow(NamedTuple):
    """Requests that have the same key and the same price."""

    key: str | None  # in the group that was asked for
    session: str | None
    day: int | None  # the local one, since 1970; in some groups always null
    quarter: int | None  # one of those in which they were made
    model: str | None
    terms: str
    step: int
    asked_by: str | None
    input: int
    output: int
    reasoning: int
    cache_write: int
    cache_write_5m: int
    cache_write_1h: int
    cache_read: int
    web_searches: int
    requests: int
    partial: int
    missing: int
    awaited: int
    partial_output: int
    longest: int  # the largest output of a partial one
    first_ms: int | None
    last_ms: int | None
    stated_usd: int
    stated_rest_pico_usd: int
    stated_requests: int

    @property
    def stated_pico_usd(self) -> int:
        """The cost that the logs state."""
        return self.stated_usd * _DOLLAR + self.stated_rest_pico_usd


class SumFilter(NamedTuple):
    """A filter for sums."""

    files: frozenset[int] | None = None  # None: all
    since_ms: int | None = None  # both at the beginning of a quarter
    until_ms: int | None = None


_REQUESTS, _PARTIAL, _MISSING, _AWAITED, _PARTIAL_OUTPUT, _LONGEST, _STATED, _N_STATED = range(8, 16)


class Pile:
    """Requests while they are summed up."""

    def __init__(self, step_of: StepOf) -> None:
        self._step_of = step_of
        self.sums: dict[Kind, list[int]] = {}
        self._spans: dict[Kind, list[int]] = {}

    def add(self, entry: EntryRow) -> None:
        """Count a request, and what was asked within it."""
        if entry.certainty == "missing":
            self._of(entry, entry.model, entry.terms, _NOTHING)[_MISSING] += 1
            return
        tokens = entry[10:18]
        sums = self._of(entry, entry.model, entry.terms, tokens)
        if entry.certainty == "partial":
            sums[_PARTIAL] += 1
            sums[_PARTIAL_OUTPUT] += entry.output
            sums[_LONGEST] = max(sums[_LONGEST], entry.output)
        if entry.stated_pico_usd is not None:
            sums[_STATED] += entry.stated_pico_usd
            sums[_N_STATED] += 1
        if entry.beside is not None:
            for what, model, figures in json.loads(entry.beside):
                if what != "compaction":
                    self._of(entry, model, "", figures, asked_by=entry.model or "")

    def wait(self, kind: Kind, at_ms: int | None) -> None:
        """Count a request that has no line."""
        sums = self.sums[kind] = [0] * 16
        sums[_AWAITED] = 1
        self._note_time(kind, at_ms)

    def _of(
        self,
        entry: EntryRow,
        model: str | None,
        terms: str,
        tokens: Sequence[int],
        asked_by: str | None = None,
    ) -> list[int]:
        """The sums of a request, with its tokens in them."""
        step = self._step_of(model, terms, tokens[0] + tokens[3] + tokens[6])
        at = entry.at_ms
        quarter = None if at is None else at // QUARTER_MS
        kind = Kind(entry.file, quarter, entry.thread, entry.entrypoint, model, terms, step, asked_by)
        sums = self.sums.get(kind)
        if sums is None:
            sums = self.sums[kind] = [0] * 16
        for n, figure in enumerate(tokens):
            sums[n] += figure
        sums[_REQUESTS] += asked_by is None
        self._note_time(kind, at)
        return sums

    def _note_time(self, kind: Kind, at: int | None) -> None:
        if at is None:
            return
        span = self._spans.get(kind)
        if span is None:
            self._spans[kind] = [at, at]
        elif at < span[0]:
            span[0] = at
        elif at > span[1]:
            span[1] = at

    def rows(self) -> Iterable[tuple[object, ...]]:
        """Rows of `sum_rows`."""
        for kind, sums in self.sums.items():
            first, last = self._spans.get(kind, (None, None))
            yield (*kind, *sums[:_STATED], first, last, *divmod(sums[_STATED], _DOLLAR), sums[_N_STATED])


def put_sums(db: sqlite3.Connection, pile: Pile) -> None:
    """Write sums."""
    marks = ", ".join("?" * len(_COLUMNS))
    db.executemany(f"insert into sum_rows values ({marks})", pile.rows())


class Cut(NamedTuple):
    """What a sum is grouped by, besides prices."""

    group: str = ""
    offsets: Sequence[tuple[int, int]] = ()  # of a zone, in quarters: from which one on, and how many
    has_sessions: bool = False
    has_askers: bool = False  # the models in whose requests advisors were asked
    is_by_quarter: bool = False  # else by days (UTC), on which most prices depend


def sums_by(db: sqlite3.Connection, cut: Cut, part: SumFilter) -> list[SumRow]:
    """Sums of requests with the same grouping."""
    where, values = _where(part)
    return _summed(db, f"sum_rows own {where}", values, cut)


def sums_of(db: sqlite3.Connection, pile: Pile, cut: Cut) -> list[SumRow]:
    """The same sums over the rows of a pile."""
    columns = ", ".join(f"value ->> {n} as {name}" for n, name in enumerate(_COLUMNS))
    rows = json.dumps(list(pile.rows()))
    return _summed(db, f"(select {columns} from json_each(?)) own", [rows], cut)


_NUMBERS = SumRow._fields[8:22]
_STATEMENTS = SumRow._fields[24:]
_COLUMNS = (*Kind._fields, *_NUMBERS, "first_ms", "last_ms", *_STATEMENTS)
_KEYS = {"thread": "own.thread", "entrypoint": "own.entrypoint", "agent": "log.agent"}
_SUMS = (
    *(f"sum({name})" for name in _NUMBERS[:-1]),
    *("max(longest)", "min(first_ms)", "max(last_ms)"),
    *(f"sum({name})" for name in _STATEMENTS),
)


def _summed(db: sqlite3.Connection, source: str, values: list[object], cut: Cut) -> list[SumRow]:
    has_log = cut.has_sessions or cut.group == "agent"
    apart = (
        _KEYS.get(cut.group, "null"),
        "log.session" if cut.has_sessions else "null",
        _day(cut.offsets),
        "min(quarter)",
        *("model", "terms", "step", "asked_by" if cut.has_askers else "null"),
    )
    bucket = "quarter" if cut.is_by_quarter else f"quarter / {_QUARTERS}"
    source, _, where = source.partition(" own")
    rows = db.execute(
        f"select {', '.join((*apart, *_SUMS))} from {source} own "
        f"{'join ledger_logs log on log.file = own.file' if has_log else ''}{where} "
        f"group by 1, 2, 3, {bucket}, 5, 6, 7, 8 order by 3",
        values,
    )
    if apart[:2] == ("null", "null"):
        return list(map(SumRow._make, rows))
    return [SumRow(as_text(row[0]), as_text(row[1]), *row[2:]) for row in rows]


def _day(offsets: Sequence[tuple[int, int]]) -> str:
    """The local day of a quarter, in SQL."""
    if not offsets:
        return "null"
    cases = " ".join(f"when quarter >= {first} then {offset}" for first, offset in reversed(offsets))
    return f"(quarter + {_QUARTERS} + case {cases} end) / {_QUARTERS} - 1"  # a day below 0 is rounded, too


def models_in(db: sqlite3.Connection) -> list[tuple[str | None, str]]:
    """The models that were asked, and on which terms."""
    return db.execute("select distinct model, terms from sum_rows").fetchall()


def days_in(db: sqlite3.Connection, part: SumFilter) -> list[int]:
    """The days (UTC) on which something was asked, in order."""
    where, values = _where(part)
    rows = db.execute(f"select distinct quarter / {_QUARTERS} from sum_rows own {where} order by 1", values)
    return [day for (day,) in rows if day is not None]


def _where(part: SumFilter) -> tuple[str, list[object]]:
    conditions, values = [], list[object]()
    if part.files is not None:
        conditions.append("own.file in (select value from json_each(?))")
        values.append(json.dumps(sorted(part.files)))
    if part.since_ms is not None:
        conditions.append("quarter >= ?")
        values.append(part.since_ms // QUARTER_MS)
    if part.until_ms is not None:
        conditions.append("quarter < ?")
        values.append(part.until_ms // QUARTER_MS)
    return f"where {' and '.join(conditions)}" if conditions else "", values


def awaited_at(db: sqlite3.Connection, first_ms: int, behind_ms: int) -> list[tuple[Kind, int]]:
    """The requests of a time range that no line of a log shows."""
    rows = db.execute(
        f"select {', '.join(Kind._fields)}, first_ms from sum_rows "
        "where is_awaited and first_ms >= ? and first_ms < ?",
        (first_ms, behind_ms),
    )
    return [(Kind(*kind), at) for *kind, at in rows]


def quarters_in(db: sqlite3.Connection, part: SumFilter) -> list[int]:
    """The quarters of an hour in which something was asked, in order."""
    where, values = _where(part)
    rows = db.execute(f"select distinct quarter from sum_rows own {where} order by 1", values)
    return [quarter for (quarter,) in rows if quarter is not None]


def untimed_in(db: sqlite3.Connection, part: SumFilter) -> int:
    """Count the requests without a time."""
    where, values = _where(part._replace(since_ms=None, until_ms=None))
    rows = db.execute(
        f"select sum(requests) from sum_rows own {where or 'where true'} and quarter is null",
        values,
    )
    return int(rows.fetchone()[0] or 0)
