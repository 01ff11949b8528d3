"""The list of sessions: its columns, its rows, and its totals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import quote

from markupsafe import Markup

from tracklog.app.pages.lists import (
    IN_WORDS,
    Page,
    SelectionTotals,
    SessionCost,
    SessionSelection,
    SubagentLine,
    TableSession,
)
from tracklog.model.usage import micro
from tracklog.views.html import numbers
from tracklog.views.html.legible import shown
from tracklog.views.text.numbers import money, took
from tracklog.views.text.printing import short_model
from tracklog.views.web.addresses import PageUrl
from tracklog.views.web.frame import environment, session_address

_COLUMNS = (
    ("title", "session", ""),
    ("project", "project", ""),
    ("model", "agent, model", ""),
    ("started", "started", "num"),
    ("duration", "active", "num"),
    ("turns", "prompts", "num"),
    ("calls", "calls", "num"),
    ("errors", "errors", "num"),
    ("subagents", "agents", "num"),
    ("tokens", "out", "num"),
    ("cost", "cost", "num"),
    ("last", "last", "num"),
)
_TITLES = {
    "duration": "how long its turns lasted",
    "turns": "what a person asked",
    "subagents": "subagents",
    "tokens": "tokens that models put out, in the whole session",
    "cost": "of the whole session",
}
_IN_A_PERIOD = {"tokens": "period out", "cost": "period cost"}  # these columns, where a period is asked for
_WHOLE = "of the whole sessions, also before and after this period"
_MOST_SUBAGENTS = 40
_LONGEST = 240
_NO_REQUEST = "no request was counted"
_NOTHING = SessionCost()


class ColumnView(NamedTuple):
    """The head of a column; choosing it sorts, choosing it again reverses the order."""

    name: str
    words: str
    kind: str
    title: str
    address: str
    order: str | None  # ascending, descending; None: sorted by another
    sort: str  # how the address says its order: as it is, or as it is at first


class SubagentView(NamedTuple):
    """A subagent below its session."""

    words: str
    type: str | None
    state: str
    calls: int
    address: str | None


class SessionRowView(NamedTuple):
    """A session in the list."""

    session: TableSession
    mark: Markup
    title: str
    project: str | None
    models: str
    all_models: str
    address: str | None
    calls: str | None
    errors: str | None
    started: Markup
    active: Markup
    cost: Markup
    tokens: Markup
    subagents: list[SubagentView]
    n_more_subagents: int


class SumView(NamedTuple):
    """A total over all selected sessions."""

    words: str
    value: Markup | str
    address: str | None = None
    title: str | None = None


def columns(address: PageUrl, sort: str, *, is_descending: bool, has_period: bool) -> list[ColumnView]:
    """The heads of the columns."""
    special = _IN_A_PERIOD if has_period else {}
    return [
        ColumnView(
            name,
            special.get(name, words),
            kind,
            "in this period alone" if name in special else _TITLES.get(name, ""),
            address(sort=_next_order(name, sort, is_descending=is_descending)),
            ("descending" if is_descending else "ascending") if name == sort else None,
            _order(name, descends=is_descending if name == sort else name not in IN_WORDS),
        )
        for name, words, kind in _COLUMNS
    ]


def _next_order(name: str, sort: str, *, is_descending: bool) -> str | None:
    order = _order(name, descends=not is_descending if name == sort else name not in IN_WORDS)
    return None if order == "-last" else order


def _order(name: str, *, descends: bool) -> str:
    return f"-{name}" if descends else name


def rows_of(
    page: Page, chosen: SessionSelection, subagents: Mapping[int, list[SubagentLine]]
) -> list[SessionRowView]:
    """The rows of a page."""
    return [
        _row(one, page.spent.get(one.id, _NOTHING), chosen, subagents.get(one.row, []))
        for one in page.sessions
    ]


def _row(
    one: TableSession, spent: SessionCost, chosen: SessionSelection, subagents: list[SubagentLine]
) -> SessionRowView:
    address = address_of(one.agent, one.id)
    own_calls = _calls(one) if address and one.calls else None
    return SessionRowView(
        session=one,
        mark=state_mark(chosen.state_of(one)),
        title=title_of(one.title),
        project=shown(one.project, most=_LONGEST) if one.project else None,
        models=_models(one.models),
        all_models=", ".join(shown(model, most=80) for model in one.models),
        address=address,
        calls=own_calls if one.calls else None,
        errors=f"{own_calls}&verdict=error" if one.errors and own_calls else None,
        started=day(one.started_at),
        active=_active(one),
        cost=cost_of(spent, is_counted=chosen.is_counted, nothing=_nothing(chosen)),
        tokens=_tokens(spent, is_counted=chosen.is_counted, nothing=_nothing(chosen)),
        subagents=[_subagent(line, one) for line in subagents[:_MOST_SUBAGENTS]],
        n_more_subagents=max(len(subagents) - _MOST_SUBAGENTS, 0),
    )


@lru_cache(64)
def state_mark(state: str) -> Markup:
    """The mark of a state, cached: there are few states and very many rows."""
    made: Markup = environment().get_template("_marks.html").module.state_mark(state)  # type: ignore[attr-defined]
    return made


def title_of(title: str | None) -> str:
    """The beginning of a title, on one line."""
    words = " ".join((title or "")[: 4 * _LONGEST].split())
    return shown(words if len(words) <= _LONGEST else f"{words[: _LONGEST - 1]}…")


def _models(models: Sequence[str]) -> str:
    """The first model, and the number of others."""
    first = shown(short_model(models[0]), most=40) if models else ""
    return f"{first} +{len(models) - 1}" if len(models) > 1 else first


def day(at: str | None) -> Markup:
    """The day of a moment; scripts show it in the reader's zone."""
    moment = numbers.moment_of(at)
    if moment is None:
        return numbers.missing()
    return Markup(  # nothing in it but digits: it need not be escaped
        f'<time datetime="{moment:%Y-%m-%dT%H:%M:%SZ}" title="{numbers.exactly(moment)}" data-local="day">'
        f"{moment:%Y-%m-%d}</time>"
    )


