"""The header of a session's page: facts, state, and figures, each linked to its rows."""

from __future__ import annotations

import re
import shlex
from datetime import datetime
from typing import NamedTuple
from urllib.parse import urlencode

from markupsafe import Markup

from tracklog.app.pages.session import BoardRow, SessionHead, ThreadUsage
from tracklog.model.ids import MAIN
from tracklog.model.states import LiveState
from tracklog.views.html.legible import shown
from tracklog.views.html.numbers import duration, missing, moment_of, money, number, tokens, when
from tracklog.views.web.frame import session_address

_PICO_IN_MICRO = 1_000_000
_PLAIN_ID = re.compile(r"[0-9A-Za-z][0-9A-Za-z_.:-]{0,199}")
_RUNS = ("working", "waiting", "idle")
_TOLD_IF_ANY = ("denied", "blocked", "interrupted", "timed_out", "lost")


class HeaderFigure(NamedTuple):
    """A figure, with the address of its rows."""

    name: str
    html: Markup
    address: str | None
    title: str = ""
    is_bad: bool = False


class HeadView(NamedTuple):
    """What the header shows."""

    agent: str
    id: str
    title: str
    state: str
    waiting_for: str | None
    evidence: list[str]
    doing: str | None
    project: str | None  # as an address has it
    project_words: str
    cwd: str | None
    branch: str | None
    models: list[tuple[str, str]]  # as an address has it, and as it is read
    versions: list[str]
    entrypoint: str | None
    started: Markup
    last: Markup
    figures: list[HeaderFigure]
    spent: list[HeaderFigure]
    resume: str | None
    path: str
    only_here: bool
    is_known: bool  # to the index
    is_settled: bool
    thread: str
    thread_words: str
    parent: str | None  # address of the call that asked for this thread
    address: str


def head_view(
    head: SessionHead,
    spent: ThreadUsage | None,
    live: BoardRow | None,
    *,
    thread: str,
    n_lines: int,
    now: datetime,
) -> HeadView:
    """The header of a session, or of one of its threads."""
    facts = head.facts
    ours = next((one for one in head.threads if one.id == thread), None)
    files = head.logs_of(thread) or head.logs[0]
    address = session_address(head.agent, head.id)
    now_state = _state_now(live, thread)
    told_state = facts.get("state") if thread == MAIN else ours and ours.state
    project = facts.get("project") or (live.project if live else None)
    return HeadView(
        agent=head.agent,
        id=head.id,
        title=shown(facts.get("title") or (live and (live.title or live.last_prompt)) or head.id, most=400),
        state=now_state.state if now_state else told_state or "unknown",
        waiting_for=now_state.waiting_for if now_state else None,
        evidence=list(now_state.evidence) if now_state else ["as its log tells"],
        doing=now_state.doing if now_state else None,
        project=project,
        project_words=shown(project or "", most=120),
        cwd=_shown(facts.get("cwd") or (live.cwd if live else None)),
        branch=_shown(facts.get("branch")),
        models=[(model, shown(model, most=80)) for model in _models(head, spent, live, thread)],
        versions=[shown(version, most=40) for version in facts.get("versions") or []],
        entrypoint=facts.get("entrypoint"),
        started=when(facts.get("started_at"), now, why="not known yet"),
        last=when(facts.get("last_at"), now, why="not known yet"),
        figures=[*_figures(head, spent, n_lines), *_context(live)]
        if thread == MAIN
        else _figures_of(head, thread, spent),
        spent=_spent(spent, _n_requests(head, thread), tells_reasoning=head.tells_reasoning),
        resume=_resume(head),
        path=str(files.files[0].path),
        only_here=head.only_here,
        is_known=head.known is not None,
        is_settled=head.is_settled,
        thread=thread,
        thread_words=shown((ours and (ours.description or ours.type)) or thread, most=200)
        if thread != MAIN
        else "",
        parent=session_address(head.agent, head.id, ours.parent_call)
        if ours is not None and thread != MAIN and ours.parent_call
        else None,
        address=address,
    )


