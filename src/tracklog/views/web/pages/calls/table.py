"""The list of calls: its rows, the figures of tools, the verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple
from urllib.parse import quote

from markupsafe import Markup

from tracklog.app.pages.lists import (
    CallDetails,
    CallLine,
    CallSelection,
    OpenLists,
    ShownCall,
    TableSession,
    ToolFigures,
)
from tracklog.model.session_rules import is_tool
from tracklog.views.html import numbers
from tracklog.views.html.legible import shown
from tracklog.views.html.terminal import without_looks
from tracklog.views.text.calls import error_text
from tracklog.views.web.addresses import PageUrl
from tracklog.views.web.pages.sessions.facets import ActiveSessionFilter, SessionFacetChoice
from tracklog.views.web.pages.sessions.table import ColumnView, address_of, title_of

_LONGEST = 200
_NO_TIME = "no duration is stated, and the log gives no times for it"
_WORDS = {"min_ms": "took at least", "took": "time taken", "copies": "copies"}
_GOES_WITH = {"session": ("thread",)}  # a thread is one of a session
_BY_LOG = "between two lines of the log: the call, and its result"


class CallFigure(NamedTuple):
    """A number with a link to its calls."""

    value: Markup | str
    address: str | None = None
    title: str | None = None


class ToolRow(NamedTuple):
    """The figures of a tool."""

    tool: str
    is_taken: bool
    address: str
    n: CallFigure
    errors: CallFigure
    p50: CallFigure
    p95: CallFigure
    max: CallFigure
    total: CallFigure
    unknown: CallFigure


class CallRow(NamedTuple):
    """A call in the list."""

    line: CallLine
    called_at: str | None
    verdict: str
    outcome: str | None
    sureness: str
    timed_out: bool
    why: str
    did: str
    address: str | None  # of the call in its session
    session: str
    session_address: str | None
    project: str | None
    agent: str
    took: Markup
    is_copy: bool


def call_columns(address: PageUrl, sort: str, *, is_descending: bool) -> list[ColumnView]:
    """Heads of the columns that can be sorted."""
    made = []
    for name, words in (("time", "time"), ("duration", "took")):
        descends = not is_descending if name == sort else True
        order = f"-{name}" if descends else name
        made.append(
            ColumnView(
                name,
                words,
                "num",
                "",
                address(sort=None if order == "-time" else order),
                ("descending" if is_descending else "ascending") if name == sort else None,
                name if name == sort and not is_descending else f"-{name}",
            )
        )
    return made


def call_rows(
    calls: Sequence[ShownCall],
    details: Mapping[tuple[int, int], CallDetails],
    sessions: Mapping[int, TableSession],
) -> list[CallRow]:
    """The rows of some calls."""
    return [_row(one, details.get((one.line.row, one.line.n)), sessions[one.line.row]) for one in calls]


def _row(shown_call: ShownCall, more: CallDetails | None, session: TableSession) -> CallRow:
    one = shown_call.line
    target = address_of(session.agent, session.id)
    return CallRow(
        line=one,
        called_at=more.called_at if more else None,
        verdict=one.verdict,
        outcome=more.outcome if more else None,
        sureness=more.sureness if more else "stated",
        timed_out=more.timed_out if more else False,
        why=_why(one, more),
        did=shown(more.did, most=_LONGEST) if more else "",
        address=_address(target, more),
        session=title_of(session.title) or shown(session.id[:13]),
        session_address=target,
        project=shown(session.project, most=80) if session.project else None,
        agent=session.agent,
        took=took(one),
        is_copy=shown_call.is_copy,
    )


def _why(one: CallLine, more: CallDetails | None) -> str:
    """Why a call did not end well, on one line."""
    if more is None or one.verdict in ("ok", "running", "backgrounded"):
        return ""
    said = more.error or (more.why if more.why != one.verdict else "") or ""
    return shown(" ".join(without_looks(error_text(said)).split())[:_LONGEST], most=_LONGEST)


def _address(session: str | None, more: CallDetails | None) -> str | None:
    if session is None or more is None:
        return None
    try:
        id = quote(more.call, safe="")
        return f"{session}?call={id}#c{id}"
    except UnicodeEncodeError:
        return session


def took(one: CallLine) -> Markup:
    """How long a call took, and how that is known."""
    if one.took_ms is None:
        why = "it goes on" if one.verdict == "running" else _NO_TIME
        return numbers.missing(why)
    words = numbers.duration(one.took_ms)
    if one.took_by != "log_times":
        return words
    return Markup('<span class="by-log" title="{}">{}</span>').format(_BY_LOG, words.striptags())


def tool_rows(chosen: CallSelection, address: PageUrl) -> list[ToolRow]:
    """Figures of all tools together, then of each."""
    taken = address.given.get("tool")
    every = _tool_row(chosen.all_tools, address, "all tools", None, is_taken=taken is None)
    each = [
        _tool_row(one, address, one.tool, one.tool, is_taken=taken is not None and is_tool(one.tool, taken))
        for one in chosen.tools
    ]
    return [every, *each]


def _tool_row(one: ToolFigures, address: PageUrl, words: str, tool: str | None, *, is_taken: bool) -> ToolRow:
    mine = PageUrl(address.path, {**address.given, "tool": tool or ""})
    share = f"{one.errors * 100 / one.n:.1f} %" if one.n else "0 %"
    return ToolRow(
        tool=shown(words, most=80),
        is_taken=is_taken,
        address=mine(),
        n=CallFigure(f"{one.n:,}", mine()),
        errors=CallFigure(
            share, mine(verdict="error") if one.errors else None, f"{one.errors:,} of {one.n:,}"
        ),
        p50=_from(one.p50_ms, one.n_from_p50, mine),
        p95=_from(one.p95_ms, one.n_from_p95, mine),
        max=_from(one.max_ms, one.n_at_max, mine),
        total=_total(one, mine),
        unknown=CallFigure(f"{one.unknown:,}", mine(took="unknown") if one.unknown else None),
    )


def _from(ms: float | None, n: int, address: PageUrl) -> CallFigure:
    """A duration, with a link to the calls that took at least as long."""
    if ms is None:
        return CallFigure(numbers.missing("the time of no call is known"))
    words = numbers.duration(ms).striptags()
    calls = "call" if n == 1 else "calls"
    return CallFigure(
        words, address(min_ms=repr(ms), sort="-duration"), f"{n:,} {calls} took {words} or longer"
    )


def _total(one: ToolFigures, address: PageUrl) -> CallFigure:
    n_timed = one.n - one.unknown
    if not n_timed:
        return CallFigure(numbers.missing("the time of no call is known"))
    return CallFigure(
        numbers.duration(one.total_ms).striptags(),
        address(took="known", sort="-duration"),
        f"of {n_timed:,} calls",
    )


def verdict_chips(chosen: CallSelection, address: PageUrl) -> list[SessionFacetChoice]:
    """Numbers of calls by verdict; choosing a chosen verdict again removes it."""
    taken = address.given.get("verdict")
    return [
        SessionFacetChoice(
            verdict, n, address(verdict=None if verdict == taken else verdict), verdict == taken
        )
        for verdict, n in chosen.verdicts
    ]


def taken_calls(address: PageUrl, names: Sequence[str], lists: OpenLists) -> list[ActiveSessionFilter]:
    """The active filters, each with the address without it."""
    return [
        ActiveSessionFilter(
            _WORDS.get(name, name),
            _said(name, address.given[name], lists),
            address.without(name, *_GOES_WITH.get(name, ())),
        )
        for name in names
        if name in address.given
    ]


def _said(name: str, value: str, lists: OpenLists) -> str:
    if name == "min_ms":
        return str(numbers.duration(float(value)).striptags())
    if name == "session" and (title := lists.titled(value)):
        return title_of(title)
    return shown(value, most=80)
