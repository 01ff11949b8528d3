"""Query one session by its name: its row, logs, outline, prompts and errors.

Pages ask these with every press of a key, so only places are returned, not texts.

Rules
  1. Each query uses an index of the database: its cost does not grow with the number of sessions.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence
from typing import NamedTuple

from tracklog.sessions.tables_calls import FoundCall, found_calls
from tracklog.sessions.tables_lists import KnownSession
from tracklog.store.catalogue import KNOWN_COLUMNS, known_file
from tracklog.store.scope import Scope
from tracklog.store.surrogates import as_text, storable
from tracklog.store.text import ROLES, call_key
from tracklog.store.values import Archived, KnownFile

_AT_ONCE = 400


class LogOfSession(NamedTuple):
    """A log, and its file in the archive."""

    file: KnownFile
    archived: Archived | None


class OutlinedTurn(NamedTuple):
    """A turn of a thread, as an outline shows it."""

    n: int
    prompt: str
    at: str | None
    took_ms: float | None
    requests: int
    calls: int
    errors: int
    is_interrupted: bool
    on_active_branch: bool
    file: int | None
    line: int | None
    is_inherited: bool = False  # a copy of another session's
    subagent_errors: int = 0  # calls that failed in the subagents that it started, and in theirs


class OutlinedThread(NamedTuple):
    """A thread of a session."""

    id: str
    parent_thread: str | None
    parent_call: str | None
    type: str | None
    description: str | None
    state: str
    sureness: str
    is_warmup: bool
    requests: int
    calls: int
    errors: int


class OutlinedBranch(NamedTuple):
    """A branch of the conversation."""

    id: str
    parent: str | None
    is_active: bool
    why: str | None
    start_node: str | None


def logs_of_session(db: sqlite3.Connection, agent: str, session: str) -> list[LogOfSession]:
    """The transcripts of a session and its subagents, sorted by path."""
    columns = ", ".join(f"f.{name}" for name in KNOWN_COLUMNS)
    rows = db.execute(
        f"select a.name, a.contents_bytes, a.stored_bytes, {columns} from log_files f "
        "left join archives a on a.file = f.id and a.generation = f.generation "
        "where f.session = ? and f.agent = ? and f.state <> 'past' and f.kind in ('transcript', 'document', 'subagent') "
        "order by f.path",
        (storable(session), agent),
    )
    return [
        LogOfSession(known_file(row[3:]), Archived(as_text(row[0]), row[1], row[2]) if row[2] else None)
        for row in rows
    ]


def sessions_beginning_with(db: sqlite3.Connection, text: str, scope: Scope) -> list[tuple[str, str]]:
    """Names of listed sessions with a log in the scope whose id begins with `text`, eight at most."""
    inside, values = scope.condition("f.path")
    found = db.execute(
        "select agent, session from session_rows s where session >= ? and session < ? and is_listed = 1 and exists ("
        f"select 1 from log_files f where f.session = s.session and f.agent = s.agent and {inside}) limit 8",
        (text, text + "\U0010ffff", *values),
    )
    return [(agent, as_text(session)) for agent, session in found]


def is_settled(db: sqlite3.Connection, row: int) -> bool:
    """Whether the rows of a session are up to date with its logs as last read."""
    found = db.execute("select is_settled from session_rows where id = ?", (row,)).fetchone()
    return bool(found and found[0])


def turns_of(db: sqlite3.Connection, row: int, thread: str) -> list[OutlinedTurn]:
    """The turns of a thread, in the order of the log."""
    errors = dict(
        db.execute(
            "select turn, count(*) from call_rows where session_row = ? and thread = ? and verdict = 'error' "
            "group by turn",
            (row, storable(thread)),
        )
    )
    below = _errors_below(db, row, thread)
    found = db.execute(
        "select t.n, p.text, t.at, t.took_ms, t.requests, t.calls, t.is_interrupted, t.on_active_branch, t.file, t.line, "
        "t.is_inherited "
        "from turn_rows t left join prompt_rows p on p.session_row = t.session_row and p.thread = t.thread "
        "and p.turn = t.n and p.n = (select min(n) from prompt_rows q where q.session_row = t.session_row "
        "and q.thread = t.thread and q.turn = t.n) "
        "where t.session_row = ? and t.thread = ? order by t.n",
        (row, storable(thread)),
    )
    return [
        OutlinedTurn(
            n,
            as_text(prompt) or "",
            at,
            took,
            requests or 0,
            calls or 0,
            errors.get(n, 0),
            bool(cut),
            bool(on),
            file,
            line,
            bool(copied),
            below.get(n, 0),
        )
        for n, prompt, at, took, requests, calls, cut, on, file, line, copied in found
    ]


def threads_of(db: sqlite3.Connection, row: int) -> list[OutlinedThread]:
    """All threads of a session, the main one first."""
    errors = _errors_by_thread(db, row)
    found = db.execute(
        "select thread, parent_thread, parent_call, type, description, state, sureness, is_warmup, requests, calls "
        "from thread_rows where session_row = ? order by n",
        (row,),
    )
    return [
        OutlinedThread(
            as_text(id),
            as_text(parent),
            as_text(call),
            as_text(type),
            as_text(words),
            state,
            sureness,
            bool(warm),
            requests or 0,
            calls or 0,
            errors.get(id, 0),
        )
        for id, parent, call, type, words, state, sureness, warm, requests, calls in found
    ]


def _errors_by_thread(db: sqlite3.Connection, row: int) -> dict[str | bytes, int]:
    return dict(
        db.execute(
            "select thread, count(*) from call_rows where session_row = ? and verdict = 'error' group by thread",
            (row,),
        )
    )


def _errors_below(db: sqlite3.Connection, row: int, thread: str) -> dict[int | None, int]:
    """Number of failed calls in subagents at any depth, by the turn of `thread` that started the topmost one."""
    top = storable(thread)
    errors = {one: n for one, n in _errors_by_thread(db, row).items() if one != top}
    if not errors:
        return {}
    above = {
        one: (parent, call)
        for one, parent, call in db.execute(
            "select thread, parent_thread, parent_call from thread_rows where session_row = ?", (row,)
        )
    }
    started_by = {one: call for one in errors if (call := _call_above(above, one, top)) is not None}
    turns = dict(
        db.execute(
            "select call, turn from call_rows where session_row = ? and thread = ? "
            "and call in (select parent_call from thread_rows where session_row = ?)",
            (row, top, row),
        )
    )
    below: dict[int | None, int] = {}
    for one, call in started_by.items():
        if call in turns:
            below[turns[call]] = below.get(turns[call], 0) + errors[one]
    return below


_Above = dict[str | bytes, tuple[str | bytes | None, str | bytes | None]]


def _call_above(above: _Above, thread: str | bytes, top: str | bytes) -> str | bytes | None:
    """The call in the thread `top` that started a thread or its ancestor; None if there is none."""
    seen: set[str | bytes] = set()
    while thread in above and thread not in seen:
        seen.add(thread)
        parent, call = above[thread]
        if parent == top or parent is None:
            return call
        thread = parent
    return None


def branches_of(db: sqlite3.Connection, row: int) -> list[OutlinedBranch]:
    """The branches of a session."""
    found = db.execute(
        "select branch, parent, is_active, why, start_node from branch_rows where session_row = ? order by n",
        (row,),
    )
    return [
        OutlinedBranch(as_text(id), as_text(parent), bool(active), why, as_text(start))
        for id, parent, active, why, start in found
    ]


def verdicts_of(db: sqlite3.Connection, row: int) -> dict[str, dict[str, int]]:
    """Number of calls by thread and verdict, without copies."""
    found = db.execute(
        "select thread, verdict, count(*) from call_rows where session_row = ? and not is_inherited group by 1, 2",
        (row,),
    )
    by_thread: dict[str, dict[str, int]] = {}
    for thread, verdict, n in found:
        by_thread.setdefault(as_text(thread), {})[verdict] = n
    return by_thread


def calls_called(db: sqlite3.Connection, session: KnownSession, ids: Sequence[str]) -> list[FoundCall]:
    """The calls of a session with these ids."""
    found: list[FoundCall] = []
    for start in range(0, len(ids), _AT_ONCE):
        keys = [call_key(id) for id in ids[start : start + _AT_ONCE]]
        marks = ", ".join("?" * len(keys))
        found += found_calls(db, session, f"call_key in ({marks})", keys)
    wanted = set(ids)
    return [one for one in found if one.call.id in wanted]


def calls_on(db: sqlite3.Connection, session: KnownSession, lines: Sequence[int]) -> list[FoundCall]:
    """The calls of a session that were requested in these lines, of any of its logs."""
    if not lines:
        return []
    return found_calls(db, session, f"line in ({', '.join('?' * len(lines))})", lines)


_ERRORS = """
select file, line from call_rows where session_row = :row
  and (verdict in ('error', 'timed_out', 'lost') or verdict = 'backgrounded' and outcome in ('error', 'killed'))