def _active(one: TableSession) -> Markup:
    """How long its turns lasted, with the time from first to last line as the title."""
    if one.active_ms is None or not math.isfinite(one.active_ms):
        return numbers.missing("no turn says how long it took")
    wall = f"{took(one.wall_ms)} from the first line to the last" if one.wall_ms is not None else ""
    return Markup(f'<span title="{wall}">{took(one.active_ms)}</span>')  # nothing but numbers and units


def address_of(agent: str, session: str) -> str | None:
    """The address of a session's page; None for a name that cannot be in an address."""
    try:
        return session_address(agent, session)
    except UnicodeEncodeError:
        return None


def _calls(one: TableSession) -> str:
    """The address of its own calls, without copies from other sessions."""
    session = f"/calls?agent={quote(one.agent, safe='')}&session={quote(one.id, safe='')}"
    return f"{session}&copies=no" if one.copies else session


def _nothing(chosen: SessionSelection) -> str:
    return "no request in this period" if chosen.wanted.has_period else _NO_REQUEST


def cost_of(spent: SessionCost, *, is_counted: bool, nothing: str = _NO_REQUEST) -> Markup:
    """The cost of a session, or why it is unknown."""
    return numbers.money(
        micro(spent.cost_pico_usd),
        lower_bound=spent.is_lower_bound,
        why=_why_unpriced(spent, is_counted=is_counted, nothing=nothing),
    )


def _why_unpriced(spent: SessionCost, *, is_counted: bool, nothing: str) -> str:
    if not is_counted:
        return "not counted yet"
    if not spent.requests:
        return nothing
    models = ", ".join(spent.models[:3])
    return f"no price is known for {models}" if models else "no price is known"


def _tokens(spent: SessionCost, *, is_counted: bool, nothing: str) -> Markup:
    known = spent.output_tokens if spent.requests > spent.missing_requests else None
    why = "no request says what it used" if spent.requests else nothing
    words = numbers.tokens(known, why=why if is_counted else "not counted yet")
    return Markup("≥ {}").format(words) if known is not None and spent.partial_requests else words


def _subagent(line: SubagentLine, session: TableSession) -> SubagentView:
    """A subagent with the address of its page, or of its calls if it has no log of its own."""
    words = line.description or line.type or line.thread
    address = address_of(session.agent, session.id) if line.has_log else "/calls"
    given = {} if line.has_log else {"session": session.id}
    target = None if address is None else PageUrl(address, given)(thread=line.thread)
    kind = shown(line.type, most=60) if line.type and line.type != words else None
    return SubagentView(shown(words, most=_LONGEST), kind, line.state or "unknown", line.calls or 0, target)


def sums_view(chosen: SessionSelection, given: Mapping[str, str]) -> list[SumView]:
    """Totals over all selected sessions, on this page or not."""
    sums = chosen.sums()
    calls, errors = _calls_of_all(sums, given)
    active = numbers.duration(sums.active_ms or None, why="no turn says how long it took")
    wall = numbers.duration(sums.wall_ms or None)
    output = numbers.tokens(sums.output_tokens)
    if sums.partial_requests:
        output = Markup("≥ {}").format(output)
    has_period = chosen.wanted.has_period
    whole = _WHOLE if has_period else None
    return [
        SumView("session" if sums.sessions == 1 else "sessions", f"{sums.sessions:,}"),
        SumView("active", active, title=_titled("how long the turns lasted", whole)),
        SumView("wall", wall, title=_titled("from the first line to the last of each session", whole)),
        SumView("prompt" if sums.turns == 1 else "prompts", f"{sums.turns:,}", title=whole),
        SumView("call" if sums.calls == 1 else "calls", f"{sums.calls:,}", calls, whole),
        SumView("error" if sums.errors == 1 else "errors", f"{sums.errors:,}", errors, whole),
        SumView(
            "tokens out in this period" if has_period else "tokens out",
            output,
            title=f"{sums.tokens:,} tokens in and out",
        ),
        _cost_of_all(sums, "cost in this period" if has_period else "cost", is_counted=chosen.is_counted),
    ]


def _titled(what: str, more: str | None) -> str:
    return f"{what}; {more}" if more else what


def _calls_of_all(sums: SelectionTotals, given: Mapping[str, str]) -> tuple[str | None, str | None]:
    """Addresses of the counted calls and errors, if an address can select exactly these."""
    filters = {name: value for name, value in given.items() if name not in ("sort", "after")}
    if sums.copies or not filters.keys() <= {"project", "agent"}:
        return None, None
    address = PageUrl("/calls", filters)
    return (address() if sums.calls else None), (address(verdict="error") if sums.errors else None)


def _cost_of_all(sums: SelectionTotals, words: str, *, is_counted: bool) -> SumView:
    if not is_counted:
        return SumView(words, numbers.missing("not counted yet"))
    value = numbers.money(micro(sums.cost_pico_usd), lower_bound=sums.is_lower_bound)
    parts = [f"at most {money(sums.most_pico_usd)}"] if sums.most_pico_usd > sums.cost_pico_usd else []
    if sums.unpriced:
        sessions = "session" if sums.unpriced == 1 else "sessions"
        parts.append(f"{sums.unpriced:,} {sessions} without a price")
    return SumView(words, value, title="; ".join(parts) or None)
