"""Render terminal output as it looked in the end: colours as classes, progress bars when done.

Rules
  1. Only colours and weights (ECMA-48, SGR) are applied. Every other escape is dropped: none moves, hides, asks or
     links.
  2. Nothing is hidden: concealed text is shown, and so is the text in an escape that does not end.
  3. A carriage return or backspace goes back within its line, and later letters overwrite earlier ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from markupsafe import Markup, escape

from tracklog.views.html.legible import legible

COLOURS = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
_WEIGHTS = {1: "t-bold", 2: "t-dim", 3: "t-italic", 4: "t-under", 7: "t-inverse", 9: "t-struck"}
_ENDS = {21: {1}, 22: {1, 2}, 23: {3}, 24: {4}, 27: {7}, 29: {9}}
_FAINT = 40  # a colour whose parts differ by less than this is a grey


class AnsiNames(NamedTuple):
    """How letters look: the names of their colour and background, and their weights."""

    colour: str = ""
    ground: str = ""
    weights: frozenset[int] = frozenset()

    @property
    def classes(self) -> str:
        """The HTML classes of this look."""
        names = [f"t-{self.colour}" if self.colour else "", f"t-on-{self.ground}" if self.ground else ""]
        return " ".join(filter(None, [*names, *(_WEIGHTS[one] for one in sorted(self.weights))]))


PLAIN = AnsiNames()


def all_classes() -> list[str]:
    """Every class that `AnsiNames.classes` can contain."""
    grounds = [f"t-on-{name}" for name in COLOURS]
    return [*(f"t-{name}" for name in COLOURS), *grounds, *_WEIGHTS.values()]


def changed(look: AnsiNames, codes: str) -> AnsiNames:
    """The look after an escape with these codes; unknown codes change nothing."""
    rest = iter(codes.split(";"))
    for part in rest:
        first, *finer = part.split(":")
        code = int(first) if first else 0
        if code in (38, 48):
            name = _finer(finer) if finer else _colour_ahead(rest)
            look = look._replace(colour=name) if code == 38 else look._replace(ground=name)
        elif code == 4 and finer[:1] == ["0"]:
            look = _without(look, {4})
        else:
            look = _by_code(look, code)
    return look


def _by_code(look: AnsiNames, code: int) -> AnsiNames:
    if code == 0:
        return PLAIN
    if code in _WEIGHTS:
        return look._replace(weights=look.weights | {code})
    if code in _ENDS:
        return _without(look, _ENDS[code])
    if 30 <= code <= 37 or 90 <= code <= 97:
        return look._replace(colour=COLOURS[code % 10])
    if 40 <= code <= 47 or 100 <= code <= 107:
        return look._replace(ground=COLOURS[code % 10])
    return look._replace(colour="") if code == 39 else look._replace(ground="") if code == 49 else look


def _without(look: AnsiNames, weights: set[int]) -> AnsiNames:
    return look._replace(weights=look.weights - weights)


def _colour_ahead(rest: Iterator[str]) -> str:
    """The colour in the codes after 38 or 48: `5;n` or `2;r;g;b`."""
    way = next(rest, "")
    return _named([way, *(next(rest, "") for _ in range({"5": 1, "2": 3}.get(way, 0)))])


def _finer(parts: list[str]) -> str:
    """The colour in subcodes: `5:n`, `2:r:g:b` or `2::r:g:b`."""
    return _named([parts[0], *parts[-3:]] if parts[0] == "2" else parts)


def _named(parts: list[str]) -> str:
    numbers = [int(part) if part.isdecimal() else 0 for part in parts]
    if numbers[0] == 5 and len(numbers) > 1:
        return _of_table(numbers[1])
    return _nearest(*numbers[1:4]) if numbers[0] == 2 and len(numbers) >= 4 else ""


def _of_table(n: int) -> str:
    if n < 16:
        return COLOURS[n % 8]
    if n >= 232:
        return ""  # greys: the colour of text
    cube = n - 16
    return _nearest(*(part * 51 for part in (cube // 36, cube // 6 % 6, cube % 6)))


def _nearest(red: int, green: int, blue: int) -> str:
    """The name of the most similar colour; none for greys."""
    parts = (red, green, blue)
    if max(parts) - min(parts) < _FAINT:
        return ""
    middle = (max(parts) + min(parts)) / 2
    return COLOURS[sum(bit for bit, part in zip((1, 2, 4), parts, strict=True) if part > middle)]


MOST_LETTERS = 200_000
MOST_SPANS = 3_000
_ESCAPE = re.compile(
    r"\x1b\[(?P<look>[0-9;:]{0,200})m"
    r"|\x1b\[(?P<erase>[0-2]?)K"
    r"|(?P<back>[\r\x08])"
    r"|\x1b\[[0-?]{0,200}[ -/]{0,20}[@-~]"  # other control sequences
    r"|\x1b[\]PX^_][^\x07\x1b\n]{0,10000}(?:\x07|\x1b\\)"  # texts for the terminal itself: titles, links, pictures
    r"|\x1b[ -/]{1,20}[0-~]|\x1b[0-OQ-WYZ\\`-~]"
    r"|[\x00\x07\x0e\x0f]"
)
_GOES_BACK = re.compile(r"[\r\x08]")
Piece = tuple[str, AnsiNames]
_ERASED: Piece = ("", PLAIN)  # the place of an erased letter


def terminal(text: str, *, most: int = MOST_LETTERS) -> Markup:
    """A block with the text as it looked in the end; of a long text only its end."""
    n_before = max(0, len(text) - most)
    before = Markup('<span class="none">… {:,} letters before</span>\n').format(n_before) if n_before else ""
    inner = Markup("".join(_spans(_pieces(text[n_before:]))))
    first = "\n" if inner.startswith("\n") else ""  # which a browser leaves out
    return Markup('<pre class="term">{}{}{}</pre>').format(before, first, inner)


def last_lines(text: str, n: int = 40) -> tuple[str, int]:
    """The last `n` lines, and the number of lines before them."""
    start = len(text) - text.endswith("\n")
    for _ in range(n):
        start = text.rfind("\n", 0, start)
        if start < 0:
            return text, 0
    return text[start + 1 :], text.count("\n", 0, start + 1)


def without_looks(text: str) -> str:
    """The text without terminal escapes, for a line without formatting."""
    return _ESCAPE.sub(lambda found: "\n" if found["back"] == "\r" else "", text)


def _pieces(text: str) -> Iterator[Piece]:
    if _ESCAPE.search(text) is None:
        yield text, PLAIN
    else:
        yield from (piece for line in _lines(text) for piece in line)


def _spans(pieces: Iterator[Piece]) -> Iterator[str]:
    n_spans = 0
    for look, group in groupby(pieces, key=itemgetter(1)):
        words, classes = escape(legible("".join(text for text, _ in group))), look.classes
        if classes and n_spans < MOST_SPANS:
            n_spans += 1
            yield f'<span class="{classes}">{words}</span>'
        else:
            yield words


def _lines(text: str) -> Iterator[list[Piece]]:
    """Each line in pieces of one look, which lasts until an escape changes it."""
    look = PLAIN
    lines = text.replace("\r\n", "\n").split("\n")
    for n, line in enumerate(lines):
        written = _Overwritten(look) if _GOES_BACK.search(line) else _Written(look)
        _write(line, written)
        look = written.look
        yield [*written.pieces(), ("\n", PLAIN)] if n + 1 < len(lines) else written.pieces()


class _Written:
    """A line that is written from left to right."""

    def __init__(self, look: AnsiNames) -> None:
        self.look = look
        self._pieces: list[Piece] = []

    def put(self, text: str) -> None:
        """Writes a text at the cursor."""
        self._pieces.append((text, self.look))

    def go_back(self, by: str) -> None:
        """Moves the cursor to the line's start, or one letter back."""

    def erase(self, what: str) -> None:
        """Erases to the end of the line, to its start, or all of it."""

    def pieces(self) -> list[Piece]:
        """The written pieces."""
        return self._pieces


