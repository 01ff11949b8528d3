"""`tracklog top`: the board of all running sessions."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tracklog.app.live.top import BoardRow, OpenBoard, beneath_parents, notify_of, open_board, ring
from tracklog.views.cli.options import shared_options
from tracklog.views.documents.board import top_document
from tracklog.views.text.printing import answer, answer_json

if TYPE_CHECKING:
    from tracklog.views.cli.commands.live.board_text import BoardLayout

# Lazy imports: rich takes longer to load than most answers, and --json needs none of it.

_SORTS: dict[str, Callable[[BoardRow], Any] | None] = {
    "need": None,  # the order of the board
    "cost": lambda row: -(row.spending.cost_micro_usd or 0),
    "context": lambda row: -(row.spending.context_used or 0),
    "project": lambda row: (row.project or "", row.id),
    "last": lambda row: -row.last_ms,
}
_FRAME_S = 1.0  # as often as its clock changes; events are drawn at once
_KEYS_S = 0.1


@click.command
@click.option("--once", is_flag=True, help="Print the board as it is now, and end.")
@click.option("--all", "shows_all", is_flag=True, help="Also sessions that have ended, of the last day.")
@click.option(
    "--bell", "rings", is_flag=True, help="Ring the terminal's bell when a session begins to wait for you."
)
@click.option("--notify", "notifies", is_flag=True, help="Show a notification of the desktop then.")
@shared_options
def top(
    once: bool,
    shows_all: bool,
    rings: bool,
    notifies: bool,
    agent: str | None,
    roots: tuple[Path, ...],
    home: Path | None,
    as_json: bool,
) -> None:
    """The board: what runs now, who needs you, what it costs.

    Whoever waits for you stands on top. Keys: q quits, ↑ and ↓ choose a session, Enter opens it, s sorts, / filters,
    a shows what has ended, too. Without a terminal, or with --once, the board is printed once. A cost is that of the
    whole session since it began; `usage --since 1d` says what was spent in a day.

    \b
    tracklog top
    tracklog top --once --json
    """
    with open_board(roots, agent=agent, home=home) as board:
        if as_json:
            answer_json(top_document(board.rows(shows_all=shows_all)))
        elif once or not _has_screen():
            _print_once(beneath_parents(board.rows(shows_all=shows_all)))
        else:
            _run(board, shows_all=shows_all, rings=rings, notifies=notifies)


def _print_once(rows: Sequence[BoardRow]) -> None:
    from tracklog.views.cli.commands.live.board_text import BoardLayout, board_lines
    from tracklog.views.cli.output.drawing import console

    if not rows:
        answer("Nothing runs. `tracklog top --all` shows what ended today.")
        return
    out = console()
    width = out.width if sys.stdout.isatty() else 160
    for line in board_lines(rows, BoardLayout(width, len(rows) + 4, _now_ms()))[:-1]:
        out.print(line, no_wrap=True, crop=True)


def _run(board: OpenBoard, *, shows_all: bool, rings: bool, notifies: bool) -> None:
    from tracklog.views.cli.commands.live.board_text import BoardLayout, board_lines
    from tracklog.views.cli.output.screen import whole_screen

    with whole_screen() as screen:
        layout = BoardLayout(*screen.size, _now_ms())
        next_frame = 0.0
        while True:
            for key in screen.pressed():
                if key in ("quit", "q") and not (layout.is_typing and key == "q"):
                    return
                if key == "a" and not layout.is_typing:
                    shows_all = not shows_all
                layout = layout_after(layout, key, _ordered(board.rows(shows_all=shows_all), layout))
                next_frame = 0.0
            if board.wait(_KEYS_S):
                next_frame = 0.0
            if time.monotonic() >= next_frame:
                next_frame = time.monotonic() + _FRAME_S
                layout = layout._replace(width=screen.size[0], height=screen.size[1], now_ms=_now_ms())
                rows = _ordered(board.rows(shows_all=shows_all, now_ms=layout.now_ms), layout)
                screen.draw(board_lines(rows, layout))
                for row in board.new_waits(rows, layout.now_ms):
                    if rings:
                        ring(sys.stdout)
                    if notifies:
                        notify_of(row)


def layout_after(layout: BoardLayout, key: str, rows: Sequence[BoardRow]) -> BoardLayout:
    """The layout after a key."""
    if layout.is_typing:
        match key:
            case "enter" | "escape":
                return layout._replace(is_typing=False, filter=layout.filter if key == "enter" else "")
            case "backspace":
                return layout._replace(filter=layout.filter[:-1])
            case _ if len(key) == 1 and key.isprintable():
                return layout._replace(filter=layout.filter + key)
        return layout
    match key:
        case "up" | "k":
            return layout._replace(selected=_moved(layout.selected, rows, -1))
        case "down" | "j":
            return layout._replace(selected=_moved(layout.selected, rows, 1))
        case "enter":
            selected = layout.selected or (rows[0].id if rows else None)
            return layout._replace(selected=selected, is_open=not layout.is_open)
        case "escape":
            return layout._replace(selected=None, is_open=False, filter="")
        case "s":
            names = list(_SORTS)
            return layout._replace(sort=names[(names.index(layout.sort) + 1) % len(names)])
        case "/":
            return layout._replace(is_typing=True, filter="")
    return layout


def _moved(selected: str | None, rows: Sequence[BoardRow], by: int) -> str | None:
    ids = [row.id for row in rows]
    if not ids:
        return None
    at = ids.index(selected) + by if selected in ids else 0
    return ids[min(max(at, 0), len(ids) - 1)]


def _ordered(rows: Sequence[BoardRow], layout: BoardLayout) -> list[BoardRow]:
    wanted = layout.filter.lower()
    chosen = [row for row in rows if wanted in _searched(row)]
    sort = _SORTS[layout.sort]
    return beneath_parents(chosen if sort is None else sorted(chosen, key=sort))


def _searched(row: BoardRow) -> str:
    parts = (row.project, row.id, row.agent, row.state.state, row.state.doing, row.title, row.model)
    return " ".join(part for part in parts if part).lower()


def _has_screen() -> bool:
    return sys.stdout.isatty() and sys.stdin.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
