"""Answers of the index as a table for people, and the views that can be asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tracklog.app.sql import Answered, half_text
from tracklog.views.cli.commands.store.sql_rows import flat, plain
from tracklog.views.cli.output.drawing import Cell, line, painted, table
from tracklog.views.cli.output.terminal import Paper
from tracklog.views.text.printing import answer, count, short

_GAP = 2
_NARROWEST = 8  # columns of the terminal that a column keeps
_WIDEST = 80


def show_rows(found: Answered) -> None:
    """The rows in columns; on a terminal what is too wide is cut, in a pipe nothing is."""
    words = [found.columns, *([_words(value) for value in row] for row in found.rows)]
    width = Paper.of_stdout().width
    if width is not None:
        words = _cut(words, width)
    heading: list[Cell] = [painted(name, "bold") for name in words[0]]
    body: list[list[Cell]] = [
        [painted(text, "dim") if value is None else text for text, value in zip(texts, row, strict=True)]
        for texts, row in zip(words[1:], found.rows, strict=True)
    ]
    table([heading, *body], _sides(found), indent=0)
    if not found.rows:
        answer("No rows.")


def show_schema(views: Sequence[dict[str, Any]]) -> None:
    """The views with their columns."""
    for view in views:
        line(painted(view["name"], "bold"), "  ", view["what"])
        rows = [
            (column["name"], painted(column["type"], "dim"), column["what"]) for column in view["columns"]
        ]
        table(rows, "<<<", indent=2, keeps_the_end=False)
        answer("")
    answer(
        f"{count(len(views), 'view')}. A column that ends with _at or is called `at` is a time in ISO 8601."
    )


def _words(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bytes | bytearray | memoryview) and half_text(bytes(value)) is None:
        return f"<{count(len(value), 'byte')}>"
    return str(flat(plain(value)))


def _sides(found: Answered) -> str:
    """Columns of numbers are right-aligned."""
    return "".join(
        ">" if any(values) and all(isinstance(one, int | float | None) for one in values) else "<"
        for values in ([row[n] for row in found.rows] for n in range(len(found.columns)))
    )


def _cut(words: Sequence[Sequence[str]], width: int) -> list[list[str]]:
    """The cells, cut so that all columns fit: the widest gives way first."""
    widths = [min(max(map(len, column)), _WIDEST) for column in zip(*words, strict=True)]
    over = sum(widths) + _GAP * (len(widths) - 1) - width
    while over > 0 and max(widths) > _NARROWEST:
        widths[widths.index(max(widths))] -= 1
        over -= 1
    return [[short(text, most) for text, most in zip(row, widths, strict=True)] for row in words]
