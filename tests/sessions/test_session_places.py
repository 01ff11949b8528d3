from __future__ import annotations

from pathlib import Path

from tests.store.made_index import made_index, put
from tracklog.sessions.tables_session import LogLine, places_of_asides, places_of_errors, places_of_prompts
from tracklog.store.database import writing
from tracklog.store.text import call_key, put_texts, worded
from tracklog.store.values import SearchableText


def test_the_lines_of_prompts_are_told_for_each_session(tmp_path: Path) -> None:
    with writing(made_index(tmp_path)) as database:
        for n, place in ((1, {"file": 1, "line": 9}), (2, {"file": None, "line": None})):
            put(database.db, "prompt_rows", session_row=1, thread="main", turn=1, n=n, text="more", **place)
        assert set(places_of_prompts(database.db, 1)) == {LogLine(1, 1), LogLine(1, 9)}
        assert places_of_prompts(database.db, 2) == []


def test_calls_that_failed_were_late_or_were_lost_are_errors(tmp_path: Path) -> None:
    verdicts = ("ok", "timed_out", "lost", "denied", "interrupted", "running")
    with writing(made_index(tmp_path)) as database:
        for n, verdict in enumerate(verdicts, 10):
            call = {"call": f"t{n}", "call_key": call_key(f"t{n}"), "name": "Bash", "sureness": "stated"}
            put(
                database.db,
                "call_rows",
                session_row=1,
                n=n,
                thread="main",
                verdict=verdict,
                file=1,
                line=n,
                **call,
            )
        not_understood = LogLine(1, 4)
        assert set(places_of_errors(database.db, 1)) == {
            LogLine(1, 3),
            not_understood,
            LogLine(1, 11),
            LogLine(1, 12),
        }
        assert places_of_errors(database.db, 2) == []


def test_answers_that_are_errors_and_background_work_that_failed_are_errors(tmp_path: Path) -> None:
    with writing(made_index(tmp_path)) as database:
        asked = {"session_row": 2, "thread": "main", "file": 2}
        put(database.db, "request_rows", n=1, request="r1", error="overloaded", first_line=7, **asked)
        put(database.db, "request_rows", n=2, request="r2", first_line=8, **asked)
        for n, outcome in enumerate(("ok", "error", "killed", "running"), 20):
            call = {"call": f"t{n}", "call_key": call_key(f"t{n}"), "name": "Bash", "sureness": "stated"}
            put(
                database.db,
                "call_rows",
                n=n,
                verdict="backgrounded",
                outcome=outcome,
                line=n,
                **call,
                **asked,
            )
        assert set(places_of_errors(database.db, 2)) == {LogLine(2, 7), LogLine(2, 21), LogLine(2, 22)}


def test_what_is_said_beside_the_talk_is_told_for_some_logs(tmp_path: Path) -> None:
    with writing(made_index(tmp_path)) as database:
        texts = [
            SearchableText(line, 9 * line, 0, role, None, None, None, "hi")
            for line, role in ((5, 6), (6, 1), (5, 6))
        ]
        put_texts(database.db, [(1, worded(text)) for text in texts])
        assert places_of_asides(database.db, [1]) == [LogLine(1, 5)]
        assert places_of_asides(database.db, [2]) == []
