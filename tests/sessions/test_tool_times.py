from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.store.made_index import put
from tracklog.home import Home
from tracklog.sessions.tables_calls import usual_times
from tracklog.store.database import writing


def usual(folder: Path, calls: Sequence[tuple[str, float | None, str]]) -> dict[str, float]:
    with writing(Home(folder)) as database:
        with database.transaction() as db:
            for n, (name, took_ms, verdict) in enumerate(calls):
                put(
                    db,
                    "call_rows",
                    session_row=1,
                    n=n,
                    call=f"c{n}",
                    call_key=n,
                    thread="main",
                    name=name,
                    verdict=verdict,
                    sureness="stated",
                    took_ms=took_ms,
                    is_inherited=0,
                )
        return usual_times(database.db)


def test_nineteen_in_twenty_calls_are_usual(tmp_path: Path) -> None:
    calls = [("Bash", float(n), "ok") for n in range(1, 101)] + [("Read", 7.0, "ok")] * 20
    assert usual(tmp_path, calls) == {"Bash": 95.0, "Read": 7.0}


def test_few_calls_failures_and_unknown_times_make_nothing_usual(tmp_path: Path) -> None:
    calls = [("Few", 1.0, "ok")] * 19 + [("Bad", 1.0, "error")] * 50 + [("Untimed", None, "ok")] * 50
    assert usual(tmp_path, calls) == {}
