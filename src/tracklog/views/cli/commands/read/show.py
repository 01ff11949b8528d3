"""`tracklog show`: the conversation, as it can be read."""

from __future__ import annotations

from pathlib import Path

import click

from tracklog.app.scope.filters import Filters
from tracklog.app.scope.read_sessions import SessionQuery
from tracklog.app.session import show as app
from tracklog.views.cli.commands.read.conversation_text import Drawing
from tracklog.views.cli.options import reading_options
from tracklog.views.cli.output.stderr_talk import STDERR
from tracklog.views.cli.output.terminal import Paper
from tracklog.views.documents.conversation import conversation_document
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
    asked = SessionQuery(session, roots, agent, filters, home)
    shown = app.show(asked, thread=thread, branch=branch, talk=STDERR)
    if as_json:
        answer_json(conversation_document(shown, with_thinking=thinking, with_output=with_output))
        return
    drawing = Drawing(shown, Paper.of_stdout(), with_thinking=thinking, with_output=with_output)
    for line in drawing.lines():
        answer(line)
