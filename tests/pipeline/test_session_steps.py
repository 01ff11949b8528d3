from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.pipeline.test_thread_page import ID, TALK, read_in, write_home
from tracklog.model.ids import MAIN
from tracklog.pipeline.open_threads import OpenThreads
from tracklog.pipeline.session_page import session_head
from tracklog.pipeline.session_steps import lines_of, next_of
from tracklog.pipeline.thread_branches import OpenedTurn, Seen
from tracklog.sources.folders import roots_at
from tracklog.store.database import Database, writing
from tracklog.store.home import Home
from tracklog.store.scope import scope_of


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with writing(Home(tmp_path / "home")) as database:
        yield database


def test_the_lines_of_prompts_and_errors_are_those_of_the_thread(tmp_path: Path, database: Database) -> None:
    logs = tmp_path / "logs"
    write_home(logs, *TALK)
    read_in(database, logs)
    head = session_head(database, "claude", ID, roots=roots_at(logs), scope=scope_of([logs]))
    assert head is not None
    reading = OpenThreads().reading(head, MAIN)
    assert reading is not None
    assert lines_of(database.db, head, reading.lines, "prompt") == [1, 7]
    assert lines_of(database.db, head, reading.lines, "error") == [3, 8]  # the last one has no result: lost
    assert lines_of(database.db, head._replace(known=None), reading.lines, "error") == []


def test_the_next_one_stands_behind_a_line_or_before_it() -> None:
    seqs = [30, 10, 20]
    assert [next_of(seqs, after=line) for line in (0, 10, 19, 20, 30)] == [10, 20, 20, 30, None]
    assert [next_of(seqs, before=line) for line in (31, 30, 11, 10)] == [30, 20, 10, None]
    assert next_of(seqs) == 10
    assert next_of([], after=1) is None


def test_lines_that_are_not_shown_are_passed_by_unless_a_branch_begins_with_them() -> None:
    turns = [
        OpenedTurn(1, 1),
        OpenedTurn(10, 2, is_on=False, n_turns=1, leads_to="x"),
        OpenedTurn(20, 3),
    ]
    seen = Seen(turns)
    assert next_of([11, 15, 25], after=1, seen=seen) == 25
    assert next_of([5, 15], before=20, seen=seen) == 5
    assert next_of([10, 25], after=1, seen=seen) == 10
    assert next_of([11, 25], after=1) == 11