def _shown(text: str | None) -> str | None:
    return shown(text) if text else None


def _models(head: SessionHead, spent: ThreadUsage | None, live: BoardRow | None, thread: str) -> list[str]:
    """The models of a session, or of a subagent as far as it was counted."""
    if thread != MAIN:
        return spent.row.models if spent is not None else []
    return head.facts.get("models") or ([live.model] if live and live.model else [])


def _state_now(live: BoardRow | None, thread: str) -> LiveState | None:
    """The live state of the session, or of a working subagent."""
    if live is None or thread == MAIN:
        return live.state if live else None
    return next((one.state for one in live.threads if one.id == thread), None)


def _context(live: BoardRow | None) -> list[HeaderFigure]:
    """The share of the context window that a running session uses, as on the board."""
    used = live.spending.context_used if live and live.state.state in _RUNS else None
    if used is None:
        return []
    title = f"{used:.1%} of the model's memory is used"
    return [HeaderFigure("context used", Markup("{}").format(f"{used:.0%}"), None, title)]


def _figures(head: SessionHead, spent: ThreadUsage | None, n_lines: int) -> list[HeaderFigure]:
    facts = head.facts
    calls = f"/calls?{urlencode(_own_calls(head))}"
    took_ms = _wall_ms(facts.get("started_at"), facts.get("last_at"))
    made = [
        _active(head.active_ms, took_ms),
        HeaderFigure(
            "from first to last line", duration(took_ms, why="its lines say no times"), f"#r{n_lines}"
        ),
        _counted("turn", facts.get("turns"), "#outline"),
        _counted("request", facts.get("requests"), "#spent" if spent is not None else None),
        _counted("call", facts.get("calls"), calls),
        _counted("error", facts.get("errors"), f"{calls}&verdict=error")._replace(
            is_bad=bool(facts.get("errors"))
        ),
    ]
    if n_subagents := sum(not one.is_warmup for one in head.threads[1:]):
        made.append(_counted("subagent", n_subagents, "#agents"))
    verdicts = head.verdicts
    made += [
        HeaderFigure(verdict.replace("_", " "), number(verdicts[verdict]), f"{calls}&verdict={verdict}")
        for verdict in _TOLD_IF_ANY
        if verdicts[verdict]
    ]
    return [*made, _cost(spent)]


def _own_calls(head: SessionHead) -> dict[str, str]:
    """The parameters that list the session's own calls, without copies from other sessions."""
    return {"agent": head.agent, "session": head.id, "copies": "no"}


def _active(active_ms: float | None, wall_ms: float | None) -> HeaderFigure:
    """How long its turns lasted; no more than the session if their times contradict each other."""
    if active_ms is None or wall_ms is None or active_ms <= wall_ms:
        return HeaderFigure("active", duration(active_ms, why="its turns say no times"), "#outline")
    title = "The times of its turns contradict each other: it was active for no longer than this."
    return HeaderFigure("active", Markup("≤ {}").format(duration(wall_ms)), "#outline", title)


def _figures_of(head: SessionHead, thread: str, spent: ThreadUsage | None) -> list[HeaderFigure]:
    """The figures of a subagent."""
    calls = f"/calls?{urlencode({**_own_calls(head), 'thread': thread})}"
    ours = next((one for one in head.threads if one.id == thread), None)
    verdicts = head.verdicts_by_thread.get(thread, {})
    n_errors = verdicts.get("error", 0) if ours else None
    return [
        _counted("request", ours.requests if ours else None, "#spent" if spent is not None else None),
        _counted("call", ours.calls if ours else None, calls),
        _counted("error", n_errors, f"{calls}&verdict=error")._replace(is_bad=bool(n_errors)),
        *(
            HeaderFigure(verdict.replace("_", " "), number(verdicts[verdict]), f"{calls}&verdict={verdict}")
            for verdict in _TOLD_IF_ANY
            if verdict in verdicts
        ),
        _cost(spent),
    ]


