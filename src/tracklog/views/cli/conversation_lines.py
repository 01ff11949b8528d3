"""The lines of a conversation on a terminal or in a pipe.

Rules of this room
  1. A line is made when it is asked for: however long a session is, the first one comes at once.
  2. On a terminal words are wrapped and a call keeps to one line; in a pipe no line is broken.
  3. Every sign has its word: colour and marks only repeat what is said.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import click

from tracklog.model.session import Call, Compaction, Failure, Note, Request, Session
from tracklog.views.cli.call_words import MARKS, verdict_words, what_it_did
from tracklog.views.cli.conversation import Chosen, Interrupted, Moment, Opened
from tracklog.views.cli.printing import count, excerpt, in_colour, safe, short, short_id, tilde
from tracklog.views.cli.times import day_and_time, took
from tracklog.views.cli.wrapping import cut, wrapped

_LEAST = 30  # columns that text keeps on the narrowest terminal
_LONGEST_REASON = 300
_SEARCHED = 100_000  # letters of an error that are looked at
_SHOWN_NOTES = {"slash": "command {}", "shell": "shell: {}"}  # by what they are; other notes stay out


class Paper(NamedTuple):
    """What is written on."""

    width: int | None  # None: a pipe
    is_coloured: bool

    @classmethod
    def of_stdout(cls) -> Paper:
        """As wide as the terminal, coloured if colours are welcome."""
        is_terminal = sys.stdout.isatty()
        width = max(os.get_terminal_size(sys.stdout.fileno()).columns, _LEAST) if is_terminal else None
        return cls(width, in_colour(sys.stdout))

    def painted(self, text: str, **style: object) -> str:
        """The safe text in a style, where there is colour."""
        return click.style(text, **style) if self.is_coloured and text else text  # type: ignore[arg-type]

    def room(self, used: int) -> int | None:
        """What is left of a line."""
        return None if self.width is None else max(self.width - used, _LEAST // 2)


def lines_of(chosen: Chosen, paper: Paper, *, with_thinking: bool) -> Iterator[str]:
    """The head of the session, the moments that are chosen, and what was left out."""
    yield from _head(chosen, paper)
    draw = _Drawing(chosen, paper, with_thinking=with_thinking)
    for moment in chosen.moments():
        yield from draw.moment(moment)
    yield from _left_out(chosen, paper, with_thinking=with_thinking)


class _Drawing:
    def __init__(self, chosen: Chosen, paper: Paper, *, with_thinking: bool) -> None:
        self._chosen = chosen
        self._paper = paper
        self._with_thinking = with_thinking
        self._says = False  # whether the last line was words, so that calls keep a distance

    def moment(self, moment: Moment) -> Iterator[str]:
        match moment:
            case Opened():
                yield from self._prompt(moment)
            case Request():
                yield from self._request(moment)
            case Call():
                yield from self._call(moment)
            case Compaction() | Failure() | Interrupted() | Note():
                yield from self._event(moment)

    def _prompt(self, opened: Opened) -> Iterator[str]:
        prompt, turn = opened
        yield ""
        if turn is not None:
            yield self._rule(_turn_words(opened))
        remarks = [
            "" if prompt.origin in ("typed", "sdk") else f"({prompt.origin})",
            f"[{count(prompt.n_images, 'image')}]" if prompt.n_images else "",
            f"[{count(prompt.n_documents, 'document')}]" if prompt.n_documents else "",
        ]
        text = " ".join([prompt.text, *filter(None, remarks)])
        yield from self._words(text, mark="❯", bold=True)
        self._says = True

    def _request(self, request: Request) -> Iterator[str]:
        if self._with_thinking and request.thinking.strip():
            yield ""
            yield from self._words(request.thinking, mark="∴", dim=True)
        if request.text.strip():
            yield ""
            yield from self._words(request.text, mark="●")
            self._says = True
        if request.error:
            yield from self._thin(f"! API error: {short(request.error, _LONGEST_REASON)}", fg="yellow")

    def _call(self, call: Call) -> Iterator[str]:
        if self._says:
            yield ""
            self._says = False
        yield _call_line(call, self._paper, cwd=self._chosen.session.cwd)
        why = reason_of(call)
        if why:
            yield self._paper.painted(cut(f"      {why}", self._paper.width), dim=True)

    def _event(self, event: Compaction | Failure | Interrupted | Note) -> Iterator[str]:
        words = _event_words(event)
        if words:
            yield from self._thin(words, fg="yellow" if words.startswith("!") else None)

    def _thin(self, words: str, *, fg: str | None) -> Iterator[str]:
        if self._says:
            yield ""
            self._says = False
        yield self._paper.painted(cut(f"  {words}", self._paper.width), fg=fg, dim=fg is None)

    def _words(self, text: str, *, mark: str, **style: object) -> Iterator[str]:
        lead = mark
        for line in wrapped(text, self._paper.room(2)):
            yield f"{lead} {self._paper.painted(line, **style)}".rstrip()
            lead = " "

    def _rule(self, words: str) -> str:
        width = self._paper.width
        rule = f"── {words} ──"
        return self._paper.painted(rule if width is None else cut(rule.ljust(width, "─"), width), dim=True)


def reason_of(call: Call) -> str:
    """Why a call did not end well, on one line; empty if it did."""
    if call.verdict in ("ok", "running"):
        return ""
    said = (
        call.feedback or call.error or call.decision or ("" if call.verdict == "backgrounded" else call.why)
    )
    lines = [line.strip() for line in (said or "")[:_SEARCHED].splitlines() if line.strip()]
    told = lines if len(lines) < 4 else [lines[0], "…", lines[-1]]  # errors say most where they begin and end
    return "" if told == [call.verdict] else short(" / ".join(told), _LONGEST_REASON)


def _call_line(call: Call, paper: Paper, *, cwd: str | None) -> str:
    mark, colour = MARKS[call.verdict]
    name = short(call.name, 40)
    verdict = "" if call.verdict == "ok" and call.sureness == "stated" else verdict_words(call)
    spawned = f"agent {short_id(call.spawned)}" if call.spawned else ""
    left = "" if call.on_active_branch else "left"
    tail = " · ".join(part for part in (took(call.took_ms), verdict, spawned, left) if part)
    room = paper.room(4 + len(name) + 2 + (len(tail) + 3 if tail else 0))
    what = cut(what_it_did(call, cwd=cwd), room)
    head = f"  {paper.painted(mark, fg=colour)} {paper.painted(name, bold=True)}"
    return "  ".join(filter(None, [head, what])) + (
        f" · {paper.painted(tail, dim=not verdict)}" if tail else ""
    )


def _turn_words(opened: Opened) -> str:
    turn = opened.turn
    if turn is None:
        return ""
    parts = [
        f"turn {turn.n}",
        day_and_time(turn.at),
        took(turn.took_ms),
        "interrupted" if turn.is_interrupted else "",
        "" if turn.on_active_branch else "left branch",
        "copied" if turn.is_inherited else "",
    ]
    return " · ".join(part for part in parts if part)


def _event_words(event: Compaction | Failure | Interrupted | Note) -> str:
    match event:
        case Compaction():
            how = [event.trigger or "", _tokens(event), took(event.took_ms)]
            return " · ".join(["≡ compacted", *(safe(part) for part in how if part)])
        case Failure():
            tries = (
                f"try {event.attempt} of {event.of_attempts}" if event.attempt and event.of_attempts else ""
            )
            status = str(event.status) if event.status else ""
            parts = ["! API error", status, short(event.text, _LONGEST_REASON), tries]
            return " · ".join(part for part in parts if part)
        case Interrupted():
            return "! interrupted"
        case Note():
            return (
                short(_SHOWN_NOTES[event.what].format(event.value), 200) if event.what in _SHOWN_NOTES else ""
            )


def _tokens(compaction: Compaction) -> str:
    before, after = compaction.tokens_before, compaction.tokens_after
    if before is None:
        return ""
    return f"{before:,} tokens" + (f" → {after:,}" if after is not None else "")


def _head(chosen: Chosen, paper: Paper) -> Iterator[str]:
    session = chosen.session
    yield paper.painted(cut(excerpt(session.title or "(no title)", 200), paper.width), bold=True)
    for line in (session.id, *_where(session), _how_much(session)):
        yield paper.painted(cut(safe(line), paper.width), dim=True)
    if chosen.thread is not session.main:
        thread = chosen.thread
        parts = [thread.type, thread.description, thread.state]
        yield cut(safe(f"thread {thread.id}: {', '.join(part for part in parts if part)}"), paper.width)
    if chosen.branch is not None and not chosen.branch.is_active:
        yield cut(safe(f"branch {chosen.branch.id}: left ({chosen.branch.why})"), paper.width)


def _where(session: Session) -> Iterator[str]:
    cwd = tilde(session.cwd) if session.cwd else ""
    place = f"{cwd} ({session.branch})" if cwd and session.branch else cwd
    yield " · ".join(
        part for part in (session.agent, *session.versions[-1:], *session.models[:3], place) if part
    )


def _how_much(session: Session) -> str:
    n_errors = sum(call.verdict == "error" for call in session.calls)
    n_subagents = sum(not thread.is_warmup for thread in session.threads) - 1
    parts = [
        _from_to(session),
        count(len(session.turns), "turn"),
        count(len(session.calls), "call") + (f" ({count(n_errors, 'error')})" if n_errors else ""),
        count(n_subagents, "subagent") if n_subagents > 0 else "",
    ]
    return " · ".join(part for part in parts if part)


def _from_to(session: Session) -> str:
    first, last = day_and_time(session.started_at), day_and_time(session.last_at)
    if not first or not last:
        return ""
    return f"{first} – {last[11:] if first[:10] == last[:10] else last} UTC"


def _left_out(chosen: Chosen, paper: Paper, *, with_thinking: bool) -> Iterator[str]:
    parts = list(_what_was_left_out(chosen, with_thinking=with_thinking))
    if not chosen.turns and not chosen.requests:
        yield ""
        yield "Nothing was said here yet."
    if parts:
        yield ""
        lead = "not shown: "
        for line in wrapped("; ".join(parts), paper.room(len(lead))):
            yield paper.painted(f"{lead}{line}", dim=True)
            lead = " " * len(lead)


def _what_was_left_out(chosen: Chosen, *, with_thinking: bool) -> Iterator[str]:
    session = chosen.session
    if chosen.thread is session.main and session.injected:
        kinds = Counter(note.what for note in session.injected).most_common()
        told = ", ".join(f"{n} {safe(what)}" for what, n in kinds)
        yield f"{count(len(session.injected), 'injected text')} ({told})"
    n_thoughts = sum(bool(request.thinking.strip()) for request in chosen.requests)
    if n_thoughts and not with_thinking:
        yield f"{count(n_thoughts, 'thought')} (--thinking)"
    n_left = sum(not branch.is_active for branch in session.branches)
    if n_left and not chosen.everything and chosen.branch is None and chosen.thread is session.main:
        yield f"{n_left} left {'branch' if n_left == 1 else 'branches'} (--branch all)"
