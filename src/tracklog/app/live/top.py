"""The board of running sessions as it is now: which sessions it shows, in which group, and whose wait is announced.

`tracklog top`, the page and the API ask here; they differ only in how they draw it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Literal

from tracklog.app.index.open import asked_roots
from tracklog.app.prices import load_prices
from tracklog.home import Home, tracklog_home
from tracklog.live.board.board import LEAST_MS as LEAST_MS
from tracklog.live.board.board import TIMES as TIMES
from tracklog.live.board.board import Board
from tracklog.live.board.board import BoardRow as BoardRow
from tracklog.live.board.board import PendingRow as PendingRow
from tracklog.live.board.board import Stuck as Stuck
from tracklog.live.board.board import ThreadRow as ThreadRow
from tracklog.live.board.board import beneath_parents as beneath_parents
from tracklog.live.notify import Announcements, notify, words_for
from tracklog.live.notify import ring as ring
from tracklog.live.watch.session import SHOWN as SHOWN
from tracklog.live.watch.session import Minutes as Minutes
from tracklog.live.watch.watcher import Watch
from tracklog.liveness.permission_requests import OpenPermissionRequest as OpenPermissionRequest

LIVE_STATES = ("waiting", "working", "pending", "idle", "crashed")
_WORKS = ("working", "pending")

BoardGroupName = Literal["needs", "working", "quiet"]


class OpenBoard:
    """The board of a watch that follows the logs."""

    def __init__(self, watch: Watch, board: Board) -> None:
        self._watch = watch
        self._board = board
        self._announcements = Announcements()

    def rows(self, *, shows_all: bool = False, now_ms: int | None = None) -> list[BoardRow]:
        """The sessions that run, those that need you first; with `shows_all` also those of the last day."""
        now_ms = time.time_ns() // 1_000_000 if now_ms is None else now_ms
        return self._board.rows(now_ms, states=None if shows_all else LIVE_STATES)

    def wait(self, seconds: float) -> bool:
        """Wait until something happens, at most for so long; whether it did."""
        return bool(self._watch.wait(seconds))

    def new_waits(self, rows: Sequence[BoardRow], now_ms: int) -> list[BoardRow]:
        """The sessions that began to wait for a person; each wait is given once."""
        due = self._announcements.due({row.id: row.state for row in rows}, now_ms)
        return [next(row for row in rows if row.id == id) for id in due]


@contextmanager
def open_board(roots: Sequence[Path], *, agent: str | None, home: Path | None) -> Iterator[OpenBoard]:
    """The board of the sessions below some folders, until the block ends."""
    ours = Home(tracklog_home(home))
    with closing(Watch(asked_roots(roots, agent=agent, home=home), spool=ours.spool)) as watch:
        watch.begin()
        yield OpenBoard(watch, Board(watch, load_prices(home), home=ours))


def board_now(
    roots: Sequence[Path], *, agent: str | None = None, home: Path | None = None, shows_all: bool = False
) -> list[BoardRow]:
    """The rows of the board as it is now."""
    with open_board(roots, agent=agent, home=home) as board:
        return board.rows(shows_all=shows_all)


def group_of(row: BoardRow) -> BoardGroupName:
    """Whether a session needs a person, works, or is quiet."""
    if row.needs_you:
        return "needs"
    return "working" if row.state.state in _WORKS else "quiet"


def notify_of(row: BoardRow) -> str | None:
    """Show on the desktop that a session waits; why that cannot be, if so."""
    return notify(*words_for(row.state, row.project or ""))
