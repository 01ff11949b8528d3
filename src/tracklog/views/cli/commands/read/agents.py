"""`tracklog agents`: the main thread of a session and all its subagents, as a tree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tracklog.app.scope.filters import Filters
from tracklog.app.scope.read_sessions import Lineage, RunEntry, SessionQuery
from tracklog.app.session import show as app
from tracklog.model.session import Session, Thread
from tracklog.model.session_rules import n_requests
from tracklog.views.cli.options import reading_options
from tracklog.views.cli.output.stderr_talk import STDERR
from tracklog.views.cli.output.terminal import Paper, cut
from tracklog.views.documents.conversation import threads_document
from tracklog.views.documents.runs import leaf_words
from tracklog.views.documents.sessions import cost_words
from tracklog.views.text.printing import answer, answer_json, count, excerpt, safe, short_id

if TYPE_CHECKING:
    from tracklog.app.session.show import Costs

_LONGEST_ID = 20  # longer ones are cut: --thread takes the beginning
_LONGEST_PURPOSE = 120
_DEEPEST_DRAWN = 12  # steps to the right; deeper threads stay at the last


@click.command
@click.argument("session")
@reading_options
def agents(
    session: str,
    agent: str | None,
    filters: Filters,
    roots: tuple[Path, ...],
    home: Path | None,
    as_json: bool,
) -> None:
    """The main thread of a session and all its subagents, as a tree.

    SESSION is an id, the start of one, a file, or @last. Each subagent hangs on the thread that called it, with what
    joins it to that call; a link that the logs do not state is marked `inferred`. Sessions that were started from within
    it by `tracklog run` are leaves of the main thread. Files that a client only wrote to warm up are shown apart. A
    subagent that only the result of its call names is listed with `log missing`.

    \b
    tracklog agents @last
    tracklog show @last --thread a27f6c8
    """
    tree = app.agents(SessionQuery(session, roots, agent, filters, home), talk=STDERR)
    if as_json:
        answer_json(threads_document(tree))
        return
    for line in _lines(tree.session, tree.lineage, tree.costs, Paper.of_stdout()):
        answer(line)


def _lines(session: Session, lineage: Lineage, costs: Costs, paper: Paper) -> Iterator[str]:
    warmups = [thread for thread in session.threads if thread.is_warmup]
    apart = [thread for thread in session.unjoined if not thread.is_warmup]
    yield from _tree([session.main], costs, paper, lineage)
    if apart:
        yield ""
        yield "not joined: the call that started them stands nowhere"
        yield from _tree(apart, costs, paper)
    if warmups:
        yield ""
        yield "warm-ups: written by the client to be ready, no work of the session"
        yield from (_line(thread, "  ", costs, paper) for thread in warmups)
    if len(session.threads) == 1 and not lineage.started:
        yield "no subagents"


def _tree(
    tops: Sequence[Thread], costs: Costs, paper: Paper, lineage: Lineage | None = None
) -> Iterator[str]:
    """The threads below one another; the runs that the session started are leaves of the first one."""
    stack: list[tuple[Thread | RunEntry, str, str]] = [(thread, "", "") for thread in reversed(tops)]
    leaves = lineage.started if lineage is not None else []
    while stack:
        node, lead, below = stack.pop()
        if not isinstance(node, Thread):
            yield _leaf(node, lead, lineage, paper)
            continue
        yield _line(node, lead, costs, paper)
        threads = [child for child in node.children if not child.is_warmup]
        children: list[Thread | RunEntry] = [*threads, *leaves]
        leaves = []
        stem = below if len(below) < 3 * _DEEPEST_DRAWN else below[3:]
        ends = [False] * (len(children) - 1) + [True] if children else []
        drawn = [
            (child, f"{stem}{'└─ ' if is_last else '├─ '}", f"{stem}{'   ' if is_last else '│  '}")
            for child, is_last in zip(children, ends, strict=True)
        ]
        stack += reversed(drawn)


def _leaf(run: RunEntry, lead: str, lineage: Lineage | None, paper: Paper) -> str:
    id = short_id(run.session or run.id)
    words = leaf_words(run, lineage) if lineage is not None else ""
    return f"{lead}{paper.painted(id, bold=True)}  {cut(words, paper.room(len(lead) + len(id) + 2))}"


def _line(thread: Thread, lead: str, costs: Costs, paper: Paper) -> str:
    id = short_id(thread.id) if len(thread.id) > _LONGEST_ID else safe(thread.id)
    rest = "  ".join(filter(None, [*_what_it_came_to(thread, costs), _joined(thread), _purpose(thread)]))
    room = paper.room(len(lead) + len(id) + 2)
    return f"{lead}{paper.painted(id, bold=True)}  {cut(rest, room)}"


def _what_it_came_to(thread: Thread, costs: Costs) -> Iterator[str]:
    is_known = thread.parent_thread is not None or thread.state != "unknown"
    yield thread.state if is_known else ""
    if not thread.paths:
        yield "log missing"
        return
    yield f"{count(n_requests(thread.requests), 'request')}, {count(len(thread.calls), 'call')}"
    yield cost_words(costs.sum_over(thread.requests))


def _joined(thread: Thread) -> str:
    """What ties it to the call that started it."""
    if not thread.joined_by:
        return ""
    return f"← {safe(thread.joined_by)}" + ("" if thread.sureness == "stated" else " (inferred)")


def _purpose(thread: Thread) -> str:
    name = f"{thread.type or ''} {thread.name or ''}".strip()
    return excerpt(": ".join(filter(None, [name, thread.description])), _LONGEST_PURPOSE)
