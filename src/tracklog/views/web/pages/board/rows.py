"""Rows of the board as the page shows them: groups, words, evidence, and recent activity.

Rules
  1. Nothing here depends on the time of rendering except relative times; a row with the same content has the same mark,
     and pages replace only rows whose mark has changed.
  2. Text of a log is spelled out where it could mislead, and cut if it is long.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import NamedTuple
from urllib.parse import quote

from tracklog.app.live.board import BoardShot
from tracklog.app.live.top import (
    LEAST_MS,
    SHOWN,
    TIMES,
    BoardGroupName,
    BoardRow,
    Minutes,
    OpenPermissionRequest,
    PendingRow,
    Stuck,
    ThreadRow,
    beneath_parents,
    group_of,
)
from tracklog.model.states import LiveState
from tracklog.views.documents.runs import origin_words
from tracklog.views.html.legible import shown
from tracklog.views.text.numbers import took
from tracklog.views.text.printing import short_model
from tracklog.views.web.frame import session_address

HEIGHT = 18
PITCH = 2  # units per minute
_FULL = 12  # lines in a minute that fill the picture, unless there were more
_LATELY = 10


class Spark(NamedTuple):
    """A small bar chart as one SVG path, and its description."""

    path: str
    unknown: int  # units at the left that are unknown
    width: int
    height: int
    words: str


def spark(minutes: Minutes, now_ms: int) -> Spark | None:
    """A chart of a session's lines per minute in the last hour; None without any, or if nothing is known."""
    lines = minutes.last(now_ms)
    known = [n for n in lines if n is not None]
    if not any(known):
        return None
    full = max(_FULL, *known)
    bars = [_bar(at, n / full) for at, n in enumerate(lines) if n]
    lately, hour = sum(known[-_LATELY:]), sum(known)
    span = f"{len(known)} minutes" if len(known) < SHOWN else "hour"
    words = f"{hour:,} lines in the last {span}, {lately:,} in the last {_LATELY} minutes"
    return Spark("".join(bars), (SHOWN - len(known)) * PITCH, SHOWN * PITCH, HEIGHT, words)


def _bar(at: int, share: float) -> str:
    """A bar whose height grows with the square root: one line is visible next to thirty."""
    height = max(2, round(HEIGHT * share**0.5))
    return f"M{at * PITCH} {HEIGHT}v-{height}h1v{height}z"


FOLDED = 8  # quiet rows that are shown at first
_MOST_STRIPS = 6
_DEEPEST = 3
_TITLE, _WORDS, _NAME = 160, 240, 80
_WAITS = {"permission": "permission", "answer": "answer", "plan": "plan", None: "dialog"}


class CurrentStep(NamedTuple):
    """What a session is doing, and since when."""

    words: str | None
    since_ms: int | None
    address: str | None  # of the call
    stuck: str | None  # by which rule


class Strip(NamedTuple):
    """A subagent."""

    state: str
    waiting_for: str | None
    name: str
    step: CurrentStep
    address: str  # of its own log; without one, of the call that started it


class PendingQuestion(NamedTuple):
    """A permission request that can be answered here."""

    run: str
    id: str
    tool: str
    gist: str
    until_ms: int


class Fact(NamedTuple):
    """A further fact about a session."""

    name: str
    words: str


