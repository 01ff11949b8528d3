"""JSON as it is found: a tolerant parser, and a look at the outermost keys without recursion.

Rules
  1. `loads` raises nothing but ValueError (not JSON) and RecursionError (so many values that they would fill
     the memory: a line of 32 MiB can hold 16 million empty lists). What is nested too deep to decode is left out.
  2. Every string that comes out can be encoded as UTF-8: bad bytes and lone surrogates become U+FFFD.
     The bytes themselves are kept by the line.
  3. The last of duplicate keys wins, as in the clients. A number beyond Python's own stays as its text.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from typing import Any, NamedTuple

BOM = b"\xef\xbb\xbf"
WHITE = b" \t\r\n"
# A string without its closing quote runs to the end: looking for another start inside would be quadratic.
_TOKEN = re.compile(rb'"[^"\\]*+(?>(?:\\.[^"\\]*+)*)(?:"|\\?\Z)|\[+|\]+|\{+|\}+', re.DOTALL)
_STRING_VALUE = re.compile(rb'\s*:\s*("[^"\\]*+(?>(?:\\.[^"\\]*+)*)")', re.DOTALL)
_MOST_VALUES = 500_000
_MOST_WIDE_BYTES = 8 * 1024 * 1024
_MOST_TOKENS = 4_000_000
_MOST_DEEP = 60  # levels that are kept where all of them are too many: no record that is read has ten
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


def is_too_much(raw: bytes) -> bool:
    """Whether the values in `raw`, or its text (four bytes for a letter if one is rare), may fill the memory."""
    if len(raw) <= _MOST_VALUES:
        return False
    too_dense = raw.count(b",") + raw.count(b"[") + raw.count(b"{") > _MOST_VALUES
    return too_dense or (len(raw) > _MOST_WIDE_BYTES and not raw.isascii())


def loads(raw: bytes) -> tuple[Any, str]:
    """The value in `raw`, and what had to be repaired to read it (empty if nothing)."""
    if is_too_much(raw):
        raise RecursionError("too much to make objects of")
    try:
        return _decoded(raw)
    except RecursionError:
        flat = without_depths(raw)
        if flat is None:
            raise
    value, repaired = _decoded(flat)
    return value, repaired or f"what is nested deeper than {_MOST_DEEP} levels is left out"


def _decoded(raw: bytes) -> tuple[Any, str]:
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


def keys_that_stand_twice(raw: bytes) -> list[str]:
    """The keys that an object in `raw` holds more than once."""
    twice: list[str] = []

    def note(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        keys = dict(pairs)
        if len(keys) < len(pairs):
            times = Counter(key for key, _ in pairs)
            twice.extend(key for key, n in times.items() if n > 1)
        return keys

    text = raw.removeprefix(BOM).decode(errors="replace")
    json.loads(text, strict=False, object_pairs_hook=note, parse_int=_whole_number, parse_float=_fraction)
    return [str(_encodable(key)) for key in twice]


def is_json(raw: bytes) -> bool:
    """Whether `raw` is one JSON value and nothing else."""
    try:
        loads(raw)
    except ValueError:
        return False
    except RecursionError:
        return outline(raw).is_all_of(raw)
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


class Outline(NamedTuple):
    """What can be told of JSON without parsing it."""

    known: dict[str, str]  # the string values of the outermost object
    end: int | None  # behind the first value, or None if its brackets do not match
    is_sure: bool = True  # False if the look was given up

    def is_all_of(self, raw: bytes) -> bool:
        """Whether the first value is the only one."""
        return self.end is not None and not raw[self.end :].strip(WHITE)


def outline(raw: bytes, start: int = 0) -> Outline:
    """Follows strings and brackets from `start`, at any depth, and gives up after some million of them."""
    depth = 0
    known: dict[str, str] = {}
    for n, token in enumerate(_TOKEN.finditer(raw, start)):
        mark = raw[token.start()]
        if mark in b"[{":
            depth += token.end() - token.start()
        elif mark in b"]}":
            depth -= token.end() - token.start()
            if depth <= 0:
                return Outline(known, token.end() + depth)
        elif depth == 1:
            _note_pair(raw, token, known)
        if n > _MOST_TOKENS:
            return Outline(known, None, is_sure=False)
    return Outline(known, None)


def without_depths(raw: bytes) -> bytes | None:
    """The value in `raw` with null for what is nested deeper than _MOST_DEEP; None if its brackets do not match."""
    kept: list[bytes] = []
    depth = start = 0
    for n, token in enumerate(_TOKEN.finditer(raw)):
        first, size = token.start(), token.end() - token.start()
        if raw[first] in b"[{":
            if depth <= _MOST_DEEP < depth + size:
                kept += (raw[start : first + _MOST_DEEP - depth], b"null")
            depth += size
        elif raw[first] in b"]}":
            if depth - size <= _MOST_DEEP < depth:
                start = first + depth - _MOST_DEEP
            depth -= size
        if depth < 0 or n > _MOST_TOKENS:
            return None
    return b"".join((*kept, raw[start:])) if depth == 0 else None


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
