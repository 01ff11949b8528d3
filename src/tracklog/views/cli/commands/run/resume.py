"""`tracklog resume` and `tracklog fork`: a session goes on, as itself or as another."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NoReturn, cast

import click

from tracklog.app.scope.filters import Filters
from tracklog.app.scope.read_sessions import Stories
from tracklog.errors import NotThere, UserError
from tracklog.home import Home, tracklog_home
from tracklog.model.run_request import Agent, is_session_name
from tracklog.model.session import Session
from tracklog.run.prepare import interactive_command, refuse_if_open
from tracklog.views.cli.commands.run.child import folder_of, prompt_with_contexts, request_from, run_child
from tracklog.views.cli.commands.run.option_values import ChildOptions, prompt_of
from tracklog.views.cli.commands.run.options import ChildCommand, child_options
from tracklog.views.cli.options import agent_option, home_option, json_option
from tracklog.views.cli.output.stderr_talk import STDERR
from tracklog.views.text.printing import for_the_shell


@click.command(cls=ChildCommand)
@click.argument("session")
@click.argument("prompt", required=False)
@child_options
@agent_option
@home_option
@json_option
def resume(
    session: str, prompt: str | None, given: ChildOptions, agent: str | None, home: Path | None, as_json: bool
) -> None:
    """Go on with a session, in the folder where it worked.

    SESSION is an id, the start of one, a file, or @last. With a prompt (or --prompt-file) it runs like `tracklog run`, and the
    result tells of this run alone. Without one, the terminal is handed to the client's own resume. A session that a living
    process has open is refused, as two would write into one log: `tracklog fork` goes on in a copy, --force goes on all the same.

    \b
    tracklog resume @last
    tracklog resume 3f2a "now the tests" --max-cost 1 --json
    """
    story = _story(session, agent, home)
    if prompt is None and given.prompt_file is None:
        _hand_over(story, given, Home(tracklog_home(home)))
    _go_on(story, prompt, given, home, as_json=as_json, is_fork=False)


@click.command(cls=ChildCommand)
@click.argument("session")
@click.argument("prompt", required=False)
@child_options
@agent_option
@home_option
@json_option
def fork(
    session: str, prompt: str | None, given: ChildOptions, agent: str | None, home: Path | None, as_json: bool
) -> None:
    """Go on from a session under a new id; the old one stays as it is.

    SESSION is an id, the start of one, a file, or @last. Runs like `tracklog run`. The cost is the fork's own: what it copied
    belongs to the session that it came from.

    \b
    tracklog fork 3f2a "try it the other way" --json
    """
    story = _story(session, agent, home)
    _go_on(story, prompt, given, home, as_json=as_json, is_fork=True)


def _story(session: str, agent: str | None, home: Path | None) -> Session:
    stories = Stories((), agent=agent, filters=Filters(), home=home, talk=STDERR)
    story = stories.named(session)
    if stories.is_only_here(story):
        raise NotThere(f"only the archive has {story.id}: `tracklog restore {story.id}` puts it back first")
    return story


def _go_on(
    story: Session,
    prompt: str | None,
    given: ChildOptions,
    home: Path | None,
    *,
    as_json: bool,
    is_fork: bool,
) -> None:
    words = prompt_with_contexts(prompt_of(prompt, given.prompt_file), given, home)
    cwd = folder_of(given, story.cwd)
    request = request_from(given, cast(Agent, story.agent), words, cwd, resume=story.id, is_fork=is_fork)
    raise click.exceptions.Exit(run_child(request, given, Home(tracklog_home(home)), as_json=as_json))


def _hand_over(story: Session, given: ChildOptions, ours: Home) -> NoReturn:
    """The client takes our place: its terminal, its signals, its exit code."""
    if not is_session_name(story.id):
        raise UserError(f"{story.id!r} is no session id that a client could go on with")
    if not given.values["is_forced"]:
        refuse_if_open(story.agent, story.id, env=os.environ, home=ours)
    words = interactive_command(story.agent, story.id, client=given.values["client"], env=os.environ)
    words += given.values["client_arguments"]
    cwd = folder_of(given, story.cwd)
    if not (os.isatty(0) and os.isatty(1)):
        shown = " ".join(map(for_the_shell, words))
        raise UserError(f"without a terminal it takes a prompt; in one: cd {for_the_shell(cwd)} && {shown}")
    os.chdir(cwd)
    os.execve(words[0], words, dict(os.environ))
