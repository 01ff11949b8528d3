"""Render a raw line of a log: JSON, indented and foldable, or text with the place where it breaks.

Rules
  1. Letters are those of the file: strings keep their escapes, numbers their digits, keys their order, even if they are
     repeated. Only the white space between them is ours.
  2. Hidden characters are spelled out, and bytes that are no text are `\\xNN`.
  3. Time and size are bounded: beyond the bounds letters are only counted, and deep nesting is not indented further.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from markupsafe import Markup, escape

from tracklog.model.json_text import is_too_much
from tracklog.views.html.legible import legible

MOST_LETTERS = 200_000
MOST_MARKS = 3_000  # keys, strings, numbers and folds that are marked as such
LONGEST_STRING = 20_000
_MOST_CHECKED = 8_000_000
_AROUND = 50_000  # letters on each side of a break
_DEEPEST_FOLD = 24
_TOKEN = re.compile(
    r'(?P<key>"[^"\\]*+(?>(?:\\.[^"\\]*+)*)")(?=[ \t\n\r]*:)|(?P<string>"[^"\\]*+(?>(?:\\.[^"\\]*+)*)"?)'
    r"|(?P<empty>\{[ \t\n\r]*\}|\[[ \t\n\r]*\])|(?P<open>[{\[])|(?P<close>[}\]])|(?P<comma>,)|(?P<colon>:)"
    r"|(?P<number>-?[0-9][0-9.eE+-]*)|(?P<word>true|false|null)|(?P<space>[ \t\n\r]+)|(?P<odd>.)",
    re.DOTALL,
)
_NO_UTF8 = re.compile("[\udc80-\udcff]")


class Break(NamedTuple):
    """The offset at which JSON is broken, and why."""

    at: int
    why: str


def json_lines(raw: bytes) -> Markup:
    """Renders JSON as lines, or broken JSON as text with the break marked."""
    text = raw.removesuffix(b"\n").decode("utf-8", "surrogateescape")
    broken = None if is_too_much(raw) else _break(text)
    return _Lines(text).html() if broken is None else _torn(text, broken)


def _break(text: str) -> Break | None:
    if len(text) > _MOST_CHECKED:
        return None
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return Break(error.pos, error.msg)
    except (
        RecursionError,
        ValueError,
    ):  # nested deeper, or a longer number, than Python takes: no fault of the line
        pass
    return None


def _torn(text: str, broken: Break) -> Markup:
    before, after = text[: broken.at], text[broken.at + 1 :]
    here = text[broken.at : broken.at + 1].strip() or "␣"
    return Markup(
        '<div class="json j-torn"><p class="none">not JSON from letter {:,} on: {}</p>'
        '<pre class="plain">{}{}<mark title="{}">{}</mark>{}{}</pre></div>'
    ).format(
        broken.at + 1,
        broken.why,
        _left_out(len(before) - _AROUND),
        _seen(before[-_AROUND:]),
        broken.why,
        _seen(here),
        _seen(after[:_AROUND]),
        _left_out(len(after) - _AROUND),
    )


class _Lines:
    """Lays out the tokens of a text, one value per line."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._out: list[str] = []
        self._n_letters = 0
        self._n_marks = 0
        self._folds: list[bool] = []  # for each open object and list: whether it can be folded

    def html(self) -> Markup:
        """The HTML of the whole text, or of as much as the bounds allow."""
        end = self._lay_out()
        self._out += ["</div></details>" for can_fold in reversed(self._folds) if can_fold]
        return Markup('<div class="json">{}{}</div>').format(
            Markup("".join(self._out)), _left_out(len(self._text) - end)
        )

    def _lay_out(self) -> int:
        for token in _TOKEN.finditer(self._text):
            if self._n_letters > MOST_LETTERS:
                return token.start()
            kind = token.lastgroup or "odd"
            if kind == "open":
                self._open(token[0])
            elif kind == "close":
                self._close(token[0])
            elif kind != "space":
                self._put(kind, token[0])
        return len(self._text)

    def _put(self, kind: str, text: str) -> None:
        self._n_letters += min(len(text), LONGEST_STRING)
        words = _seen(text[:LONGEST_STRING]) + _left_out(len(text) - LONGEST_STRING)
        if kind in ("comma", "colon"):
            words = Markup(",\n") if kind == "comma" else Markup(": ")
        elif kind != "empty" and self._may_mark():
            words = Markup('<span class="j-{}">{}</span>').format(kind, words)
        self._out.append(words)

    def _may_mark(self) -> bool:
        self._n_marks += 1
        return self._n_marks <= MOST_MARKS

    def _open(self, bracket: str) -> None:
        self._n_letters += 1
        can_fold = len(self._folds) < _DEEPEST_FOLD and self._may_mark()
        self._folds.append(can_fold)
        if can_fold:
            inside = self._take_line()
            self._out.append(f"<details open><summary>{inside}{bracket}</summary><div>")
        else:
            self._out.append(f"{bracket}\n" if len(self._folds) < _DEEPEST_FOLD else bracket)

    def _take_line(self) -> str:
        """Removes and returns what precedes a bracket in its line, usually its key."""
        start = len(self._out)
        while (
            start
            and self._out[start - 1] != ",\n"
            and not self._out[start - 1].startswith(("<details", "</div>"))
        ):
            start -= 1
        taken = "".join(self._out[start:])
        del self._out[start:]
        return taken

    def _close(self, bracket: str) -> None:
        self._n_letters += 1
        can_fold = self._folds.pop() if self._folds else False
        self._out.append(f"</div></details>{bracket}" if can_fold else bracket)


def _seen(text: str) -> Markup:
    return escape(legible(_NO_UTF8.sub(lambda byte: f"\\x{ord(byte[0]) - 0xDC00:02x}", text)))


def _left_out(n_letters: int) -> Markup:
    if n_letters <= 0:
        return Markup("")
    return Markup('<span class="none"> … {:,} letters more </span>').format(n_letters)
