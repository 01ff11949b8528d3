"""`tracklog graph`: the branches of a conversation, and where its past was summed up."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from tracklog.app.scope.filters import Filters
from tracklog.app.scope.read_sessions import SessionQuery
from tracklog.app.session import show as app
from tracklog.home import tilde
from tracklog.model.ids import NodeId
from tracklog.model.session import Branch, Compaction, Session, Turn
from tracklog.views.cli.options import reading_options
from tracklog.views.cli.output.stderr_talk import STDERR
from tracklog.views.cli.output.terminal import Paper, cut
from tracklog.views.documents.conversation import graph_document
from tracklog.views.text.numbers import day_and_time
from tracklog.views.text.printing import answer, answer_json, count, excerpt, safe, short

_ORPHANS_SHOWN = 5
_EXCERPT = 60


@click.command
@click.argument("session")
@reading_options
def graph(
    session: str,
    agent: str | None,
    filters: Filters,
    roots: tuple[Path, ...],
    home: Path | None,
    as_json: bool,
) -> None:
    """The branches of a conversation, and where its past was summed up.

    SESSION is an id, the start of one, a file, or @last. A branch is a way that the conversation took: rewinds, edits
    and forks make one; results of parallel calls and compactions do not. The active one is where the session goes on.
    Orphans are records whose parent stands nowhere.

    \b
    tracklog graph @last
    tracklog show @last --branch all
    """
    found = app.graph(SessionQuery(session, roots, agent, filters, home), talk=STDERR)
    if as_json:
        answer_json(graph_document(found))
        return
    for line in _lines(found, Paper.of_stdout()):
        answer(line)


def _lines(session: Session, paper: Paper) -> Iterator[str]:
    if not session.branches:
        yield "No branches: nothing was said here yet."
    for branch in session.branches:
        yield from _branch_lines(session, branch, paper)
    if session.compactions:
        yield ""
        yield paper.painted("compactions", bold=True)
    for compaction in session.compactions:
        yield cut(f"  {_compaction_words(compaction)}", paper.width)
    if session.orphans:
        yield ""
        yield f"{count(len(session.orphans), 'orphan')}: their parent stands nowhere"
        yield from (cut(f"  {short(one, 60)}", paper.width) for one in session.orphans[:_ORPHANS_SHOWN])
        if len(session.orphans) > _ORPHANS_SHOWN:
            yield f"  … and {len(session.orphans) - _ORPHANS_SHOWN:,} more: --json lists all"


def _branch_lines(session: Session, branch: Branch, paper: Paper) -> Iterator[str]:
    mark, word = (
        ("●", "active") if branch.is_active else ("○", f"left ({branch.why})" if branch.why else "left")
    )
    turns = _turns_on(session, branch)
    parent = "" if branch.parent is None else f"off {short(branch.parent, 12)}"
    told = "  ".join(filter(None, [word, parent, count(len(turns), "turn")]))
    id = short(branch.id, 36)
    yield cut(f"{mark} {id}  {told}", paper.width)
    for turn in turns[:1] if len(turns) < 2 else [turns[0], turns[-1]]:
        prompt = excerpt(turn.prompt, _EXCERPT)
        yield paper.painted(
            cut(f"    turn {turn.n}  {day_and_time(turn.at)}  {prompt}", paper.width), dim=True
        )


def _turns_on(session: Session, branch: Branch) -> list[Turn]:
    if branch.is_active:
        return [turn for turn in session.turns if turn.on_active_branch]
    nodes: set[NodeId | None] = {*branch.nodes}
    return [turn for turn in session.turns if any(prompt.node in nodes for prompt in turn.prompts)]


def _compaction_words(compaction: Compaction) -> str:
    before, after = compaction.tokens_before, compaction.tokens_after
    tokens = f"{before:,} tokens" if before is not None else ""
    parts = [
        day_and_time(compaction.at),
        safe(compaction.trigger or ""),
        f"{tokens} → {after:,}" if tokens and after is not None else tokens,
        f"{count(len(compaction.kept), 'record')} kept" if compaction.kept else "",
        f"{short(tilde(compaction.place.path).rpartition('/')[2], 40)}:{compaction.place.line}",
    ]
    return "  ".join(part for part in parts if part)
