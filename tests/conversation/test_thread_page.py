from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.conversation.test_thread_reader import reading_of
from tests.index.indexed_logs import PRICES
from tests.model.lines import Line, at, log, reply, result, use, user
from tracklog.agents.discovery import roots_at
from tracklog.conversation.branches import OpenedTurn, VisibleBranch
from tracklog.conversation.session import OpenThreads, SessionHead, placed_turns, session_head, spent_by
from tracklog.conversation.thread_reader import ThreadReading
from tracklog.conversation.window import ShownRow, ThreadContext, call_detail, is_quiet, window
from tracklog.home import Home
from tracklog.index.session_rows import session_files, settle_sessions
from tracklog.index.sync import sync
from tracklog.ledger.stored.refresh import settle_ledger
from tracklog.model.ids import MAIN
from tracklog.model.states import Life
from tracklog.store.database import Database, writing
from tracklog.store.scope import scope_of

ID = "11111111-aaaa-4aaa-8aaa-111111111111"
NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
NOBODY = ThreadContext("claude", ID, None, None, False, Life(is_alive=False), NOW)

TALK: list[Line | bytes] = [
    user("a", None, "do it", timestamp=at(1)),
    reply("b", "a", "m1", use("t1", command="ls"), timestamp=at(2)),
    reply("c", "b", "m1", use("t2", command="false"), timestamp=at(2.5)),
    result("d", "c", "t1", "bin", timestamp=at(3)),
    result("e", "d", "t2", "it failed", is_error=True, timestamp=at(4)),
    reply("f", "e", "m2", "Done.", timestamp=at(5)),
    user("g", "f", "more", timestamp=at(6)),
    reply("h", "g", "m3", use("t3", name="Read", file_path="/a"), timestamp=at(7)),
]


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with writing(Home(tmp_path / "home")) as database:
        yield database


def write_home(root: Path, *lines: Line | bytes) -> Path:
    path = root / "projects/-home-dev-project" / f"{ID}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(log(lines) + b"\n")
    return path


def read_in(database: Database, root: Path) -> None:
    sync(database, roots_at(root))
    settle_sessions(database)
    settle_ledger(database, session_files(database), PRICES)


def verdicts(rows: list[ShownRow]) -> dict[str, str | None]:
    return {
        one.row.call or "": one.call.verdict if one.call else None for one in rows if one.row.kind == "call"
    }


def test_calls_have_their_verdicts_without_an_index(tmp_path: Path) -> None:
    rows = window(NOBODY, reading_of(tmp_path, *TALK), 1, 99)
    assert verdicts(rows) == {"t1": "ok", "t2": "error", "t3": "lost"}


def test_a_call_whose_result_may_still_come_far_behind_is_not_judged(tmp_path: Path) -> None:
    many = [user(f"u{n}", None, "x") for n in range(1200)]
    reading = reading_of(tmp_path, reply("a", None, "m", use("t1", command="ls")), *many)
    assert verdicts(window(NOBODY, reading, 1, 100)) == {"t1": None}


def test_a_running_session_has_running_calls(tmp_path: Path) -> None:
    rows = window(NOBODY._replace(life=Life(is_alive=True)), reading_of(tmp_path, *TALK), 1, 99)
    assert verdicts(rows)["t3"] == "running"


def test_a_result_is_quiet_where_its_call_is_known_and_seen_where_it_is_not(tmp_path: Path) -> None:
    reading = reading_of(tmp_path, *TALK, result("z", None, "nobody", "stray"))
    rows = window(NOBODY, reading, 1, 99)
    assert [(one.row.call, is_quiet(one)) for one in rows if one.row.kind == "result"] == [
        ("t1", True),
        ("t2", True),
        ("nobody", False),
    ]


def test_calls_that_were_asked_for_at_once_share_a_bracket(tmp_path: Path) -> None:
    rows = window(NOBODY, reading_of(tmp_path, *TALK), 1, 99)
    assert [(one.row.call, one.bracket) for one in rows if one.row.kind == "call"] == [
        ("t1", "first"),
        ("t2", "last"),
        ("t3", ""),
    ]


