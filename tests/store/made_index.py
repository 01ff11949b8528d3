"""A small index, written by hand: what questions in SQL find."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

from tracklog.home import Home
from tracklog.store.database import writing
from tracklog.store.public_views import make_views
from tracklog.store.text import call_key, put_texts, worded
from tracklog.store.values import SearchableText

ONE = "0a000000-0000-4000-8000-000000000001"
TWO = "0a000000-0000-7000-8000-000000000002"
UNLISTED = "0a000000-0000-4000-8000-000000000003"
CLAUDE_ROOT, CODEX_ROOT = "/home/dev/.claude", "/home/dev/.codex"
CLAUDE_LOG = f"{CLAUDE_ROOT}/projects/-home-dev-project/{ONE}.jsonl"
CODEX_LOG = f"{CODEX_ROOT}/sessions/2026/04/02/rollout-{TWO}.jsonl"
AT_MS = 1_772_385_882_123  # 2026-03-01T17:24:42.123Z
AT = "2026-03-01T17:24:42.123Z"


def made_index(folder: Path) -> Home:
    """An index with one session of each agent, Codex's only in the archive, one not listed, and a log of the past."""
    home = Home(folder)
    with writing(home) as database, database.transaction() as db:
        _put_files(db)
        _put_sessions(db)
        _put_parts(db)
        _put_spending(db)
        _put_secrets(db)
        make_views(db)
    return home


def put(db: sqlite3.Connection, table: str, **values: Any) -> None:
    """Inserts a row."""
    names, marks = ", ".join(values), ", ".join(f":{name}" for name in values)
    db.execute(f"insert into {table} ({names}) values ({marks})", values)


def _put_files(db: sqlite3.Connection) -> None:
    known = {"kind": "transcript", "device": 1, "inode": 1, "size": 500, "ctime_ns": 0}
    known |= {"mtime_ns": AT_MS * 1_000_000, "contents_bytes": 500, "lines": 4, "pieces_read": 4}
    put(
        db,
        "log_files",
        id=1,
        path=CLAUDE_LOG,
        root=CLAUDE_ROOT,
        agent="claude",
        session=ONE,
        state="here",
        **known,
    )
    put(
        db,
        "log_files",
        id=2,
        path=CODEX_LOG,
        root=CODEX_ROOT,
        agent="codex",
        session=TWO,
        state="kept",
        **known,
    )
    put(
        db,
        "log_files",
        id=3,
        path=CLAUDE_LOG,
        root=CLAUDE_ROOT,
        agent="claude",
        session=ONE,
        state="past",
        **known,
    )
    put(db, "archives", file=2, generation=1, name="2.zst", contents_bytes=500, stored_bytes=90)


def _put_sessions(db: sqlite3.Connection) -> None:
    known = {"is_settled": 1, "is_listed": 1, "only_here": 0, "project": "project", "turns": 1, "calls": 1}
    put(
        db,
        "session_rows",
        id=1,
        agent="claude",
        session=ONE,
        title="=1+1 \x1b[31mred",
        started_at=AT,
        last_at=AT,
        models='["claude-opus-4-6"]',
        path=CLAUDE_LOG,
        **known,
    )
    put(
        db,
        "session_rows",
        id=2,
        agent="codex",
        session=TWO,
        title="数え上げ",
        started_at="2026-04-02T08:00:00Z",
        path=CODEX_LOG,
        **{**known, "only_here": 1},
    )
    put(db, "session_rows", id=3, agent="claude", session=UNLISTED, **{**known, "is_listed": 0})


def _put_parts(db: sqlite3.Connection) -> None:
    for row in (1, 3):
        put(db, "thread_rows", session_row=row, n=0, thread="main", is_warmup=0, requests=1, calls=1)
        put(db, "turn_rows", session_row=row, thread="main", n=1, at=AT, file=1, line=1, is_inherited=0)
        put(db, "prompt_rows", session_row=row, thread="main", turn=1, n=0, at=AT, file=1, line=1, text="hi")
        put(
            db,
            "request_rows",
            session_row=row,
            n=0,
            request="msg_1",
            thread="main",
            turn=1,
            model="claude-opus-4-6",
            at=AT,
            file=1,
            first_line=2,
            last_line=3,
        )
        put(db, "branch_rows", session_row=row, n=0, branch="b-1", start_node="u-1", is_active=1)
        put(db, "problem_rows", session_row=row, n=0, file=1, line=4, what="no JSON")
        put(db, "call_rows", session_row=row, n=0, **_call("toolu_1", file=1, verdict="error"))
    put(db, "call_rows", session_row=2, n=0, **_call("call_1", file=2, verdict="ok"))
    texts = [
        SearchableText(1, 0, 0, 1, None, None, None, "hi"),
        SearchableText(3, 120, 0, 4, AT_MS, "Bash", "toolu_1", "ls --frobnicate"),
    ]
    put_texts(db, [(1, worded(text)) for text in texts])


def _call(id: str, *, file: int, verdict: str) -> dict[str, Any]:
    known = {"thread": "main", "turn": 1, "name": "Bash", "sureness": "stated", "called_at": AT, "line": 3}
    return {**known, "call": id, "call_key": call_key(id), "file": file, "verdict": verdict, "took_ms": 12.5}


def _put_secrets(db: sqlite3.Connection) -> None:
    scanned = {"generation": 1, "rules": "1.0", "position": 500, "lines": 4, "contents_bytes": 500}
    for file in (1, 2):
        put(db, "secret_scans", file=file, **scanned)
    put(db, "secret_rows", file=1, line=3, kind="github-pat", hash="0123456789abcdef", count=2)
    put(db, "secret_rows", file=2, line=1, kind="private-key", hash="fedcba9876543210", count=1)


def _put_spending(db: sqlite3.Connection) -> None:
    tokens = dict.fromkeys(
        (
            "reasoning",
            "cache_write",
            "cache_write_5m",
            "cache_write_1h",
            "cache_read",
            "web_searches",
            "counted_offset",
        ),
        0,
    )
    for id, (agent, session, file) in enumerate(
        (("claude", ONE, 1), ("codex", TWO, 2), ("claude", UNLISTED, 1)), 1
    ):
        put(
            db,
            "entry_rows",
            id=id,
            file=file,
            counted_file=file,
            key=f"msg_{id}",
            agent=agent,
            session=session,
            thread="main",
            at_ms=AT_MS,
            model="claude-opus-4-6",
            terms="",
            certainty="final",
            input=100 * id,
            output=10,
            stated_pico_usd=2_500_000,
            **tokens,
        )
