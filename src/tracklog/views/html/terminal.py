"""What programs wrote to a terminal, as it would have stood there: colours as classes, progress bars in their last state.

Rules of this room
  1. Only colours and weights are obeyed. Every other escape is dropped: none moves, hides, asks or links.
  2. Nothing hides: concealed text is shown, and so is the text in an escape that does not end.
  3. A carriage return or backspace goes back within its line, and what follows writes over it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter

from markupsafe import Markup, escape

from tracklog.views.html.plain import legible
from tracklog.views.html.terminal_looks import PLAIN, Look, changed

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

Piece = tuple[str, Look]
_ERASED: Piece = ("", PLAIN)  # where a letter stood


def terminal(text: str, *, most: int = MOST_LETTERS) -> Markup:
    """The text in a block, as it stood in the end; of much, the end."""
    n_before = max(0, len(text) - most)
    before = Markup('<span class="none">… {:,} letters before</span>\n').format(n_before) if n_before else ""
    inner = Markup("".join(_spans(_pieces(text[n_before:]))))
    first = "\n" if inner.startswith("\n") else ""  # which a browser leaves out
    return Markup('<pre class="term">{}{}{}</pre>').format(before, first, inner)


def last_lines(text: str, n: int = 40) -> tuple[str, int]:
    """The last `n` lines, and how many there are before them."""
    start = len(text) - text.endswith("\n")
    for _ in range(n):
        start = text.rfind("\n", 0, start)
        if start < 0:
            return text, 0
    return text[start + 1 :], text.count("\n", 0, start + 1)


def without_looks(text: str) -> str:
    """The text without what only a terminal understands, for a line that has no room for looks."""
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
    """Each line in pieces of one look; a look goes on until it is changed."""
    look = PLAIN
    lines = text.replace("\r\n", "\n").split("\n")
    for n, line in enumerate(lines):
        written = _Overwritten(look) if _GOES_BACK.search(line) else _Written(look)
        _write(line, written)
        look = written.look
        yield [*written.pieces(), ("\n", PLAIN)] if n + 1 < len(lines) else written.pieces()


class _Written:
    """A line that goes on to its end."""

    def __init__(self, look: Look) -> None:
        self.look = look
        self._pieces: list[Piece] = []

    def put(self, text: str) -> None:
        """Writes where we stand."""
        self._pieces.append((text, self.look))

    def go_back(self, by: str) -> None:
        """To the beginning, or by a letter."""

    def erase(self, what: str) -> None:
        """What is behind us, before us, or both."""

    def pieces(self) -> list[Piece]:
        """What stands there in the end."""
        return self._pieces


class _Overwritten(_Written):
    """A line in which some letters are written over others."""

    def __init__(self, look: Look) -> None:
        super().__init__(look)
        self._at = 0
        self._erased_to = 0  # all before it is erased already, and need not be so again

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
