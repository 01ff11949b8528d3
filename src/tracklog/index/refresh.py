"""Bring the index up to date: all steps, in their order. Nothing else reads logs into the index.

Callers: `app.index.open` before an answer, `app.index.update` for `tracklog index` (which a watch starts, too:
`live.watch.index_sync`), `app.index.refresh_process` as the child process of the server's keeper (`app.index.background`), and
`index.rebuild` for a new index.

Steps
  1. Read what is new in the logs (`sync`).
  2. Rebuild the rows of sessions whose logs grew, or whose process came or went (`session_rows`).
  3. Count what the requests cost (`counting`).
  4. Leave the file that the status line reads (`counting`).
  5. Tidy and recompress a little of the archive (`archive.recompress`).

Rules
  1. A caller leaves out steps for which its user should not wait; their order is the same for all.
  2. The index records whether steps 3 and 4 were done with the current logs (`freshness.is_counted`). A change of the
     logs deletes that record in its own transaction, so the next process that counts does what was skipped or killed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from tracklog.index.freshness import ProcessLook, is_counted
from tracklog.index.ingest import OnRead
from tracklog.index.session_rows import settle_sessions
from tracklog.index.sync import OnPlan, Synced, sync
from tracklog.sessions.tables_listed import MISSING, fill_lists
from tracklog.sources.files import opened_once
from tracklog.sources.log_file import Root
from tracklog.store.database import Database, setting

if TYPE_CHECKING:
    from tracklog.ledger.prices.rates import Prices

_MUCH = 16_000_000  # bytes: after reading so many, do not make the user wait for tidying, too

Stage = Literal["indexing", "settling", "counting"]
OnStage = Callable[[Stage], AbstractContextManager[tuple[OnPlan, OnRead]]]


@dataclass(frozen=True)
class RefreshSteps:
    """Which steps are wanted."""

    reads: bool = True
    is_full: bool = False  # look at the bytes of every log, also where nothing seems to have changed
    with_rows: bool = True
    load_prices: Callable[[], Prices] | None = None  # to count requests with; None: they are not counted
    with_tools: bool = False  # count also which tools were called
    tends_archive: bool = False


@dataclass(frozen=True)
class Refreshed:
    """What a refresh found and did."""

    synced: Synced
    n_rows: int = 0  # sessions whose rows were rebuilt
    has_counted: bool = False  # whether ledger or status line were behind


def refresh(
    database: Database,
    roots: Sequence[Root],
    steps: RefreshSteps,
    *,
    look: ProcessLook | None = None,
    on_stage: OnStage | None = None,
    on_problem: Callable[[str], None] | None = None,
) -> Refreshed:
    """Do these steps for the logs in some roots. The caller must be the index writer.

    `look` is the caller's look at processes, which the rest of its answer shares. `on_stage` gives what to call with the
    bytes of a stage; `on_problem` gets each log that could not be read, before the next stage begins.
    """
    with opened_once():
        return _refreshed(database, roots, steps, look or ProcessLook(), on_stage or _unobserved, on_problem)


def _refreshed(
    database: Database,
    roots: Sequence[Root],
    steps: RefreshSteps,
    look: ProcessLook,
    on_stage: OnStage,
    on_problem: Callable[[str], None] | None,
) -> Refreshed:
    if setting(database.db, MISSING) is not None:
        with database.transaction() as db:
            fill_lists(db)
    archives = setting(database.db, "archive") != "off"  # as the index was last made with
    synced = Synced()
    if steps.reads:
        with on_stage("indexing") as (on_plan, on_read):
            synced = sync(
                database,
                roots,
                with_archive=archives,
                is_full=steps.is_full,
                on_plan=on_plan,
                on_read=on_read,
            )
        if on_problem is not None:
            for problem in synced.problems:
                on_problem(problem)
    n_rows = _settle_rows(database, synced, look, on_stage) if steps.with_rows else 0
    is_still = steps.reads and synced.is_nothing and is_counted(database)
    has_counted = not is_still and _count(database, steps, on_stage)
    if steps.tends_archive and archives and not synced.is_nothing and synced.n_bytes < _MUCH:
        # imported only now: lists of sessions need no compressor
        from tracklog.archive.recompress import tend

        tend(database, now_ns=time.time_ns())
    return Refreshed(synced, n_rows, has_counted)


def _settle_rows(database: Database, synced: Synced, look: ProcessLook, on_stage: OnStage) -> int:
    with on_stage("settling"):
        if not synced.is_nothing:
            look.repeat()
        return settle_sessions(database, look=look)


def _count(database: Database, steps: RefreshSteps, on_stage: OnStage) -> bool:
    if steps.load_prices is None:
        return False
    # only now: reports come with it, and lists of sessions need none
    from tracklog.index.counting import count

    with on_stage("counting") as (on_plan, on_read):
        return count(
            database, steps.load_prices, with_tools=steps.with_tools, on_plan=on_plan, on_read=on_read
        )


def _unobserved(_stage: Stage) -> AbstractContextManager[tuple[OnPlan, OnRead]]:
    return nullcontext((ignore, ignore))


def ignore(_n_bytes: int) -> None:
    """Callback for the bytes of a stage whose progress is not shown."""