class BoardRowView(NamedTuple):
    """A session on the board."""

    key: str  # unlike any other on the page
    address: str
    state: str
    waiting_for: str | None
    word: str
    evidence: tuple[str, ...]
    since_ms: int | None
    project: str
    title: str
    step: CurrentStep
    model: str | None
    context: float | None
    branch: str | None
    tokens: int | None
    n_running: int
    n_threads: int
    strips: tuple[Strip, ...]
    n_more_strips: int
    words: str | None
    last_ms: int
    began_ms: int | None
    cost_micro_usd: int | None
    is_lower_bound: bool
    why_no_cost: str
    spark: Spark | None
    questions: tuple[PendingQuestion, ...]
    facts: tuple[Fact, ...]
    problem: str | None
    depth: int

    @property
    def mark(self) -> str:
        """A hash of the row's content."""
        return blake2b(repr(self).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


class BoardGroup(NamedTuple):
    """A group of rows."""

    name: str
    title: str
    empty: str
    rows: tuple[BoardRowView, ...]
    n: int  # with those that are folded


def groups_of(shot: BoardShot, *, shows_all: bool) -> list[BoardGroup]:
    """The groups of the board: sessions that need you, work, or are quiet."""
    by_group: dict[BoardGroupName, list[BoardRow]] = {"needs": [], "working": [], "quiet": []}
    for row in shot.rows:
        by_group[group_of(row)].append(row)
    views = {
        name: tuple(view_of(row, shot.at_ms) for row in beneath_parents(rows))
        for name, rows in by_group.items()
    }
    quiet = views["quiet"]
    return [
        BoardGroup("needs", "Needs you", "Nobody waits for you.", views["needs"], len(views["needs"])),
        BoardGroup("working", "Working", "Nothing runs.", views["working"], len(views["working"])),
        BoardGroup("quiet", "Quiet", "", quiet if shows_all else quiet[:FOLDED], len(quiet)),
    ]


def view_of(row: BoardRow, now_ms: int) -> BoardRowView:
    """A row of the board as the page shows it."""
    state, spent, address = row.state, row.spending, session_address(row.agent, row.id)
    strips = [*(_strip(one, address) for one in row.threads), *(_asked(one, address) for one in row.pending)]
    return BoardRowView(
        key=key_of(row.agent, row.id),
        address=address,
        state=state.state,
        waiting_for=state.waiting_for,
        word=_WAITS[state.waiting_for] if state.state == "waiting" else state.state,
        evidence=tuple(shown(one, most=_TITLE) for one in state.evidence),
        since_ms=state.since_ms,
        project=shown(row.project or row.id[:8], most=_NAME),
        title=_one_line(row.title or "", _TITLE) or f"session {shown(row.id[:8])}",
        step=_step(state, row.stuck, address),
        model=shown(short_model(row.model), most=40) if row.model else None,
        context=spent.context_used,
        branch=shown(row.branch, most=_NAME) if row.branch else None,
        tokens=spent.tokens or None,
        n_running=len(row.threads),
        n_threads=max(row.n_threads, len(row.threads)) + len(row.pending),
        strips=tuple(strips[:_MOST_STRIPS]),
        n_more_strips=max(len(strips) - _MOST_STRIPS, 0),
        words=_one_line(row.last_words or "", _WORDS) or None,
        last_ms=row.last_ms,
        began_ms=row.began_ms,
        cost_micro_usd=spent.cost_micro_usd if _has_price(row) else None,
        is_lower_bound=spent.is_lower_bound,
        why_no_cost=_why_no_cost(row),
        spark=spark(row.minutes, now_ms),
        questions=tuple(_question(one) for one in row.permission_requests),
        facts=tuple(_facts(row)),
        problem=shown(row.problem) if row.problem else None,
        depth=min(row.depth, _DEEPEST),
    )


def key_of(agent: str, session: str) -> str:
    """An id for a row that is valid whatever its session is called."""
    return blake2b(f"{agent}/{session}".encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _step(state: LiveState, stuck: Stuck | None, address: str) -> CurrentStep:
    words = _one_line(state.doing, _TITLE) if state.doing else None
    if words and state.state == "crashed":
        words = f"while {words}"
    is_now = state.state in ("working", "waiting", "pending")
    to_call = f"{address}#c{quote(state.call, safe='')}" if state.call and words else None
    return CurrentStep(words, state.since_ms if is_now else None, to_call, _rule(stuck) if stuck else None)


def _rule(stuck: Stuck) -> str:
    """The rule by which a call counts as stuck, with its numbers."""
    rule = f"runs for more than {took(stuck.limit_ms)}: the larger of {took(LEAST_MS)} and {TIMES} times "
    if stuck.usual_ms is None:
        return f"{rule}what {shown(stuck.tool, most=40)} usually takes, of which too little is known here"
    return f"{rule}the {took(stuck.usual_ms)} within which 95 % of all {shown(stuck.tool, most=40)} calls end here"


def _strip(row: ThreadRow, address: str) -> Strip:
    name = _one_line(row.name or row.id, _NAME)
    step = _step(row.state, row.stuck, address)._replace(address=None)
    own = quote(row.id, safe="", errors="surrogateescape")  # as its file is called
    return Strip(row.state.state, row.state.waiting_for, name, step, f"{address}?thread={own}")


def _asked(row: PendingRow, address: str) -> Strip:
    name = _one_line(row.name or "a subagent", _NAME)
    step = CurrentStep("has no log yet", row.state.since_ms, None, None)
    return Strip(row.state.state, None, name, step, f"{address}#c{quote(row.call, safe='')}")


def _question(ask: OpenPermissionRequest) -> PendingQuestion:
    return PendingQuestion(
        ask.run, ask.id, shown(ask.tool, most=60), _one_line(ask.gist, _TITLE), ask.until_ms
    )


def _has_price(row: BoardRow) -> bool:
    spent = row.spending
    return row.is_counted and bool(spent.tokens) and not (spent.is_lower_bound and not spent.cost_micro_usd)


def _why_no_cost(row: BoardRow) -> str:
    if not row.is_counted:
        return "not counted yet"
    return "no price is known for its model" if row.spending.tokens else "no model has answered yet"


def _facts(row: BoardRow) -> list[Fact]:
    facts = [
        ("session", f"{row.agent} {row.id}"),
        ("folder", row.cwd),
        ("process", str(row.state.pid) if row.state.pid else None),
        ("log", row.path),
        ("started by", origin_words(row.started_by) if row.started_by else None),
    ]
    return [Fact(name, shown(words)) for name, words in facts if words]


def _one_line(text: str, most: int) -> str:
    line = " ".join(text[: most * 2].split())
    return shown(line if len(line) <= most else f"{line[: most - 1]}…", most=most)
