"""Secrets that were found in the logs, and how far each log was looked through.

Rules
  1. Never a value: a kind, a place, a count, and a keyed hash by which the same value is known again.
  2. How far a log was looked through is written together with what was found up to there.
  3. What was found with other rules, with another key or in another generation of a log counts for nothing.
"""

from __future__ import annotations

import sqlite3
from typing import Any, NamedTuple

from tracklog.store.scope import Scope
from tracklog.store.surrogates import as_text, storable
from tracklog.store.values import Scanned

_FITS = "scan.generation = log.generation and scan.rules = :rules"
_LOGS = "from log_files log left join secret_scans scan on scan.file = log.id where log.state <> 'past'"
_NOT_YET = "not looked through to its end yet"


class Which(NamedTuple):
    """Which logs are meant."""

    scope: Scope
    agent: str | None = None
    since_ns: int | None = None  # only logs that were written to since then

    def condition(self) -> tuple[str, dict[str, Any]]:
        """The same for SQL, with its parameters."""
        inside, values = self.scope.condition("log.path")
        named = {f"p{n}": value for n, value in enumerate(values)}
        for name in named:
            inside = inside.replace("?", f":{name}", 1)
        if self.agent is not None:
            inside += " and log.agent = :agent"
        if self.since_ns is not None:
            inside += " and log.mtime_ns >= :since_ns"
        return inside, {**named, "agent": self.agent, "since_ns": self.since_ns}


class LoggedSecret(NamedTuple):
    """A secret that stands in a log."""

    kind: str
    path: str
    line: int
    times: int
    hash: str
    session: str | None
    agent: str | None
    only_here: bool  # the log is gone from its place, and only the archive has it


class Since(NamedTuple):
    """From where on a log must be looked through."""

    position: int
    lines: int


class Extent(NamedTuple):
    """How many logs, and how many bytes."""

    files: int
    bytes: int


def to_scan(db: sqlite3.Connection, which: Which, *, rules: str) -> dict[int, Since]:
    """The logs that were not looked through with these rules as far as the index knows them, by number.

    One that could not be read to its end, by the index or by whoever looked through it, is looked through anew.
    """
    inside, values = which.condition()
    rows = db.execute(
        f"select log.id, log.problem is null and scan.problem is null and {_FITS}, scan.position, scan.lines "
        f"{_LOGS} and {inside} and (scan.file is null or not ({_FITS}) or scan.problem is not null "
        "or log.problem is not null or scan.contents_bytes <> log.contents_bytes)",
        {**values, "rules": rules},
    )
    return {id: Since(position, lines) if goes_on else Since(0, 0) for id, goes_on, position, lines in rows}


def put_scanned(db: sqlite3.Connection, part: Scanned, *, rules: str) -> None:
    """What a part of a log gave, and that it was looked through so far."""
    db.execute("delete from secret_rows where file = ? and line > ?", (part.file, part.from_line))
    db.executemany(
        "insert into secret_rows (file, line, kind, hash, count) values (?, ?, ?, ?, ?)",
        [(part.file, one.line, one.kind, one.hash, one.count) for one in part.seen],
    )
    db.execute(
        "insert or replace into secret_scans "
        "(file, generation, rules, position, lines, contents_bytes, problem) values (?, ?, ?, ?, ?, ?, ?)",
        (
            part.file,
            part.generation,
            rules,
            part.position,
            part.lines,
            part.contents_bytes,
            storable(part.problem),
        ),
    )


def drop_past(db: sqlite3.Connection) -> None:
    """Forgets what was found in logs that stand nowhere any more."""
    past = "file in (select id from log_files where state = 'past')"
    for table in ("secret_rows", "secret_scans"):
        db.execute(f"delete from {table} where {past}")


def has_past(db: sqlite3.Connection) -> bool:
    """Whether there is anything to be forgotten."""
    asked = "select 1 from secret_scans scan join log_files log on log.id = scan.file and log.state = 'past' limit 1"
    return db.execute(asked).fetchone() is not None


def standing(db: sqlite3.Connection, which: Which, *, rules: str) -> list[LoggedSecret]:
    """What stands in these logs, by log and line."""
    inside, values = which.condition()
    rows = db.execute(
        "select own.kind, log.path, own.line, own.count, own.hash, log.session, log.agent, log.state = 'kept' "
        "from secret_rows own join log_files log on log.id = own.file join secret_scans scan on scan.file = own.file "
        f"where log.state <> 'past' and {inside} and {_FITS} order by log.path, own.line, own.kind, own.hash",
        {**values, "rules": rules},
    )
    return [
        LoggedSecret(kind, as_text(path), line, times, hash, as_text(session), agent, bool(only_here))
        for kind, path, line, times, hash, session, agent, only_here in rows
    ]


def not_scanned(db: sqlite3.Connection, which: Which, *, rules: str) -> list[tuple[str, str]]:
    """The logs that were not looked through to their end, and why."""
    inside, values = which.condition()
    is_behind = f"scan.file is null or not ({_FITS}) or scan.contents_bytes < log.contents_bytes"
    rows = db.execute(
        f"select log.path, coalesce(scan.problem, '{_NOT_YET}') {_LOGS} and {inside} "
        f"and (scan.problem is not null or {is_behind}) order by log.path",
        {**values, "rules": rules},
    )
    return [(as_text(path), as_text(why)) for path, why in rows]


def extent(db: sqlite3.Connection, which: Which) -> Extent:
    """How much there is."""
    inside, values = which.condition()
    found = db.execute(f"select count(*), total(log.contents_bytes) {_LOGS} and {inside}", values).fetchone()
    return Extent(found[0], int(found[1]))
