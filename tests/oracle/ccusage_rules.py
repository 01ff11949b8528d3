"""From our count to that of `ccusage claude daily`, one rule after the other: which rule makes which difference.

The rules are those of ccusage 20.0.24, as its source to 20.0.11 states them and as its answers on real logs confirm. A
walk that ends on its four totals exactly has explained every difference.

Rules of this room
  1. Each step adds one rule of ccusage to those before it; the order of the steps is fixed, so that numbers compare.
  2. The last step is held against what the program itself says. What is left over is printed, never hidden.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from tests.oracle.peers import Four
from tests.oracle.reading import Found, Json, inside, log_files, objects
from tests.oracle.reference import is_codex
from tests.oracle.reference_chunks import Chunk, chunk_of, count_of, messages, session_of

_NULLS = re.compile(
    rb'"(?:id|cwd|model|speed|costUSD|version|sessionId|requestId|isApiErrorMessage|cache_read_input_tokens'
    rb'|cache_creation_input_tokens)":null'
)
_VERSION = re.compile(r"\d+\.\d+\.\d")
_COUNTED = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


class Line(NamedTuple):
    """A chunk, with what ccusage looks at besides."""

    chunk: Chunk
    group: int  # the request it belongs to by our rules
    is_sidechain: bool
    is_refused: bool
    stamp: str


class Step(NamedTuple):
    """A rule of ccusage, and what it changes."""

    name: str
    four: Four
    requests: int


STEPS = (
    ("ours", "our own count"),
    ("ids", "ids of gateways are not told apart"),
    ("request", "the request id is part of the key"),
    ("scope", "without a request id, session and time are part of the key"),
    ("sidechain", "a sidechain gives way to the main thread, whatever its request id"),
    ("refused", "lines it does not read"),
    ("largest", "the largest total wins, and progress lines are worth as much as records"),
    ("parts", "cache writes are the sum of their parts"),
)


def walk(root: Path) -> Iterator[Step]:
    """The count after each step."""
    lines = list(_lines(root))
    taken: set[str] = set()
    for rule, name in STEPS:
        taken.add(rule)
        kept = _deduplicated([line for line in lines if not ("refused" in taken and line.is_refused)], taken)
        fours = [_four(line.chunk, taken) for line in kept]
        yield Step(name, _sum(fours), len(kept))


def _lines(root: Path) -> Iterator[Line]:
    files = [file for path in log_files(root) if (file := list(objects(path))) and not is_codex(file)]
    groups = {(c.path, c.line, c.uuid): n for n, group in enumerate(messages(files)) for c in group}
    for file in reversed(files):  # the order in which its answers come out right
        raw = Path(file[0].path).read_bytes().split(b"\n")
        for found in file:
            chunk = chunk_of(found, session_of(file))
            if chunk is not None and chunk.usage is not None:
                group = groups[chunk.path, chunk.line, chunk.uuid]
                yield _line(found, chunk, group, raw[found.line - 1])


def _line(found: Found, chunk: Chunk, group: int, raw: bytes) -> Line:
    record = inside(found.value, "data", "message") if chunk.is_echo else found.value
    is_sidechain = record.get("isSidechain") is True
    return Line(chunk, group, is_sidechain, _is_refused(record, raw), str(record.get("timestamp")))


def _is_refused(record: Json, raw: bytes) -> bool:
    """What its reader passes over."""
    usage = inside(record, "message", "usage")
    version = record.get("version")
    return (
        b'"usage":{' not in raw
        or bool(_NULLS.search(raw))
        or not _is_json(raw)
        or (isinstance(version, str) and not _VERSION.match(version))
        or inside(record, "message", "id") == ""
        or not all(isinstance(usage.get(name, 0), int) for name in _COUNTED)
        or not {"input_tokens", "output_tokens"} <= set(usage)
        or not isinstance(record.get("timestamp"), str)
    )


def _is_json(raw: bytes) -> bool:
    try:
        json.loads(raw)
    except ValueError:
        return False
    return True


def _deduplicated(lines: list[Line], taken: set[str]) -> list[Line]:
    kept: list[Line] = []
    at: dict[tuple[object, ...], int] = {}
    by_id: dict[str, list[int]] = {}
    beats = _beats_by_total if "largest" in taken else _beats
    for line in lines:
        key = _key(line, taken)
        place = at.get(key)
        if place is None and "sidechain" in taken:
            place = _of_sidechain(line, kept, by_id)
        if place is None:
            at[key] = len(kept)
            by_id.setdefault(line.chunk.id, []).append(len(kept))
            kept.append(line)
        elif beats(line, kept[place]):
            kept[place] = line
    return kept


def _key(line: Line, taken: set[str]) -> tuple[object, ...]:
    chunk = line.chunk
    if "ids" not in taken or not chunk.id:
        return (line.group,)
    if "request" not in taken:
        return (chunk.id,)
    if chunk.request or "scope" not in taken:
        return chunk.id, chunk.request
    return chunk.id, "", chunk.session, line.stamp


def _of_sidechain(line: Line, kept: list[Line], by_id: dict[str, list[int]]) -> int | None:
    alike = by_id.get(line.chunk.id, []) if line.chunk.id else []
    return next((n for n in alike if line.is_sidechain or kept[n].is_sidechain), None)


_Beats = Callable[[Line, Line], bool]


def _beats(one: Line, other: Line) -> bool:
    return _weight(one.chunk) > _weight(other.chunk)


def _weight(chunk: Chunk) -> tuple[object, ...]:
    return not chunk.is_echo, count_of(chunk.usage or {}).output, chunk.at, chunk.path, chunk.line


def _beats_by_total(one: Line, other: Line) -> bool:
    if one.is_sidechain != other.is_sidechain:
        return other.is_sidechain
    totals = [sum(_four(line.chunk, {"parts"})) for line in (one, other)]
    if totals[0] != totals[1]:
        return totals[0] > totals[1]
    speeds = [inside(line.chunk.usage, "speed") is not None for line in (one, other)]
    return speeds[0] and not speeds[1]


def _four(chunk: Chunk, taken: set[str]) -> Four:
    count = count_of(chunk.usage or {})
    has_parts = isinstance((chunk.usage or {}).get("cache_creation"), dict)
    write = count.write_5m + count.write_1h if "parts" in taken and has_parts else count.write
    return count.input, count.output, write, count.read


def _sum(fours: list[Four]) -> Four:
    one, two, three, four = (sum(column) for column in zip(*fours, strict=True)) if fours else (0, 0, 0, 0)
    return one, two, three, four
