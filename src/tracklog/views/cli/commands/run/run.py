"""`tracklog run`: run an agent as a function call."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import click

from tracklog.app.run.child import AGENTS
from tracklog.errors import UserError
from tracklog.home import Home, tracklog_home
from tracklog.model.run_request import Agent
from tracklog.views.cli.commands.run.child import folder_of, prompt_with_contexts, request_from, run_one
from tracklog.views.cli.commands.run.option_values import ChildOptions, prompt_of
from tracklog.views.cli.commands.run.options import ChildCommand, ManyOptions, child_options, many_options
from tracklog.views.cli.options import home_option, json_option

# Lazy imports: most runs are one.


@click.command(cls=ChildCommand)
@click.argument("prompt", required=False)
@click.option("--agent", type=click.Choice(AGENTS), default="claude", show_default=True, help="Which client.")
@click.option("--session-id", "session", metavar="UUID", help="The id that the session is to have.")
@click.option("--continue", "continues", is_flag=True, help="Go on with the newest session of the folder.")
@child_options
@many_options
@home_option
@json_option
def run(
    prompt: str | None,
    agent: str,
    session: str | None,
    continues: bool,
    given: ChildOptions,
    many: ManyOptions,
    home: Path | None,
    as_json: bool,
) -> None:
    """Run an agent to its end, as a function call.

    Starts your own Claude Code (`claude -p`) or Codex (`codex exec`) in its documented headless mode, knows its log
    before it starts, and prints the final text; with --json the client's own result object, with the verdicts of all
    calls, the cost by our ledger with its bounds, and how it ended. No shell is used, and what stands behind `--` goes to
    the client unchanged.

    Exits with 0 only for a success, with 1 if the agent failed, 124 at a limit of time or cost, 130 if interrupted.
    However it ends, no process of it is left.

    \b
    tracklog run "explain this folder" --max-cost 0.50 --timeout 10m
    git diff | tracklog run --prompt-file - --json
    tracklog run "fix the tests" --permission-mode acceptEdits --worktree
    tracklog run --many tasks.jsonl --jobs 4
    tracklog run "name a number" --repeat 5 --json
    """
    ours = Home(tracklog_home(home))
    if (many.list is not None or many.repeat is not None) and (session is not None or given.is_detached):
        raise UserError("--session-id and --detach are for one child: leave them out")
    if many.list is not None:
        if continues:
            raise UserError("--many takes no --continue: name sessions in the list, as `resume`")
        _run_list(prompt, cast(Agent, agent), given, many, ours, as_json=as_json)
        return
    cwd = folder_of(given)
    words = prompt_with_contexts(prompt_of(prompt, given.prompt_file), given, home)
    others: dict[str, Any] = {"session": session}
    if continues:
        others["resume"] = _newest(cast(Agent, agent), cwd, is_named=session is not None)
    request = request_from(given, cast(Agent, agent), words, cwd, **others)
    if many.repeat is not None:
        from tracklog.views.cli.commands.run.many import run_repeatedly

        run_repeatedly(request, many, ours, as_json=as_json, in_worktree=given.has_worktree)
    else:
        raise click.exceptions.Exit(run_one(request, given, ours, as_json=as_json))


def _run_list(
    prompt: str | None, agent: Agent, given: ChildOptions, many: ManyOptions, ours: Home, *, as_json: bool
) -> None:
    from tracklog.views.cli.commands.run.many import run_list

    if prompt is not None or given.prompt_file is not None:
        raise UserError("--many takes its prompts from the list: leave the other one out")
    run_list(agent, given, many, ours, as_json=as_json)


def _newest(agent: Agent, cwd: Path, *, is_named: bool) -> str:
    if is_named:
        raise UserError("--continue goes on with a session that has its id already: leave --session-id out")
    from tracklog.app.run.resume import newest_session  # reads logs, which other runs need not

    return newest_session(agent, cwd)
