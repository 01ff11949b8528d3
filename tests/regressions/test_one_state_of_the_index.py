"""Commands answered from different states of the index, and the server said `fresh` when it was behind.

A log grew, `tracklog index` read it, and `sessions --no-sync` listed 19 requests while `usage --no-sync` counted 64: rows
of sessions were put together only by a command that also looks for new logs, the ledger by any. In the HTTP API
`sessions` and `usage` disagreed in the same way, and both could be up to a minute old while `/api/v1/index` said
`fresh, behind_ms 0`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.views.cli.command import tracklog, with_old_folders
from tests.views.cli.written import Log, tool, working_day
from tests.views.web.served import Served, served, until


@pytest.fixture
def log(tmp_path: Path) -> Log:
    """A log that the index and the ledger know."""
    log = working_day()
    log.write_in(tmp_path)
    with_old_folders(tmp_path)
    tracklog("index", home=tmp_path)
    assert requests(tmp_path) == (3, 3, 3)
    return log


def requests(home: Path, *words: str) -> tuple[int, int, int]:
    """How many requests each of three commands knows."""
    rows = tracklog("sessions", *words, "--json", home=home).json["sessions"]
    total = tracklog("usage", *words, "--json", home=home).json["total"]
    sql = tracklog("sql", *words, "--json", "select count(*) as n from ledger", home=home)
    return rows[0]["requests"], total["requests"], sql.json["rows"][0][0]


def grow(log: Log, home: Path, id: str) -> None:
    log.answer(id, tool(f"toolu_{id}", "Bash", command="ls"), stop="tool_use").write_in(home)


def test_without_a_sync_all_commands_know_what_the_index_has_read(log: Log, tmp_path: Path) -> None:
    grow(log, tmp_path, "msg_8")
    assert requests(tmp_path, "--no-sync") == (3, 3, 3)
    tracklog("index", home=tmp_path)
    grow(log, tmp_path, "msg_9")
    assert requests(tmp_path, "--no-sync") == (4, 4, 4)
    assert len(tracklog("calls", "--no-sync", "--json", home=tmp_path).json["calls"]) == 3
    assert tracklog("usage", "tool", "--no-sync", "--json", home=tmp_path).json["total"]["requests"] == 4
    assert requests(tmp_path) == (5, 5, 5)


def test_the_api_answers_from_logs_as_they_are(log: Log, tmp_path: Path) -> None:
    with served(tmp_path, "--no-open", makes_logs=False) as server:
        until(lambda: server.json("/api/v1/index")["status"]["state"] == "fresh")
        for n in range(4, 8):
            grow(log, tmp_path, f"msg_{n}")
            assert asked(server) == (n, n)
            status = server.json("/api/v1/index")["status"]
            assert (status["state"], status["behind_ms"]) == ("fresh", 0)


def asked(server: Served) -> tuple[int, int]:
    rows = server.json("/api/v1/sessions")["sessions"]
    return rows[0]["requests"], server.json("/api/v1/usage")["total"]["requests"]
