"""The command `tracklog`: finds the command that is meant and runs it.

A command's module is imported when that command runs; the help of all of them needs none.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from tracklog import __version__
from tracklog.errors import WRONG_USE
from tracklog.views.cli.exit_codes import PROGRAM, ended
from tracklog.views.cli.options import home_option, json_option, root_option
from tracklog.views.text.printing import talk

# Lazy imports: a command loads nothing of the others.

COMMANDS = {
    "sessions": ("commands.read.sessions:sessions", "Which sessions there are, the newest first."),
    "show": ("commands.read.show:show", "The conversation of a session, as it can be read."),
    "final": ("commands.read.final:final", "The last answer of a session, and nothing else."),
    "calls": ("commands.read.calls:calls", "Every tool call, how it ended, and the lines that prove it."),
    "agents": (
        "commands.read.agents:agents",
        "The main thread of a session and all its subagents, as a tree.",
    ),
    "graph": (
        "commands.read.graph:graph",
        "The branches of a conversation, and where its past was summed up.",
    ),
    "top": ("commands.live.top:top", "The board: what runs now, who needs you, what it costs."),
    "serve": (
        "commands.live.serve:serve",
        "Mission control in the browser: the board, all sessions, search.",
    ),
    "watch": ("commands.live.watch:watch", "What happens in running sessions, as it happens."),
    "wait": ("commands.live.wait:wait", "Block until a session's turn has ended; print its answer."),
    "answer": (
        "commands.live.answer:answer",
        "Allow or deny what a session started with `run --ask-here` asks for.",
    ),
    "run": ("commands.run.run:run", "Run an agent to its end, as a function call."),
    "resume": ("commands.run.resume:resume", "Go on with a session, in the folder where it worked."),
    "fork": ("commands.run.resume:fork", "Go on from a session under a new id; the old one stays as it is."),
    "hooks": ("commands.live.hooks:hooks", "Let Claude Code and Codex tell what they do, as they do it."),
    "usage": ("commands.money.usage:usage", "Tokens and money: what was spent, and how sure that is."),
    "carried": (
        "commands.money.context_cost:carried",
        "What it cost to send each thing along again and again, the dearest first.",
    ),
    "prices": ("commands.money.prices:prices", "What models cost, since when, and who says so."),
    "search": (
        "commands.read.search:search",
        "Find what was said, done or printed: in prompts, answers, inputs, results, titles.",
    ),
    "sql": ("commands.store.sql:sql", "Ask the index anything, in SQL."),
    "parquet": ("commands.store.parquet:parquet", "Write the views of the index as Parquet files."),
    "index": (
        "commands.store.index:index",
        "Read what is new in the logs into the index, and their bytes into the archive.",
    ),
    "rebuild": ("commands.store.index:rebuild", "Make the index anew from the logs and the archive."),
    "archive": ("commands.store.archive:archive", "How much the archive holds; make it smaller."),
    "restore": ("commands.store.restore:restore", "Put a deleted session back to where it stood."),
    "scan": ("commands.store.scan:scan", "Secrets that stand in the logs, by kind and place."),
    "redact": (
        "commands.store.redact:redact",
        "Take secrets and private things out of files, or of what comes by a pipe.",
    ),
    "places": ("commands.read.places:places", "Where the agents keep their logs, and how much is there."),
    "path": ("commands.read.places:path", "The file that a session is written to."),
    "records": ("commands.read.records:records", "Every line of one log, and how it was read."),
    "verify": ("commands.store.verify:verify", "Prove that reading loses nothing."),
    "doctor": (
        "commands.store.doctor:doctor",
        "How healthy the logs are, and how much of them is understood.",
    ),
    "statusline": (
        "commands.money.statusline:statusline",
        "The status line of Claude Code: model, cost, context in use.",
    ),
    "replay": ("commands.live.replay:replay", "Play a recorded session again, into a home of its own."),
    "demo": ("commands.read.welcome:demo", "Write a small sample home to try everything on."),
}


PARTS = {"hooks": ("install", "uninstall", "status")}  # commands that have commands


def load(name: str) -> click.Command:
    """The command of this name, with its module."""
    module, _, function = COMMANDS[name][0].partition(":")
    command: click.Command = getattr(import_module(f"tracklog.views.cli.{module}"), function)
    return command


class Commands(click.Group):
    """A group that knows its commands by name and imports each one when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's signature)
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        return load(cmd_name) if cmd_name in COMMANDS else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])


@click.group(PROGRAM, cls=Commands, invoke_without_command=True)
@root_option
@home_option
@json_option
@click.version_option(__version__, message="%(prog)s %(version)s")
@click.pass_context
def app(ctx: click.Context, roots: tuple[Path, ...], home: Path | None, as_json: bool) -> None:
    """A flight recorder for coding agents: reads the logs of Claude Code and Codex without losing a byte.

    Without a command it shows where your logs are, how much of them is understood, and what to try next. On a terminal
    it then serves all of it in the browser, opens that, and stays until Ctrl-C, as `tracklog serve` does.
    Options given before a command are that command's defaults.
    """
    if ctx.invoked_subcommand is None:
        from tracklog.views.cli.commands.read.welcome import overview

        overview(roots, home=home, as_json=as_json)
    else:
        options = {"roots": roots, "home": home, "as_json": as_json}
        given = {key: value for key, value in options.items() if value}
        ctx.default_map = {name: given | dict.fromkeys(PARTS.get(name, ()), given) for name in COMMANDS}


def run(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and returns its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    return ended(_completed_words if "_TRACKLOG_COMPLETE" in os.environ else lambda: _invoke(given))


def _invoke(arguments: list[str]) -> int:
    try:
        with app.make_context(PROGRAM, arguments) as ctx:
            app.invoke(ctx)
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.UsageError as error:
        talk(f"{PROGRAM}: {error.format_message()} {_where_to_look(error.ctx)}")
        return WRONG_USE
    return 0


def _where_to_look(ctx: click.Context | None) -> str:
    return f"Try '{ctx.command_path if ctx else PROGRAM} --help'."


def _completed_words() -> int:
    """What a shell asks for when the user presses TAB (`_TRACKLOG_COMPLETE=bash_source tracklog`)."""
    from click.shell_completion import shell_complete

    arguments: dict[str, Any] = {}
    return shell_complete(app, arguments, PROGRAM, "_TRACKLOG_COMPLETE", os.environ["_TRACKLOG_COMPLETE"])
