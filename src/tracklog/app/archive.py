"""What the archive holds, and making it smaller."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tracklog.app.talk import QUIET, Talk
from tracklog.archive.tables import ArchivedLog, archived_rows
from tracklog.errors import NotThere
from tracklog.home import Home
from tracklog.store.database import Database, reading
from tracklog.store.scope import Scope, scope_of

if TYPE_CHECKING:
    from tracklog.index.prune import Pruning as Pruning

# Lazy imports: all readers come with a change of the index, and totals need none.


class ArchivedLogs(NamedTuple):
    """Which logs of the archive are asked for."""

    scope: Scope | None
    agent: str | None

    def has(self, log: ArchivedLog) -> bool:
        """Whether a log is one of them."""
        is_there = self.scope is None or self.scope.holds(log.path)
        return is_there and self.agent in (None, log.agent)


class ArchiveTotals(NamedTuple):
    """How much the archive holds."""

    logs: int
    contents_bytes: int
    stored_bytes: int
    only_here: int  # logs that are gone at their source
    only_here_bytes: int
    past: int  # logs as they were before they were rewritten
    recompressed: int
    pruned: int
    oldest_ns: int | None


class Recompression(NamedTuple):
    """What compressing all that is cold once more came to."""

    logs: int
    before_bytes: int
    after_bytes: int
    swept: int  # files that a killed process had left behind
    problems: list[str]


def archived_logs(roots: Sequence[Path], agent: str | None) -> ArchivedLogs:
    """The logs below some roots, of one agent; all if none is named."""
    return ArchivedLogs(scope_of(roots) if roots else None, agent)


def refuse_without_archive(home: Home) -> None:
    """Refuse to go on where nothing was ever archived."""
    if not home.has_index():
        raise NotThere("there is no archive yet: `tracklog index` makes it")


def archive_totals(home: Home, meant: ArchivedLogs) -> ArchiveTotals:
    """How much the archive holds of these logs."""
    with reading(home) as database:
        if database is None:
            raise NotThere("the index was made by another release: `tracklog index` brings it up to date")
        logs = [log for log in archived_rows(database.db, with_pruned=True) if meant.has(log)]
    held = [log for log in logs if not log.is_pruned]
    lost = [log for log in held if log.is_current and log.state == "kept"]
    return ArchiveTotals(
        logs=len(held),
        contents_bytes=_contents(held),
        stored_bytes=sum(log.archived.stored_bytes for log in held),
        only_here=len(lost),
        only_here_bytes=_contents(lost),
        past=sum(log.is_only_here for log in held) - len(lost),
        recompressed=sum(log.is_cold for log in held),
        pruned=len(logs) - len(held),
        oldest_ns=held[0].mtime_ns if held else None,
    )


def _contents(logs: Sequence[ArchivedLog]) -> int:
    return sum(log.archived.contents_bytes for log in logs)


def prune_archive(
    home: Home,
    meant: ArchivedLogs,
    *,
    older_than_days: int | None,
    to_bytes: int | None,
    may_lose: bool,
    dry_run: bool,
    talk: Talk = QUIET,
) -> Pruning:
    """Take logs out of the archive until it is as asked; with `dry_run` only say which."""
    from tracklog.app.index.update import written
    from tracklog.index.prune import plan_pruning, prune  # slow to load, and totals need none of it

    def work(database: Database) -> Pruning:
        plan = plan_pruning(
            database,
            now_ns=time.time_ns(),
            older_than_days=older_than_days,
            to_bytes=to_bytes,
            may_lose=may_lose,
            is_meant=meant.has,
        )
        if not dry_run:
            prune(database, plan.gone)
        return plan

    return written(home, work, talk=talk)


def recompress_archive(home: Home, *, talk: Talk = QUIET) -> Recompression:
    """Compress all that is cold once more, and tidy up."""
    from tracklog.app.index.update import written
    from tracklog.archive.recompress import recompress, sweep

    swept, done = written(
        home, lambda database: (sweep(database), recompress(database, now_ns=time.time_ns())), talk=talk
    )
    return Recompression(done.n_logs, done.before_bytes, done.after_bytes, swept, done.problems)
