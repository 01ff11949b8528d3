"""`tracklog hooks`: lets the agents tell us what they do, and takes that back."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import click

from tracklog.agents.hooks.command import recorder_for
from tracklog.agents.hooks.places import LEVELS, HookEntry, HookFile, Level, Machine, each_file_once
from tracklog.agents.supported import SUPPORTED, support_for
from tracklog.errors import NOT_FINE, UserError
from tracklog.home import Home, tilde, tracklog_home
from tracklog.hooks.install import (
    InstallOutcome,
    Receipts,
    chosen_events,
    install,
    install_notify,
    may_be_there,
    refuse_unknown_events,
    uninstall,
    uninstall_notify,
)
from tracklog.hooks.status import HookStatus, status_of
from tracklog.views.cli.options import home_option, json_option
from tracklog.views.text.printing import answer, answer_json, count, safe, short, talk

_COMMAND_WIDTH = 60


def _agent_option(command: Callable[..., Any]) -> Callable[..., Any]:
    agents = click.Choice(list(SUPPORTED))
    return click.option("--agent", type=agents, help="Only this agent. Else all whose home exists.")(command)


def _level_options(command: Callable[..., Any]) -> Callable[..., Any]:
    told = {
        "user": "In your own settings: for all projects.",
        "project": "In the settings of the project in this folder, which others may share.",
        "local": "In your own settings for the project in this folder. Claude Code only.",
    }
    for level in reversed(LEVELS):
        command = click.option(f"--{level}", "level", flag_value=level, help=told[level])(command)
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
    refuse_unknown_events(events)
    ours, machine = Home(tracklog_home(home)), _machine()
    places = list(_places(machine, agent, level or "user"))
    ours.make()
    receipts, recorder = Receipts(ours.path), recorder_for(ours.path)
    work: list[Callable[[], InstallOutcome]] = []
    for place in places:
        if meant := chosen_events(place.agent, events or _fitting(place, machine)):
            work.append(partial(install, place, meant, recorder=recorder, receipts=receipts))
        if (notify := _notify_file(place, machine)) is not None and not no_notify:
            work.append(partial(install_notify, notify, recorder=recorder, receipts=receipts))
    done = _all_done(work, as_json=as_json)
    for agent_name in dict.fromkeys(one.agent for one in done if one.outcome in ("installed", "changed")):
        if (note := support_for(agent_name).hooks.note_after_install) is not None:
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
    machine, receipts = _machine(), Receipts(tracklog_home(home))
    levels = (level,) if level else LEVELS
    places = each_file_once(place for one in levels for place in _present(machine, receipts, agent, one))
    places += _remembered(places, receipts, agent) if level is None else []
    ways = [(uninstall_notify if place.path.suffix == ".toml" else uninstall, place) for place in places]
    _all_done([partial(way, place, receipts=receipts) for way, place in ways], as_json=as_json)


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
    status = status_of(_machine(), (agent,) if agent else tuple(SUPPORTED))
    if as_json:
        answer_json(_document(status))
    else:
        _show(status)
    for problem in status.problems:
        talk(f"tracklog: cannot read {tilde(problem.path)}: {problem.what}")
    if status.problems:
        ctx.exit(NOT_FINE)


def _fitting(place: HookFile, machine: Machine) -> list[str]:
    """The set of events that the client understands, as far as its newest log shows."""
    support = support_for(place.agent)
    events, old_release = support.hooks.suitable_events(machine)
    if old_release is not None:
        talk(
            f"tracklog: {support.label} {old_release} knows few events, and only those are asked for: "
            "install again after an update"
        )
    return [events]


def _machine() -> Machine:
    return Machine(os.environ, Path.cwd())


def _places(machine: Machine, agent: str | None, level: Level) -> Iterator[HookFile]:
    """Where to install: at the agent that was named, else at all that are there."""
    meant = [agent] if agent else [one for one in SUPPORTED if _has_home(one, machine)]
    if not meant:
        labels = " nor ".join(support.label for support in SUPPORTED.values())
        raise UserError(f"neither {labels} has a home here: say which one with --agent")
    places = [place for one in meant if (place := support_for(one).hooks.file_for(machine, level))]
    if not places:
        raise UserError(f"{support_for(meant[0]).label} has no {level} level: say --user or --project")
    yield from places


def _has_home(agent: str, machine: Machine) -> bool:
    home = support_for(agent).hooks.home(machine.env)
    return home is not None and home.is_dir()


def _present(machine: Machine, receipts: Receipts, agent: str | None, level: Level) -> Iterator[HookFile]:
    """Where our hooks may be on this level, or were about to be when an install was killed."""
    remembered = {str(path) for path in receipts.paths()}
    for one in [agent] if agent else SUPPORTED:
        place = support_for(one).hooks.file_for(machine, level)
        if place and (may_be_there(place.path) or os.path.realpath(place.path) in remembered):
            yield place
        if place and (notify := _notify_file(place, machine)) and may_be_there(notify.path):
            yield notify


def _notify_file(place: HookFile, machine: Machine) -> HookFile | None:
    return support_for(place.agent).hooks.notify_file(machine, place.level)


def _remembered(known: list[HookFile], receipts: Receipts, agent: str | None) -> Iterator[HookFile]:
    """Files elsewhere that we have changed: in other projects, in homes that the environment names no more."""
    seen = {os.path.realpath(place.path) for place in known}
    for path in receipts.paths():
        # The name may be of the user's own making: a link was followed. All files of hooks have the same form.
        levels = {one: level for one in SUPPORTED if (level := support_for(one).hooks.level_of(path))}
        whose, level = next(iter(levels.items()), (next(iter(SUPPORTED)), "project"))
        if str(path) not in seen and agent in (None, whose):
            yield HookFile(whose, level, path)


def _all_done(work: list[Callable[[], InstallOutcome]], *, as_json: bool) -> list[InstallOutcome]:
    """Does all of it, tells what was done, then what could not be."""
    done, failures = [], []
    for one in work:
        try:
            done.append(one())
        except UserError as error:
            failures.append(error)
    if done or not failures:
        _tell(done, as_json=as_json)
    for failure in failures[:-1]:
        talk(f"tracklog: {failure}")
    if failures:
        raise failures[-1]
    return done


def _tell(done: list[InstallOutcome], *, as_json: bool) -> None:
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
    from tracklog.views.cli.output.drawing import line, painted, table

    if not status.hooks:
        answer("No hooks. `tracklog hooks install` puts ours in.")
        return
    for agent in SUPPORTED:
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
