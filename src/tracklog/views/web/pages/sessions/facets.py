"""Facets, active filters, and suggestions if nothing matches, for the list of sessions."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from tracklog.app.pages.lists import FacetCount, Month, SessionSelection
from tracklog.clock import local_zone
from tracklog.views.html.legible import shown
from tracklog.views.web.addresses import PageUrl

_FEW = 8  # values that are shown at first
_MANY = 200  # that can be unfolded
_MONTHS = 12
_SPANS = (("1d", "last 24 hours"), ("7d", "last 7 days"), ("30d", "last 30 days"), ("90d", "last 90 days"))
_GROUPS = {"tool": "use", "verdict": "use", "since": "time", "until": "time", "q": "words"}
_WORDS = {"q": "words", "since": "since", "until": "until"}


class SessionFacetChoice(NamedTuple):
    """A value of a facet; choosing it again removes it."""

    words: str
    n: int
    address: str
    is_taken: bool = False


class FacetView(NamedTuple):
    """A facet in the side column."""

    name: str
    title: str
    few: list[SessionFacetChoice]
    more: list[SessionFacetChoice]
    n_beyond: int = 0


class ActiveSessionFilter(NamedTuple):
    """An active filter, and the address without it."""

    name: str
    value: str
    address: str


class EmptyView(NamedTuple):
    """Why nothing matches, and links to what does."""

    words: str
    ways: list[SessionFacetChoice]


def facet_views(chosen: SessionSelection, address: PageUrl, now: datetime) -> list[FacetView]:
    """All facets that have a choice to offer."""
    named: list[tuple[str, str, Callable[[], list[FacetCount]]]] = [
        ("project", "Project", chosen.projects),
        ("agent", "Agent", chosen.agents),
        ("model", "Model", chosen.models),
        ("state", "State", chosen.state_facet),
        ("verdict", "Verdict of a call", chosen.verdicts),
        ("tool", "Tool", chosen.tools),
    ]
    views = [_view(name, title, values(), address) for name, title, values in named]
    views.insert(4, _times(chosen, address, now))
    return [one for one in views if _offers(one, chosen.total)]


def _offers(view: FacetView, total: int) -> bool:
    """Whether a facet offers a choice: not if its only value holds for all sessions."""
    return len(view.few) > 1 or any(one.is_taken or one.n != total for one in view.few)


def _view(name: str, title: str, values: Sequence[FacetCount], address: PageUrl) -> FacetView:
    taken = address.given.get(name, "").lower()
    choices = [_choice(name, one, address, taken) for one in values[:_MANY]]
    few = [one for n, one in enumerate(choices) if n < _FEW or one.is_taken]
    more = [one for one in choices if one not in few]
    return FacetView(name, title, few, more, max(len(values) - _MANY, 0))


def _choice(name: str, one: FacetCount, address: PageUrl, taken: str) -> SessionFacetChoice:
    is_taken = one.value.lower() == taken
    target = address.without(name) if is_taken else address(**{name: one.value})
    return SessionFacetChoice(shown(one.label, most=120), one.n, target, is_taken)


def _times(chosen: SessionSelection, address: PageUrl, now: datetime) -> FacetView:
    """Time spans: the last days, then calendar months."""
    spans = [_span(chosen, address, now, since, words) for since, words in _SPANS]
    months = chosen.months()
    choices = [_month(month, n, address) for month, n in months[:_MONTHS]]
    if len(months) > _MONTHS:
        choices.append(_before(chosen, months[_MONTHS - 1][0], address))
    few = [one for one in spans if one.n] + choices[:3]
    return FacetView("time", "Time", few, choices[3:])


def _span(
    chosen: SessionSelection, address: PageUrl, now: datetime, since: str, words: str
) -> SessionFacetChoice:
    since_ms = int((now - timedelta(days=int(since[:-1]))).timestamp() * 1000)
    is_taken = address.given.get("since") == since and "until" not in address.given
    target = address.without("since", "until") if is_taken else address(since=since, until=None)
    return SessionFacetChoice(words, chosen.n_during(since_ms, None), target, is_taken)


def _month(month: Month, n: int, address: PageUrl) -> SessionFacetChoice:
    first = f"{month.year:04}-{month.month:02}-01"
    last = f"{month.year:04}-{month.month:02}-{monthrange(month.year, month.month)[1]:02}"
    given = address.given
    is_taken = (given.get("since"), given.get("until")) == (first, last)
    target = address.without("since", "until") if is_taken else address(since=first, until=last)
    return SessionFacetChoice(f"{datetime(month.year, month.month, 1):%b %Y}", n, target, is_taken)


def _before(chosen: SessionSelection, oldest: Month, address: PageUrl) -> SessionFacetChoice:
    first = datetime(oldest.year, oldest.month, 1, tzinfo=local_zone())
    last = f"{first - timedelta(days=1):%Y-%m-%d}"
    n = chosen.n_during(None, int(first.timestamp() * 1000))
    is_taken = address.given.get("until") == last and "since" not in address.given
    target = address.without("since", "until") if is_taken else address(since=None, until=last)
    return SessionFacetChoice("before", n, target, is_taken)


def taken_views(address: PageUrl, names: Sequence[str]) -> list[ActiveSessionFilter]:
    """The active filters, each with the address without it."""
    return [
        ActiveSessionFilter(
            _WORDS.get(name, name), shown(address.given[name], most=120), address.without(name)
        )
        for name in names
        if name in address.given
    ]


def empty_view(chosen: SessionSelection, address: PageUrl, names: Sequence[str]) -> EmptyView:
    """Suggestions if nothing matches: which filter to drop, and where sessions are."""
    if not address.given.keys() & set(names):
        return EmptyView("There are no sessions yet.", [])
    ways = []
    for group in dict.fromkeys(_GROUPS.get(name, name) for name in names if name in address.given):
        dropped = [name for name in names if name in address.given and _GROUPS.get(name, name) == group]
        n = chosen.n_without(group)
        if n:
            said = " and ".join(
                f"{_WORDS.get(one, one)} “{shown(address.given[one], most=60)}”" for one in dropped
            )
            ways.append(SessionFacetChoice(f"without {said}", n, address.without(*dropped)))
    ways.append(SessionFacetChoice("without any filter", chosen.n_sessions, address.without(*names)))
    return EmptyView(_why_empty(chosen, address), [*_where_it_is(chosen, address), *ways])


def _why_empty(chosen: SessionSelection, address: PageUrl) -> str:
    given = address.given
    if not chosen.n_without("time") or not given.keys() & {"since", "until"}:
        return "No session fits all of these filters."
    span = " ".join(f"{name} {shown(given[name], most=40)}" for name in ("since", "until") if name in given)
    newest = chosen.newest_without("time")
    latest = f"; the latest is of {newest.last_at[:10]}" if newest is not None and newest.last_at else ""
    return f"No sessions {span}{latest}."


def _where_it_is(chosen: SessionSelection, address: PageUrl) -> list[SessionFacetChoice]:
    """The month of the last session that only the time filter excludes."""
    months = chosen.months()
    if not months or not address.given.keys() & {"since", "until"}:
        return []
    choice = _month(*months[0], address)
    return [choice._replace(words=f"in {choice.words}")]
