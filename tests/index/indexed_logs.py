"""Logs that the index knows, without anything but the ledger read from them; and what is asked of both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from tracklog.app.scope.filters import Filters, is_in_project
from tracklog.app.scope.resolve import find_logs
from tracklog.app.usage import UsageQuery, spent
from tracklog.clock import zone_named
from tracklog.home import Home
from tracklog.ledger.prices.rates import Prices
from tracklog.ledger.pricing import RequestFilter
from tracklog.ledger.stored.query import LedgerAnswer, LedgerQuery, answer
from tracklog.ledger.stored.refresh import settle_ledger
from tracklog.model.usage import GROUPS, UsageReport
from tracklog.reading.session_files import SessionFiles, group
from tracklog.sources.log_file import LogFile
from tracklog.store.catalogue import add_file, all_files, change_file
from tracklog.store.database import Database, writing
from tracklog.store.scope import Scope

PRICES = Prices.load()


@contextmanager
def index_of(home: Path) -> Iterator[Database]:
    """An index in a folder."""
    with writing(Home(home)) as database:
        yield database


def take_in(database: Database, files: Sequence[LogFile]) -> list[SessionFiles]:
    """Writes down which logs there are, as the listing says; what is not among them is gone."""
    known = {file.path: file for file in all_files(database.db)}
    with database.transaction() as db:
        for file in files:
            row = known.pop(str(file.path), None)
            id = row.id if row is not None else add_file(db, _row(file))
            if row is not None and row.contents_bytes > file.size:
                change_file(db, id, generation=row.generation + 1)
            change_file(
                db, id, size=file.size, contents_bytes=file.size, agent=file.agent, kind=str(file.kind)
            )
        for row in known.values():
            change_file(db, row.id, state="past")
    return group(files)


def _row(file: LogFile) -> dict[str, object]:
    return {
        "path": str(file.path),
        "root": str(file.root),
        "agent": file.agent,
        "kind": str(file.kind),
        "session": file.session,
        "device": file.device,
        "inode": file.inode,
        "mtime_ns": file.mtime_ns,
        "ctime_ns": file.ctime_ns,
    }


def settle(database: Database, roots: Sequence[Path], *, with_tools: bool = False) -> bool:
    """Brings the ledger up to the logs in some folders."""
    sessions = take_in(database, find_logs(roots).files)
    return settle_ledger(database, sessions, PRICES, with_tools=with_tools)


def everything_asked(moments: Sequence[datetime] = (), models: Sequence[str] = ()) -> Iterator[UsageQuery]:
    """Every group, without a filter and with each."""
    zones = [UTC, zone_named("Asia/Kathmandu"), zone_named("America/St_Johns")]
    nothing = Filters(None, None, None, None)
    for kind in GROUPS:
        yield UsageQuery(kind, "ours", UTC, nothing)
        yield UsageQuery(kind, "ours", UTC, nothing, as_model="claude-opus-4-1-20250805")
        yield UsageQuery(kind, "ours", UTC, nothing, as_of=datetime(2025, 1, 1, tzinfo=UTC))
        yield UsageQuery(kind, "ours", UTC, Filters(None, None, "project", None))
        for model in models:
            yield UsageQuery(kind, "ours", UTC, Filters(None, None, None, model))
        for moment in moments:
            yield UsageQuery(kind, "ours", UTC, Filters(moment, None, None, None))
            yield UsageQuery(kind, "ours", UTC, Filters(None, moment, None, None))
    for zone in zones:
        for kind in ("daily", "weekly", "monthly"):
            yield UsageQuery(kind, "ours", zone, nothing)
    yield UsageQuery("daily", "ours", UTC, nothing, with_uncertain=True)


def from_logs(
    roots: Sequence[Path], asked: UsageQuery, *, home: Path, agent: str | None = None
) -> UsageReport:
    """What the logs say, read for this question."""
    return spent(roots, agent=agent, home=home, asked=asked).report


def from_index(
    database: Database, asked: UsageQuery, *, scope: Scope | None = None, agent: str | None = None
) -> LedgerAnswer | None:
    """What the index says."""
    kind, _, zone, filters, as_model, as_of, with_uncertain = asked
    is_project = None if filters.project is None else partial(is_in_project, project=filters.project)
    wanted = RequestFilter(filters.since, filters.until, filters.model, is_project)
    question = LedgerQuery(kind, zone, wanted, as_model, as_of, with_uncertain)
    return answer(database.db, PRICES, question, scope=scope, agent=agent)
