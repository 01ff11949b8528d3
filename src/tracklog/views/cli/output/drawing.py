"""Lines, tables, bars and progress on a terminal, imported only when needed: rich loads slowly.

Rules
  1. Cells become `Text`, never markup: a log cannot style our output.
  2. On a terminal a table never wraps: one column gives way, cut in the middle, so that both the beginning and the
     end of a path stay readable. In a pipe nothing is cut.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import IO

from rich.cells import cell_len, set_cell_size
from rich.console import Console, RenderableType
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.text import Text

from tracklog.views.text.printing import in_colour, safe

Cell = str | Text
_GAP = "  "
_LEAST = 12  # columns that the yielding column keeps
_ENDLESS = 1 << 20


class _Paper(Console):
    def on_broken_pipe(self) -> None:
        """Rich would end the program here with 1; how it ends is for `app` to say."""
        raise BrokenPipeError


def console(stream: IO[str] | None = None) -> Console:
    """Where drawings go: stdout unless told otherwise."""
    stream = stream or sys.stdout
    return _Paper(
        file=stream,
        width=None if stream.isatty() else _ENDLESS,
        color_system="auto" if in_colour(stream) else None,
        force_terminal=stream.isatty(),
        markup=False,
        emoji=False,
        highlight=False,
    )


def line(*parts: Cell) -> None:
    """One line of text, cut to the terminal."""
    console().print(Text.assemble(*map(cell, parts)), no_wrap=True, overflow="ellipsis", crop=True)


def paragraphs(rows: Sequence[Sequence[Cell]]) -> None:
    """Rows whose last column may take several lines, below one another; nothing is cut."""
    cells = [[cell(one) for one in row] for row in rows]
    out = console()
    widths = _natural_widths([row[:-1] for row in cells])
    indent = sum(widths) + len(_GAP) * len(widths)
    for *heads, body in cells:
        head = Text(_GAP).join([*map(_left, heads, widths), Text()])
        for part in body.wrap(out, max(out.width - indent, _LEAST)):
            part.rstrip()
            out.print(head + part, no_wrap=True)
            head = Text(" " * indent)


def table(
    rows: Sequence[Sequence[Cell]],
    sides: str,
    *,
    gives_way: int = -1,
    indent: int = 2,
    keeps_the_end: bool = True,
) -> None:
    """Rows in aligned columns; `sides` has `<` or `>` for each column. Prose need not keep its end when it is cut."""
    cells = [[cell(one) for one in row] for row in rows]
    widths = _widths(cells, gives_way % len(sides), indent)
    out = console()
    for row in cells:
        columns = zip(row, widths, sides, strict=True)
        aligned = [_fitted(one, width, side, keeps_the_end=keeps_the_end) for one, width, side in columns]
        text = Text(" " * indent) + Text(_GAP).join(aligned)
        text.rstrip()
        out.print(text, no_wrap=True, overflow="ellipsis", crop=True)


def cell(text: Cell) -> Text:
    """A cell's text, made safe."""
    return text if isinstance(text, Text) else Text(safe(text))


def painted(text: str, style: str) -> Text:
    """Safe text in a style: `green`, `bold`, `dim`."""
    return Text(safe(text), style=style)


def bar(parts: Sequence[tuple[int, str]], of: int, *, width: int = 20) -> Text:
    """A bar whose parts are numbers with their styles; whatever is there shows, however little it is."""
    drawn = Text()
    for n, style in parts:
        cells = round(width * n / of) if of else 0
        drawn.append(("█" * cells or ("▏" if n else ""))[: width - len(drawn)], style)
    return drawn + Text("·" * (width - len(drawn)), "dim")


def _natural_widths(cells: Sequence[Sequence[Text]]) -> list[int]:
    return [max(cell_len(one.plain) for one in column) for column in zip(*cells, strict=True)]


def _widths(cells: Sequence[Sequence[Text]], gives_way: int, indent: int) -> list[int]:
    widths = _natural_widths(cells)
    over = indent + sum(widths) + len(_GAP) * (len(widths) - 1) - console().width
    if over > 0:
        widths[gives_way] = max(widths[gives_way] - over, _LEAST)
    return widths


def _fitted(text: Text, width: int, side: str, *, keeps_the_end: bool) -> Text:
    missing = width - cell_len(text.plain)
    if missing < 0:
        cut = _cut_in_the_middle if keeps_the_end else _cut_at_the_end
        return Text(cut(text.plain, width), text.style)
    return Text(" " * missing) + text if side == ">" else _left(text, width)


def _left(text: Text, width: int) -> Text:
    return text + Text(" " * (width - cell_len(text.plain)))


def _cut_at_the_end(text: str, width: int) -> str:
    return f"{set_cell_size(text, width - 1)}…"


def _cut_in_the_middle(text: str, width: int) -> str:
    head = (width - 1) // 3
    tail = set_cell_size(text[::-1], width - 1 - head)[::-1]
    return f"{set_cell_size(text, head)}…{tail}"


class PolledProgress(Progress):
    """A bar that asks how far the work is whenever it is drawn."""

    def __init__(self, what: str, total: int, *, done: Callable[[], int]) -> None:
        self._done = done
        self._total = total
        columns = (DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn(compact=True))
        super().__init__(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            *columns,
            console=console(sys.stderr),
            transient=True,
        )
        self.add_task(what, total=total)

    def get_renderables(self) -> Iterable[RenderableType]:
        for task in self.task_ids:
            self.update(task, completed=min(self._done(), self._total))
        yield from super().get_renderables()