def _n_requests(head: SessionHead, thread: str) -> int | None:
    if thread == MAIN:
        return head.facts.get("requests")
    return next((one.requests for one in head.threads if one.id == thread), None)


def _counted(what: str, n: int | None, address: str | None) -> HeaderFigure:
    return HeaderFigure(what if n == 1 else f"{what}s", number(n, why="not known yet"), address)


def _cost(spent: ThreadUsage | None) -> HeaderFigure:
    if spent is None:
        return HeaderFigure("cost", money(None, why="not counted yet"), "#spent")
    row, cost = spent
    if cost.cost_pico_usd is None:
        return HeaderFigure("cost", money(None, why=_why_unpriced(spent)), "#spent")
    low, high = cost.cost_pico_usd // _PICO_IN_MICRO, row.most_cost_pico_usd // _PICO_IN_MICRO
    if high > low:
        title = f"between ${low / 1e6:,.2f} and ${high / 1e6:,.2f}"
    else:
        title = "at least this: not all of it is known" if cost.is_lower_bound else "certain"
    return HeaderFigure("cost", money(low, lower_bound=cost.is_lower_bound), "#spent", title)


def _why_unpriced(spent: ThreadUsage) -> str:
    if _is_uncounted(spent):
        return "no request says what it used" if spent.row.requests else "no request was counted"
    return "no price is known for its model"


def _is_uncounted(spent: ThreadUsage) -> bool:
    return spent.row.missing_requests >= spent.row.requests


def _spent(spent: ThreadUsage | None, n_requests: int | None, *, tells_reasoning: bool) -> list[HeaderFigure]:
    if spent is None:
        return []
    row, used = spent.row, spent.row.tokens
    beside = max((n_requests or 0) - row.requests, 0)
    output = _used(spent, used.output)
    rows = [
        ("requests that count here", number(row.requests)),
        *([("others: copies, or no answer is told", number(beside))] if beside else []),
        ("input, not cached", _used(spent, used.input)),
        ("written to the cache", _used(spent, used.cache_write)),
        ("read from the cache", _used(spent, used.cache_read)),
        ("output", Markup("≥ {}").format(output) if row.partial_requests else output),
        ("of it reasoning", _reasoning(spent, tells_reasoning=tells_reasoning)),
        ("without a price", number(row.unpriced_requests)),
        ("without a final count", number(row.partial_requests)),
        ("without any count", number(row.missing_requests)),
    ]
    return [HeaderFigure(name, html, None) for name, html in rows]


def _used(spent: ThreadUsage, n: int) -> Markup:
    return missing("no request says what it used") if _is_uncounted(spent) else tokens(n)


def _reasoning(spent: ThreadUsage, *, tells_reasoning: bool) -> Markup:
    if not tells_reasoning and not spent.row.tokens.reasoning:
        return missing("its log does not tell reasoning from the rest of the output")
    return _used(spent, spent.row.tokens.reasoning)


def _wall_ms(started: str | None, last: str | None) -> float | None:
    begin, end = moment_of(started), moment_of(last)
    return None if begin is None or end is None else max((end - begin).total_seconds() * 1000, 0.0)


def _resume(head: SessionHead) -> str | None:
    """The command that resumes the session, to be pasted into a terminal.

    Names that are not plain printable letters are left out: `quote` guards against the shell alone, and a
    folder's name in a log may hold keys that end the quoted line (Ctrl-C) and begin another. An invalid id could be
    an option of the client.
    """
    if not _PLAIN_ID.fullmatch(head.id) or not head.resume_words:
        return None
    command, cwd = shlex.join(head.resume_words), head.facts.get("cwd")
    return (
        f"cd {shlex.quote(cwd)} && {command}"
        if cwd and cwd.startswith("/") and cwd.isprintable()
        else command
    )