union select file, first_line from request_rows where session_row = :row and error is not null
union select file, line from problem_rows where session_row = :row
"""  # as the keys of a session's page see it (static/session_steps.js)


class LogLine(NamedTuple):
    """A line of a log; `file` is the log's number in the index."""

    file: int
    line: int


def places_of_prompts(db: sqlite3.Connection, session_row: int) -> list[LogLine]:
    """Lines of the prompts of all threads of a session, in no order."""
    return _places(
        db.execute("select file, line from prompt_rows where session_row = :row", {"row": session_row})
    )


def places_of_errors(db: sqlite3.Connection, session_row: int) -> list[LogLine]:
    """Lines of failed calls, error answers and problems of a session, in no order."""
    return _places(db.execute(_ERRORS, {"row": session_row}))


def places_of_asides(db: sqlite3.Connection, files: Collection[int]) -> list[LogLine]:
    """Lines of texts by neither person nor model: failed requests, hooks, injected texts."""
    marks = ", ".join("?" * len(files))
    return _places(
        db.execute(
            f"select distinct file, line from text_rows where file in ({marks}) and role = ?",
            (*files, ROLES["context"]),
        )
    )


def _places(found: sqlite3.Cursor) -> list[LogLine]:
    return [LogLine(file, line) for file, line in found if file is not None and line is not None]
