"""Lazily rebuild the rows of sessions whose logs grew, or whose process came or went."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

import msgspec

from tracklog.agents.base import Head
from tracklog.agents.headers import head_of
from tracklog.archive import tables
from tracklog.archive.locate import known_log
from tracklog.index.freshness import SPOOL_SEEN, ProcessLook
from tracklog.index.ingest import Plan, Unit, ingest
from tracklog.index.stale_states import write_states
from tracklog.reading.session_files import HeadOf, SessionFiles, group
from tracklog.reading.session_reader import SpoolReader
from tracklog.sessions.tables_write import Name, mark_only_here, mark_unsettled, unsettled
from tracklog.sources.log_file import LogFile
from tracklog.sources.spool import (
    SpoolTail,
    compress,
    old_files,
    rotate,
    sessions_in,
    spool_of,
    spots_in,
)
from tracklog.store import catalogue
from tracklog.store.catalogue import sessions_with
from tracklog.store.database import Database, put_setting, setting


def take_note(database: Database) -> None:
    """Mark the sessions that have new lines in the spool since the last call."""
    before = setting(database.db, SPOOL_SEEN) or ""
    tail = SpoolTail(spool_of(database.home.path), before)
    sessions = {id for new in tail.ask() for id in sessions_in(new.line.raw)}
    _write_down(database, sessions, tail, before)


def tidy(database: Database, *, now: datetime) -> None:
    """Rename and compress spool files that are due, and mark their sessions: their evidence has moved."""
    folder = spool_of(database.home.path)
    before = setting(database.db, SPOOL_SEEN) or ""
    tail = SpoolTail(folder, before)
    moved = [rotate(folder, now=now), *(compress(path) for path in list(old_files(folder, now=now)))]
    sessions = {id for path in moved if path is not None for id in spots_in(path)}
    sessions |= {id for new in tail.ask() for id in sessions_in(new.line.raw)}
    _write_down(database, sessions, tail, before)


def _write_down(database: Database, sessions: set[str], tail: SpoolTail, before: str) -> None:
    if not sessions and tail.told() == before:
        return
    with database.transaction() as db:
        mark_unsettled(db, sessions_with(db, sessions))
        put_setting(db, SPOOL_SEEN, tail.told())


def settle_sessions(database: Database, *, look: ProcessLook | None = None) -> int:
    """Brings the rows of all sessions up to date; how many were not."""
    look = look or ProcessLook()
    lives, changed = look.lives(database), look.changed(database)
    if changed.states:
        write_states(database, changed)
        look.compare_again()
    due = list(dict.fromkeys([*unsettled(database.db), *sorted(changed.to_settle)]))
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
    numbers, spool = catalogue.numbers(database.db), SpoolReader(database.home.path)
    plan = Plan(units, {}, {}, numbers, None, database.home.archive, spool, lives)
    ingest(plan, database)
    look.compare_again()
    with database.transaction() as db:
        mark_only_here(db)
    return len(due)


def session_files(database: Database, names: Iterable[Name] | None = None) -> list[SessionFiles]:
    """The files of some sessions, or of all, as the index knows them: no folder is listed."""
    return group(logs_of(database, names), head_of=known_heads(database))


def known_heads(database: Database) -> HeadOf:
    """Heads of logs from the index, so that a log that cannot be read now keeps its session."""
    told = {row.path: row.told for row in catalogue.all_files(database.db) if row.told is not None}

    def known_head(file: LogFile) -> Head:
        head = told.get(str(file.path))
        return head_of(file) if head is None else msgspec.msgpack.decode(head, type=Head)

    return known_head


def logs_of(database: Database, names: Iterable[Name] | None = None) -> list[LogFile]:
    """The logs of some sessions, or all, wherever their bytes are, as far as the index has read them.

    Later appended lines are left to the next sync, so that the index shows one state of the logs.
    """
    at = tables.archived(database.db)
    wanted = None if names is None else set(names)
    return [
        known_log(row, at.get(row.id), database.home.archive)._replace(until=row.contents_bytes or None)
        for row in catalogue.all_files(database.db)
        if wanted is None or (row.agent, row.session) in wanted
    ]


def _size(session: SessionFiles) -> int:
    return sum(file.size for file in session.files)
