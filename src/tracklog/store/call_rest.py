"""What of a call has no column of its own, in few bytes.

Rules of this room
  1. What a column says is not said again: a time that a column has is a number (AS_CALLED, AS_RETURNED), a line of the
     log in which the call stands is a number alone.
  2. What is empty takes no room.
"""

import json
from collections.abc import Sequence
from typing import Any

import msgspec

PHASES = (
    "asked",
    "permission",
    "hook_before",
    "progress",
    "hook_after",
    "noted",
    "returned",
    "read",
    "notified",
)
AS_CALLED, AS_RETURNED = 0, 1
LONGEST_DID = 160  # letters; one with so many was cut

Spot = (
    int | tuple[int | str, int]
)  # a line of the call's own log, or a file (its path, if it has no number) and a line
Moment = (
    int | str | None
)  # AS_CALLED, AS_RETURNED, the time alone if the day is that of the call, or all of it


class CallRest(msgspec.Struct, omit_defaults=True, kw_only=True):
    """The rest of a call."""

    evidence: list[Spot] = msgspec.field(default_factory=list, name="e")
    phases: list[tuple[int | str, Spot, Moment]] = msgspec.field(default_factory=list, name="p")
    beside: tuple[int, int] | None = msgspec.field(
        default=None, name="g"
    )  # first and last `n` of those of its request
    parallel_with: Sequence[str] = msgspec.field(
        default_factory=list, name="w"
    )  # those, where they are not in order
    inherited_by: Sequence[str] = msgspec.field(default_factory=list, name="i")
    decision: str | None = msgspec.field(default=None, name="d")
    feedback: str | None = msgspec.field(default=None, name="f")
    spawned: str | None = msgspec.field(default=None, name="s")
    server: str | None = msgspec.field(default=None, name="m")
    stated: tuple[float | int | None, int | None, int | None] | None = msgspec.field(default=None, name="t")
    hooks: list[tuple[str | None, str | None, str, Spot]] = msgspec.field(default_factory=list, name="h")
    n_answers: int = msgspec.field(default=1, name="a")
    odd: dict[str, Any] = msgspec.field(default_factory=dict, name="o")  # what its column could not hold


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(CallRest).decode


def packed(rest: CallRest) -> bytes:
    """The rest as bytes."""
    try:
        return _encode(rest)
    except (UnicodeEncodeError, OverflowError, ValueError):  # half characters, numbers without end
        return json.dumps(msgspec.to_builtins(rest)).encode()


def unpacked(body: bytes) -> CallRest:
    """The rest from its bytes."""
    try:
        return _decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return msgspec.convert(json.loads(body), CallRest, strict=False)
