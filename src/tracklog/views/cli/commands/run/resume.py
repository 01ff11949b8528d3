"""`tracklog resume` and `tracklog fork`: go on with a session, or with a copy of it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NoReturn, cast

import click

from tracklog.app.run.resume import interactive_command, session_to_continue
from tracklog.errors import UserError
from tracklog.home import Home, tracklog_home
from tracklog.model.run_request import Agent
from tracklog.model.session import Session
from tracklog.views.cli.commands.run.child import folder_of, prompt_with_contexts, request_from, run_one
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
    found = session_to_continue(session, agent=agent, home=home, talk=STDERR)
    if prompt is None and given.prompt_file is None:
        _hand_over(found, given, Home(tracklog_home(home)))
    _go_on(found, prompt, given, home, as_json=as_json, is_fork=False)


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
    found = session_to_continue(session, agent=agent, home=home, talk=STDERR)
    _go_on(found, prompt, given, home, as_json=as_json, is_fork=True)


def _go_on(
    session: Session,
    prompt: str | None,
    given: ChildOptions,
    home: Path | None,
    *,
    as_json: bool,
    is_fork: bool,
) -> None:
    words = prompt_with_contexts(prompt_of(prompt, given.prompt_file), given, home)
    cwd = folder_of(given, session.cwd)
    request = request_from(given, cast(Agent, session.agent), words, cwd, resume=session.id, is_fork=is_fork)
    raise click.exceptions.Exit(run_one(request, given, Home(tracklog_home(home)), as_json=as_json))


def _hand_over(session: Session, given: ChildOptions, ours: Home) -> NoReturn:
    """Replace this process by the client, with the terminal, the signals and the exit code."""
    words = interactive_command(
        session,
        ours,
        client=given.values["client"],
        arguments=given.values["client_arguments"],
        is_forced=given.values["is_forced"],
    )
    cwd = folder_of(given, session.cwd)
    if not (os.isatty(0) and os.isatty(1)):
        shown = " ".join(map(for_the_shell, words))
        raise UserError(f"without a terminal it takes a prompt; in one: cd {for_the_shell(cwd)} && {shown}")
    os.chdir(cwd)
    os.execve(words[0], words, dict(os.environ))
