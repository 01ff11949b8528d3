from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conversation.test_thread_page import ID, TALK, read_in, write_home
from tests.model.lines import Line, record, reply, user
from tracklog.agents.discovery import roots_at
from tracklog.conversation.branches import OpenedTurn, VisibleBranch
from tracklog.conversation.navigate import MOST_LOOKED, NextLine, What, in_order, next_line
from tracklog.conversation.session import OpenThreads, SessionHead, session_head
from tracklog.conversation.thread_reader import ThreadReading
from tracklog.home import Home
from tracklog.model.ids import MAIN
from tracklog.store.database import Database, writing
from tracklog.store.scope import scope_of


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with writing(Home(tmp_path / "home")) as database:
        yield database


def opened(database: Database, logs: Path, *lines: Line | bytes) -> tuple[SessionHead, ThreadReading]:
    write_home(logs, *lines)
    read_in(database, logs)
    head = session_head(database, "claude", ID, roots=roots_at(logs), scope=scope_of([logs]))
    assert head is not None
    reading = OpenThreads().reading(head, MAIN)
    assert reading is not None
    return head, reading


def walked(database: Database, head: SessionHead, reading: ThreadReading, what: What) -> list[int]:
    """The lines that pressing a key again and again leads to."""
    found, seq = [], next_line(database.db, head, reading, what).seq
    while seq is not None:
        found.append(seq)
        seq = next_line(database.db, head, reading, what, after=seq).seq
    return found


def test_prompts_and_errors_of_the_thread_are_met_one_by_one(tmp_path: Path, database: Database) -> None:
    head, reading = opened(database, tmp_path / "logs", *TALK)
    assert walked(database, head, reading, "prompt") == [1, 7]
    assert walked(database, head, reading, "error") == [3, 8]  # the last one has no result: lost
    assert next_line(database.db, head, reading, "error", before=8) == NextLine(3, is_sure=True)
    assert next_line(database.db, head, reading, "error", after=8) == NextLine(None, is_sure=True)


def test_a_session_that_the_index_does_not_know_has_no_line_for_sure(
    tmp_path: Path, database: Database
) -> None:
    head, reading = opened(database, tmp_path / "logs", *TALK)
    unknown = head._replace(known=None, is_settled=False)
    assert next_line(database.db, unknown, reading, "error") == NextLine()


def test_errors_that_are_no_calls_are_met_too(tmp_path: Path, database: Database) -> None:
    retried = record(
        "system",
        "r",
        "a",
        subtype="api_error",
        error={"status": 529, "message": "Overloaded"},
        retryAttempt=1,
        maxRetries=10,
    )
    refused = reply("x", "r", "m9", "API Error: 400", isApiErrorMessage=True, error="invalid_request")
    lines: list[Line | bytes] = [
        user("a", None, "do it"),
        retried,
        refused,
        b"{no json",
        user("m", "x", "<system-reminder>be brief</system-reminder>", isMeta=True),
        reply("f", "m", "m2", "Done."),
        {**user("n", "f", "more"), "type": "never-seen"},
    ]
    head, reading = opened(database, tmp_path / "logs", *lines)
    bad = [row.seq for row in reading.rows(1, len(lines)) if row.is_bad]
    assert walked(database, head, reading, "error") == bad == [2, 3, 4, 7]


def test_where_too_much_would_have_to_be_looked_at_nothing_is_sure(
    tmp_path: Path, database: Database
) -> None:
    notes = [
        user(f"n{n}", None, "<system-reminder>be brief</system-reminder>", isMeta=True)
        for n in range(MOST_LOOKED)
    ]
    head, reading = opened(database, tmp_path / "logs", user("a", None, "do it"), *notes)
    assert next_line(database.db, head, reading, "error") == NextLine(None, is_sure=True)
    one_more = user("o", None, "<system-reminder>be brief</system-reminder>", isMeta=True)
    head, reading = opened(database, tmp_path / "logs", user("a", None, "do it"), *notes, one_more)
    assert next_line(database.db, head, reading, "error") == NextLine(None, is_sure=False)


def test_the_next_one_stands_behind_a_line_or_before_it() -> None:
    seqs = [30, 10, 20]
    assert [next(in_order(seqs, after=line), None) for line in (0, 10, 19, 20, 30)] == [10, 20, 20, 30, None]
    assert [next(in_order(seqs, before=line), None) for line in (31, 30, 11, 10)] == [30, 20, 10, None]
    assert list(in_order(seqs)) == [10, 20, 30]
    assert list(in_order([], after=1)) == []


def test_lines_that_are_not_shown_are_passed_by_unless_a_branch_begins_with_them() -> None:
    turns = [
        OpenedTurn(1, 1),
        OpenedTurn(10, 2, is_on=False, n_turns=1, leads_to="x"),
        OpenedTurn(20, 3),
    ]
    seen = VisibleBranch(turns)
    assert list(in_order([11, 15, 25], after=1, seen=seen)) == [25]
    assert list(in_order([5, 15], before=20, seen=seen)) == [5]
    assert list(in_order([10, 25], after=1, seen=seen)) == [10, 25]
    assert list(in_order([11, 25], after=1)) == [11, 25]
