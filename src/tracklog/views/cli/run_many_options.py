"""The options of `run` for a list of children, and for the same one several times."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

import click

from tracklog.errors import UserError
from tracklog.views.cli.options import A_PATH
from tracklog.views.cli.run_options import Dollars

Command = TypeVar("Command", bound=Callable[..., Any])
_MOST_JOBS, _JOBS, _RETRIES = 64, 2, 2
_ENDS = ("completed", "error", "timeout", "budget", "cancelled", "killed", "crashed")


class Many(NamedTuple):
    """What is asked of many children together."""

    list: str | None  # None: there is only one
    results: Path | None
    again: frozenset[str]
    jobs: int
    retries: int
    max_total_micro_usd: int | None
    repeat: int | None


_OPTIONS: tuple[tuple[tuple[str, ...], dict[str, Any]], ...] = (
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
    """All of them, given to the command as `many`."""

    @wraps(command)
    def gathered(*args: Any, **options: Any) -> Any:
        ours = {name: options.pop(name) for name in Many._fields}
        return command(*args, many=_many(**ours), **options)

    found: Callable[..., Any] = gathered
    for declared, settings in reversed(_OPTIONS):
        found = click.option(*declared, **settings)(found)
    return cast(Command, found)


def _many(*, again: str, jobs: int | None, retries: int | None, **others: Any) -> Many:
    ends = frozenset(word.strip() for word in again.split(",") if word.strip())
    if unknown := sorted(ends - set(_ENDS)):
        raise UserError(f"--again {', '.join(unknown)}: it takes {', '.join(_ENDS)}")
    many = Many(
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
