"""Query sessions for lists: all known ones, those that match words, or the latest.

Rules
  1. Sessions are ordered as `session_files.group` orders them: the last changed first.
  2. The caller selects sessions by a few columns (KnownSession); the rest is fetched for the selected ones.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

import msgspec

from tracklog.store.scope import Files, Name, Scope
from tracklog.store.surrogates import as_text, storable


class LatestSession(NamedTuple):
    """A session as a one-line entry."""

    agent: str
    id: str
    title: str | None
    project: str | None
    last_at: str


def latest_sessions(db: sqlite3.Connection, scope: Scope, n: int) -> list[LatestSession]:
    """The last `n` sessions that have a log in a scope."""
    inside, values = scope.condition("+f.path")  # each session's logs are few: not by their paths
    rows = db.execute(
        "select agent, session, title, project, last_at from session_rows s where is_listed and last_ms is not null "
        "and exists (select 1 from log_files f where f.session = s.session and f.agent = s.agent "
        f"and f.state <> 'past' and {inside}) order by last_ms desc, session limit ?",
        (*values, n),
    )
    return [
        LatestSession(agent, as_text(id), as_text(title), as_text(project), last_at)
        for agent, id, title, project, last_at in rows
    ]


_IN_LISTS = (
    "path, title, project, cwd, branch, models, versions, entrypoint, started_at, last_at, state, evidence, turns, "
    "requests, calls, errors, threads"
)
_NAMES = ("id", "agent", *_IN_LISTS.split(", "))
_KNOWN = (
    "select id, agent, session, is_listed, path, started_at, last_at, cwd, cwds, models, not_understood "
    "from session_rows"
)
_AT_ONCE = 500  # numbers in one question
_decode_list = msgspec.json.Decoder(list[str]).decode


class KnownSession(msgspec.Struct, gc=False):
    """The columns of a session by which callers select it."""

    row: int
    agent: str
    id: str
    is_listed: bool
    path: str | None
    started_at: str | None
    last_at: str | None
    cwd: str | None
    cwds_text: str | None  # JSON; None: no other than `cwd`
    models_text: str | None
    not_understood: int  # lines
    changed_ns: int

    @property
    def cwds(self) -> list[str]:
        """All folders that it worked in."""
        if self.cwds_text is not None:
            return texts_in(self.cwds_text)
        return [self.cwd] if self.cwd is not None else []

    @property
    def models(self) -> list[str]:
        """All models that answered."""
        return texts_in(self.models_text) if self.models_text is not None else []


class ListedSession(msgspec.Struct):
    """A session as lists show it, without its costs."""

    facts: dict[str, Any]
    only_here: bool


def known_sessions(db: sqlite3.Connection, names: Collection[Name] | None = None) -> list[KnownSession]:
    """The sessions with these names, or all, including unlisted ones; the last changed first."""
    changed = _last_changes(db)
    known = [_known(row, changed.get(row[1:3], 0)) for row in db.execute(_KNOWN)]
    if names is not None:
        wanted = set(names)
        known = [one for one in known if (one.agent, one.id) in wanted]
    return sorted(known, key=lambda one: (-one.changed_ns, one.id, one.agent))


def known_session(db: sqlite3.Connection, agent: str, session: str) -> KnownSession | None:
    """One session by its name; `changed_ns` is not looked up."""
    row = db.execute(f"{_KNOWN} where agent = ? and session = ?", (agent, storable(session))).fetchone()
    return None if row is None else _known(row, 0)


def _last_changes(db: sqlite3.Connection) -> dict[tuple[str, str], int]:
    found = db.execute(
        "select agent, session, max(mtime_ns) from log_files where state <> 'past' and session is not null "
        "and kind in ('transcript', 'document', 'subagent') group by agent, session"
    )
    return {(agent, session): at for agent, session, at in found}


def unreadable_logs(db: sqlite3.Connection, sessions: Iterable[KnownSession]) -> list[tuple[str, str]]:
    """Logs of some sessions that could not be read to their end, each with the reason."""
    wanted = {session.row for session in sessions}
    found = db.execute(
        "select session_row, path, what from problem_rows join log_files on log_files.id = file "
        "where what like 'not readable%' order by session_row, n"
    )
    return [(as_text(path), as_text(what)) for row, path, what in found if row in wanted]


def logs_beside(db: sqlite3.Connection, sessions: Collection[str]) -> Files:
    """The logs of some sessions, and all logs that share requests with them."""
    found = db.execute(
        "select file, session from ledger_logs where is_counted and component in (select component from ledger_logs "
        "where is_counted and session in (select value from json_each(?)))",
        (json.dumps(sorted(sessions)),),
    ).fetchall()
    return Files(
        frozenset(file for file, _ in found), frozenset(as_text(name) for _, name in found), is_closed=True
    )


def listed_sessions(db: sqlite3.Connection, rows: list[int]) -> list[ListedSession]:
    """The sessions with these rows, in the given order."""
    found = {row[0]: _listed(row) for row in _in_groups(db, rows)}
    return [found[row] for row in rows]


def _in_groups(db: sqlite3.Connection, rows: list[int]) -> Iterable[tuple[Any, ...]]:
    for start in range(0, len(rows), _AT_ONCE):
        asked = rows[start : start + _AT_ONCE]
        marks = ", ".join("?" * len(asked))
        yield from db.execute(
            f"select id, only_here, session, agent, {_IN_LISTS} from session_rows where id in ({marks})",
            asked,
        ).fetchall()


def _known(row: tuple[Any, ...], changed_ns: int) -> KnownSession:
    id, agent, session, is_listed, path, started_at, last_at, cwd, cwds, models, n_lines = _texts(row)
    return KnownSession(
        id,
        agent,
        session,
        bool(is_listed),
        path,
        started_at,
        last_at,
        cwd,
        cwds,
        models,
        n_lines or 0,
        changed_ns,
    )


def _listed(row: tuple[Any, ...]) -> ListedSession:
    facts = dict(zip(_NAMES, _texts(row)[2:], strict=True))
    facts["models"], facts["versions"] = texts_in(facts["models"]), texts_in(facts["versions"])
    facts["evidence"] = texts_in(facts["evidence"] or "[]")
    return ListedSession(facts, bool(row[1]))


def _texts(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(map(as_text, row)) if bytes in map(type, row) else row


def texts_in(text: str) -> list[str]:
    """Parses a list of texts that was stored as JSON."""
    try:
        return _decode_list(text)
    except (msgspec.DecodeError, UnicodeError):  # half characters are spelled out
        return list(json.loads(text))


_MOST_WORDS = 8


class NamedSession(NamedTuple):
    """A session with what a user needs to pick it."""

    agent: str
    id: str
    title: str | None
    project: str | None
    last_at: str | None


def sessions_named(
    db: sqlite3.Connection, text: str, *, scope: Scope | None = None, limit: int = 10
) -> list[NamedSession]:
    """The listed sessions that match every word by title, project or start of the id; the last used first."""
    where, values = ["is_listed = 1"], []
    for word in text.split()[:_MOST_WORDS]:
        like = word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        where.append("(title like ? escape '\\' or project like ? escape '\\' or session like ? escape '\\')")
        values += [f"%{like}%", f"%{like}%", f"{like}%"]
    if scope is not None and not scope.is_everything(db):
        inside, more = scope.condition("f.path")
        where.append(
            "exists (select 1 from log_files f where f.session = session_rows.session "
            f"and f.agent = session_rows.agent and f.state <> 'past' and {inside})"
        )
        values += more
    found = db.execute(
        f"select agent, session, title, project, last_at from session_rows where {' and '.join(where)} "
        "order by last_ms desc limit ?",
        [*values, limit],
    )
    return [_named(row) for row in found]


def titles_of(db: sqlite3.Connection, names: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """The known titles of some sessions, by agent and id."""
    found = {}
    for agent, id in names:
        row = db.execute(
            "select title from session_rows where agent = ? and session = ? and is_listed and title is not null",
            (agent, storable(id)),
        ).fetchone()
        if row is not None and (title := as_text(row[0])):
            found[agent, id] = title
    return found


def _named(row: Any) -> NamedSession:
    return NamedSession(*map(as_text, row))
