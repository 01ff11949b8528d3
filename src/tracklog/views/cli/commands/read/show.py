"""`tracklog show`: the conversation, as it can be read."""

from __future__ import annotations

from pathlib import Path

import click

from tracklog.app.scope.filters import Filters
from tracklog.app.scope.read_sessions import Stories, lineage_of
from tracklog.app.session_costs import costs_of
from tracklog.conversation.moments import ThreadSelection
from tracklog.home import Home, tracklog_home
from tracklog.ledger.request_costs import Costs
from tracklog.views.cli.commands.read.conversation_text import CallOutputs, Drawing, lines_of
from tracklog.views.cli.options import reading_options
from tracklog.views.cli.output.stderr_talk import STDERR
from tracklog.views.cli.output.terminal import Paper
from tracklog.views.documents.runs import lineage_row
from tracklog.views.documents.sessions import Row, session_row, story_rows, turn_row
from tracklog.views.text.printing import answer, answer_json


@click.command
@click.argument("session")
@click.option("--thinking", is_flag=True, help="Show what the model thought, too.")
@click.option("--output", "with_output", is_flag=True, help="Show what the calls brought back, too.")
@click.option("--branch", metavar="ID", help="A branch that was left, as `graph` lists it; or `all`.")
@click.option("--thread", metavar="ID", help="A subagent, as `agents` lists it.")
@reading_options
def show(
    session: str,
    thinking: bool,
    with_output: bool,
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
    turn that changed it, results without a call. With --output also what the calls brought back, in the fullest text
    there is: the output file, else the tool's report in the log, else the client's preview. What the client put between the lines is counted, not shown. Without
    --branch it is the branch on which the session goes on.

    \b
    tracklog show @last
    tracklog show 3f2a --thinking
    tracklog show 3f2a --thread a27f6c8
    """
    stories = Stories(roots, agent=agent, filters=filters, home=home, talk=STDERR)
    story = stories.named(session)
    chosen = ThreadSelection(story, thread=thread, branch=branch)
    costs = costs_of(stories, story, home)
    lineage = lineage_of(story, stories, home)
    files = [file for one in stories.files_of(story)[:1] for file in one.files]
    outputs = CallOutputs(files, Home(tracklog_home(home)).archive)
    if as_json:
        turns = _turn_rows(chosen, costs, with_thinking=thinking)
        row = session_row(story, costs.sum, only_here=stories.is_only_here(story))
        document = {"session": row, "turns": turns, **story_rows(story), **lineage_row(lineage)}
        if with_output:
            document["outputs"] = outputs.rows(call for call in chosen.thread.calls if chosen.has(call))
        answer_json(document)
        return
    paper = Paper.of_stdout()
    drawing = Drawing(chosen, costs, paper, outputs, with_thinking=thinking, with_output=with_output)
    for line in lines_of(drawing, lineage=lineage):
        answer(line)


def _turn_rows(chosen: ThreadSelection, costs: Costs, *, with_thinking: bool) -> list[Row]:
    return [
        turn_row(turn, chosen.requests_of(turn), costs, with_thinking=with_thinking) for turn in chosen.turns
    ]