def test_lines_that_say_nothing_are_one_row(tmp_path: Path) -> None:
    snapshot: Line = {
        "type": "file-history-snapshot",
        "messageId": "x",
        "snapshot": {},
        "isSnapshotUpdate": False,
    }
    reading = reading_of(tmp_path, user("a", None, "x"), snapshot, snapshot, snapshot, user("b", "a", "y"))
    rows = window(NOBODY, reading, 1, 99)
    assert [(one.row.kind, one.row.seq, one.last_seq, one.n_lines) for one in rows] == [
        ("prompt", 1, 1, 1),
        ("quiet", 2, 4, 3),
        ("prompt", 5, 5, 1),
    ]


def test_rows_of_a_turn_that_was_left_say_so(tmp_path: Path) -> None:
    seen = VisibleBranch([OpenedTurn(1, 1, False), OpenedTurn(7, 2, True)])
    rows = window(NOBODY, reading_of(tmp_path, *TALK), 5, 8, seen=seen)
    assert [(one.row.seq, one.is_left, one.turn) for one in rows] == [
        (5, True, None),
        (6, True, None),
        (7, False, 2),
        (8, False, None),
    ]


def test_a_call_unfolds_to_its_input_and_its_results(tmp_path: Path) -> None:
    detail = call_detail(NOBODY, reading_of(tmp_path, *TALK), 3, 0)
    assert detail is not None
    assert (detail.input, [one.text for one in detail.results]) == ({"command": "false"}, ["it failed"])
    assert [place.line for place in detail.call.evidence] == [3, 5]
    assert call_detail(NOBODY, reading_of(tmp_path, *TALK), 3, 1) is None


def opened(database: Database, root: Path) -> tuple[SessionHead, ThreadReading, OpenThreads]:
    threads = OpenThreads()
    session = threads.session(
        database, "claude", ID, roots=roots_at(root), scope=scope_of([root]), fresh=True
    )
    assert session is not None
    reading = threads.reading(session.head, MAIN)
    assert reading is not None
    return session.head, reading, threads


def asked(database: Database, head: SessionHead) -> ThreadContext:
    return ThreadContext("claude", ID, head.known, database.db, head.is_settled, Life(), NOW)


def test_the_index_tells_the_same_as_the_lines(tmp_path: Path, database: Database) -> None:
    write_home(tmp_path / "logs", *TALK)
    read_in(database, tmp_path / "logs")
    head, reading, _ = opened(database, tmp_path / "logs")
    told = window(asked(database, head), reading, 1, 99)
    alone = window(NOBODY, reading, 1, 99)
    assert verdicts(told) == verdicts(alone)
    assert [(one.bracket, one.n_lines) for one in told] == [(one.bracket, one.n_lines) for one in alone]


def test_what_came_behind_the_index_is_told_by_the_lines(tmp_path: Path, database: Database) -> None:
    path = write_home(tmp_path / "logs", *TALK)
    read_in(database, tmp_path / "logs")
    with path.open("ab") as stream:
        stream.write(log([result("i", "h", "t3", "text", timestamp=at(8))]) + b"\n")
    sync(database, roots_at(tmp_path / "logs"))
    head, reading, _ = opened(database, tmp_path / "logs")
    assert not head.is_settled
    assert verdicts(window(asked(database, head), reading, 1, 99))["t3"] == "ok"


def test_a_result_that_comes_alone_is_part_of_its_call_above(tmp_path: Path) -> None:
    """Who follows a log asks for its last lines alone, and the index does not know them yet."""
    reading = reading_of(tmp_path, *TALK)
    (alone,) = window(NOBODY, reading, 5, 5)
    assert (alone.row.kind, alone.has_call, is_quiet(alone)) == ("result", True, True)
    stray = reading_of(tmp_path, user("a", None, "x"), result("b", "a", "t9", "y"))
    assert [one.has_call for one in window(NOBODY, stray, 2, 2)] == [False]


def test_a_head_knows_facts_turns_and_costs(tmp_path: Path, database: Database) -> None:
    write_home(tmp_path / "logs", *TALK)
    read_in(database, tmp_path / "logs")
    threads = OpenThreads()
    session = threads.session(database, "claude", ID, roots=(), scope=scope_of([tmp_path]), fresh=True)
    assert session is not None
    head = session.head
    assert (head.facts["title"], head.facts["calls"], head.facts["errors"]) == ("do it", 3, 1)
    assert head.verdicts == {"ok": 1, "error": 1, "lost": 1}
    assert [thread.id for thread in head.threads] == ["main"]
    reading = threads.reading(head, MAIN)
    assert reading is not None
    turns = placed_turns(database, session, reading, MAIN)
    assert [(one.turn.n, one.turn.prompt, one.seq, one.turn.errors) for one in turns] == [
        (1, "do it", 1, 1),
        (2, "more", 7, 0),
    ]
    spent = spent_by(database.db, head, PRICES)
    assert spent is None or spent.row.key == ID


