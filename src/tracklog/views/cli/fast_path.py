"""Commands in their plainest form, answered without loading the whole command line: click alone takes as long as Python.

What is asked again and again, by people and by scripts, is asked with few words. Only these are understood here;
everything else, and every mistake, is for click.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tracklog.model.usage import Group

# Lazy imports: each fast command loads what it uses, and nothing of the others.

Work = Callable[[], int]


def quick_work(arguments: Sequence[str]) -> Work | None:
    """What to do, if that can be told at once."""
    flags = set(arguments[1:])
    if "_TRACKLOG_COMPLETE" in os.environ or not arguments:
        return None
    if arguments[0] == "run":
        return _run(arguments[1:])
    if len(flags) < len(arguments[1:]):
        return None
    match arguments:
        case ["index", *_] if flags <= {"--json"}:
            return lambda: _index(as_json="--json" in flags)
        case ["usage", "daily" | "weekly" | "monthly" | "model" as group, *_] if flags <= {group, "--json"}:
            return lambda: _usage(group, as_json="--json" in flags)
        case ["usage", *_] if flags <= {"--json"}:
            return lambda: _usage("daily", as_json="--json" in flags)
    return None


def _run(words: Sequence[str]) -> Work | None:
    from tracklog.views.cli.commands.run.fast_run import plain_run

    plain = plain_run(words)
    return None if plain is None else lambda: plain.do(_own_home())


def _index(*, as_json: bool) -> int:
    from tracklog.views.cli.commands.store.index_update import update

    update((), agent=None, home=_own_home(), as_json=as_json)
    return 0


def _usage(group: Group, *, as_json: bool) -> int:
    from tracklog.app.scope.filters import Filters
    from tracklog.app.usage import UsageQuery
    from tracklog.clock import local_zone
    from tracklog.views.cli.commands.money.usage_answer import Form, answer_usage

    asked = UsageQuery(group, "ours", local_zone(), Filters())
    answer_usage(asked, Form(as_json=as_json), home=_own_home())
    return 0


def _own_home() -> Path | None:
    given = os.environ.get("TRACKLOG_HOME")
    return Path(given) if given else None
