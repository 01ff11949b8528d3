"""JSON as it is found: a tolerant parser, and a look at the outermost keys without recursion.

Rules of this room
  1. `loads` raises nothing but ValueError (not JSON) and RecursionError (too deep, or so many values that they
     would fill the memory: a line of 32 MiB can hold 16 million empty lists).
  2. Every string that comes out can be encoded as UTF-8: bad bytes and lone surrogates become U+FFFD.
     The bytes themselves are kept by the line.
  3. The last of duplicate keys wins, as in the clients. A number beyond Python's own stays as its text.
"""

from __future__ import annotations

import itertools
import json
import math
import re
from typing import Any

import msgspec

BOM = b"\xef\xbb\xbf"
WHITE = b" \t\r\n"
# A string without its closing quote runs to the end: looking for another start inside would be quadratic.
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|\[+|\]+|\{+|\}+', re.DOTALL)
_STRING_VALUE = re.compile(rb'\s*:\s*("[^"\\]*+(?:\\.[^"\\]*+)*+")', re.DOTALL)
_MOST_VALUES = 500_000
_MOST_TOKENS = 1_000_000
_SURROGATE = re.compile("[\ud800-\udfff]")


def _reject(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


def _whole_number(text: str) -> int | str:
    return int(text) if len(text) <= 4000 else text


def _fraction(text: str) -> float | str:
    value = float(text)
    return text if math.isinf(value) else value


_strict = json.JSONDecoder(parse_constant=_reject, parse_int=_whole_number, parse_float=_fraction)
_lax = json.JSONDecoder(parse_constant=_reject, parse_int=_whole_number, parse_float=_fraction, strict=False)


def is_too_dense(raw: bytes) -> bool:
    """Whether `raw` may hold more values than we are willing to make objects of."""
    return len(raw) > _MOST_VALUES and raw.count(b",") + raw.count(b"[") + raw.count(b"{") > _MOST_VALUES


def loads(raw: bytes) -> tuple[Any, str]:
    """The value in `raw`, and what had to be repaired to read it (empty if nothing)."""
    if is_too_dense(raw):
        raise RecursionError("too many values")
    body = raw.removeprefix(BOM)
    repaired = ""
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        text = body.decode(errors="replace")
        repaired = f"invalid UTF-8 at byte {error.start + len(raw) - len(body)}"
    try:
        value = _strict.decode(text)
    except ValueError:
        value = _lax.decode(text)
        repaired = repaired or "control characters inside a string"
    return _encodable(value), repaired


def is_json(raw: bytes) -> bool:
    """Whether `raw` is one JSON value and nothing else."""
    try:
        loads(raw)
    except ValueError:
        return False
    except RecursionError:
        return outline(raw)[1]
    return True


def _encodable(value: Any) -> Any:
    """The same value with lone surrogates replaced."""
    if isinstance(value, str):
        return value if value.isascii() else _SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_encodable(item) for item in value]
    if isinstance(value, dict):
        return {_encodable(key): _encodable(item) for key, item in value.items()}
    return value


def outline(raw: bytes) -> tuple[dict[str, str], bool]:
    """The string values of the outermost object, and whether this is JSON as far as its brackets tell.

    The look is bounded: brackets that do not match within the first million tokens do not match.
    """
    depth = 0
    found: dict[str, str] = {}
    for token in itertools.islice(_TOKEN.finditer(raw), _MOST_TOKENS):
        mark = raw[token.start()]
        if mark in b"[{":
            depth += token.end() - token.start()
        elif mark in b"]}":
            depth -= token.end() - token.start()
            if depth < 0:
                break
        elif depth == 1:
            _note_pair(raw, token, found)
    return found, depth == 0 or _is_valid(raw)


def _is_valid(raw: bytes) -> bool:
    """Whether a parser that makes no objects accepts `raw`; it does not go deep."""
    try:
        msgspec.json.decode(raw, type=msgspec.Raw)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def _note_pair(raw: bytes, token: re.Match[bytes], found: dict[str, str]) -> None:
    if token.end() - token.start() > 200:
        return
    value = _STRING_VALUE.match(raw, token.end(), token.end() + 1000)
    if value is None:
        return
    try:
        found[str(json.loads(token.group()))] = str(json.loads(value.group(1)))
    except ValueError:
        return