class _Overwritten(_Written):
    """A line in which letters overwrite others."""

    def __init__(self, look: AnsiNames) -> None:
        super().__init__(look)
        self._at = 0
        self._erased_to = 0  # everything before it is erased already

    def put(self, text: str) -> None:
        self._erased_to = min(self._erased_to, self._at)
        self._pieces[self._at : self._at + len(text)] = [(char, self.look) for char in text]
        self._at += len(text)

    def go_back(self, by: str) -> None:
        self._at = 0 if by == "\r" else max(0, self._at - 1)

    def erase(self, what: str) -> None:
        if what in ("", "0", "2"):
            del self._pieces[self._at :]
        if what in ("1", "2") and self._at > self._erased_to:
            self._pieces[self._erased_to : self._at] = [_ERASED] * (self._at - self._erased_to)
            self._erased_to = self._at
        self._erased_to = min(self._erased_to, len(self._pieces))

    def pieces(self) -> list[Piece]:
        while self._pieces and self._pieces[-1] == _ERASED:
            self._pieces.pop()
        return [piece if piece is not _ERASED else (" ", PLAIN) for piece in self._pieces]


def _write(line: str, written: _Written) -> None:
    done = 0
    for found in _ESCAPE.finditer(line):
        if found.start() > done:
            written.put(line[done : found.start()])
        done = found.end()
        if (look := found["look"]) is not None:
            written.look = changed(written.look, look)
        elif (erase := found["erase"]) is not None:
            written.erase(erase)
        elif back := found["back"]:
            written.go_back(back)
    if done < len(line):
        written.put(line[done:])
