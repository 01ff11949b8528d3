"""How things stand with logs, archive and prices, as far as the index tells: no log is read for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from tracklog.model.books import terms_of
from tracklog.model.prices import Prices
from tracklog.pipeline.deletions import retention
from tracklog.store.archive_rows import folders_of
from tracklog.store.database import Database
from tracklog.store.health_rows import (
    AgentHealth,
    ArchiveSums,
    LogTrouble,
    archive_sums,
    health_by_agent,
    old_transcripts,
    requests_by_model,
    troubled_logs,
)
from tracklog.store.scope import Scope
from tracklog.store.sum_rows import QUARTER_MS

_DAY_NS = 86_400_000_000_000
SOON_DAYS = 7
_MOST_TROUBLED = 50


class Due(NamedTuple):
    """A session that its agent is about to delete."""

    session: str
    path: str
    at_ns: int  # from when on
    is_archived: bool


class Health(NamedTuple):
    """What the index tells."""

    agents: list[AgentHealth]
    n_troubled: int
    troubled: list[LogTrouble]
    archive: ArchiveSums
    due: list[Due]  # the next one first
    unpriced: list[tuple[str, int]]  # models without a price, and how many requests each answered


def health(
    database: Database, scope: Scope, prices: Prices, *, homes: Collection[str], now_ns: int
) -> Health:
    """How things stand now; `homes` are those of Claude Code."""
    db = database.db
    n_troubled, troubled = troubled_logs(db, scope, most=_MOST_TROUBLED)
    return Health(
        agents=health_by_agent(db, scope),
        n_troubled=n_troubled,
        troubled=troubled,
        archive=archive_sums(db),
        due=due(database, scope, homes=homes, now_ns=now_ns),
        unpriced=unpriced(database, prices),
    )


def due(database: Database, scope: Scope, *, homes: Collection[str], now_ns: int) -> list[Due]:
    """The sessions that Claude Code deletes within some days, the next one first (deletions.py has the rules)."""
    within_ns, found = now_ns + SOON_DAYS * _DAY_NS, list[Due]()
    days_of = _days_kept(database, homes)
    if not days_of:
        return found
    before_ns = within_ns - min(days_of.values()) * _DAY_NS
    for log in old_transcripts(database.db, scope, agent="claude", before_ns=before_ns):
        days = days_of.get(log.root)
        if days is not None and (at_ns := log.mtime_ns + days * _DAY_NS) < within_ns:
            found.append(Due(log.session or Path(log.path).stem, log.path, at_ns, log.is_archived))
    return sorted(found, key=lambda one: (one.at_ns, one.session))


def _days_kept(database: Database, homes: Collection[str]) -> dict[str, int]:
    """For how many days logs are kept in each home, where any are deleted."""
    projects = [Path(folder) for folder in folders_of(database.db, "claude")] if homes else []
    rules = {home: retention(Path(home), projects=projects) for home in homes}
    return {home: rule.days for home, rule in rules.items() if rule.why_paused is None}


def unpriced(database: Database, prices: Prices) -> list[tuple[str, int]]:
    """The models that have no price, the most asked first."""
    found: Counter[str] = Counter()
    for model, terms, n, quarter in requests_by_model(database.db):
        if prices.rates(model, quarter * QUARTER_MS, terms_of(terms)) is None:
            found[model or "(no model is said)"] += n
    return found.most_common()
