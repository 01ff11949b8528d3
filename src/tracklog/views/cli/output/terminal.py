"""Paper: a terminal of some width, or a pipe, to which safe text is wrapped, cut and coloured.

Rules
  1. The output is safe for a terminal, and no line is wider than the given width. Without a width no line is
     broken.
  2. The cost grows only with the length of the text.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import NamedTuple

import click

from tracklog.views.text.printing import in_colour, safe_lines

# Lazy imports: rich is needed only where a letter is wider than a cell.

_LEAST = 30  # columns that text keeps on the narrowest terminal


class Paper(NamedTuple):
    """What is written on."""

    width: int | None  # None: a pipe
    is_coloured: bool

    @classmethod
    def of_stdout(cls) -> Paper:
        """As wide as the terminal, coloured if colours are welcome."""
        is_terminal = sys.stdout.isatty()
        width = max(os.get_terminal_size(sys.stdout.fileno()).columns, _LEAST) if is_terminal else None
        return cls(width, in_colour(sys.stdout))

    def painted(self, text: str, **style: object) -> str:
        """The safe text in a style, where there is colour."""
        return click.style(text, **style) if self.is_coloured and text else text  # type: ignore[arg-type]

    def room(self, used: int) -> int | None:
        """What is left of a line."""
        return None if self.width is None else max(self.width - used, _LEAST // 2)


_TAB = 4


def wrapped(text: str, width: int | None) -> Iterator[str]:
    """The lines of a text, none wider than `width`; blank lines at its ends are left out."""
    for line in safe_lines(text.strip("\r\n")):
        shown = line.expandtabs(_TAB).rstrip()
        if width is None or fits(shown, width):
            yield shown
        else:
            words = shown.lstrip()
            indent = " " * min(len(shown) - len(words), width // 2)
            fold = _folded if words.isascii() else _folded_by_cells
            yield from (f"{indent}{part}" for part in fold(words, width - len(indent)))


def fits(line: str, width: int) -> bool:
    """Whether a safe line needs no more than `width` columns."""
    if line.isascii() or len(line) > width:
        return len(line) <= width
    from rich.cells import cell_len

    return cell_len(line) <= width


def cut(line: str, width: int | None) -> str:
    """A safe line cut at its end to `width` columns."""
    if width is None or fits(line, width):
        return line
    from rich.cells import set_cell_size

    return f"{set_cell_size(line[:width], max(width - 1, 0)).rstrip()}…"


def _folded(line: str, width: int) -> Iterator[str]:
    """Words are kept whole where they fit. `textwrap` is several times slower: it handles every word by itself."""
    at = 0
    while len(line) - at > width:
        gap = line.rfind(" ", at, at + width + 1)
        end = gap if gap > at else at + width
        yield line[at:end].rstrip()
        at = end
        while line.startswith(" ", at):
            at += 1
    yield line[at:]


def _folded_by_cells(line: str, width: int) -> Iterator[str]:
    from rich.cells import cell_len

    at, used = "", 0
    for word in line.split(" "):
        for part in _parts_that_fit(word, width):
            n_cells = cell_len(part)
            if at and used + 1 + n_cells > width:
                yield at
                at, used = part, n_cells
            else:
                at, used = (f"{at} {part}", used + 1 + n_cells) if at else (part, n_cells)
    if at:
        yield at


def _parts_that_fit(word: str, width: int) -> list[str]:
    from rich.cells import chop_cells

    return [word] if fits(word, width) else chop_cells(word, max(width, 2))
