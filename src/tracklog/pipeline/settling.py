"""Lazily rebuild the rows of sessions whose logs grew, or whose process came or went."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import msgspec

from tracklog.pipeline.heads import Head, head_of
from tracklog.pipeline.ingest import OnRead, Plan, Unit, ingest
from tracklog.pipeline.known_logs import known_log
from tracklog.pipeline.sessions import HeadOf, SessionFiles, group
from tracklog.pipeline.spooled import Spool
from tracklog.pipeline.stillness import ProcessLook
from tracklog.pipeline.stored_lives import write_states
from tracklog.sources.found import LogFile
from tracklog.store import archive_rows, catalogue
from tracklog.store.database import Database
from tracklog.store.session_rows import Name, mark_only_here, unsettled


def settle_sessions(
    database: Database,
    names: Collection[Name] | None = None,
    *,
    on_read: OnRead | None = None,
    look: ProcessLook | None = None,
) -> int:
    """Brings the rows of these sessions up to date, or of all; how many were not."""
    look = look or ProcessLook()
    lives, changed = look.lives(database), look.changed(database)
    if changed.states:
        write_states(database, changed)
        look.compare_again()
    due = [
        name
        for name in dict.fromkeys([*unsettled(database.db), *sorted(changed.to_settle)])
        if names is None or name in names
    ]
    if not due:
        return 0
    related = {name: catalogue.kin_of(database.db, *name) for name in due}
    wanted = {(agent, id) for (agent, _), ids in related.items() for id in ids}
    sessions = {(one.agent, one.id): one for one in session_files(database, wanted)}
    units, done = [], set[Name]()
    for name in due:
        if name in sessions and name not in done:
            kin = [sessions[name[0], id] for id in sorted(related[name]) if (name[0], id) in sessions]
            ours = [one for one in kin if (one.agent, one.id) in due]
            done |= {(one.agent, one.id) for one in ours}
            units.append(Unit(sessions=ours, kin=kin, size=sum(_size(one) for one in ours)))
    numbers, spool = catalogue.numbers(database.db), Spool(database.home.path)
    plan = Plan(units, {}, {}, numbers, None, database.home.archive, spool, lives)
    ingest(plan, database, on_read=on_read)
    look.compare_again()
    with database.transaction() as db:
        mark_only_here(db)
    return len(due)


def session_files(database: Database, names: Iterable[Name] | None = None) -> list[SessionFiles]:
    """The files of some sessions, or of all, as the index knows them: no folder is listed."""
    return group(logs_of(database, names), head_of=known_heads(database))


def known_heads(database: Database) -> HeadOf:
    """What logs say of themselves, as the index knows it: a log that cannot be read now keeps its session."""
    told = {row.path: row.told for row in catalogue.all_files(database.db) if row.told is not None}

    def known_head(file: LogFile) -> Head:
        head = told.get(str(file.path))
        return head_of(file) if head is None else msgspec.msgpack.decode(head, type=Head)

    return known_head


def logs_of(database: Database, names: Iterable[Name] | None = None) -> list[LogFile]:
    """The logs of some sessions, or all, wherever their bytes are, as far as the index has read them.

    What was appended since is left to the next sync, so that everything in the index is of one state.
    """
    at = archive_rows.archived(database.db)
    wanted = None if names is None else set(names)
    return [
        known_log(row, at.get(row.id), database.home.archive)._replace(until=row.contents_bytes or None)
        for row in catalogue.all_files(database.db)
        if wanted is None or (row.agent, row.session) in wanted
    ]


def _size(session: SessionFiles) -> int:
    return sum(file.size for file in session.files)
