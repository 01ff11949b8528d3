"""The options of commands that start a child, and those of `run` for many children."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

import click

from tracklog.errors import UserError
from tracklog.model.run_request import Limits
from tracklog.views.cli.commands.run.option_values import (
    ChildOptions,
    micro_dollars_in,
    schema_in,
    seconds_in,
)
from tracklog.views.cli.options import A_PATH

Command = TypeVar("Command", bound=Callable[..., Any])


class Seconds(click.ParamType[Any]):
    """A duration: 90, 90s, 15m, 2h."""

    name = "time"

    def __init__(self, *, may_be_none: bool = False) -> None:
        self._may_be_none = may_be_none

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Parse it."""
        seconds = seconds_in(str(value))
        if seconds is None or (not seconds and not self._may_be_none):
            self.fail(f"{value!r} is no time: say 90s, 15m or 2h", param, ctx)
        return seconds


class Dollars(click.ParamType[Any]):
    """Money: 0.50 or $0.50."""

    name = "dollars"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Parse it, as micro-dollars."""
        micro = micro_dollars_in(str(value))
        if micro is None:
            self.fail(f"{value!r} is no sum of dollars: say 0.50", param, ctx)
        return micro


class ChildCommand(click.Command):
    """A command that passes the arguments after `--` to the client unchanged."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take out the client's arguments before ours are parsed."""
        if "--" in args:
            at = args.index("--")
            ctx.meta["tracklog.client_arguments"] = tuple(args[at + 1 :])
            args = args[:at]
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Add the client's arguments to the usage line."""
        return [*super().collect_usage_pieces(ctx), "[-- CLIENT ARGUMENTS]"]


_OPTIONS: tuple[tuple[tuple[str, ...], dict[str, Any]], ...] = (
    (("--prompt-file",), {"metavar": "FILE", "help": "The prompt stands in a file; - for stdin."}),
    (
        ("--context-from", "contexts"),
        {
            "multiple": True,
            "metavar": "SESSION",
            "help": "Put the final text of another session before the prompt, as data.",
        },
    ),
    (("--cwd",), {"type": A_PATH, "metavar": "DIR", "help": "The folder to work in; else this one."}),
    (("--model",), {"metavar": "NAME", "help": "As the client calls it."}),
    (
        ("--permission-mode",),
        {
            "metavar": "MODE",
            "help": "Claude Code: acceptEdits, plan, bypassPermissions …; Codex: read-only, workspace-write, "
            "danger-full-access or bypassPermissions.",
        },
    ),
    (
        ("--allow", "allowed_tools"),
        {"multiple": True, "metavar": "TOOL", "help": "A tool it may use unasked, e.g. 'Bash(git *)'."},
    ),
    (("--deny", "disallowed_tools"), {"multiple": True, "metavar": "TOOL", "help": "A tool it may not use."}),
    (
        ("--add-dir", "add_dirs"),
        {"multiple": True, "type": A_PATH, "metavar": "DIR", "help": "Another folder it may work in."},
    ),
    (("--name",), {"metavar": "NAME", "help": "What the session is called."}),
    (("--append-system-prompt",), {"metavar": "TEXT", "help": "Put behind the client's own instructions."}),
    (
        ("--json-schema", "schema"),
        {"metavar": "FILE|JSON", "help": "The shape that the answer is to have."},
    ),
    (("--max-turns",), {"type": click.IntRange(min=1), "metavar": "N", "help": "The client's own limit."}),
    (
        ("--timeout", "timeout_s"),
        {"type": Seconds(), "metavar": "TIME", "help": "End it after 90s, 15m, 2h."},
    ),
    (
        ("--idle-timeout", "idle_s"),
        {
            "type": Seconds(),
            "metavar": "TIME",
            "help": "End it when nothing was said or written for so long.",
        },
    ),
    (
        ("--max-cost", "max_cost"),
        {"type": Dollars(), "metavar": "USD", "help": "End it when it has cost more, subagents included."},
    ),
    (
        ("--no-persistence", "persists"),
        {"is_flag": True, "flag_value": False, "default": True, "help": "The client writes no log."},
    ),
    (
        ("--worktree", "has_worktree"),
        {"is_flag": True, "help": "Work in a git worktree of its own; it is kept if something changed."},
    ),
    (
        ("--ask-here", "asks_here"),
        {"is_flag": True, "help": "Let `tracklog answer` allow or deny what needs a permission."},
    ),
    (
        ("--ask-timeout", "ask_s"),
        {
            "type": Seconds(),
            "default": "10m",
            "show_default": True,
            "metavar": "TIME",
            "help": "How long such a question waits before the client decides in its own way.",
        },
    ),
    (
        ("--trust", "is_trusted"),
        {"is_flag": True, "help": "This folder's own settings may run what they say."},
    ),
    (
        ("--force", "is_forced"),
        {"is_flag": True, "help": "Go on with a session even if another process has it open."},
    ),
    (("--client",), {"metavar": "PROGRAM", "help": "The client to be run, in place of the one on PATH."}),
    (
        ("--detach", "is_detached"),
        {"is_flag": True, "help": "Come back at once; it goes on, and `tracklog wait` finds it."},
    ),
)


