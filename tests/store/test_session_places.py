from __future__ import annotations

from pathlib import Path

from tests.store.made_index import made_index, put
from tracklog.store.database import writing
from tracklog.store.keys import call_key
from tracklog.store.session_places import LogLine, places_of_errors, places_of_prompts


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
        assert set(places_of_errors(database.db, 1)) == {LogLine(1, 3), LogLine(1, 11), LogLine(1, 12)}
        assert places_of_errors(database.db, 2) == []
