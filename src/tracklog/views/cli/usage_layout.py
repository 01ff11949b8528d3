"""Columns of numbers on a terminal of any width.

Rules of this room
  1. Where room is short, numbers are rounded first, then the bar goes, then columns of tokens, then names are cut; the
     cost never goes.
  2. The last cell of each column is the total's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from rich.cells import cell_len
from rich.text import Text

from tracklog.views.cli.drawing import painted
from tracklog.views.cli.usage_numbers import short_number

GAP = 2
_LEAST_NAME = 12  # columns that a name keeps
_FAIR_NAME = 18  # columns that it keeps for the sake of a bar
_LEAST_BAR, _SHORT_BAR, _LONGEST_BAR = 5, 6, 24
_FIRST_TO_GO = ("requests", "cache write", "input", "cache read", "output")
_NARROW = {"cache write": "c.write", "cache read": "c.read"}
_EIGHTHS = " ▏▎▍▌▋▊▉"


class Column(NamedTuple):
    """A column: its name, on which side it stands, and its cells."""

    name: str
    side: str
    cells: list[Text]
    gives_way: bool = False

    @property
    def width(self) -> int:
        """As wide as its widest cell."""
        return max(cell_len(one.plain) for one in (Text(self.name), *self.cells))


class Sheet(NamedTuple):
    """What is to be laid out: names, figures by the name of their column, and money."""

    names: list[Column]
    figures: Mapping[str, Sequence[int]]
    money: list[Column]

    def fitted(self, width: int) -> list[Column]:
        """Exact numbers where there is room for them and a bar, else short ones, else fewer."""
        exact = [*self.names, *self._numbers(is_exact=True), *self.money]
        if width_of(exact) + GAP + 2 * _LEAST_BAR <= width:
            return exact
        numbers = self._numbers(is_exact=False)
        for name in _FIRST_TO_GO:
            if _least_width([*self.names, *numbers, *self.money]) <= width:
                break
            numbers = [column for column in numbers if column.name != _NARROW.get(name, name)]
        return [*self.names, *numbers, *self.money]

    def _numbers(self, *, is_exact: bool) -> list[Column]:
        columns = []
        for name, values in self.figures.items():
            words = [f"{n:,}" if is_exact else short_number(n) for n in values]
            columns.append(Column(name if is_exact else _NARROW.get(name, name), ">", cells(words)))
        return columns


def cells(words: Iterable[str], style: str = "") -> list[Text]:
    """The cells of a column, the total's stands out."""
    *texts, total = (painted(word, style) for word in words)
    total.stylize("bold")
    return [*texts, total]


def width_of(columns: Sequence[Column]) -> int:
    """How much room columns need, side by side."""
    return sum(column.width for column in columns) + GAP * (len(columns) - 1)


def with_bar(columns: list[Column], shares: Sequence[float], width: int) -> list[Column]:
    """A bar for each row, if there is room and anything to compare; long names make some for a short one."""
    room = min(width - width_of(columns) - GAP, _LONGEST_BAR)
    if room < _LEAST_BAR and width - _least_width(columns, name=_FAIR_NAME) - GAP >= _SHORT_BAR:
        room = _SHORT_BAR
    if room < _LEAST_BAR or not any(shares):
        return columns
    bars = [Text(bar(share, room), "green") for share in shares]
    return [*columns, Column("", "<", [*bars, Text()])]


def bar(share: float, width: int) -> str:
    """A bar in eighths of a letter; whatever is there shows, however little it is."""
    eighths = max(round(share * width * 8), 1) if share > 0 else 0
    full, rest = divmod(eighths, 8)
    return "█" * full + (_EIGHTHS[rest] if rest else "")


def _least_width(columns: Sequence[Column], *, name: int = _LEAST_NAME) -> int:
    spare = sum(max(column.width - name, 0) for column in columns if column.gives_way)
    return width_of(columns) - spare
