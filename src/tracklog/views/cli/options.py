"""The options that commands share, and the types of their values."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, tzinfo
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import click

Command = TypeVar("Command", bound=Callable[..., Any])

A_PATH = click.Path(path_type=Path, readable=False)  # what cannot be read is reported with its reason


def json_option(command: Command) -> Command:
    """--json"""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")(command)


def json_lines_option(command: Command) -> Command:
    """--json, for commands that print as they go"""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON Lines.")(command)


def root_option(command: Command) -> Command:
    """--root"""
    return click.option(
        "--root",
        "roots",
        type=A_PATH,
        multiple=True,
        metavar="DIR",
        help="Look here instead of in the agents' own homes: a home, or any folder of logs. May be repeated.",
    )(command)


def home_option(command: Command) -> Command:
    """--home"""
    return click.option(
        "--home",
        type=A_PATH,
        envvar="TRACKLOG_HOME",
        show_envvar=True,
        metavar="DIR",
        help="Where tracklog keeps its own files.",
    )(command)


def sync_option(command: Command) -> Command:
    """--no-sync"""
    return click.option(
        "--no-sync",
        "syncs",
        is_flag=True,
        flag_value=False,
        default=True,
        help="Answer from the index as it is, without looking for new logs.",
    )(command)


def agent_option(command: Command) -> Command:
    """--agent"""
    agents = click.Choice(["claude", "codex"])
    return click.option("--agent", type=agents, help="Only the logs of this agent.")(command)


def shared_options(command: Command) -> Command:
    """--agent, --root, --home and --json, in this order."""
    return agent_option(root_option(home_option(json_option(command))))


def filter_options(command: Command) -> Command:
    """--since, --until, --project and --model, given to the command as its `filters`."""
    from tracklog.app.scope import filters  # most commands filter nothing

    @wraps(command)
    def filtered(
        *args: Any,
        since: datetime | None,
        until: datetime | None,
        project: str | None,
        model: str | None,
        **others: Any,
    ) -> Any:
        return command(*args, filters=filters.Filters(since, until, project, model), **others)

    options = (
        (
            "--since",
            since_option,
            "Only what was alive then or later: a day, a time, or 7d, 12h, 30m.",
        ),
        ("--until", until_option, "Only what had begun by then; a day is meant whole."),
        ("--project", None, "Only this project: the name of its folder, or the folder."),
        ("--model", None, "Only with this model; a part of its name will do."),
    )
    given: Callable[..., Any] = filtered
    for name, callback, what in reversed(options):
        metavar = "WHEN" if callback else "NAME"
        given = click.option(name, callback=callback, metavar=metavar, help=what)(given)
    return cast(Command, given)


def reading_options(command: Command) -> Command:
    """What every command that reads sessions takes: the filters, then the shared options."""
    return filter_options(shared_options(command))


def since_option(_ctx: click.Context, _option: click.Parameter, text: str | None) -> datetime | None:
    """The moment behind --since."""
    return _moment(text, is_end=False)


def until_option(_ctx: click.Context, _option: click.Parameter, text: str | None) -> datetime | None:
    """The moment behind --until."""
    return _moment(text, is_end=True)


def _moment(text: str | None, *, is_end: bool) -> datetime | None:
    if text is None:
        return None
    from tracklog.app.scope.filters import moment_meant  # only where a time is given

    try:
        return moment_meant(text, now=datetime.now(UTC), is_end=is_end)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def zone_option(_ctx: click.Context, _option: click.Parameter, name: str | None) -> tzinfo:
    """The zone behind --zone."""
    from tracklog.app.scope.filters import zone_meant  # slow to load: for `usage` alone
    from tracklog.clock import local_zone

    try:
        return local_zone() if name is None else zone_meant(name)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None
