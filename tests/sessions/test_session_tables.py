"""What the index tells of all sessions at once, on an index that was written by hand."""

from __future__ import annotations

from pathlib import Path

from tests.store.made_index import AT, CLAUDE_LOG, ONE, UNLISTED, made_index, put
from tracklog.sessions.tables_columns import (
    SessionLine,
    SubagentLine,
    active_times,
    session_lines,
    subagent_counts,
    subagents_of,
)
from tracklog.store.database import opened, reading


def test_every_session_has_a_line_with_the_number_of_its_first_call(tmp_path: Path) -> None:
    with reading(made_index(tmp_path)) as database:
        assert database is not None
        lines = session_lines(database.db)
        first = database.db.execute("select id from call_rows where session_row = 1 and n = 0").fetchone()[0]
    assert sorted(lines) == [1, 2, 3]
    assert lines[3].session == UNLISTED
    assert not lines[3].is_listed
    assert lines[1] == SessionLine(
        row=1,
        agent="claude",
        session=ONE,
        is_listed=1,
        only_here=0,
        path=CLAUDE_LOG,
        title="=1+1 \x1b[31mred",
        project="project",
        cwd=None,
        cwds=None,
        branch=None,
        models='["claude-opus-4-6"]',
        started_at=AT,
        last_at=AT,
        state=None,
        turns=1,
        requests=None,
        calls=1,
        errors=None,
        first_call=first,
    )


def test_active_time_is_the_sum_over_the_turns_of_the_main_thread_that_are_its_own(tmp_path: Path) -> None:
    home = made_index(tmp_path)
    with opened(home) as index, index.transaction() as db:
        for n, (thread, took_ms, is_copy) in enumerate(
            [("main", 2000.0, 0), ("main", 500.5, 0), ("main", None, 0), ("sub", 9.0, 0), ("main", 7.0, 1)], 2
        ):
            put(db, "turn_rows", session_row=1, thread=thread, n=n, took_ms=took_ms, is_inherited=is_copy)
    with reading(home) as database:
        assert database is not None
        assert active_times(database.db, [1, 2, 3]) == {1: 2500.5}
        assert active_times(database.db, range(1, 9000)) == {1: 2500.5}


def test_subagents_are_told_without_those_that_only_got_ready(tmp_path: Path) -> None:
    home = made_index(tmp_path)
    with opened(home) as index, index.transaction() as db:
        for n, (thread, words, is_warmup) in enumerate(
            [("a1", "look", 0), ("a2", None, 1), ("a3", None, 0)], 1
        ):
            put(
                db,
                "thread_rows",
                session_row=1,
                n=n,
                thread=thread,
                type="helper",
                description=words,
                state="ended",
                is_warmup=is_warmup,
                requests=1,
                calls=n,
            )
    with reading(home) as database:
        assert database is not None
        assert subagent_counts(database.db, [1, 2]) == {1: 2}
        assert subagents_of(database.db, [1, 2]) == {
            1: [
                SubagentLine("a1", "helper", "look", "ended", 1),
                SubagentLine("a3", "helper", None, "ended", 3),
            ]
        }
