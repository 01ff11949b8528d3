"""Report usage from the index: from sums where they suffice, else from blocks. No log is read.

Rules
  1. The answer equals that of `ledger.report`, to the last digit.
  2. Sums answer everything except queries for single requests: by tool, or the list of uncertain ones.
  3. None if neither can answer: then the caller reads the logs.
"""

from __future__ import annotations

from datetime import datetime, tzinfo
from sqlite3 import Connection
from typing import NamedTuple

from tracklog.ledger.blocks import agents_in_blocks
from tracklog.ledger.ledger import Ledger, unpacked
from tracklog.ledger.prices.rates import Prices
from tracklog.ledger.pricing import RequestFilter, folders
from tracklog.ledger.report import report
from tracklog.ledger.stored import tables
from tracklog.ledger.stored.freshness import was_settled
from tracklog.ledger.stored.report_from_sums import Needed, SumsTellNothing, report_from_sums
from tracklog.ledger.stored.rows import ledger_of
from tracklog.ledger.stored.tables import SettledLog
from tracklog.model.usage import Group, Source, UsageReport
from tracklog.store.scope import Files, Scope


class LedgerQuery(NamedTuple):
    """What to sum up."""

    group: Group
    zone: tzinfo
    wanted: RequestFilter = RequestFilter()
    as_model: str | None = None
    as_of: datetime | None = None
    with_uncertain: bool = False


class LedgerAnswer(NamedTuple):
    """The report, and what it was made from."""

    report: UsageReport
    projects: dict[str, str]  # the folder of each session, where it is needed
    problems: list[tuple[str, str]]  # logs that were not read to their end, and why
    n_sessions: int


def answer(
    db: Connection,
    prices: Prices,
    question: LedgerQuery,
    *,
    scope: Scope | None = None,
    agent: str | None = None,
) -> LedgerAnswer | None:
    """Report the logs of a scope, as the ledger was last settled; None: the index cannot tell."""
    if not was_settled(db):
        return None
    agents = None if agent is None else [agent]
    if (
        question.group == "blocks" and agents is None
    ):  # an agent whose plans count in blocks has them for itself
        agents = [name for name in agents_in_blocks() if tables.has_agent(db, name)] or None
    files = tables.files_in(db, scope, agents)
    if files is not None and not files.is_closed:
        return None
    if question.group == "tool" and not tables.has_tools(db):
        return None
    made = report_of(db, prices, question, files)
    problems = [
        (path, why) for file, path, why in tables.problems_in(db) if files is None or file in files.ids
    ]
    n_sessions = 0 if made[0].rows else tables.sessions_in(db, files)
    return LedgerAnswer(*made, problems, n_sessions)


def report_of(
    db: Connection, prices: Prices, question: LedgerQuery, files: Files | None = None
) -> tuple[UsageReport, dict[str, str]]:
    """Report some logs, or all that count, with the folders of sessions where they are needed."""
    group, zone, wanted, as_model, as_of, with_uncertain = question
    needed = Needed(group, zone, wanted, as_model, as_of)
    if group != "tool" and not with_uncertain:
        try:
            return report_from_sums(db, prices, needed, files)
        except SumsTellNothing:
            pass  # the blocks do
    ledger = stored_ledger(db, files)
    made = report(
        ledger,
        prices,
        group,
        zone=zone,
        wanted=wanted,
        as_model=as_model,
        as_of=as_of,
        with_uncertain=with_uncertain,
    )
    return made, folders(ledger)


def stored_ledger(db: Connection, files: Files | None = None) -> Ledger:
    """All requests of some logs, or of all that count, one by one."""
    logs = [log for log in tables.settled_logs(db).values() if log.is_counted]
    logs = sorted((log for log in logs if files is None or log.file in files.ids), key=lambda log: log.path)
    numbers = {log.file: n for n, log in enumerate(logs)}
    bodies = tables.all_bodies(db) if files is None else tables.bodies(db, files.ids)
    blocks = (unpacked(body, numbers[file]) for file, body in bodies)
    ledger = ledger_of([_source(log) for log in logs], blocks, tables.parents_in(db))
    ledger.folders |= tables.folders_in(db)
    return ledger


def _source(log: SettledLog) -> Source:
    return Source(log.path, log.agent, log.session, log.thread, bool(log.is_main))
