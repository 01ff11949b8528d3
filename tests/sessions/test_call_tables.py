"""Calls as tables read them, on an index that was written by hand."""

from __future__ import annotations

from pathlib import Path

from tests.store.made_index import AT, made_index, put
from tracklog.home import Home
from tracklog.sessions.tables_calls import CallRest, packed
from tracklog.sessions.tables_columns import (
    NAMELESS,
    NO_TIME,
    CallDetails,
    CallLine,
    CopiedCall,
    call_details,
    call_lines,
    whole,
)
from tracklog.store.database import opened, reading
from tracklog.store.text import call_key


def more_calls(home: Home, *calls: dict[str, object]) -> None:
    with opened(home) as database, database.transaction() as db:
        for n, call in enumerate(calls, 1):
            known = {
                "thread": "main",
                "name": "Bash",
                "verdict": "ok",
                "sureness": "stated",
                "is_inherited": 0,
            }
            put(
                db,
                "call_rows",
                session_row=1,
                n=n,
                call=f"c{n}",
                call_key=call_key(f"c{n}"),
                **{**known, **call},
            )


def test_calls_come_with_their_times_and_copies_apart(tmp_path: Path) -> None:
    home = made_index(tmp_path)
    more_calls(
        home,
        {"called_ms": 20, "took_ms": 1.5, "took_by": "log_times"},
        {"is_inherited": 1, "owner": "the-other", "called_ms": 30},
    )
    with reading(home) as database:
        assert database is not None
        own, copied = call_lines(database.db, [1])
    assert sorted(own) == [
        CallLine(NO_TIME, 1, 0, "Bash", "error", 12.5, None),
        CallLine(20, 1, 1, "Bash", "ok", 1.5, "log_times"),
    ]
    assert copied == [CopiedCall(CallLine(30, 1, 2, "Bash", "ok", None, None), "the-other")]


def test_asking_for_all_is_asking_for_every_session(tmp_path: Path) -> None:
    with reading(made_index(tmp_path)) as database:
        assert database is not None
        some, every, many = (call_lines(database.db, rows)[0] for rows in ([1, 2, 3], None, range(1, 5000)))
        assert sorted(every) == sorted(some) == sorted(many)
        assert len(every) == 3
        assert call_lines(database.db, []) == ([], [])


def test_a_time_that_its_column_could_not_hold_is_taken_from_the_rest(tmp_path: Path) -> None:
    home = made_index(tmp_path)
    odd = {"took_ms": None, "took_by": "stated"}
    more_calls(
        home,
        {**odd, "rest": packed(CallRest(odd={"took_ms": 1200}))},
        {**odd, "rest": packed(CallRest(odd={"took_ms": 10**400}))},
    )
    with reading(home) as database:
        assert database is not None
        own, _ = call_lines(database.db, [1])
    assert [one.took_ms for one in sorted(own, key=lambda one: one.n)] == [12.5, 1200.0, None]


def test_a_tool_without_a_name_and_one_with_half_a_character_can_be_asked_for(tmp_path: Path) -> None:
    home = made_index(tmp_path)
    more_calls(home, {"name": ""}, {"name": "half\ud800".encode("utf-8", "surrogatepass")})
    with reading(home) as database:
        assert database is not None
        own, _ = call_lines(database.db, [1])
    assert {one.tool for one in own} == {"Bash", NAMELESS, "half?"}
    assert whole("whole ✓") == "whole ✓"


def test_the_rest_of_some_calls_is_found_by_their_places(tmp_path: Path) -> None:
    with reading(made_index(tmp_path)) as database:
        assert database is not None
        assert call_details(database.db, [(2, 0), (1, 0), (1, 99)]) == {
            (1, 0): CallDetails("toolu_1", "main", AT, None, None, "stated", None, False, "", None),
            (2, 0): CallDetails("call_1", "main", AT, None, None, "stated", None, False, "", None),
        }
