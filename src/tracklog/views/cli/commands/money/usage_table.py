"""The table of `tracklog usage`, fitted to any width: rows with bars of cost, the total, remarks.

Rules
  1. If room is short, numbers are rounded first, then the bar is dropped, then columns of tokens, then names are
     cut; the cost always stays.
  2. The last cell of each column is the total's.
  3. A `+` behind a cost means at least so much. Colour alone never carries a meaning.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import NamedTuple

from rich.cells import cell_len
from rich.text import Text

from tracklog.app.scope.filters import moment_of
from tracklog.app.usage import block_end, burn
from tracklog.home import tilde
from tracklog.model.session_rules import last_part
from tracklog.model.usage import Entry, Group, UsageReport, UsageRow
from tracklog.views.cli.commands.money.usage_notes import remarks
from tracklog.views.cli.output.drawing import console, line, painted, paragraphs, table
from tracklog.views.documents.usage import BY_TIME, RowSelection, UsageProvenance
from tracklog.views.text.numbers import Basis, cost_of, difference, money, short_number
from tracklog.views.text.printing import count, short, short_id, short_model

GAP = 2
_LEAST_NAME = 12  # columns that a name keeps
_FAIR_NAME = 18  # columns that it keeps for the sake of a bar
_LEAST_BAR, _SHORT_BAR, _LONGEST_BAR = 5, 6, 24
_FIRST_TO_GO = ("requests", "cache write", "input", "cache read", "output")
_NARROW = {"cache write": "c.write", "cache read": "c.read"}
_EIGHTHS = " ▏▎▍▌▋▊▉"


class TableColumn(NamedTuple):
    """A column: its name, its alignment, and its cells."""

    name: str
    side: str
    cells: list[Text]
    gives_way: bool = False

    @property
    def width(self) -> int:
        """As wide as its widest cell."""
        return max(cell_len(one.plain) for one in (Text(self.name), *self.cells))


class Sheet(NamedTuple):
    """The contents of a table: names, figures by the name of their column, and money."""

    names: list[TableColumn]
    figures: Mapping[str, Sequence[int]]
    money: list[TableColumn]

    def fitted(self, width: int) -> list[TableColumn]:
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

    def _numbers(self, *, is_exact: bool) -> list[TableColumn]:
        columns = []
        for name, values in self.figures.items():
            words = [f"{n:,}" if is_exact else short_number(n) for n in values]
            columns.append(TableColumn(name if is_exact else _NARROW.get(name, name), ">", cells(words)))
        return columns


def cells(words: Iterable[str], style: str = "") -> list[Text]:
    """The cells of a column, the total's highlighted."""
    *texts, total = (painted(word, style) for word in words)
    total.stylize("bold")
    return [*texts, total]


def width_of(columns: Sequence[TableColumn]) -> int:
    """The width of columns side by side."""
    return sum(column.width for column in columns) + GAP * (len(columns) - 1)


def with_bar(columns: list[TableColumn], shares: Sequence[float], width: int) -> list[TableColumn]:
    """A bar for each row, if there is room and anything to compare; long names make some for a short one."""
    room = min(width - width_of(columns) - GAP, _LONGEST_BAR)
    if room < _LEAST_BAR and width - _least_width(columns, name=_FAIR_NAME) - GAP >= _SHORT_BAR:
        room = _SHORT_BAR
    if room < _LEAST_BAR or not any(shares):
        return columns
    bars = [Text(bar(share, room), "green") for share in shares]
    return [*columns, TableColumn("", "<", [*bars, Text()])]


def bar(share: float, width: int) -> str:
    """A bar in eighths of a letter; whatever is there shows, however little it is."""
    eighths = max(round(share * width * 8), 1) if share > 0 else 0
    full, rest = divmod(eighths, 8)
    return "█" * full + (_EIGHTHS[rest] if rest else "")


def _least_width(columns: Sequence[TableColumn], *, name: int = _LEAST_NAME) -> int:
    spare = sum(max(column.width - name, 0) for column in columns if column.gives_way)
    return width_of(columns) - spare


_MODELS_FROM = 24  # free columns from which on the models are shown
_LONGEST_NAME = 60
_NAMES: dict[Group, str] = {"daily": "day", "weekly": "week", "monthly": "month", "blocks": "block"}


class TableContext(NamedTuple):
    """What is needed to show rows, besides the rows."""

    group: Group
    manner: UsageProvenance
    zone: tzinfo
    now: datetime
    projects: Mapping[str, str]  # the folder of each session


def show(report: UsageReport, listed: RowSelection, look: TableContext) -> None:
    """The table, and what is to be said about it."""
    width = console().width
    every = [*listed.rows, report.total]
    sheet = Sheet(_names(listed.rows, look), _figures(every), _money(every, look.manner.basis))
    columns = with_bar(sheet.fitted(width), _shares(listed.rows, look.manner.basis), width)
    columns = _with_models(columns, listed.rows, look.group, width=width)
    heads = [painted(column.name, "dim") for column in columns]
    rows = zip(*(column.cells for column in columns), strict=True)
    gives_way = next(n for n, column in enumerate(columns) if column.gives_way)
    table([heads, *rows], "".join(column.side for column in columns), gives_way=gives_way, indent=0)
    if listed.others:
        _show_others(listed.others, look)
    said = [
        (painted("·", "dim"), text) for text in remarks(report, look.manner, now=look.now, zone=look.zone)
    ]
    if said:
        line()
        paragraphs(said)


