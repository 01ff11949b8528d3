"""`tracklog show`: the conversation, as it can be read."""

from __future__ import annotations

from pathlib import Path

import click

from tracklog.pipeline.request_costs import Costs
from tracklog.views.cli.conversation import Chosen
from tracklog.views.cli.conversation_lines import lines_of
from tracklog.views.cli.costs import costs_of
from tracklog.views.cli.filters import Filters
from tracklog.views.cli.lineage import lineage_of
from tracklog.views.cli.options import reading_options
from tracklog.views.cli.paper import Paper
from tracklog.views.cli.printing import answer, answer_json
from tracklog.views.cli.session_rows import Row, session_row, turn_row
from tracklog.views.cli.stories import Stories
from tracklog.views.cli.story_rows import story_rows


@click.command
@click.argument("session")
@click.option("--thinking", is_flag=True, help="Show what the model thought, too.")
@click.option("--branch", metavar="ID", help="A branch that was left, as `graph` lists it; or `all`.")
@click.option("--thread", metavar="ID", help="A subagent, as `agents` lists it.")
@reading_options
def show(
    session: str,
    thinking: bool,
    branch: str | None,
    thread: str | None,
    agent: str | None,
    filters: Filters,
    roots: tuple[Path, ...],
    home: Path | None,
    as_json: bool,
) -> None:
    """The conversation of a session, as it can be read.

    SESSION is an id, the start of one, a file, or @last. Shows prompts, answers, and one line for each tool call: how
    it ended, what it did, how long it took; what each turn cost; answers to questions, the todo list at the end of each
    turn that changed it, results without a call. What the client put between the lines is counted, not shown. Without
    --branch it is the branch on which the session goes on.

    \b
    tracklog show @last
    tracklog show 3f2a --thinking
    tracklog show 3f2a --thread a27f6c8
    """
    stories = Stories(roots, agent=agent, filters=filters, home=home)
    story = stories.named(session)
    chosen = Chosen(story, thread=thread, branch=branch)
    costs = costs_of(stories, story, home)
    lineage = lineage_of(story, stories, home)
    if as_json:
        turns = _turn_rows(chosen, costs, with_thinking=thinking)
        row = session_row(story, costs.sum, only_here=stories.is_only_here(story))
        answer_json({"session": row, "turns": turns, **story_rows(story), **lineage.rows()})
        return
    for line in lines_of(chosen, costs, Paper.of_stdout(), lineage=lineage, with_thinking=thinking):
        answer(line)


def _turn_rows(chosen: Chosen, costs: Costs, *, with_thinking: bool) -> list[Row]:
    return [
        turn_row(turn, chosen.requests_of(turn), costs, with_thinking=with_thinking) for turn in chosen.turns
    ]
