"""The page of a session: its header, its outline, and a window of its rows.

Rules
  1. The page contains its header, its outline and one window of rows; the rest is requested as the user scrolls.
  2. Without scripts the same address works for everything: `?at=` shows the window around a line, `?open=` unfolds a
     call, `?branch=` follows another branch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tracklog.app.pages.session import BoardRow, BranchPath, NotFound, PlacedTurn
from tracklog.views.html.legible import shown
from tracklog.views.html.numbers import duration
from tracklog.views.web.frame import fragment, page
from tracklog.views.web.pages.session.header import head_view
from tracklog.views.web.pages.session.request import (
    ThreadPage,
    gone,
    line_asked,
    not_found,
    number_in,
    opened,
    other_thread_asked,
    words_of_missing,
)
from tracklog.views.web.pages.session.rows import WINDOW, Folded, window_html

_TURNS_AT_ONCE = 60  # of the outline, around the one that is shown


def session(request: Request) -> Response:
    """The whole page."""
    try:
        with opened(request, fresh=True) as one:
            return _session_page(request, one)
    except NotFound as missing:
        return not_found(request, missing)


def _session_page(request: Request, one: ThreadPage) -> Response:
    turns = one.turns()
    row = one.live
    is_live = row is not None and row.state.state in ("working", "waiting")
    meant = number_in(request, "at") or line_asked(request, one)
    at = meant or (one.n if is_live else 1)
    first = _window_start(min(max(at, 1), max(one.n, 1)))
    folded = Folded.asked(request)._replace(wanted=meant)
    open_id = request.query_params.get("open")
    address = one.address
    return page(
        request,
        "session.html",
        nav="sessions",
        title=one.head.facts.get("title") or one.head.id,
        n=one.n,
        first=first,
        size=WINDOW,
        is_live=is_live,
        generation=one.lines.generation,
        is_aside=one.is_aside,
        window_html=window_html(one, first, first + WINDOW - 1, folded=folded, open_id=open_id),
        missing=words_of_missing(request, one),
        earlier=f"{address}{one.query(at=max(first - WINDOW, 1))}" if first > 1 else None,
        later=f"{address}{one.query(at=first + WINDOW)}" if first + WINDOW <= one.n else None,
        find=request.query_params.get("find", ""),
        folded=folded,
        every_line=f"{address}{one.query(all=1)}at={first}",
        **_now_values(one, row, first),
        **_outline_values(one, turns, at),
    )


def now(request: Request) -> Response:
    """The current header and side parts of the page; `at` is the line that it began with."""
    try:
        with opened(request, fresh=True) as one:
            row = one.live
            values = _now_values(one, row, number_in(request, "at") or 1)
            return fragment("_now.html", address=one.address, **values)
    except NotFound:
        return gone()


def _now_values(one: ThreadPage, row: BoardRow | None, first: int) -> dict[str, Any]:
    """Values for the header, and for what is below the outline."""
    return {
        "head": head_view(one.head, one.usage(), row, thread=one.thread, n_lines=one.n, now=one.site.now()),
        "raw_first": f"/raw{one.address[2:]}{one.query()}seq={first}",
        "problems": one.lines.problems,
        "thread": one.thread,
        "threads": one.head.threads,
        "main_state": row.state.state if row is not None else one.head.facts.get("state") or "unknown",
        "logged": one.head.logged,
        "branches": [_branch_view(way, one.branch) for way in one.ways()],
    }


def _window_start(seq: int) -> int:
    return (seq - 1) // WINDOW * WINDOW + 1


class BranchView(NamedTuple):
    """A branch of the conversation, as the page lists it."""

    id: str
    words: str
    is_active: bool
    is_followed: bool
    at: int | None  # the line from which on it is gone


def _branch_view(way: BranchPath, followed: str) -> BranchView:
    branch = way.branch
    prompt = shown(_on_one_line(way.turns[0].turn.prompt)[:80]) if way.turns else "begins amid a turn"
    words = "the living one" if branch.is_active else f"{branch.why or 'a way'}: {prompt}"
    is_followed = followed == way.name
    return BranchView(branch.id, words.replace("_", " ", 1), branch.is_active, is_followed, way.seq)


def turns(request: Request) -> Response:
    """The outline around a line."""
    try:
        with opened(request) as one:
            return fragment(
                "_outline.html", **_outline_values(one, one.turns(), number_in(request, "at") or 1)
            )
    except NotFound:
        return gone()


def _outline_values(one: ThreadPage, turns: Sequence[PlacedTurn], at: int) -> dict[str, Any]:
    """Values for the part of the outline around a line."""
    here = max((n for n, turn in enumerate(turns) if turn.seq is not None and turn.seq <= at), default=0)
    first = max(0, min(here - _TURNS_AT_ONCE // 2, len(turns) - _TURNS_AT_ONCE))
    around = turns[first : first + _TURNS_AT_ONCE]
    return {
        "turns": around,
        "prompts": {placed.turn.n: shown(_on_one_line(placed.turn.prompt)) for placed in around},
        "is_known": one.head.known is not None,
        "turns_before": first,
        "turns_after": max(len(turns) - first - len(around), 0),
        "here": turns[here].turn.n if turns else None,
        "before_at": turns[max(first - 1, 0)].seq if turns else None,
        "after_at": turns[min(first + len(around), len(turns) - 1)].seq if turns else None,
        "left": _left_turns(one, around),
        "took": {one.turn.n: duration(one.turn.took_ms) for one in around if one.turn.took_ms},
        "address": one.address,
        "thread_query": one.query(),
    }


def _on_one_line(prompt: str) -> str:
    return " ".join(prompt[:240].split())[:120]


def _left_turns(one: ThreadPage, around: Sequence[PlacedTurn]) -> dict[int, str]:
    """The turns that are not on the followed branch, each with its own branch."""
    wanted = {placed.turn.n for placed in around}
    off = {turn.n for turn in one.seen().turns if turn.n and not turn.is_on} & wanted
    ways = {placed.turn.n: way.branch.id for way in one.ways() for placed in way.turns}
    return {n: ways.get(n, "") for n in off}


def where(request: Request) -> Response:
    """The number of the line that is named by a call's id, a turn, or a line of a log."""
    try:
        with opened(request) as one:
            seq, thread = line_asked(request, one), other_thread_asked(request, one)
            return JSONResponse({"seq": seq, "n": one.n, "thread": thread})
    except NotFound:
        return gone()
