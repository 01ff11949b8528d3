"""What a line of Codex says of tokens, and nothing else: the narrow reading behind token totals.

Rules
  1. `token_count` and `token_usage_record` have tokens, `turn_context` has the model that used them.
  2. What the narrow types do not fit is read again as plain JSON, and a figure that is no whole number is none.
"""

from typing import Any

import msgspec
from msgspec import Struct

from tracklog.model.json_text import loads

NEEDLE = b"token_usage"  # in every line that has figures
CONTEXT_NEEDLES = (b'"turn_context"', b'"thread_settings_applied"', b'"session_meta"', b'"turn_aborted"')


class TokenFields(Struct, gc=False, frozen=True):
    """Token counts; cached and written input is part of the input, reasoning is part of the output."""

    input_tokens: int | None = None
    cached_input_tokens: int | None = None
    cache_write_input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_output_tokens: int | None = None
    total_tokens: int | None = None


class Info(Struct, gc=False):
    """The running total of a thread, and its last step."""

    total_token_usage: TokenFields | None = None
    last_token_usage: TokenFields | None = None
    model: str | None = None  # some builds of others


class SettingsFields(Struct, gc=False):
    """The settings of a thread."""

    model: str | None = None


class PayloadFields(Struct, gc=False):
    """What a line tells, as far as it is about tokens or the model."""

    type: str | None = None
    info: Info | None = None
    usage: TokenFields | None = None
    response_id: str | None = None
    thread_id: str | None = None
    model: str | None = None
    thread_settings: SettingsFields | None = None
    turn_id: str | None = None
    cwd: str | None = None
    originator: str | None = None


class SpendingLine(Struct, gc=False):
    """A line of a rollout."""

    type: str | None = None
    timestamp: str | None = None
    payload: PayloadFields | None = None


REFUSALS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
decode_line = msgspec.json.Decoder(SpendingLine).decode  # raises REFUSALS


def read_line(raw: bytes) -> SpendingLine | None:
    """A line, as far as it is about tokens; None for what is no object. Raises ValueError for what is not JSON."""
    try:
        return decode_line(raw)
    except REFUSALS:
        value, _ = loads(raw)
    return msgspec.convert(_fitting(value), SpendingLine) if isinstance(value, dict) else None


_OBJECTS = frozenset(["payload", "info", "usage", "total_token_usage", "last_token_usage", "thread_settings"])
_TEXTS = frozenset(["type", "timestamp", "response_id", "thread_id", "turn_id", "model", "cwd", "originator"])


def _fitting(value: dict[str, Any]) -> dict[str, Any]:
    fitting: dict[str, Any] = {}
    for key, found in value.items():
        if key in _OBJECTS:
            fitting[key] = _fitting(found) if isinstance(found, dict) else None
        elif key in _TEXTS:
            fitting[key] = found if isinstance(found, str) else None
        elif key.endswith("_tokens"):
            fitting[key] = _whole(found)
    return fitting


def _whole(found: Any) -> int | None:
    if isinstance(found, float) and found.is_integer():
        found = int(found)
    return found if isinstance(found, int) and not isinstance(found, bool) else None
