"""The list of what may stay although it looks like a secret: `allowed.toml`, the user's own file.

[[allow]]
hash = "0f3a9c5e"               # of a value, as `tracklog scan` shows it: at least 8 digits
why = "the key of our test server"

[[allow]]
path = "/home/dev/logs/demo.jsonl"   # a log, or a folder of logs
line = 12                            # if only there

Rules
  1. What the file cannot mean is said with its line; it is never taken for nothing, nor for everything.
  2. A change leaves every other line of the file as it stands, and puts the file in its place whole.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tracklog.errors import UserError
from tracklog.home import Busy, Home, held_lock_at, write_private
from tracklog.sources.files import NotReadable, stored_chunks

LIST_NAME = "allowed.toml"
LEAST_DIGITS = 8
_MOST_BYTES = 4_000_000
_HEADING = re.compile(r"\s*\[\[\s*[\"']?allow[\"']?\s*\]\]")
_HASH = re.compile(rf"[0-9a-f]{{{LEAST_DIGITS},16}}")
_KEYS = ("hash", "path", "line", "why")


class Allowance(NamedTuple):
    """One value that may stay, by its hash; or all that stands at a place."""

    hash: str | None = None
    path: str | None = None
    line: int | None = None
    why: str = ""

    def covers(self, hash: str, path: str | None, line: int | None) -> bool:
        """Whether a secret at a place may stay."""
        if self.hash is not None:
            return hash.startswith(self.hash)
        if self.path is None or path is None or self.line not in (None, line):
            return False
        return path == self.path or path.startswith(self.path.rstrip(os.sep) + os.sep)

    def is_same(self, other: Allowance) -> bool:
        """Whether both mean the same, whatever their reasons; the beginning of a hash means the hash."""
        if self.hash is not None and other.hash is not None:
            return self.hash.startswith(other.hash) or other.hash.startswith(self.hash)
        return self[:3] == other[:3]


class AllowList(NamedTuple):
    """All that may stay."""

    entries: tuple[Allowance, ...] = ()

    def allows(self, hash: str, path: str | None, line: int | None) -> bool:
        """Whether a secret at a place may stay."""
        return any(one.covers(hash, path, line) for one in self.entries)

    def may_stay(self, _kind: str, hash: str, place: str | None) -> bool:
        """The same for whoever cleans a text; the place is a path, or a path and a line behind a colon."""
        path, colon, line = (place or "").rpartition(":")
        if colon and line.isdecimal() and self.allows(hash, path, int(line)):
            return True
        return self.allows(hash, place, None)


def allow_list(home: Home) -> AllowList:
    """What may stay; nothing, if there is no list."""
    path = home.path / LIST_NAME
    return AllowList(tuple(_entries(_text(path), path)))


def allow(home: Home, one: Allowance) -> bool:
    """Adds to the list; whether that was new."""
    path = home.path / LIST_NAME
    if any(not _is_utf8(text) for text in (one.path, one.why) if text):
        raise UserError(f"{LIST_NAME} cannot hold a name that is not UTF-8: allow the hash instead")
    with _changing(home):
        text = _text(path)
        before = _entries(text, path)
        if any(other.is_same(one) for other in before):
            return False
        gap = "" if not text or text.endswith("\n\n") else "\n" if text.endswith("\n") else "\n\n"
        _put(path, f"{text}{gap}{_written(one)}", expected=[*before, one])
    return True


def disallow(home: Home, one: Allowance) -> list[Allowance]:
    """Takes out of the list what means the same; what was taken out."""
    path = home.path / LIST_NAME
    with _changing(home):
        text = _text(path)
        before = _entries(text, path)
        gone = [n for n, other in enumerate(before) if other.is_same(one)]
        if gone:
            kept = [other for n, other in enumerate(before) if n not in gone]
            _put(path, _without(text, gone), expected=kept)
    return [before[n] for n in gone]


def meant(words: str) -> Allowance:
    """What a person means by a hash, the beginning of one, a path, or a path and a line behind a colon."""
    if _HASH.fullmatch(words.lower()):
        return Allowance(hash=words.lower())
    if re.fullmatch(r"[0-9a-fA-F]+", words) and not os.path.exists(words):
        raise UserError(
            f"{words!r} is no hash: give {LEAST_DIGITS} to 16 digits of it, as `tracklog scan` shows them"
        )
    path, colon, line = words.rpartition(":")
    if colon and path and line.isdecimal() and int(line) > 0:
        return Allowance(path=os.path.abspath(path), line=int(line))
    if not words:
        raise UserError("which one? give a hash, a path, or a path and a line")
    return Allowance(path=os.path.abspath(words))


@contextmanager
def _changing(home: Home) -> Iterator[None]:
    """Nobody else changes the list meanwhile."""
    home.make()
    try:
        with held_lock_at(home.path / f".{LIST_NAME}.lock"):
            yield
    except Busy as busy:
        raise UserError(f"another process changes {LIST_NAME}: try again in a moment") from busy


def _text(path: Path) -> str:
    real = Path(os.path.realpath(path))  # whoever keeps it elsewhere has a link here
    if not os.path.lexists(path):
        return ""
    try:
        data = b"".join(stored_chunks(real))
    except NotReadable as error:
        raise UserError(
            f"cannot read {path}: {error.why}; without it nothing can be said to be allowed"
        ) from error
    if len(data) > _MOST_BYTES:
        raise UserError(f"{path} is too long for a list of what is allowed")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UserError(f"{path}, line {line}: not UTF-8") from error


def _entries(text: str, path: Path) -> list[Allowance]:
    try:
        document = tomllib.loads(text)
    except (ValueError, ArithmeticError, RecursionError) as error:  # also numbers and nesting without end
        raise UserError(f"{path} is not TOML: {error}") from error
    tables = document.get("allow", [])
    if stranger := next((key for key in document if key != "allow"), None):
        raise UserError(
            f"{path}, line {_line_of_key(text, stranger)}: unknown key {stranger!r}; entries stand under [[allow]]"
        )
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise UserError(
            f"{path}, line {_line_of_key(text, 'allow')}: entries stand under [[allow]], one for each"
        )
    return [_entry(table, n, text, path) for n, table in enumerate(tables)]


def _entry(table: Mapping[str, Any], n: int, text: str, path: Path) -> Allowance:
    complaint = _complaint(table)
    if complaint is not None:
        headings = _headings(text)
        line = headings[n] + 1 if n < len(headings) else 1
        raise UserError(f"{path}, line {line}: entry {n + 1}: {complaint}")
    hash = table.get("hash")
    return Allowance(
        hash=None if hash is None else hash.lower(),
        path=table.get("path"),
        line=table.get("line"),
        why=table.get("why", ""),
    )


def _complaint(table: Mapping[str, Any]) -> str | None:
    """What is wrong with an entry."""
    hash, path, line, why = (table.get(key) for key in _KEYS)
    if stranger := next((key for key in table if key not in _KEYS), None):
        return f"{stranger!r} is no key; known are {', '.join(_KEYS)}"
    if (hash is None) == (path is None):
        return "give either a hash or a path"
    if hash is not None and not (isinstance(hash, str) and _HASH.fullmatch(hash.lower())):
        return f"'hash' must be {LEAST_DIGITS} to 16 digits of a hash, as `tracklog scan` shows them"
    if path is not None and not (isinstance(path, str) and os.path.isabs(path)):
        return "'path' must be a whole path, from / on"
    if line is not None and (path is None or type(line) is not int or line < 1):
        return "'line' must be the number of a line in 'path'"
    if why is not None and not isinstance(why, str):
        return "'why' must be a text"
    return None


def _headings(text: str) -> list[int]:
    return [n for n, line in enumerate(text.splitlines()) if _HEADING.match(line)]


def _line_of_key(text: str, key: str) -> int:
    """Where a key or its table stands: TOML's reader does not tell."""
    stands = re.compile(rf"\s*\[{{0,2}}\s*[\"']?{re.escape(key)}\b")
    return next((n for n, line in enumerate(text.splitlines(), 1) if stands.match(line)), 1)


def _written(one: Allowance) -> str:
    rows = [
        f"{key} = {_toml(value)}" for key, value in zip(_KEYS, one, strict=True) if value not in (None, "")
    ]
    return "\n".join(["[[allow]]", *rows, ""])


def _toml(value: str | int) -> str:
    """As TOML writes it: what JSON writes, but for one character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _without(text: str, gone: Iterable[int]) -> str:
    """The text without some of its entries; what stands behind them as comment is kept."""
    lines = text.splitlines(keepends=True)
    headings = [*_headings(text), len(lines)]
    for n in sorted(gone, reverse=True):
        if n + 1 >= len(headings):
            return text  # not written as tables: whoever asked compares
        end = headings[n + 1]
        while end > headings[n] + 1 and (
            not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")
        ):
            end -= 1
        del lines[headings[n] : end]
    return "".join(lines)


def _put(path: Path, text: str, *, expected: list[Allowance]) -> None:
    """Writes the list if it says just what it is to say."""
    if _entries(text, path) != expected:
        raise UserError(f"{path} is not written in a way that can be changed here: edit it by hand")
    write_private(Path(os.path.realpath(path)), text.encode())


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