def child_options(command: Command) -> Command:
    """Add all options for a child; the command gets them as `given`."""

    @wraps(command)
    def gathered(*args: Any, **options: Any) -> Any:
        names = {declared[-1].lstrip("-").replace("-", "_") for declared, _ in _OPTIONS}
        ours = {name: options.pop(name) for name in list(options) if name in names}
        return command(*args, given=_given(ours), **options)

    found: Callable[..., Any] = gathered
    for declared, settings in reversed(_OPTIONS):
        found = click.option(*declared, **settings)(found)
    return cast(Command, found)


def _given(options: dict[str, Any]) -> ChildOptions:
    limits = Limits(
        timeout_s=options.pop("timeout_s"),
        idle_s=options.pop("idle_s"),
        max_cost_micro_usd=options.pop("max_cost"),
    )
    asks_here, ask_s = options.pop("asks_here"), options.pop("ask_s")
    schema = options.pop("schema")
    cwd = options.pop("cwd")
    apart = {name: options.pop(name) for name in ("prompt_file", "contexts", "is_detached", "has_worktree")}
    values = options | {
        "json_schema": schema_in(schema) if schema is not None else None,
        "ask_here_s": ask_s if asks_here else None,
        "add_dirs": tuple(folder.absolute() for folder in options["add_dirs"]),
        "client_arguments": click.get_current_context().meta.get("tracklog.client_arguments", ()),
    }
    return ChildOptions(values=values, limits=limits, cwd=cwd.absolute() if cwd else None, **apart)


_MOST_JOBS, _JOBS, _RETRIES = 64, 2, 2
_ENDS = ("completed", "error", "timeout", "budget", "cancelled", "killed", "crashed")


class ManyOptions(NamedTuple):
    """The options for many children."""

    list: str | None  # None: there is only one
    results: Path | None
    again: frozenset[str]
    jobs: int
    retries: int
    max_total_micro_usd: int | None
    repeat: int | None


_MANY_OPTIONS: tuple[tuple[tuple[str, ...], dict[str, Any]], ...] = (
    (
        ("--many", "list"),
        {"metavar": "FILE", "help": "Do a list: JSON Lines, one object per child; - for stdin."},
    ),
    (
        ("--results",),
        {"type": A_PATH, "metavar": "FILE", "help": "Where its results are kept; else beside the list."},
    ),
    (
        ("--again",),
        {"metavar": "ENDS", "default": "", "help": "Do those again that ended so, e.g. error,timeout."},
    ),
    (
        ("--jobs",),
        {
            "type": click.IntRange(1, _MOST_JOBS),
            "metavar": "N",
            "help": f"How many at once; {_JOBS} if not said.",
        },
    ),
    (
        ("--retries",),
        {
            "type": click.IntRange(0, 20),
            "metavar": "N",
            "help": f"How often to try again, with growing pauses, when the API has no room; {_RETRIES} if not said.",
        },
    ),
    (
        ("--max-total-cost", "max_total_micro_usd"),
        {
            "type": Dollars(),
            "metavar": "USD",
            "help": "Start none any more once all together have cost so much.",
        },
    ),
    (
        ("--repeat",),
        {"type": click.IntRange(2, 1000), "metavar": "K", "help": "Do the same K times, and compare."},
    ),
)


def many_options(command: Command) -> Command:
    """Add the options for many children; the command gets them as `many`."""

    @wraps(command)
    def gathered(*args: Any, **options: Any) -> Any:
        ours = {name: options.pop(name) for name in ManyOptions._fields}
        return command(*args, many=_many(**ours), **options)

    found: Callable[..., Any] = gathered
    for declared, settings in reversed(_MANY_OPTIONS):
        found = click.option(*declared, **settings)(found)
    return cast(Command, found)


def _many(*, again: str, jobs: int | None, retries: int | None, **others: Any) -> ManyOptions:
    ends = frozenset(word.strip() for word in again.split(",") if word.strip())
    if unknown := sorted(ends - set(_ENDS)):
        raise UserError(f"--again {', '.join(unknown)}: it takes {', '.join(_ENDS)}")
    many = ManyOptions(
        again=ends,
        jobs=_JOBS if jobs is None else jobs,
        retries=_RETRIES if retries is None else retries,
        **others,
    )
    given = (jobs, retries, many.max_total_micro_usd)
    if many.list is None and many.repeat is None and any(one is not None for one in given):
        raise UserError("--jobs, --retries and --max-total-cost belong to --many and --repeat")
    if many.list is not None and many.repeat is not None:
        raise UserError("--many and --repeat: only one of them")
    if many.list is None and (many.results is not None or ends):
        raise UserError("--results and --again belong to --many")
    return many
