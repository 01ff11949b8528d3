"""Sum up a ledger: its requests in groups, with costs and bounds.

Rules
  1. A price is linear in tokens, so requests of one group on the same rates are summed up first and priced once: the
     result is the same to the pico-dollar.
  2. Totals hold what is certain at least. What was cut off has bounds: its model's longest output is the upper one.
  3. Every request is in exactly one row, and the total is their sum.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, tzinfo
from operator import itemgetter

from tracklog.agents.supported import support_for
from tracklog.clock import NO_TIME, moment_text
from tracklog.ledger.blocks import block_starts
from tracklog.ledger.ledger import Ledger
from tracklog.ledger.prices.rates import Prices
from tracklog.ledger.pricing import Books, RequestFilter, terms_of
from tracklog.ledger.sums import NO_NAME, GroupKeys, GroupSums, unseen
from tracklog.ledger.unlogged_spending import hidden_in, hidden_rank
from tracklog.model.events import Place
from tracklog.model.session_rules import last_part
from tracklog.model.usage import Beside, Certainty, Entry, Group, Sight, Tokens, UsageReport

__all__ = ["RequestFilter", "all_entries", "report"]

NO_DAY = "(no time)"
NO_TOOL = "(no tool)"
_FIRST_AT = Sight._fields.index("first_at")


def report(
    ledger: Ledger,
    prices: Prices,
    group: Group,
    *,
    zone: tzinfo,
    wanted: RequestFilter | None = None,
    as_model: str | None = None,
    as_of: datetime | None = None,
    with_uncertain: bool = False,
) -> UsageReport:
    """Sum up usage by group. `as_model` and `as_of` price it as if another model, or another day, had been used."""
    books = Books(ledger, prices, wanted or RequestFilter(), as_model=as_model, as_of=as_of)
    sums = GroupSums(books, _keys_by(ledger, group, zone, books))
    sums.add_all()
    for file, awaited in ledger.awaited.items():
        if books.is_awaited_wanted(file, awaited):
            sums.await_one(file, awaited)
    sums.note_heirs(group)
    beyond, statements = hidden_in(ledger, books.cost, is_what_if=books.is_what_if)
    if group == "session" and not books.asks_for_parts:
        sums.note_statements(statements)
    rows, total = sums.rows()
    hidden = [one for one in (*beyond, *sums.compactions) if books.is_hidden_wanted(one)]
    hidden.sort(key=hidden_rank)
    uncertain = (
        [entry for entry in entries(ledger, books) if entry.certainty != "final"] if with_uncertain else []
    )
    return UsageReport(
        group=group,
        rows=rows,
        total=total,
        hidden=hidden,
        untimed_requests=books.n_untimed(),
        unpriced_models=dict(sorted(sums.unpriced.items())),
        uncertain=uncertain,
    )


def _keys_by(ledger: Ledger, group: Group, zone: tzinfo, books: Books) -> GroupKeys:
    """The keys of requests in a group."""
    if group in ("daily", "weekly", "monthly"):
        return by_time(zone, group)
    if group == "blocks":
        return _by_block(ledger)

    def by_project(_: int, sight: Sight) -> str:
        folder = books.projects.get(ledger.session_of(sight))
        return last_part(folder) if folder else NO_NAME

    def by_tool(number: int, _: Sight) -> str:
        aside = ledger.asides.get(number)
        return " + ".join(aside.tools) if aside is not None and aside.tools else NO_TOOL

    by: dict[str, Callable[[int, Sight], str]] = {
        "model": lambda _, sight: ledger.model_of(sight) or NO_NAME,
        "session": lambda _, sight: ledger.session_of(sight),
        "project": by_project,
        "agent": lambda _, sight: ledger.sources[sight.first_file].agent,
        "thread": lambda _, sight: ledger.thread_of(sight),
        "tool": by_tool,
        "entrypoint": lambda _, sight: ledger.entrypoint_of(sight) or NO_NAME,
    }
    return GroupKeys(by[group], is_by_model=group == "model")


def by_time(zone: tzinfo, group: Group) -> GroupKeys:
    """The days, weeks or months of a zone."""
    form = {"daily": "%Y-%m-%d", "weekly": "%G-W%V", "monthly": "%Y-%m"}[group]
    first, behind, name = 0, 0, NO_DAY  # the day that was asked for last: rows come a file at a time
    days: list[tuple[int, int, str]] = []  # all that were, in order; far fewer than there are files

    def at(ms: int) -> str:
        nonlocal first, behind, name
        if not first <= ms < behind:
            if ms == NO_TIME:
                return NO_DAY
            n = bisect_right(days, ms, key=itemgetter(0))
            if not n or ms >= days[n - 1][1]:
                days.insert(n, _day_of(ms, zone, form))
                n += 1
            first, behind, name = days[n - 1]
        return name

    return GroupKeys(lambda _, sight: at(sight.first_at), at)


def _day_of(ms: int, zone: tzinfo, form: str) -> tuple[int, int, str]:
    """Begin and end of a moment's day in a zone, and its name."""
    try:
        day = datetime.fromtimestamp(ms / 1000, zone).replace(
            hour=0, minute=0, second=0, microsecond=0, fold=0
        )
        begin = int(day.timestamp() * 1000)
        end = int((day + timedelta(days=1)).timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        return ms, ms + 1, NO_DAY
    return min(begin, ms), max(end, ms + 1), day.strftime(form)


def _by_block(ledger: Ledger) -> GroupKeys:
    """Group by block. Blocks are made of all requests, so a filter moves none."""
    times = sorted(
        {row[_FIRST_AT] for row in ledger.raw_rows()} | {one.at for one in ledger.awaited.values()}
    )
    times = times[1:] if times[:1] == [NO_TIME] else times
    starts = {at: moment_text(start) or NO_DAY for at, start in zip(times, block_starts(times), strict=True)}
    return GroupKeys(lambda _, sight: starts.get(sight.first_at, NO_DAY), lambda at: starts.get(at, NO_DAY))


def entries(ledger: Ledger, books: Books) -> Iterator[Entry]:
    """The requests that match, one by one, as values."""
    for number, (key, sight) in enumerate(zip(ledger.keys(), ledger.rows(), strict=True)):
        if books.is_wanted(sight):
            yield _entry(ledger, books, number, key.decode(errors="replace"), sight)
    for file, awaited in ledger.awaited.items():
        if books.is_awaited_wanted(file, awaited):
            name = f"awaited:{ledger.sources[file].path}"
            yield _entry(ledger, books, -1, name, unseen(file, awaited))


def all_entries(ledger: Ledger, prices: Prices) -> Iterator[Entry]:
    """All requests, one by one, as values."""
    return entries(ledger, Books(ledger, prices, RequestFilter()))


def public_id(ledger: Ledger, key: bytes, sight: Sight, session: str) -> str:
    """The id of a request in documents: the id that its session uses, if the key contains it."""
    id = ledger.public_id(key)
    if sight.output >= 0:
        return id
    return support_for(ledger.sources[sight.first_file].agent).usage.request_id(id, session)


def _entry(ledger: Ledger, books: Books, number: int, key: str, sight: Sight) -> Entry:
    names, source = ledger.names[sight.file], ledger.sources[sight.file]
    aside = ledger.asides.get(number)
    certainty: Certainty = "missing" if sight.output < 0 else "final" if sight.has_ended else "partial"
    session = ledger.session_of(sight)
    return Entry(
        key=key,
        id=public_id(ledger, key.encode(), sight, session),
        agent=source.agent,
        session=session,
        thread=ledger.thread_of(sight),
        place=Place(source.path, sight.offset),
        at=moment_text(sight.first_at),
        model=names[sight.model] or None,
        tokens=sight.tokens,
        certainty=certainty,
        terms=terms_of(names[sight.terms]),
        cwd=books.projects.get(session),
        entrypoint=ledger.entrypoint_of(sight),
        tools=tuple(aside.tools) if aside else (),
        beside=tuple(Beside(what, model, Tokens(*figures)) for what, model, figures in aside.beside)  # type: ignore[arg-type]
        if aside
        else (),
        stated_pico_usd=aside.stated_pico_usd if aside else None,
        inherited_by=tuple(heir for heir in ledger.heirs_of(number) if heir != session),
    )