def show_uncertain(entries: Sequence[Entry]) -> None:
    """The requests without a known final count, and their lines."""
    line()
    if not entries:
        line(painted("uncertain", "bold"), "  nothing: every request has its final count")
        return
    line(painted("uncertain", "bold"), f"  {count(len(entries), 'request')}")
    table([_uncertain_cells(one) for one in entries], "<<><")


def _uncertain_cells(entry: Entry) -> tuple[Text | str, ...]:
    output = "no count" if entry.certainty == "missing" else f"{entry.tokens.output:,}+ output"
    place = painted(f"{tilde(entry.place.path)}:{entry.place.line or '?'}", "dim")
    return entry.certainty, short(short_model(entry.model or "unknown model"), 24), output, place


def _names(rows: Sequence[UsageRow], look: TableContext) -> list[TableColumn]:
    if look.group == "session":
        return _session_names(rows, look)
    shown = [_name(row, look) for row in rows]
    return [TableColumn(_NAMES.get(look.group, look.group), "<", cells([*shown, "total"]), gives_way=True)]


def _name(row: UsageRow, look: TableContext) -> str:
    if look.group != "blocks":
        return short(row.key, _LONGEST_NAME)
    start = moment_of(row.key)
    if start is None:
        return short(row.key, _LONGEST_NAME)
    began, ends = start.astimezone(look.zone), block_end(start).astimezone(look.zone)
    running = "  running" if burn(row, look.now) else ""
    return f"{began:%Y-%m-%d %H:%M}–{ends:%H:%M}{running}"


def _session_names(rows: Sequence[UsageRow], look: TableContext) -> list[TableColumn]:
    projects = [short(last_part(look.projects.get(row.key, "")), _LONGEST_NAME) for row in rows]
    return [
        TableColumn("session", "<", cells([*(short_id(row.key) for row in rows), "total"])),
        TableColumn("last", "<", cells([*(_when(row.last_at, look) for row in rows), ""])),
        TableColumn("project", "<", cells([*projects, ""]), gives_way=True),
    ]


def _when(at: str | None, look: TableContext) -> str:
    moment = moment_of(at)
    if moment is None:
        return ""
    here, now = moment.astimezone(look.zone), look.now.astimezone(look.zone)
    return f"{here:%m-%d %H:%M}" if here.year == now.year else f"{here:%Y-%m-%d}"


def _figures(rows: Sequence[UsageRow]) -> dict[str, list[int]]:
    return {
        "requests": [row.requests for row in rows],
        "input": [row.tokens.input for row in rows],
        "output": [row.tokens.output for row in rows],
        "cache write": [row.tokens.cache_write for row in rows],
        "cache read": [row.tokens.cache_read for row in rows],
    }


def _money(rows: Sequence[UsageRow], basis: Basis) -> list[TableColumn]:
    costs = TableColumn("cost", ">", cells(_cost_words(rows, basis)))
    if basis != "both":
        return [costs]
    stated = [cost_of(row, "stated").least for row in rows]
    differences = [difference(row) for row in rows]
    return [
        costs,
        TableColumn("stated", ">", cells("none" if one is None else money(one) for one in stated)),
        TableColumn("difference", ">", cells("" if one is None else _signed(one) for one in differences)),
    ]


def _cost_words(rows: Sequence[UsageRow], basis: Basis) -> list[str]:
    """With a `+` where more may have been spent, and as much room behind the others."""
    words = ["not stated" if cost_of(row, basis).least is None and basis == "stated" else "" for row in rows]
    marks = ["+" if _is_at_least(row, basis) else " " for row in rows]
    told = [
        word or f"{money(cost_of(row, basis).least)}{mark}"
        for word, row, mark in zip(words, rows, marks, strict=True)
    ]
    return told if "+" in marks else [word.rstrip() for word in told]


def _is_at_least(row: UsageRow, basis: Basis) -> bool:
    cost = cost_of(row, basis)
    if cost.least is None:
        return False
    n_without = row.requests - row.stated_requests if basis == "stated" else row.unpriced_requests
    return not cost.is_certain or n_without > 0


def _signed(pico: int) -> str:
    return f"+{money(pico)}" if pico > 0 else money(pico)


def _shares(rows: Sequence[UsageRow], basis: Basis) -> list[float]:
    costs = [cost_of(row, basis).least or 0 for row in rows]
    most = max(costs, default=0)
    return [cost / most if most else 0.0 for cost in costs]


def _with_models(
    columns: list[TableColumn], rows: Sequence[UsageRow], group: Group, *, width: int
) -> list[TableColumn]:
    """Where there is room left, which models were at work."""
    if group == "model" or width - width_of(columns) - GAP < _MODELS_FROM:
        return columns
    told = [", ".join(short(short_model(model), 24) for model in row.models) for row in rows]
    names = [column._replace(gives_way=False) for column in columns]
    return [*names, TableColumn("models", "<", cells([*told, ""], "dim"), gives_way=True)]


def _show_others(others: Sequence[UsageRow], look: TableContext) -> None:
    costs = [cost_of(row, look.manner.basis).least for row in others]
    known = sum(cost for cost in costs if cost is not None)
    kind = "earlier" if look.group in BY_TIME else "other"
    line(painted(f"… and {len(others):,} {kind}, {money(known)}: --limit N shows more", "dim"))
