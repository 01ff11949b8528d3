from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tracklog.home import Home
from tracklog.sessions.tables_calls import CallRest, ask_calls, models_of, offsets_of, packed
from tracklog.sessions.tables_lists import ListedSession, known_sessions, listed_sessions, unreadable_logs
from tracklog.sessions.tables_write import (
    drop_session,
    mark_only_here,
    mark_unsettled,
    put_session,
    resting_rows,
    session_names,
    unsettled,
)
from tracklog.store.database import writing
from tracklog.store.values import SessionRows

AT = datetime(2026, 3, 1, 17, 0, tzinfo=UTC)
PARTS = (
    "thread_rows",
    "turn_rows",
    "prompt_rows",
    "request_rows",
    "call_rows",
    "branch_rows",
    "problem_rows",
)


@pytest.fixture
def db(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with writing(Home(tmp_path / "home")) as database:
        yield database.db


def text_of(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def session(name: str = "s1", *, agent: str = "claude", last: datetime = AT, **more: Any) -> SessionRows:
    """A session with one of everything."""
    row = {
        "is_listed": True,
        "path": "/logs/s1.jsonl",
        "title": "Fix the test.",
        "project": "project",
        "cwd": "/home/dev/project",
        "cwds": None,
        "branch": "main",
        "models": '["m1"]',
        "versions": '["2.1.100"]',
        "entrypoint": "cli",
        "started_at": text_of(last - timedelta(hours=1)),
        "last_at": text_of(last),
        "last_ms": int(last.timestamp() * 1000),
        "state": "ended",
        "turns": 1,
        "requests": 1,
        "calls": 1,
        "errors": 0,
        "threads": 1,
        "forked_from": None,
        "signs": b"\x90",
        "life": None,
        "evidence": "[]",
        "not_understood": 0,
        **more,
    }
    return SessionRows(
        agent=agent,
        session=name,
        session_row=row,
        threads=[(0, "main", None, None, None, None, "ended", "stated", None, False, 1, 1)],
        turns=[("main", 1, None, None, None, 1, 1, 1, 1, False, True, False)],
        prompts=[("main", 1, 0, "typed", None, 1, 1, "Fix the test.")],
        requests=[
            (0, "r1", "main", 1, "m1", None, None, "tool_use", None, 1, 1, 2, 3, False, True, False),
        ],
        calls=[call_values(0, "c1"), call_values(1, "c2", CallRest(evidence=[5, (2, 7), ("/else", 9)]))],
        branches=[(0, "main", None, None, None, True, None)],
        problems=[(0, 1, 9, "new: unknown kind"), (1, 1, 10, "not readable: permission denied")],
    )


def call_values(n: int, id: str, rest: CallRest | None = None) -> tuple[Any, ...]:
    times = ("2026-03-01T17:00:00.000Z", 1, "2026-03-01T17:00:01.000Z", 1000.0, "log_times", 0)
    who = (n, id, 7, None, "main", 1, "r1", "Bash", "ok", None, "stated", "ok", False)
    return (*who, *times, True, False, 1, 2, "make", None, packed(rest or CallRest()))


def put_log(db: sqlite3.Connection, id: int, path: str, **more: Any) -> None:
    known = {
        "id": id,
        "path": path,
        "root": "/logs",
        "agent": "claude",
        "kind": "transcript",
        "session": "s1",
        "state": "here",
        "device": 1,
        "inode": id,
        "size": 1,
        "mtime_ns": id,
        "ctime_ns": 1,
        **more,
    }
    marks = ", ".join(f":{name}" for name in known)
    db.execute(f"insert into log_files ({', '.join(known)}) values ({marks})", known)


def n_rows(db: sqlite3.Connection) -> dict[str, int]:
    return {table: db.execute(f"select count(*) from {table}").fetchone()[0] for table in PARTS}


def everything(db: sqlite3.Connection) -> dict[str, list[Any]]:
    """All rows; without the numbers of calls, which are given anew."""
    rows = {table: db.execute(f"select * from {table}").fetchall() for table in ("session_rows", *PARTS)}
    return {**rows, "call_rows": [row[1:] for row in rows["call_rows"]]}


def listed(db: sqlite3.Connection, *ids: str) -> list[ListedSession]:
    """What a list shows: the sessions with these ids, or all."""
    names = [("claude", id) for id in ids] or None
    return listed_sessions(db, [one.row for one in known_sessions(db, names) if one.is_listed])


def test_a_session_put_twice_is_there_once_under_its_old_number(db: sqlite3.Connection) -> None:
    put_session(db, session("other"), only_here=False)
    put_session(db, session(), only_here=False)
    numbers = db.execute("select id, session from session_rows").fetchall()
    put_session(db, session(title="Another title"), only_here=True)
    assert db.execute("select id, session from session_rows").fetchall() == numbers
    assert n_rows(db) == dict.fromkeys(PARTS, 2) | {"call_rows": 4, "problem_rows": 4}
    assert [(one.facts["title"], one.only_here) for one in listed(db, "s1")] == [("Another title", True)]


def test_the_same_rows_make_the_same_tables(db: sqlite3.Connection) -> None:
    put_session(db, session(), only_here=False)
    first = everything(db)
    put_session(db, session(), only_here=False)
    assert everything(db) == first


def test_a_dropped_session_leaves_nothing(db: sqlite3.Connection) -> None:
    put_session(db, session(), only_here=False)
    drop_session(db, "claude", "s1")
    drop_session(db, "claude", "never there")
    assert n_rows(db) == dict.fromkeys(PARTS, 0)
    assert session_names(db) == set()


def test_two_agents_may_have_given_the_same_id(db: sqlite3.Connection) -> None:
    put_session(db, session(), only_here=False)
    put_session(db, session(agent="codex"), only_here=False)
    drop_session(db, "claude", "s1")
    assert session_names(db) == {("codex", "s1")}
    assert n_rows(db)["call_rows"] == 2


def test_what_is_marked_is_due_until_it_is_put_again(db: sqlite3.Connection) -> None:
    put_session(db, session(), only_here=False)
    assert unsettled(db) == []
    mark_unsettled(db, [("claude", "s1"), ("codex", "new")])
    assert unsettled(db) == [("claude", "s1"), ("codex", "new")]
    put_session(db, session(), only_here=False)
    put_session(db, session("new", agent="codex"), only_here=False)
    assert unsettled(db) == []


def test_a_session_that_is_only_marked_is_in_no_list(db: sqlite3.Connection) -> None:
    mark_unsettled(db, [("claude", "s1")])
    assert listed(db) == []
    assert [one.id for one in known_sessions(db)] == ["s1"]


def resting(db: sqlite3.Connection, *alive: str, since: datetime = AT) -> list[str]:
    found = resting_rows(db, alive, since_ms=int(since.timestamp() * 1000))
    return [one.session for one in found]


def test_what_may_change_without_a_line_is_what_is_not_over_or_rests_on_a_process_or_lives(
    db: sqlite3.Connection,
) -> None:
    put_session(db, session("over"), only_here=False)
    put_session(db, session("idle", state="idle"), only_here=False)
    put_session(db, session("open", life="gone"), only_here=False)
    put_session(db, session("new", last=AT + timedelta(hours=1)), only_here=False)
    put_session(db, session("marked", state="idle"), only_here=False)
    mark_unsettled(db, [("claude", "marked")])
    assert resting(db) == ["idle", "open", "new"]
    assert resting(db, "over") == ["over", "idle", "open", "new"]
    assert resting(db, "/logs/s1.jsonl") == ["over", "idle", "open", "new"]


def test_rows_of_an_earlier_version_are_made_again_if_they_are_recent(db: sqlite3.Connection) -> None:
    put_session(db, session("old", signs=None), only_here=False)
    put_session(db, session("recent", signs=None, last=datetime.now(UTC)), only_here=False)
    assert unsettled(db) == [("claude", "recent")]


def test_what_lists_tell_comes_in_the_order_that_is_asked_for_however_many_there_are(
    db: sqlite3.Connection,
) -> None:
    for n in range(600):  # more than one question asks for
        put_session(db, session(f"s{n}"), only_here=False)
    rows = {one.id: one.row for one in known_sessions(db)}
    names = [f"s{n}" for n in range(599, -1, -1)]
    found = listed_sessions(db, [rows[name] for name in names])
    assert [one.facts["id"] for one in found] == names


def test_what_is_not_listed_or_not_meant_is_not_found(db: sqlite3.Connection) -> None:
    put_session(db, session("listed"), only_here=False)
    put_session(db, session("silent", is_listed=False), only_here=False)
    put_session(db, session("elsewhere"), only_here=False)
    assert [one.facts["id"] for one in listed(db, "listed", "silent")] == ["listed"]
    assert {one.id for one in known_sessions(db)} == {"listed", "silent", "elsewhere"}


def test_sessions_are_known_in_the_order_of_their_last_change(db: sqlite3.Connection) -> None:
    for name, at in (("old", 1), ("new", 9), ("past", 5)):
        put_session(db, session(name), only_here=False)
        put_log(db, at, f"/logs/{name}.jsonl", session=name)
    put_log(db, 20, "/logs/old.txt", session="old", kind="tool_result")
    put_log(db, 21, "/logs/old.jsonl", session="old", state="past")
    assert [(one.id, one.changed_ns) for one in known_sessions(db)] == [("new", 9), ("past", 5), ("old", 1)]


def test_all_folders_and_models_are_known(db: sqlite3.Connection) -> None:
    put_session(db, session(cwds='["/a","/b"]', models='["m1","m2"]'), only_here=False)
    put_session(db, session("s2", last=AT - timedelta(1), cwd=None, models="[]"), only_here=False)
    known = {one.id: (one.cwds, one.models) for one in known_sessions(db)}
    assert known == {"s1": (["/a", "/b"], ["m1", "m2"]), "s2": ([], [])}


def test_half_a_character_comes_back_as_it_was(db: sqlite3.Connection) -> None:
    odd = "/srv/\udcff"
    put_session(db, session(cwd=odd.encode("utf-8", "surrogatepass"), models='["\\udcff"]'), only_here=False)
    assert [(one.cwd, one.models) for one in known_sessions(db)] == [(odd, ["\udcff"])]
    assert [one.facts["cwd"] for one in listed(db)] == [odd]


def test_a_call_comes_back_with_its_places(db: sqlite3.Connection) -> None:
    put_session(db, session(), only_here=False)
    put_log(db, 1, "/logs/s1.jsonl")
    put_log(db, 2, "/logs/agent.jsonl")
    found = list(ask_calls(db, known_sessions(db)[0]))
    assert [(one.call.id, one.file, one.line, one.did) for one in found] == [
        ("c1", 1, 2, "make"),
        ("c2", 1, 2, "make"),
    ]
    places = [(place.path, place.line) for place in found[1].call.evidence]
    assert places == [("/logs/s1.jsonl", 5), ("/logs/agent.jsonl", 7), ("/else", 9)]
    assert list(ask_calls(db, known_sessions(db)[0], verdicts=["error"])) == []


def test_requests_tell_the_model_of_a_call(db: sqlite3.Connection) -> None:
    put_session(db, session(), only_here=False)
    assert models_of(db, known_sessions(db)[0]) == {"r1": "m1"}


def test_the_beginning_of_a_line_is_known_by_its_texts(db: sqlite3.Connection) -> None:
    rows = [(1, 1, 5, 700, 0), (2, 1, 5, 700, 1), (3, 1, 6, 900, 0), (4, 2, 5, 1, 0)]
    db.executemany("insert into text_rows (id, file, line, offset, n, role) values (?, ?, ?, ?, ?, 0)", rows)
    assert offsets_of(db, 1, [5, 8]) == {5: 700}


def test_logs_that_cannot_be_read_are_named_with_the_reason(db: sqlite3.Connection) -> None:
    put_session(db, session(), only_here=False)
    put_log(db, 1, "/logs/s1.jsonl")
    known = known_sessions(db)
    assert unreadable_logs(db, known) == [("/logs/s1.jsonl", "not readable: permission denied")]
    assert unreadable_logs(db, []) == []


def test_a_session_is_only_here_when_its_main_logs_are_gone(db: sqlite3.Connection) -> None:
    put_session(db, session(), only_here=False)
    put_log(db, 1, "/logs/s1.jsonl", state="kept", own_session="s1")
    mark_only_here(db)
    assert [one.only_here for one in listed(db)] == [True]
    put_log(db, 2, "/logs/copy.jsonl", own_session="s1")
    mark_only_here(db)
    assert [one.only_here for one in listed(db)] == [False]
