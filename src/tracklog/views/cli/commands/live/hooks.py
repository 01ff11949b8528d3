"""`tracklog hooks`: install and remove the hooks by which agents report what they do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from tracklog.app.hooks import (
    AGENTS,
    LEVELS,
    HookChanges,
    HookEntry,
    HookStatus,
    InstallOutcome,
    Level,
    hook_status,
    install_hooks,
    uninstall_hooks,
)
from tracklog.errors import NOT_FINE
from tracklog.home import Home, tilde, tracklog_home
from tracklog.views.cli.options import home_option, json_option
from tracklog.views.cli.output.stderr_talk import STDERR
from tracklog.views.text.printing import answer, answer_json, count, safe, short, talk

_COMMAND_WIDTH = 60


def _agent_option(command: Callable[..., Any]) -> Callable[..., Any]:
    agents = click.Choice(AGENTS)
    return click.option("--agent", type=agents, help="Only this agent. Else all whose home exists.")(command)


def _level_options(command: Callable[..., Any]) -> Callable[..., Any]:
    help_of = {
        "user": "In your own settings: for all projects.",
        "project": "In the settings of the project in this folder, which others may share.",
        "local": "In your own settings for the project in this folder. Claude Code only.",
    }
    for level in reversed(LEVELS):
        command = click.option(f"--{level}", "level", flag_value=level, help=help_of[level])(command)
    return command


def _words(ctx: click.Context, option: click.Parameter, texts: tuple[str, ...]) -> list[str]:  # noqa: ARG001
    return [word for text in texts for word in text.replace(",", " ").split()]


@click.group
@click.pass_context
def hooks(ctx: click.Context) -> None:
    """Let Claude Code and Codex tell what they do, as they do it.

    A hook is a command that an agent runs when something happens: a prompt, a tool call, a question for permission.
    Ours writes one line into tracklog's home and is done: it never answers, never blocks, never steers. With it states
    are known at once, and permissions that were asked and answered stand beside the calls.

    \b
    tracklog hooks install
    tracklog hooks status
    tracklog hooks uninstall
    """
    given = dict(ctx.default_map or {})
    ctx.default_map = dict.fromkeys(("install", "uninstall", "status"), given)


@hooks.command("install")
@_level_options
@click.option(
    "--events",
    multiple=True,
    callback=_words,
    metavar="NAMES",
    help="Which events, with commas between: names, or default, all, or oldest (what Claude Code 1.0 knows).",
)
@click.option("--no-notify", is_flag=True, help="Leave the `notify` of Codex alone, even if it is free.")
@_agent_option
@home_option
@json_option
def install_command(
    level: Level | None,
    events: list[str],
    no_notify: bool,
    agent: str | None,
    home: Path | None,
    as_json: bool,
) -> None:
    """Put our hooks into the settings of the agents.

    Everything else in them stays as it is, to the byte, and `tracklog hooks uninstall` takes out what was put in. A
    copy of each file is kept in tracklog's home. Codex asks you to review new hooks at its next start; until then
    it runs none of them.

    Old releases of Claude Code ignore a settings file as a whole when it names an event that they do not know. If your
    newest log was written by one before 2.1.100, only the events of --events oldest are asked for.
    """
    changes = install_hooks(
        Home(tracklog_home(home)),
        Path.cwd(),
        agent=agent,
        level=level,
        events=events,
        with_notify=not no_notify,
        talk=STDERR,
    )
    _tell(changes, as_json=as_json)
    for note in changes.notes:
        talk(f"tracklog: {note}")


@hooks.command("uninstall")
@_level_options
@_agent_option
@home_option
@json_option
def uninstall_command(level: Level | None, agent: str | None, home: Path | None, as_json: bool) -> None:
    """Take our hooks out again.

    Without a level: from everywhere they were put, and from all levels of this folder. A file that nobody edited since
    is again what it was; later edits stay; a file that we made goes if nothing else is in it.
    """
    _tell(uninstall_hooks(tracklog_home(home), Path.cwd(), agent=agent, level=level), as_json=as_json)


@hooks.command("status")
@_agent_option
@home_option
@json_option
@click.pass_context
def status_command(ctx: click.Context, agent: str | None, home: Path | None, as_json: bool) -> None:  # noqa: ARG001
    """Every hook on every level, in the order in which they fire.

    Ours and those of others: in your settings, in those of the project in this folder, in managed settings, and in
    plugins. Where it can be told, also why one does not run.
    """
    status = hook_status(Path.cwd(), agent=agent)
    if as_json:
        answer_json(_document(status))
    else:
        _show(status)
    for problem in status.problems:
        talk(f"tracklog: cannot read {tilde(problem.path)}: {problem.what}")
    if status.problems:
        ctx.exit(NOT_FINE)


def _tell(changes: HookChanges, *, as_json: bool) -> None:
    """Print what was done, then what failed."""
    if changes.done or not changes.failures:
        _show_done(changes.done, as_json=as_json)
    for failure in changes.failures[:-1]:
        talk(f"tracklog: {failure}")
    if changes.failures:
        raise changes.failures[-1]


def _show_done(done: list[InstallOutcome], *, as_json: bool) -> None:
    if as_json:
        rows = [{**one._asdict(), "path": str(one.path), "events": list(one.events)} for one in done]
        answer_json({"files": rows})
        return
    for one in done:
        events = f" ({count(len(one.events), 'event')})" if one.events and one.events != ("notify",) else ""
        answer(f"{one.outcome}: {safe(tilde(one.path))}{events}{_advice(one)}")
    if not done:
        answer("nothing was there")


def _advice(one: InstallOutcome) -> str:
    return ": `notify` runs another program, which was left alone" if one.outcome == "not free" else ""


def _document(status: HookStatus) -> dict[str, Any]:
    return {
        "hooks": [{**hook._asdict(), "path": str(hook.path)} for hook in status.hooks],
        "problems": [{"path": str(one.path), "what": one.what} for one in status.problems],
    }


def _show(status: HookStatus) -> None:
    from tracklog.views.cli.output.drawing import line, painted, table  # --json needs no rich

    if not status.hooks:
        answer("No hooks. `tracklog hooks install` puts ours in.")
        return
    for agent in AGENTS:
        hooks = [hook for hook in status.hooks if hook.agent == agent]
        if hooks:
            line(painted(agent, "bold"), f"  {count(len(hooks), 'hook')}")
            table([_row(hook) for hook in hooks], "<<<<<")
    for why, path in dict.fromkeys((hook.why_not, hook.path) for hook in status.hooks if hook.why_not):
        answer(f"do not run: {safe(tilde(path))}: {safe(why)}")


def _row(hook: HookEntry) -> tuple[str, ...]:
    does = "tracklog" if hook.ours else short(hook.command, _COMMAND_WIDTH)
    sign = "-" if hook.why_not else "+"
    return hook.level, sign, hook.event, safe(hook.matcher or "*"), does
