"""Rows of a thread as templates need them: words, classes and safe HTML.

Rules
  1. Everything that comes from a log is escaped by the template, or made by one of this package's renderers.
  2. One line sums up a row; its unfolded form is requested later (calls.py).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from markupsafe import Markup
from msgspec.structs import replace

from tracklog.app.pages.session import EventRow, OpenedTurn, ShownRow, ThreadLines, is_quiet
from tracklog.clock import NO_TIME, moment_ms
from tracklog.model.diff.calls import NOT_MADE, line_counts
from tracklog.model.session import Call
from tracklog.views.html.legible import gist, legible, shown
from tracklog.views.html.markdown import markdown
from tracklog.views.html.numbers import duration
from tracklog.views.html.pictures import Pictures, pictures_of
from tracklog.views.html.terminal import terminal, without_looks
from tracklog.views.text.calls import reason_of

_GIST = 240
_OF_A_TERMINAL = frozenset({"printed", "result", "hook"})
_WHO = {
    "typed": "You",
    "queued": "You, while it worked",
    "slash": "You, by a command",
    "shell": "You, in the shell",
    "sdk": "A program",
    "agent": "The agent above",
}
_WORDS = {
    "thinking": "thought",
    "context": "context",
    "command": "command",
    "printed": "printed",
    "compaction": "summed up",
    "interruption": "interrupted",
    "failure": "API error",
    "hook": "hook",
    "note": "note",
    "link": "link",
    "rollback": "taken back",
    "unknown": "unknown",
    "broken": "broken",
    "result": "result",
    "quiet": "quiet",
}


class ConversationRowView(NamedTuple):
    """A row as its template shows it."""

    id: str
    seq: int
    n: int
    last_seq: int
    kind: str
    classes: str
    word: str  # the kind of row, for people
    line: str  # a summary on one line
    at: str | None
    body: Markup | None = None  # its text as HTML, if it is formatted
    text: str = ""  # its text, if it is not
    length: int = 0
    is_cut: bool = False
    call: str | None = None
    verdict: str | None = None
    sureness: str = "stated"
    outcome: str | None = None
    timed_out: bool = False
    reason: str = ""
    took: Markup | None = None
    added: int | None = None
    removed: int | None = None
    spawned: str | None = None
    turn: int | None = None
    n_lines: int = 1
    pictures: Pictures = Pictures()
    model: str | None = None
    is_left: bool = False
    way: OpenedTurn | None = None  # another branch, which begins here


def row_name(seq: int, n: int) -> str:
    """The name of a row in addresses."""
    return f"r{seq}" if n == 0 else f"r{seq}.{n}"


def row_views(rows: Iterable[ShownRow], *, lines: ThreadLines) -> list[ConversationRowView]:
    """The rows of a window, as the template needs them."""
    return [_view(one, lines) for one in rows]


def _view(one: ShownRow, lines: ThreadLines) -> ConversationRowView:
    row = one.row
    base = ConversationRowView(
        id=row_name(row.seq, row.n),
        seq=row.seq,
        n=row.n,
        last_seq=one.last_seq,
        kind=row.kind,
        classes=_classes(one),
        word=_word(row),
        line=gist(shown(_first_line(row)), _GIST),
        at=row.at,
        length=row.length,
        is_cut=row.is_cut,
        turn=one.turn,
        n_lines=one.n_lines,
        pictures=pictures_of(lines.raw(row.seq), row.n_pictures)
        if row.kind == "prompt" and row.n_pictures
        else Pictures(),
        model=row.model,
        is_left=one.is_left,
        way=one.way,
    )
    if row.kind == "call":
        return _call_view(base, one)
    if row.kind == "answer":
        return base._replace(body=markdown(row.text))
    if row.kind in _OF_A_TERMINAL:
        return base._replace(body=terminal(row.text), call=row.call)
    return base._replace(text=legible(row.text), call=row.call)


def _classes(one: ShownRow) -> str:
    row = one.row
    parts = [f"k-{row.kind}"]
    if is_quiet(one):
        parts.append("is-quiet")
    if row.is_bad:
        parts.append("is-bad")
    if row.is_aside:
        parts.append("is-aside")
    if one.bracket:
        parts.append(f"b-{one.bracket}")
    if one.is_left:
        parts.append("is-left left-head" if one.way is not None else "is-left")
    return " ".join(parts)


def _word(row: EventRow) -> str:
    if row.kind == "prompt":
        return _WHO.get(row.label, row.label)
    if row.kind == "answer":
        return "The client" if row.label == "synthetic" else shown(row.model or "The model", most=120)
    if row.kind == "call":
        return shown(row.label)
    return _WORDS.get(row.kind, row.kind)


def _first_line(row: EventRow) -> str:
    if row.kind == "call":
        return row.gist
    text = without_looks(row.text) if row.kind in _OF_A_TERMINAL else row.text
    words = text.strip().partition("\n")[0]
    if row.kind == "thinking":
        return words or "hidden by the model's provider"
    if row.kind in (
        "context",
        "failure",
        "hook",
        "note",
        "link",
        "compaction",
        "rollback",
        "unknown",
        "broken",
        "result",
    ):
        return " · ".join(part for part in (row.label, words) if part)
    return words or row.label


def _call_view(base: ConversationRowView, one: ShownRow) -> ConversationRowView:
    call, row = one.call, one.row
    is_made = call is None or call.verdict not in NOT_MADE
    changes = line_counts(row.label, row.input, one.report) if is_made else None
    base = base._replace(
        call=call.id if call is not None else row.call,
        added=changes.added if changes else None,
        removed=changes.removed if changes else None,
    )
    if call is None:
        return base._replace(verdict="pending")  # its result was not read so far
    return base._replace(
        verdict=call.verdict,
        sureness=call.sureness,
        outcome=call.outcome,
        timed_out=call.timed_out,
        reason=reason_of(replace(call, error=without_looks(call.error)) if call.error else call),
        took=_took(call, row.at),
        spawned=call.spawned,
    )


def _took(call: Call, at: str | None) -> Markup:
    """How long a call took; for a running one its start, from which the page counts on."""
    since_ms = moment_ms(at) if call.verdict == "running" else NO_TIME
    if since_ms == NO_TIME:
        return duration(call.took_ms, by=call.took_by, why="no line says how long it took")
    return Markup('<span data-since="{}" title="it runs">…</span>').format(since_ms)
