"""The table that people see: one line for each row, a bar of its cost, the total, and remarks below.

A `+` behind a cost says that it is at least so much. Nothing is said by colour alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, tzinfo
from typing import NamedTuple

from rich.text import Text

from tracklog.model.blocks import block_end, burn
from tracklog.model.ledger_values import Entry, Group, Report, Row
from tracklog.model.projects import last_part
from tracklog.views.cli.drawing import console, line, painted, paragraphs, table
from tracklog.views.cli.filters import moment_of
from tracklog.views.cli.printing import count, short, short_id, tilde
from tracklog.views.cli.sessions import short_model
from tracklog.views.cli.usage_layout import GAP, Column, Sheet, cells, width_of, with_bar
from tracklog.views.cli.usage_numbers import Basis, cost_of, difference, money
from tracklog.views.cli.usage_rows import BY_TIME, Listed, Manner
from tracklog.views.cli.usage_words import remarks

_MODELS_FROM = 24  # columns left over from which on the models are told
_LONGEST_NAME = 60
_NAMES: dict[Group, str] = {"daily": "day", "weekly": "week", "monthly": "month", "blocks": "block"}


class Look(NamedTuple):
    """What is needed to show rows, beside the rows."""

    group: Group
    manner: Manner
    zone: tzinfo
    now: datetime
    projects: Mapping[str, str]  # the folder of each session


def show(report: Report, listed: Listed, look: Look) -> None:
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
    """The requests whose final count is not known, and the lines where they stand."""
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


def _names(rows: Sequence[Row], look: Look) -> list[Column]:
    if look.group == "session":
        return _session_names(rows, look)
    shown = [_name(row, look) for row in rows]
    return [Column(_NAMES.get(look.group, look.group), "<", cells([*shown, "total"]), gives_way=True)]


def _name(row: Row, look: Look) -> str:
    if look.group != "blocks":
        return short(row.key, _LONGEST_NAME)
    start = moment_of(row.key)
    if start is None:
        return short(row.key, _LONGEST_NAME)
    began, ends = start.astimezone(look.zone), block_end(start).astimezone(look.zone)
    running = "  running" if burn(row, look.now) else ""
    return f"{began:%Y-%m-%d %H:%M}–{ends:%H:%M}{running}"


def _session_names(rows: Sequence[Row], look: Look) -> list[Column]:
    projects = [short(last_part(look.projects.get(row.key, "")), _LONGEST_NAME) for row in rows]
    return [
        Column("session", "<", cells([*(short_id(row.key) for row in rows), "total"])),
        Column("last", "<", cells([*(_when(row.last_at, look) for row in rows), ""])),
        Column("project", "<", cells([*projects, ""]), gives_way=True),
    ]


def _when(at: str | None, look: Look) -> str:
    moment = moment_of(at)
    if moment is None:
        return ""
    here, now = moment.astimezone(look.zone), look.now.astimezone(look.zone)
    return f"{here:%m-%d %H:%M}" if here.year == now.year else f"{here:%Y-%m-%d}"


def _figures(rows: Sequence[Row]) -> dict[str, list[int]]:
    return {
        "requests": [row.requests for row in rows],
        "input": [row.tokens.input for row in rows],
        "output": [row.tokens.output for row in rows],
        "cache write": [row.tokens.cache_write for row in rows],
        "cache read": [row.tokens.cache_read for row in rows],
    }


def _money(rows: Sequence[Row], basis: Basis) -> list[Column]:
    costs = Column("cost", ">", cells(_cost_words(rows, basis)))
    if basis != "both":
        return [costs]
    stated = [cost_of(row, "stated").least for row in rows]
    differences = [difference(row) for row in rows]
    return [
        costs,
        Column("stated", ">", cells("none" if one is None else money(one) for one in stated)),
        Column("difference", ">", cells("" if one is None else _signed(one) for one in differences)),
    ]


def _cost_words(rows: Sequence[Row], basis: Basis) -> list[str]:
    """With a `+` where more may have been spent, and as much room behind the others."""
    words = ["not stated" if cost_of(row, basis).least is None and basis == "stated" else "" for row in rows]
    marks = ["+" if _is_at_least(row, basis) else " " for row in rows]
    told = [
        word or f"{money(cost_of(row, basis).least)}{mark}"
        for word, row, mark in zip(words, rows, marks, strict=True)
    ]
    return told if "+" in marks else [word.rstrip() for word in told]


def _is_at_least(row: Row, basis: Basis) -> bool:
    cost = cost_of(row, basis)
    if cost.least is None:
        return False
    n_without = row.requests - row.stated_requests if basis == "stated" else row.unpriced_requests
    return not cost.is_certain or n_without > 0


def _signed(pico: int) -> str:
    return f"+{money(pico)}" if pico > 0 else money(pico)


def _shares(rows: Sequence[Row], basis: Basis) -> list[float]:
    costs = [cost_of(row, basis).least or 0 for row in rows]
    most = max(costs, default=0)
    return [cost / most if most else 0.0 for cost in costs]


def _with_models(columns: list[Column], rows: Sequence[Row], group: Group, *, width: int) -> list[Column]:
    """Where there is room left, which models were at work."""
    if group == "model" or width - width_of(columns) - GAP < _MODELS_FROM:
        return columns
    told = [", ".join(short(short_model(model), 24) for model in row.models) for row in rows]
    names = [column._replace(gives_way=False) for column in columns]
    return [*names, Column("models", "<", cells([*told, ""], "dim"), gives_way=True)]


def _show_others(others: Sequence[Row], look: Look) -> None:
    costs = [cost_of(row, look.manner.basis).least for row in others]
    known = sum(cost for cost in costs if cost is not None)
    kind = "earlier" if look.group in BY_TIME else "other"
    line(painted(f"… and {len(others):,} {kind}, {money(known)}: --limit N shows more", "dim"))