def test_a_session_that_the_index_does_not_know_is_found_among_the_logs(tmp_path: Path) -> None:
    write_home(tmp_path / "logs", *TALK)
    head = session_head(None, "claude", ID, roots=roots_at(tmp_path / "logs"), scope=scope_of([tmp_path]))
    assert head is not None
    assert [(one.thread, [file.path.name for file in one.files]) for one in head.logs] == [
        ("main", [f"{ID}.jsonl"])
    ]
    assert (
        session_head(None, "claude", "no-such", roots=roots_at(tmp_path / "logs"), scope=scope_of([tmp_path]))
        is None
    )
    assert (
        session_head(None, "codex", ID, roots=roots_at(tmp_path / "logs"), scope=scope_of([tmp_path])) is None
    )


def test_what_is_known_of_a_session_is_asked_again_after_a_moment(tmp_path: Path, database: Database) -> None:
    write_home(tmp_path / "logs", *TALK)
    now = [0.0]
    threads = OpenThreads(clock=lambda: now[0])
    roots = roots_at(tmp_path / "logs")
    first = threads.session(database, "claude", ID, roots=roots, scope=scope_of([tmp_path]), fresh=False)
    read_in(database, tmp_path / "logs")
    assert (
        threads.session(database, "claude", ID, roots=roots, scope=scope_of([tmp_path]), fresh=False) is first
    )
    now[0] = 4.0
    again = threads.session(database, "claude", ID, roots=roots, scope=scope_of([tmp_path]), fresh=False)
    assert again is not None
    assert again.head.known is not None


def test_calls_without_an_id_or_with_the_same_are_told_apart_by_their_lines(
    tmp_path: Path, database: Database
) -> None:
    lines = [
        user("a", None, "do it", timestamp=at(1)),
        reply("b", "a", "m1", use("", command="nameless"), timestamp=at(2)),
        reply("c", "b", "m2", use("t1", command="first"), timestamp=at(3)),
        result("d", "c", "t1", "fine", timestamp=at(4)),
        reply("e", "d", "m3", use("t1", command="second"), timestamp=at(5)),
        result("f", "e", "t1", "wrong", is_error=True, timestamp=at(6)),
    ]
    write_home(tmp_path / "logs", *lines)
    read_in(database, tmp_path / "logs")
    head, reading, _ = opened(database, tmp_path / "logs")
    told = window(asked(database, head), reading, 1, 99)
    alone = window(NOBODY, reading, 1, 99)
    for rows in (told, alone):
        assert [
            (one.row.gist, one.call.verdict if one.call else None) for one in rows if one.row.kind == "call"
        ] == [
            ("nameless", "lost"),
            ("first", "ok"),
            ("second", "error"),
        ]


def test_a_session_outside_of_the_scope_is_not_there(tmp_path: Path, database: Database) -> None:
    write_home(tmp_path / "logs", *TALK)
    read_in(database, tmp_path / "logs")
    assert session_head(database, "claude", ID, roots=(), scope=scope_of([tmp_path / "other"])) is None


def test_a_copy_of_the_log_in_another_root_is_shown_once_and_another_part_is_not_left_out(
    tmp_path: Path,
) -> None:
    path = write_home(tmp_path / "logs", *TALK)
    old, other = tmp_path / "logs/projects/-old" / path.name, tmp_path / "logs/projects/-other" / path.name
    for copy in (old, other):
        copy.parent.mkdir(parents=True)
    old.write_bytes(log(TALK[:4]) + b"\n")
    other.write_bytes(log([user("x", "h", "elsewhere", timestamp=at(9))]) + b"\n")
    head = session_head(None, "claude", ID, roots=roots_at(tmp_path / "logs"), scope=scope_of([tmp_path]))
    assert head is not None
    (main,) = head.logs
    assert sorted(file.path for file in main.files) == sorted([path, other])
    lines = OpenThreads().reading(head, MAIN)
    assert lines is not None
    assert len(lines.lines.begins()) == 1
