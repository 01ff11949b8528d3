"""Files to JSON values with nothing but the standard library (and zstandard): plain, slow, obviously right."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import zstandard

Json = dict[str, Any]
_DECODER = json.JSONDecoder()
_LARGEST = 2**53  # what is larger no client could have counted: its numbers are doubles
_ENVELOPE = ("timestamp", "sessionId", "payload", "uuid")


class Found(NamedTuple):
    """An object, and where it stands."""

    path: str
    line: int
    value: Json


def log_files(root: Path) -> list[Path]:
    """Every file of lines below a folder; of a log that stands plain and compressed, the plain one."""
    files = sorted(p for p in root.rglob("*") if p.name.endswith((".jsonl", ".jsonl.zst")) and p.is_file())
    plain = set(files)
    return [p for p in files if p.suffix != ".zst" or p.with_suffix("") not in plain]


def objects(path: Path) -> Iterator[Found]:
    """Every object of a file, those on torn lines too."""
    data = path.read_bytes()
    if path.suffix == ".zst":
        data = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(data), read_across_frames=True).read()
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        for value in _values(line.decode("utf-8", "replace")):
            yield Found(str(path), number, value)


def _values(line: str) -> Iterator[Json]:
    try:
        whole = json.loads(line)
    except (ValueError, RecursionError):
        yield from _from_torn(line)
        return
    if isinstance(whole, dict):
        yield whole


def _from_torn(line: str) -> Iterator[Json]:
    """Whole records on a line that is not JSON: those that begin somewhere and bear an envelope."""
    at = line.find("{")
    while at >= 0:
        try:
            value, end = _DECODER.raw_decode(line, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            if "type" in value and any(key in value for key in _ENVELOPE):
                yield value
            else:
                end = at + 1
        at = line.find("{", end)


def whole(value: Any) -> int:
    """A count of tokens: a whole number that is not below zero, or nothing."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return int(value) if 0 <= value <= _LARGEST and value == int(value) else 0


def inside(value: Any, *keys: str) -> Any:
    """What stands at the end of a path of keys, None if it leads nowhere."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value
