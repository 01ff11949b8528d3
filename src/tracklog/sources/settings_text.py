"""Edit JSON text in place: what we add is added, what we take out goes, and no other byte moves.

Rules
  1. Nothing of the user's is ever written anew from its value: order, blanks, spelling of numbers, duplicate keys, escapes stay.
  2. What is added follows the style around it: newlines, indentation, blanks behind colons and commas.
  3. What was added as the last of a container can be cut out again to the very bytes that stood there before.
  4. Text that is no JSON is refused with its line and column, never mended.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, NoReturn

BOM = "\ufeff"
_WHITE = re.compile(r"[ \t\r\n]*")
_COLON = re.compile(r"[ \t\r\n]*:[ \t\r\n]*")
_WHITE_BEFORE = re.compile(r"[ \t\r\n]*\Z")
_DEFAULT_UNIT = "  "
_TOML_PLACE = re.compile(r"\(at line (\d+), column (\d+)\)|\(at end of document\)")


class Malformed(ValueError):  # noqa: N818 - named for what it says of the text
    """Not the JSON that was expected; says where."""

    def __init__(self, text: str, at: int, what: str) -> None:
        before = text[:at].removeprefix(BOM)
        self.line = before.count("\n") + 1
        self.column = len(before) - (before.rfind("\n") + 1) + 1
        super().__init__(f"line {self.line}, column {self.column}: {what}")


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_scan = json.JSONDecoder(parse_constant=_no_constant, parse_int=str, parse_float=str).scan_once  # type: ignore[attr-defined]


class JsonMember(NamedTuple):
    """A member of an object or an item of an array: where it starts (with its key), its value, its end."""

    key: str | None
    start: int
    value: int
    end: int


class Container(NamedTuple):
    """An object or array: where its brackets are, and what is between."""

    open: int
    close: int
    parts: tuple[JsonMember, ...]

    def last(self, key: str) -> JsonMember | None:
        """The member of this name that counts: of several, clients take the last."""
        return next((part for part in reversed(self.parts) if part.key == key), None)


def toml_document(text: str) -> dict[str, Any]:
    """The text as TOML; Malformed, with the place, if it is none."""
    import tomllib  # slow to load, and most settings are JSON

    try:
        return tomllib.loads(text.removeprefix(BOM))
    except tomllib.TOMLDecodeError as error:
        what = str(error)
        raise Malformed(text, _toml_place(text, what), _TOML_PLACE.sub("", what).strip()) from error


def _toml_place(text: str, message: str) -> int:
    match = _TOML_PLACE.search(message)
    if match is None or match[1] is None:
        return len(text)
    lines = text.splitlines(keepends=True)
    return sum(map(len, lines[: int(match[1]) - 1])) + int(match[2]) - 1 + text.startswith(BOM)


def is_blank(text: str) -> bool:
    """Whether there is nothing in it."""
    return not text.removeprefix(BOM).strip(" \t\r\n")


def root_of(text: str) -> Container:
    """The object that the whole text is."""
    at = _past_white(text, 1 if text.startswith(BOM) else 0)
    root = object_at(text, at, "the whole")
    rest = _past_white(text, root.close + 1)
    if rest < len(text):
        raise Malformed(text, rest, "there is more behind the end")
    return root


def object_at(text: str, at: int, name: str) -> Container:
    """The object at this place; anything else is refused by its name."""
    if text[at : at + 1] != "{":
        value_at(text, at)
        raise Malformed(text, at, f"{name} is not an object")
    return _container_at(text, at)


def array_at(text: str, at: int, name: str) -> Container:
    """The array at this place; anything else is refused by its name."""
    if text[at : at + 1] != "[":
        raise Malformed(text, at, f"{name} is not a list")
    return _container_at(text, at)


def value_at(text: str, at: int) -> tuple[Any, int]:
    """The value at this place, numbers as they are spelled, and where it ends."""
    try:
        value, end = _scan(text, at)
    except StopIteration as stop:
        raise Malformed(text, stop.value, "there is no JSON value here") from stop
    except json.JSONDecodeError as error:
        raise Malformed(text, error.pos, error.msg) from error
    except RecursionError as error:
        raise Malformed(text, at, "nested too deeply") from error
    except ValueError as error:
        raise Malformed(text, at, str(error)) from error
    return value, end


def _past_white(text: str, at: int) -> int:
    match = _WHITE.match(text, at)
    return match.end() if match else at


def _container_at(text: str, start: int) -> Container:
    """Looks at one level only: what lies deeper is passed over, and checked by the way."""
    closing = "}" if text[start] == "{" else "]"
    parts: list[JsonMember] = []
    at = _past_white(text, start + 1)
    if text[at : at + 1] == closing:
        return Container(start, at, ())
    while True:
        parts.append(_member_at(text, at) if closing == "}" else _item_at(text, at))
        at = _past_white(text, parts[-1].end)
        mark = text[at : at + 1]
        if mark == closing:
            return Container(start, at, tuple(parts))
        if mark != ",":
            raise Malformed(text, at, f"expected a comma or {closing}")
        at = _past_white(text, at + 1)


def _item_at(text: str, at: int) -> JsonMember:
    return JsonMember(None, at, at, value_at(text, at)[1])


def _member_at(text: str, at: int) -> JsonMember:
    if text[at : at + 1] != '"':
        raise Malformed(text, at, "expected a key in double quotes")
    key, end = value_at(text, at)
    colon = _COLON.match(text, end)
    if colon is None:
        raise Malformed(text, _past_white(text, end), "expected a colon")
    return JsonMember(key, at, colon.end(), value_at(text, colon.end())[1])


class Style(NamedTuple):
    """How a text is written: what a newline is, how far lines move in, and the blanks around signs."""

    newline: str
    unit: str | None  # None: all on one line
    colon: str
    comma: str  # with what follows it on one line

    def written(self, value: Any, indent: str, *, on_lines: bool) -> str:
        """A value of ours, whose first line is already moved in."""
        if not on_lines or self.unit is None:
            return json.dumps(value, ensure_ascii=False, separators=(self.comma, self.colon))
        text = json.dumps(value, ensure_ascii=False, indent=self.unit, separators=(",", self.colon))
        return text.replace("\n", self.newline + indent)

    def member(self, key: str, value: Any, indent: str, *, on_lines: bool) -> str:
        """A member of ours."""
        return f"{json.dumps(key)}{self.colon}{self.written(value, indent, on_lines=on_lines)}"


def style_of(text: str) -> Style:
    """How this text is written; a text without examples gets two blanks."""
    newline = "\r\n" if re.match(r"[^\n]*\r\n", text) else "\n"
    if is_blank(text):
        return Style(newline, _DEFAULT_UNIT, ": ", ", ")
    root = root_of(text)
    if not root.parts:
        return Style(newline, _DEFAULT_UNIT, ": ", ", ")
    first = root.parts[0]
    gap = _white_before(text, first.start)
    unit = gap.rpartition("\n")[2] if "\n" in gap else None
    colon = text[value_at(text, first.start)[1] : first.value]
    is_tight = colon == ":"
    return Style(newline, unit, ":" if is_tight else ": ", "," if is_tight else ", ")


def _white_before(text: str, at: int) -> str:
    match = _WHITE_BEFORE.search(text, max(0, at - 4096), at)
    return match.group() if match else ""


def line_indent(text: str, at: int) -> str:
    """The blanks at the beginning of the line of this place."""
    begin = text.rfind("\n", 0, at) + 1
    match = re.compile(r"[ \t]*").match(text, begin, at)
    return match.group() if match else ""


class Edit(NamedTuple):
    """These characters become that text."""

    start: int
    end: int
    text: str


class Addition(NamedTuple):
    """What is to be added to a container: a value, with its key if the container is an object."""

    key: str | None
    value: Any


def appended(text: str, container: Container, additions: Sequence[Addition], style: Style) -> Edit:
    """The edit that puts these behind the last of the container."""
    if not container.parts:
        return _filled(text, container, additions, style)
    last = container.parts[-1]
    gap = _white_before(text, last.start)
    if "\n" in gap:
        indent = gap.rpartition("\n")[2]
        between = "," + style.newline + indent
        lined = style if style.unit is not None else style._replace(unit=_DEFAULT_UNIT)
        added = [_added(one, lined, indent, on_lines=True) for one in additions]
    else:
        between = style.comma
        added = [_added(one, style, "", on_lines=False) for one in additions]
    return Edit(last.end, last.end, "".join(between + one for one in added))


def _filled(text: str, container: Container, additions: Sequence[Addition], style: Style) -> Edit:
    at = container.open + 1
    if style.unit is None:
        return Edit(at, at, style.comma.join(_added(one, style, "", on_lines=False) for one in additions))
    outer = line_indent(text, container.open)
    indent = outer + style.unit
    between = "," + style.newline + indent
    body = between.join(_added(one, style, indent, on_lines=True) for one in additions)
    has_newline = "\n" in text[at : container.close]
    return Edit(at, at, f"{style.newline}{indent}{body}{'' if has_newline else style.newline + outer}")


def _added(one: Addition, style: Style, indent: str, *, on_lines: bool) -> str:
    if one.key is None:
        return style.written(one.value, indent, on_lines=on_lines)
    return style.member(one.key, one.value, indent, on_lines=on_lines)


def cut(container: Container, gone: set[int], left: str = "") -> list[Edit]:
    """The edits that take these parts out; `left` is what stays between the brackets when all go."""
    parts = container.parts
    if len(gone) == len(parts):
        return [Edit(container.open + 1, container.close, left)] if parts else []
    edits = []
    for first, last in _runs(gone):
        if first:
            edits.append(Edit(parts[first - 1].end, parts[last].end, ""))
        else:
            edits.append(Edit(parts[0].start, parts[last + 1].start, ""))
    return edits


def _runs(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Numbers in a row, as first and last."""
    runs: list[tuple[int, int]] = []
    for number in sorted(numbers):
        if runs and runs[-1][1] == number - 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return runs


def applied(text: str, edits: Iterable[Edit]) -> str:
    """The text with all edits made; they do not overlap."""
    for edit in sorted(edits, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text
