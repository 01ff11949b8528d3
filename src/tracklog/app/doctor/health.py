"""How logs, archive and prices are as far as the index tells, and hooks: no log is read for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from tracklog.agents.base import Retention
from tracklog.app.doctor.checks import Check
from tracklog.app.doctor.deletion import (
    AgentHome,
    DueDeletion,
    deletion_check,
    deletions_in_index,
    retentions,
)
from tracklog.app.doctor.store_checks import archive_check
from tracklog.app.pages.lists import mark_of
from tracklog.archive.tables import folders_of
from tracklog.home import Home
from tracklog.hooks.status import HookStatus
from tracklog.index.tables_health import (
    AgentHealth,
    ArchiveSums,
    LogTrouble,
    archive_sums,
    health_by_agent,
    owners_of,
    requests_by_model,
    troubled_logs,
)
from tracklog.ledger.prices.rates import Prices
from tracklog.ledger.pricing import terms_of
from tracklog.ledger.stored.tables_sums import QUARTER_MS
from tracklog.model.wording import count, percent
from tracklog.sources.log_file import Root
from tracklog.store.database import Database, reading
from tracklog.store.database import StoreError as StoreError
from tracklog.store.scope import Scope, scope_of

_MOST_TROUBLED = 50
_KEPT_S = 60.0
_NAMED = 5
_LONGEST_NAME = 60


class Health(NamedTuple):
    """What the index tells."""

    agents: list[AgentHealth]
    n_troubled: int
    troubled: list[LogTrouble]
    archive: ArchiveSums
    kept: dict[AgentHome, Retention]  # for how long the clients keep logs
    due: list[DueDeletion]  # the next one first
    unpriced: list[tuple[str, int]]  # models without a price, and how many requests each answered


class IndexHealth:
    """The health of the logs in some roots, kept for a minute or until the index changes."""

    def __init__(self, home: Home, roots: Sequence[Root], prices: Callable[[], Prices]) -> None:
        self._home = home
        self._roots = roots
        self._scope = scope_of(root.path for root in roots)
        self._prices = prices
        self._last: tuple[object, float, Health] | None = None

    def at(self, now: datetime) -> Health | None:
        """How things are now; None while there is no index. Raises StoreError."""
        mark, last = mark_of(self._home), self._last
        if last is not None and last[0] == mark and abs(now.timestamp() - last[1]) < _KEPT_S:
            return last[2]
        now_ns = int(now.timestamp()) * 10**9
        with reading(self._home) as database:
            if database is None:
                return None
            found = health(database, self._scope, self._prices(), roots=self._roots, now_ns=now_ns)
        self._last = (mark, now.timestamp(), found)
        return found

    def owners(self, paths: Collection[str]) -> dict[str, tuple[str, str]]:
        """Agent and session of some logs, as far as they have any. Raises StoreError."""
        with reading(self._home) as database:
            return {} if database is None else owners_of(database.db, paths)

    def checks(self, known: Health | None, hooks: HookStatus) -> list[Check]:
        """The checks that need no reading of logs."""
        return [
            *([] if known is None else _index_checks(known, self._roots)),
            _hooks(hooks),
            Check("network", "ok", "none: nothing is sent anywhere, nothing is fetched"),
        ]


def health(database: Database, scope: Scope, prices: Prices, *, roots: Sequence[Root], now_ns: int) -> Health:
    """How things are now; `roots` are the homes whose clients may delete logs."""
    db = database.db
    n_troubled, troubled = troubled_logs(db, scope, most=_MOST_TROUBLED)
    kept = retentions(roots, lambda agent: map(Path, folders_of(db, agent)))
    return Health(
        agents=health_by_agent(db, scope),
        n_troubled=n_troubled,
        troubled=troubled,
        archive=archive_sums(db),
        kept=kept,
        due=deletions_in_index(database, scope, kept, now_ns=now_ns),
        unpriced=unpriced(database, prices),
    )


def unpriced(database: Database, prices: Prices) -> list[tuple[str, int]]:
    """The models that have no price, the most asked first."""
    found: Counter[str] = Counter()
    for model, terms, n, quarter in requests_by_model(database.db):
        if prices.rates(model, quarter * QUARTER_MS, terms_of(terms)) is None:
            found[model or "(no model is said)"] += n
    return found.most_common()


def _index_checks(known: Health, roots: Sequence[Root]) -> list[Check]:
    return [
        _understood(known),
        archive_check(known.archive),
        deletion_check(known.due, known.kept, [root.agent for root in roots]),
        _priced(known),
    ]


def _understood(known: Health) -> Check:
    """Checks how much is understood, without logs of unknown agents, of which everything is unknown."""
    ours = [one for one in known.agents if one.agent is not None]
    pieces, unknown, broken = (
        sum(getattr(one, name) for one in ours) for name in ("pieces", "unknown", "broken")
    )
    if not pieces:
        return Check("understood", "ok", "nothing read yet")
    files = count(sum(one.files for one in ours), "file")
    evidence = f"{percent(pieces - unknown - broken, pieces)} of {count(pieces, 'record')} in {files}"
    if not unknown and not broken:
        return Check("understood", "ok", evidence)
    found = f"{evidence}; {unknown:,} unknown, {broken:,} broken"
    return Check("understood", "warn", found, "they are listed below, and kept")


def _priced(known: Health) -> Check:
    if not known.unpriced:
        return Check("prices", "ok", "every model that answered has one")
    named = ", ".join(f"{model[:_LONGEST_NAME]} ({n:,})" for model, n in known.unpriced[:_NAMED])
    more = f" and {len(known.unpriced) - _NAMED:,} more" if len(known.unpriced) > _NAMED else ""
    return Check(
        "prices",
        "warn",
        f"none for {named}{more}: what these cost is missing",
        "tracklog prices --help says how to set one",
    )


def _hooks(hooks: HookStatus) -> Check:
    ours = [hook for hook in hooks.hooks if hook.ours]
    running = [hook for hook in ours if hook.why_not is None]
    if not ours:
        return Check(
            "hooks",
            "ok",
            "none of ours: states are read from logs and processes",
            "tracklog hooks install makes them exact",
        )
    agents = ", ".join(sorted({hook.agent for hook in running}))
    if len(running) < len(ours):
        why = next(hook.why_not for hook in ours if hook.why_not) or ""
        return Check("hooks", "warn", f"{count(len(ours) - len(running), 'hook')} of ours do not run: {why}")
    return Check("hooks", "ok", f"{count(len(ours), 'hook')} of ours in {agents}")
