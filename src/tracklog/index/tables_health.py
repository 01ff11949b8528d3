"""Queries for `doctor`: how well the logs were read, what the archive has, which requests have no price."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection
from typing import NamedTuple

from tracklog.store.scope import Scope
from tracklog.store.surrogates import as_text, storable


class AgentHealth(NamedTuple):
    """How the logs of one agent were read."""

    agent: str | None  # None: of nobody we know
    files: int
    bytes: int
    pieces: int
    read: int
    unknown: int
    broken: int
    recovered: int


class LogTrouble(NamedTuple):
    """A log that was not read to its end, or not understood as a whole."""

    path: str
    agent: str | None
    session: str | None
    unknown: int
    broken: int
    problem: str | None


class Transcript(NamedTuple):
    """A log of a main thread that is at its path."""

    path: str
    root: str
    session: str | None
    mtime_ns: int
    is_archived: bool


class ArchiveSums(NamedTuple):
    """What the archive holds."""

    logs: int
    contents_bytes: int
    stored_bytes: int
    only_here: int  # logs that are only in the archive


def health_by_agent(db: sqlite3.Connection, scope: Scope) -> list[AgentHealth]:
    """All logs of a scope, those of known agents first."""
    inside, values = scope.condition("+path")
    found = db.execute(
        "select agent, count(*), total(contents_bytes), total(pieces_read + pieces_unknown + pieces_broken), "
        "total(pieces_read), total(pieces_unknown), total(pieces_broken), total(recovered) from log_files "
        f"where state <> 'past' and {inside} group by agent order by agent is null, agent",
        values,
    )
    return [AgentHealth(agent, *map(int, figures)) for agent, *figures in found]


def troubled_logs(db: sqlite3.Connection, scope: Scope, *, most: int) -> tuple[int, list[LogTrouble]]:
    """How many logs there are in which something is not as we know it, and the worst of them."""
    inside, values = scope.condition("+path")
    troubled = f"state <> 'past' and {inside} and (problem is not null or pieces_broken or pieces_unknown)"
    (n,) = db.execute(f"select count(*) from log_files where {troubled}", values).fetchone()
    found = db.execute(
        f"select path, agent, session, pieces_unknown, pieces_broken, problem from log_files where {troubled} "
        "order by problem is null, pieces_broken desc, pieces_unknown desc, path limit ?",
        [*values, most],
    )
    return n, [LogTrouble(*map(as_text, row)) for row in found]


def owners_of(db: sqlite3.Connection, paths: Collection[str]) -> dict[str, tuple[str, str]]:
    """Agent and session of some logs, as far as they have any."""
    sent = [path for path in paths if isinstance(storable(path), str)]
    found = db.execute(
        "select path, agent, session from log_files where state <> 'past' and agent is not null "
        "and session is not null and path in (select value from json_each(?))",
        (json.dumps(sent),),
    )
    return {path: (agent, as_text(session)) for path, agent, session in found}


def old_transcripts(db: sqlite3.Connection, scope: Scope, *, agent: str, before_ns: int) -> list[Transcript]:
    """The logs of an agent that were last written to before a moment, the oldest first."""
    inside, values = scope.condition("+path")
    found = db.execute(
        "select path, root, session, mtime_ns, exists (select 1 from archives a where a.file = log_files.id "
        "and a.generation = log_files.generation and a.stored_bytes > 0) from log_files "
        f"where state = 'here' and kind = 'transcript' and agent = ? and mtime_ns < ? and {inside} "
        "order by mtime_ns, path",
        [agent, before_ns, *values],
    )
    return [
        Transcript(as_text(path), as_text(root), as_text(session), mtime_ns, bool(is_archived))
        for path, root, session, mtime_ns, is_archived in found
    ]


def archive_sums(db: sqlite3.Connection) -> ArchiveSums:
    """What the archive holds of all logs."""
    found = db.execute(
        "select count(*), total(a.contents_bytes), total(a.stored_bytes), "
        "total(f.state = 'kept' and f.generation = a.generation) "
        "from archives a join log_files f on f.id = a.file where a.stored_bytes > 0"
    ).fetchone()
    return ArchiveSums(*map(int, found))


def requests_by_model(db: sqlite3.Connection) -> list[tuple[str | None, str, int, int]]:
    """Models on their terms: how many requests with a count each answered, and when the last (quarter of an hour since 1970)."""
    found = db.execute(
        "select model, terms, total(requests) - total(missing), max(quarter) from sum_rows where asked_by is null "
        "group by model, terms having total(requests) > total(missing)"
    )
    return [(as_text(model), terms, int(n), quarter or 0) for model, terms, n, quarter in found]


class LogTotals(NamedTuple):
    """Of the logs that count."""

    files: int
    bytes: int
    lines: int
    read: int
    unknown: int
    broken: int
    recovered: int
    sessions: int
    only_here: int


def totals(db: sqlite3.Connection, scope: Scope) -> LogTotals:
    """How much there is in a scope. A last line that was not ended yet is one."""
    inside, values = scope.condition("+f.path")  # all in one pass over a narrow index, not each by its path
    logs = db.execute(
        "select count(*), total(contents_bytes), total(lines + (position < contents_bytes)), total(pieces_read), "
        "total(pieces_unknown), total(pieces_broken), total(recovered) from log_files f "
        f"where state <> 'past' and {inside}",
        values,
    ).fetchone()
    listed = "select count(*), total(only_here) from session_rows s where (is_listed or not is_settled)"
    if scope.is_everything(db):
        sessions = db.execute(listed).fetchone()
    else:
        logs_of_it = "select 1 from log_files f where f.session = s.session and f.agent = s.agent"
        sessions = db.execute(
            f"{listed} and exists ({logs_of_it} and f.state <> 'past' and {inside})", values
        ).fetchone()
    return LogTotals(*map(int, (*logs, *sessions)))


def n_files_read(db: sqlite3.Connection, scope: Scope) -> int:
    """How many logs were read at least once; the others are known by name alone."""
    inside, values = scope.condition("+path")
    found = db.execute(
        f"select count(*) from log_files where state <> 'past' and size >= 0 and {inside}", values
    ).fetchone()
    return int(found[0])
