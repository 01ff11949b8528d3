"""What one log of Claude Code has told of a request so far, and which of two lines counts."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from tracklog.model.ledger_values import CountRule
from tracklog.model.moments import moment_ms
from tracklog.records.claude_code.spending import Answer, PlainAnswer

AnyAnswer = Answer | PlainAnswer


class Held(msgspec.Struct, gc=False):
    """What a file has told of a request so far: the line whose figures count, and the first one."""

    line: AnyAnswer
    offset: int
    output: int
    is_told: bool
    first: AnyAnswer
    first_offset: int
    first_is_told: bool
    thread: str
    has_ended: bool
    tools: set[str] | None = None


IsBetter = Callable[[AnyAnswer, int, bool, Held], bool]


def has_more(line: AnyAnswer, output: int, is_told: bool, held: Held) -> bool:
    """Our own rule: a transcript before a mirror of it, then the larger output, then the later line."""
    if is_told != held.is_told:
        return held.is_told
    if output != held.output:
        return output > held.output
    return not is_before(line.timestamp, held.line.timestamp)


def _is_last(line: AnyAnswer, _output: int, _is_told: bool, held: Held) -> bool:
    return not is_before(line.timestamp, held.line.timestamp)


def _is_first(line: AnyAnswer, _output: int, _is_told: bool, held: Held) -> bool:
    return is_before(line.timestamp, held.line.timestamp)


IS_BETTER: dict[CountRule, IsBetter] = {
    "ours": has_more,
    "last-chunk": _is_last,
    "first-chunk": _is_first,
    "every-line": _is_last,
    "time-and-usage": _is_first,
}
_USUAL = len("2026-11-15T23:11:23.969Z")


def is_usual(time: str | None) -> bool:
    """Whether a time is written as clients do: such texts compare as their times do."""
    return time is not None and len(time) == _USUAL and time[-1] == "Z"


def is_before(one: str | None, other: str | None) -> bool:
    """Whether a time is earlier than another; lines that say none come first."""
    if one == other or one is None or other is None:
        return one is None and other is not None
    if len(one) == len(other) == _USUAL and one[-1] == other[-1] == "Z":
        return one < other
    return moment_ms(one) < moment_ms(other)


def is_earlier(one: str | None, other: str | None) -> bool:
    """Whether a time is earlier than another; a line that says none is no first one."""
    return one is not None and (other is None or is_before(one, other))
