"""Print answers and messages, and make foreign text safe for a terminal.

Rules
  1. Answers go to stdout, messages and progress to stderr.
  2. Nothing from a log, a file name or an argument reaches a terminal unchanged: `safe` spells out every control
     character, escape, direction mark and undecodable byte. JSON is ASCII for the same reason.
  3. Colour only on a terminal, and never against NO_COLOR. No information is in colour alone.
"""

from __future__ import annotations

import json
import os
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import IO, Any

from tracklog.model.ids import id_start
from tracklog.model.wording import count as count  # the words that views share with use cases
from tracklog.model.wording import for_the_shell as for_the_shell
from tracklog.model.wording import percent as percent
from tracklog.model.wording import roots_for_the_shell as roots_for_the_shell
from tracklog.model.wording import size as size

SCHEMA_VERSION = 1
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def answer(text: str) -> None:
    """Prints one line of the answer; the caller makes foreign text safe."""
    sys.stdout.write(f"{text}\n")


def answer_json(document: Mapping[str, Any]) -> None:
    """Prints the whole answer as one JSON document."""
    answer(json_text(document))


def json_text(document: Mapping[str, Any]) -> str:
    """The answer as one JSON document, indented."""
    return _indented({"schema_version": SCHEMA_VERSION, **document})


def _indented(document: Mapping[str, Any]) -> str:
    msgspec = sys.modules.get("msgspec")  # indents ten times as fast, and is there where there is much to say
    if msgspec is None:
        return json.dumps(document, indent=2)
    try:
        text: str = msgspec.json.format(json.dumps(document), indent=2)
    except msgspec.DecodeError:  # half a character, which it does not know how to pass on
        text = json.dumps(document, indent=2)
    return text


def answer_json_rows(name: str, rows: Iterable[Any]) -> None:
    """Prints the answer as one JSON document with a list, each row on a line as it comes."""
    for part in json_rows(name, rows):
        sys.stdout.write(part)
    sys.stdout.write("\n")


def json_rows(name: str, rows: Iterable[Any]) -> Iterator[str]:
    """A JSON document with a list, row by row, each on a line."""
    yield f'{{\n  "schema_version": {SCHEMA_VERSION},\n  {json.dumps(name)}: ['
    gap = "\n"
    for row in rows:
        yield f"{gap}    {json.dumps(row)}"
        gap = ",\n"
    yield "]\n}" if gap == "\n" else "\n  ]\n}"


def talk(text: str) -> None:
    """Prints one line for people on stderr."""
    sys.stderr.write(f"{safe(text)}\n")
    sys.stderr.flush()


def safe(text: str) -> str:
    """The text on one line, with everything spelled out that a terminal would interpret or hide."""
    return text if text.isprintable() else "".join(map(_spelled, text))


def safe_lines(text: str) -> list[str]:
    """The text as safe lines; tabs are kept."""
    lines = text.replace("\r\n", "\n").split("\n")
    return ["\t".join(map(safe, line.split("\t"))) for line in lines]


def short(text: str, width: int) -> str:
    """The safe text, cut in the middle if it is longer than `width`."""
    shown = safe(text[: 4 * width]) + safe(text[4 * width :][-4 * width :])
    if len(shown) <= width:
        return shown
    head = (width - 1) // 2
    return f"{shown[:head]}…{shown[len(shown) - (width - 1 - head) :]}"


def short_id(id: str) -> str:
    """A prefix of an id that is unique enough, safe to print."""
    return short(id_start(id), 13)


def excerpt(text: str, width: int) -> str:
    """The beginning of some prose, safe and on one line."""
    words = " ".join(text[: 8 * width].split())
    shown = safe(words[: width + 1])
    is_whole = len(shown) <= width and len(text) <= 8 * width
    return shown if is_whole else f"{shown[: width - 1].rstrip()}…"


def in_colour(stream: IO[str]) -> bool:
    """Whether output to this stream may be coloured."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _spelled(char: str) -> str:
    if char.isprintable() or unicodedata.category(char) == "Zs":
        return char
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:  # a byte of a file name that is not UTF-8
        return f"\\x{code - 0xDC00:02x}"
    return _SHORT.get(char) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")


_BEGINS_A_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def cell(value: object) -> str | int | float:
    """A value that is safe as a cell of a spreadsheet."""
    if value is None:
        return ""
    if isinstance(value, int | float):
        return value
    text = str(value)
    may_compute = text.startswith(_BEGINS_A_FORMULA) or text.lstrip().startswith(_BEGINS_A_FORMULA)
    return f"'{safe(text)}" if may_compute else safe(text)


def short_model(model: str) -> str:
    """A model's name without its maker and date: `opus-4-6`."""
    name = model.removeprefix("claude-")
    head, _, tail = name.rpartition("-")
    return head if head and len(tail) == 8 and tail.isdecimal() else name
