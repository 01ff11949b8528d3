"""Bring the index up to date for a command, or make it again: with progress, and what to say of odd logs and of damage.

All of it is `index.refresh`; what differs is which steps are wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from tracklog.app.prices import load_prices
from tracklog.app.talk import Talk
from tracklog.errors import NotThere, UserError
from tracklog.home import Busy, Home
from tracklog.index.freshness import ProcessLook
from tracklog.index.rebuild import Rebuilt as Rebuilt
from tracklog.index.rebuild import rebuild, with_index
from tracklog.index.refresh import Refreshed, RefreshSteps, refresh
from tracklog.index.sync import Synced
from tracklog.index.tables_health import LogTotals, totals
from tracklog.ledger.prices.rates import Prices
from tracklog.sources.log_file import Root
from tracklog.store.database import DamagedIndex, Database, put_setting, writing
from tracklog.store.scope import scope_of

Result = TypeVar("Result")


def update_index(
    home: Home,
    roots: Sequence[Root],
    *,
    talk: Talk,
    is_full: bool = False,
    archives: bool | None = None,
    known: LogTotals | None = None,
) -> tuple[LogTotals, Synced]:
    """Read and count what is new: what the index holds now, and what was read.

    `archives` says whether copies of logs are kept from now on.

    `known` is what the index holds where it knows all the logs already: then only ledger and status line are behind, and
    whoever may not write the index now leaves them to the next one.
    """
    steps = RefreshSteps(
        is_full=is_full,
        with_rows=False,  # they are rebuilt when they are asked for
        load_prices=partial(load_prices, home.path),
        tends_archive=True,
    )

    def work(database: Database) -> tuple[LogTotals, Synced]:
        if archives is not None:
            with database.transaction() as db:
                put_setting(db, "archive", "on" if archives else "off")
        done = _refresh(database, roots, steps, talk=talk)
        return totals(database.db, scope_of(root.path for root in roots)), done.synced

    try:
        return with_index(home, work, on_damage=partial(_say_damage, talk))
    except (Busy, UserError) as hindered:
        if known is not None:
            return known, Synced()
        raise _in_words(hindered) from hindered


def rebuild_index(home: Home, roots: Sequence[Root], *, is_forced: bool, talk: Talk) -> Rebuilt:
    """Make the index again from the logs and the archive; how the new one compares with the old one."""
    try:
        with talk.progress("rebuilding") as (set_total, advance):
            return rebuild(home, roots, is_forced=is_forced, on_plan=set_total, on_read=advance)
    except Busy as busy:
        raise _in_words(busy) from busy


def refreshed(
    home: Home, roots: Sequence[Root], steps: RefreshSteps, *, talk: Talk, look: ProcessLook | None = None
) -> Refreshed:
    """What a refresh did. Raises Busy if another process writes the index."""
    work = partial(_refresh, roots=roots, steps=steps, talk=talk, look=look)
    return with_index(home, work, on_damage=partial(_say_damage, talk))


def count_requests(home: Home, prices: Prices, *, talk: Talk, with_tools: bool = False) -> None:
    """Bring ledger and status line up to the logs that the index knows. Raises Busy if another process writes it."""
    steps = RefreshSteps(reads=False, with_rows=False, load_prices=lambda: prices, with_tools=with_tools)
    with writing(home) as database:
        _refresh(database, (), steps, talk=talk)


def written(home: Home, work: Callable[[Database], Result], *, talk: Talk) -> Result:
    """What `work` does with the index, which only we write."""
    try:
        return with_index(home, work, on_damage=partial(_say_damage, talk))
    except Busy as busy:
        raise _in_words(busy) from busy


def _in_words(hindered: Exception) -> Exception:
    if isinstance(hindered, Busy):
        return NotThere("another process is writing the index: try again when it is done")
    return hindered


def _refresh(
    database: Database,
    roots: Sequence[Root],
    steps: RefreshSteps,
    *,
    talk: Talk,
    look: ProcessLook | None = None,
) -> Refreshed:
    def say(problem: str) -> None:
        talk.say(f"tracklog: {problem}")

    return refresh(database, roots, steps, look=look, on_stage=talk.progress, on_problem=say)


def _say_damage(talk: Talk, damage: DamagedIndex, aside: Path) -> None:
    talk.say(f"tracklog: {damage}")
    talk.say(f"tracklog: it is now {aside.name}; a new one is made from the logs and the archive")
