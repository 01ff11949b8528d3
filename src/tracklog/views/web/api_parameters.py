"""Read the parameters of a question, as the command line reads the options of the same name.

Rules
  1. Only the parameters of a question are taken, each only with a value of its shape.
  2. A value means what it means on the command line, and a wrong one is refused with the same words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, tzinfo
from typing import Any, NamedTuple

from tracklog.app.scope.filters import moment_meant
from tracklog.errors import UserError

WORD = re.compile(r"[0-9A-Za-z][\w.:+/-]{0,99}")  # a zone has a slash
NUMBER = re.compile(r"[0-9]{1,9}")
TEXT = re.compile(r"[^\0-\x1f]{1,1000}")
YES = re.compile(r"|1|true|yes")

_AGENTS = ("claude", "codex")


class Parameter(NamedTuple):
    """A parameter that a question takes."""

    shape: re.Pattern[str]  # of what comes from outside
    read: Callable[[str], Any] = str  # raises ValueError with what is wrong
    is_repeatable: bool = False


def one_of(values: Iterable[str]) -> Callable[[str], str]:
    """Reads one of some words."""
    allowed = tuple(values)

    def read(text: str) -> str:
        if text not in allowed:
            raise ValueError(f"{text!r} is not one of {', '.join(map(repr, allowed))}.")
        return text

    return read


def number_from_1(most: int | None = None) -> Callable[[str], int]:
    """Reads how many, at least one."""

    def read(text: str) -> int:
        n = int(text)
        if n < 1 or (most is not None and n > most):
            raise ValueError(f"{n} is not in the range {'x>=1' if most is None else f'1<=x<={most}'}.")
        return n

    return read


def moment(text: str, *, is_end: bool, zone: tzinfo | None = None) -> datetime:
    """Reads a time."""
    return moment_meant(text, now=datetime.now(UTC), is_end=is_end, zone=zone)


FLAG = Parameter(YES, lambda _: True)
LIMIT = Parameter(NUMBER, number_from_1())
AGENT = {"agent": Parameter(WORD, one_of(_AGENTS))}
FILTERS = {
    "since": Parameter(TEXT, lambda text: moment(text, is_end=False)),
    "until": Parameter(TEXT, lambda text: moment(text, is_end=True)),
    "project": Parameter(TEXT),
    "model": Parameter(TEXT),
    **AGENT,
}


def shaped(parameters: Mapping[str, Parameter], given: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """What is given for each parameter, none of it of a wrong shape."""
    texts: dict[str, list[str]] = {}
    for key, value in given:
        name = key.replace("_", "-")
        if name not in parameters:
            raise UserError(f"no such parameter: {name[:60]!r}; there are: {', '.join(parameters)}")
        if not parameters[name].shape.fullmatch(value):
            raise UserError(f"{name} cannot be {value[:60]!r}")
        texts.setdefault(name, []).append(value)
    return texts


def values_of(
    question: str, parameters: Mapping[str, Parameter], texts: Mapping[str, list[str]]
) -> dict[str, Any]:
    """The values of what is given; of several texts the last one counts, unless all do."""
    return {
        name: [value_of(question, f"--{name}", one.read, text) for text in given]
        if (one := parameters[name]).is_repeatable
        else value_of(question, f"--{name}", one.read, given[-1])
        for name, given in texts.items()
    }


def value_of(question: str, name: str, read: Callable[[str], Any], text: str) -> Any:
    """A value; raises UserError in the words of the command line."""
    try:
        return read(text)
    except ValueError as error:
        raise UserError(f"Invalid value for '{name}': {error} Try 'tracklog {question} --help'.") from None
