"""What stands above a conversation and below it: whose it is, what is odd about it, what was left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tracklog.model.request_costs import Sum
from tracklog.model.session import Session
from tracklog.pipeline.listed import is_about_a_file
from tracklog.views.cli.conversation import Chosen
from tracklog.views.cli.costs import cost_words
from tracklog.views.cli.lineage import Lineage
from tracklog.views.cli.paper import Paper
from tracklog.views.cli.printing import count, excerpt, for_the_shell, safe, short, short_id, tilde
from tracklog.views.cli.times import day_and_time, local_moment
from tracklog.views.cli.wrapping import cut, wrapped

_FORKS_SHOWN = 3


def head_lines(chosen: Chosen, cost: Sum, lineage: Lineage, paper: Paper) -> Iterator[str]:
    """The title, the id, where and how it ran, how much there is, and what could not be read."""
    session = chosen.session
    yield paper.painted(cut(excerpt(session.title or "(no title)", 200), paper.width), bold=True)
    facts = (session.id, _where(session), _how_much(session, cost), _circumstances(session))
    for line in (*facts, *lineage.lines()):
        if line:
            yield paper.painted(cut(safe(line), paper.width), dim=True)
    if chosen.thread is not session.main:
        thread = chosen.thread
        parts = [thread.type, thread.description, thread.state]
        yield cut(safe(f"thread {thread.id}: {', '.join(part for part in parts if part)}"), paper.width)
        if thread.worktree:
            yield cut(safe(f"worktree {tilde(thread.worktree)}"), paper.width)
    if chosen.branch is not None and not chosen.branch.is_active:
        yield cut(safe(f"branch {chosen.branch.id}: left ({chosen.branch.why})"), paper.width)
    yield from _not_read(session, paper)


def _where(session: Session) -> str:
    cwd = tilde(session.cwd) if session.cwd else ""
    place = f"{cwd} ({session.branch})" if cwd and session.branch else cwd
    parts = (session.agent, *session.versions[-1:], *session.models[:3], place)
    return " · ".join(part for part in parts if part)


def _how_much(session: Session, cost: Sum) -> str:
    n_errors = sum(call.verdict == "error" for call in session.calls_by_thread)
    n_subagents = sum(not thread.is_warmup for thread in session.threads) - 1
    parts = [
        _from_to(session),
        count(len(session.turns), "turn"),
        count(len(session.calls_by_thread), "call") + (f" ({count(n_errors, 'error')})" if n_errors else ""),
        count(n_subagents, "subagent") if n_subagents > 0 else "",
        cost_words(cost),
    ]
    return " · ".join(part for part in parts if part)


def _from_to(session: Session) -> str:
    first, last = day_and_time(session.started_at), day_and_time(session.last_at)
    zone = local_moment(session.last_at)
    if not first or not last or zone is None:
        return ""
    return f"{first} – {last[11:] if first[:10] == last[:10] else last} {zone:%Z}"


def _circumstances(session: Session) -> str:
    """What it was allowed to do, and with which sessions it shares history."""
    n_copied = sum(last.line - first.line + 1 for first, last in session.inherited)
    forks = [short_id(fork) for fork in session.forks[:_FORKS_SHOWN]]
    more = ", …" if len(session.forks) > _FORKS_SHOWN else ""
    parts = [
        f"permissions: {' → '.join(session.permission_modes)}" if session.permission_modes else "",
        f"forked from {short_id(session.forked_from)}" if session.forked_from else "",
        f"{count(n_copied, 'line')} copied" if n_copied else "",
        f"copied by {', '.join(forks)}{more}" if forks else "",
    ]
    return " · ".join(part for part in parts if part)


def _not_read(session: Session, paper: Paper) -> Iterator[str]:
    lines = list(dict.fromkeys(one.place for one in session.problems if not is_about_a_file(one)))
    if lines:
        words = f"! {count(len(lines), 'line')} not understood, the first is line {lines[0].line}:"
        yield paper.painted(cut(words, paper.width), fg="yellow")
        yield f"  tracklog records {safe(for_the_shell(lines[0].path))}"  # never cut: it is there to be copied
    for path in dict.fromkeys(one.place.path for one in session.problems if is_about_a_file(one)):
        lead = "! not read to its end: "
        name = safe(tilde(path))
        room = paper.room(len(lead))
        yield paper.painted(lead + (short(name, room) if room else name), fg="yellow")


def foot_lines(chosen: Chosen, paper: Paper, *, with_thinking: bool) -> Iterator[str]:
    """What was not shown, and how to see it."""
    parts = list(_left_out(chosen, with_thinking=with_thinking))
    if not chosen.turns and not chosen.requests:
        yield ""
        yield "Nothing was said here yet."
    if parts:
        yield ""
        lead = "not shown: "
        for line in wrapped("; ".join(parts), paper.room(len(lead))):
            yield paper.painted(f"{lead}{line}", dim=True)
            lead = " " * len(lead)


def _left_out(chosen: Chosen, *, with_thinking: bool) -> Iterator[str]:
    session = chosen.session
    is_main = chosen.thread is session.main
    if is_main and session.injected:
        yield f"{count(len(session.injected), 'injected text')} ({_kinds(note.what for note in session.injected)})"
    if is_main and session.hooks:
        told = _kinds(hook.event or hook.name or "unnamed" for hook in session.hooks)
        yield f"{count(len(session.hooks), 'hook run')} ({told}; --json)"
    n_thoughts = sum(bool(request.thinking.strip()) for request in chosen.requests)
    if n_thoughts and not with_thinking:
        yield f"{count(n_thoughts, 'thought')} (--thinking)"
    n_left = sum(not branch.is_active for branch in session.branches)
    if n_left and not chosen.everything and chosen.branch is None and is_main:
        yield f"{n_left} left {'branch' if n_left == 1 else 'branches'} (--branch all)"


def _kinds(names: Iterator[str]) -> str:
    return ", ".join(f"{n} {short(name, 40)}" for name, n in Counter(names).most_common())
