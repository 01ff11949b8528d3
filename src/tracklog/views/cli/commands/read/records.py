"""`tracklog records`: every line of one log, and how it was read."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from tracklog.app.logs.records import log_named, pieces_of
from tracklog.model.records import Piece
from tracklog.views.cli.options import home_option, json_lines_option, root_option
from tracklog.views.cli.output.stderr_talk import STDERR
from tracklog.views.text.printing import answer, in_colour, safe, short

Row = dict[str, Any]

_COLOUR = {"read": "green", "unknown": "yellow", "broken": "red"}
_KIND_WIDTH = 32
_HEAD = f"{'line':>6}  {'length':>8}  {'reading':<7}  {'kind':<{_KIND_WIDTH}}  {'at':<19}  id"
_INDENT = " " * 8
_LEAST = 20  # columns that remarks keep on the narrowest terminal


@click.command
@click.argument("file")
@click.option(
    "--reading", type=click.Choice(["read", "unknown", "broken"]), help="Only what was read in this way."
)
@click.option("--kind", help="Only this kind, such as `assistant` or `system/turn_duration`.")
@click.option("--extra", is_flag=True, help="Add the keys that no record of ours names, with their values.")
@click.option("--raw", is_flag=True, help="Add the text of each piece as it stands in the log.")
@root_option
@home_option
@json_lines_option
def records(
    file: str,
    reading: str | None,
    kind: str | None,
    extra: bool,
    raw: bool,
    roots: tuple[Path, ...],
    home: Path | None,
    as_json: bool,
) -> None:
    """Every line of one log, and how it was read.

    FILE is a log of any agent (.jsonl, .jsonl.zst, .json), or a session as `tracklog path` takes it. Each line
    gives one row, a torn line one for each of its pieces: `read`, `unknown` (JSON that we cannot name) or `broken`
    (not JSON). Rows come as they are read, however long the log is.
    """
    log = log_named(file, roots, home=home, talk=STDERR)
    show = _as_json if as_json else _as_text()
    if not as_json and sys.stdout.isatty():
        _show_head()
    for piece, strays in pieces_of(log, extra=extra):
        if reading in (None, piece.reading) and kind in (None, piece.record.kind):
            answer(show(_row(piece, strays, raw=raw)))


def _row(piece: Piece, strays: Row | None, *, raw: bool) -> Row:
    record = piece.record
    row: Row = {
        "line": piece.line,
        "offset": piece.offset,
        "length": piece.length,
        "reading": piece.reading,
        "kind": record.kind,
        "at": piece.at,
        "id": record.ident,
        "why": piece.why,
        "recovered": piece.recovered,
    }
    if strays is not None:
        row["extra"] = _showable(strays)
    if raw:
        row["raw"] = piece.raw.decode(errors="surrogateescape")
    return row


def _show_head() -> None:
    head = _HEAD[: _terminal_width()]
    answer(click.style(head, dim=True) if in_colour(sys.stdout) else head)


def _as_json(row: Row) -> str:
    return json.dumps(row)


def _as_text() -> Callable[[Row], str]:
    coloured = in_colour(sys.stdout)
    width = _terminal_width()

    def show(row: Row) -> str:
        reading = f"{row['reading']:<7}"
        shown = click.style(reading, fg=_COLOUR[row["reading"]]) if coloured else reading
        place = f"{row['line']:>6}  {row['length']:>8}  "
        if width is None:
            return f"{place}{shown}  {_on_one_line(row)}"
        text = _what_fits(row, width - len(place) - len(reading) - 2)
        return "\n".join([f"{place}{shown}  {text}", *_below(row, width)])

    return show


def _terminal_width() -> int | None:
    return os.get_terminal_size(sys.stdout.fileno()).columns if sys.stdout.isatty() else None


def _on_one_line(row: Row) -> str:
    return "  ".join([f"{safe(row['kind']):<{_KIND_WIDTH}}", *_time_and_id(row), *_remarks(row)]).rstrip()


def _what_fits(row: Row, width: int) -> str:
    """The kind, then the time and the id as long as there is room for the whole of them."""
    text = f"{short(row['kind'], _KIND_WIDTH):<{_KIND_WIDTH}}"[: max(0, width)]
    for part in _time_and_id(row):
        if len(text) + 2 + len(part) > width:
            break
        text += f"  {part}"
    return text.rstrip()


def _below(row: Row, width: int) -> Iterator[str]:
    """The remarks in full, each on lines of its own."""
    room = max(width - len(_INDENT), _LEAST)
    for remark in _remarks(row):
        yield from (_INDENT + remark[at : at + room] for at in range(0, len(remark), room))


def _time_and_id(row: Row) -> list[str]:
    at = (row["at"] or "")[:19].replace("T", " ")
    return [safe(part) for part in (at, row["id"]) if part]


def _remarks(row: Row) -> list[str]:
    extra = [f"{key}={json.dumps(value)}" for key, value in row.get("extra", {}).items()]
    parts = [row["why"], "(recovered)" if row["recovered"] else None, *extra, row.get("raw")]
    return [safe(part) for part in parts if part]


def _showable(strays: Row) -> Row:
    try:
        json.dumps({"extra": strays})
    except RecursionError:
        return dict.fromkeys(strays, "nested too deep to show")
    return strays
