"""A log that was away while its copy in the archive was damaged counted for less, in some commands for good.

The user moved a log away; part of its file in the archive was gone, or all of it. `sessions` and `calls` were put
together again from what was left, `usage` counted as before: two sums. `index --full` then kept "what could be read
of the copy" as what the log says; the log came back, and `usage` stayed low until `usage tool` happened to read it
again. A copy that ended early without damage passed as the whole log, and `index --full` of an unreadable log left
such a copy.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.views.cli.command import tracklog, transcript_in, with_old_folders
from tests.views.cli.written import Log, working_day

Sums = tuple[int, int, int, int, int]


def sums(home: Path, *words: str, is_mighty: bool = True) -> Sums:
    """Requests and cost as `usage` counts them, sessions and requests as they are listed, and calls."""

    def told(*command: str) -> Any:
        return tracklog(*command, *words, "--json", home=home, is_mighty=is_mighty).json

    total, sessions, calls = told("usage")["total"], told("sessions")["sessions"], told("calls")["calls"]
    requests = sum(one["requests"] for one in sessions)
    return total["requests"], total["cost_micro_usd"], len(sessions), requests, len(calls)


def copy_in_archive(home: Path) -> Path:
    (copy,) = (home / ".local/share/tracklog/archive/logs").rglob(f"{transcript_in(home).name}*.zst")
    return copy


@pytest.fixture
def home(tmp_path: Path) -> Path:
    working_day().write_in(tmp_path)
    with_old_folders(tmp_path)
    assert tracklog("index", home=tmp_path).code == 0
    return tmp_path


def cut(copy: Path) -> None:
    copy.write_bytes(copy.read_bytes()[: copy.stat().st_size * 2 // 3])


@pytest.mark.parametrize("damage", [cut, Path.unlink])
def test_what_is_away_counts_as_before_in_every_command(home: Path, damage: Any) -> None:
    before = sums(home)
    damage(copy_in_archive(home))
    away = transcript_in(home).rename(home / "away.jsonl")
    assert sums(home) == before
    assert sums(home, "--no-sync") == before
    away.rename(transcript_in(home))
    assert sums(home) == before


def test_a_full_index_does_not_keep_the_rest_of_a_copy_as_the_log(home: Path) -> None:
    before = sums(home)
    cut(copy_in_archive(home))
    away = transcript_in(home).rename(home / "away.jsonl")
    for _ in range(2):
        tracklog("index", "--full", home=home)
        assert sums(home) == before
    away.rename(transcript_in(home))
    assert sums(home) == before


def test_a_session_that_is_only_a_subagent_keeps_its_name_and_its_money(tmp_path: Path) -> None:
    lines = Log(isSidechain=True, agentId="a1").prompt("Look. " * 500).answer("msg_a1", "Nothing.")
    log = lines.write(transcript_in(tmp_path).with_name("agent-a1.jsonl"))
    with_old_folders(tmp_path)
    tracklog("index", home=tmp_path)
    before = sums(tmp_path)
    (copy,) = (tmp_path / ".local/share/tracklog/archive/logs").rglob("agent-a1.jsonl*.zst")
    cut(copy)
    away = log.rename(tmp_path / "away.jsonl")
    assert tracklog("index", "--full", home=tmp_path).err == ""
    assert sums(tmp_path) == before
    away.rename(log)
    assert sums(tmp_path) == before


def test_a_log_whose_session_is_known_later_is_counted_then(home: Path) -> None:
    before = sums(home)
    with closing(sqlite3.connect(home / ".local/share/tracklog/index.db")) as db:
        db.execute("update ledger_logs set is_counted = 0, session = ''")
        for table in ("blocks", "entry_rows", "sum_rows", "block_keys"):
            db.execute(f"delete from {table}")
        db.commit()
    assert sums(home) == before


def test_what_was_counted_from_the_rest_of_a_copy_is_counted_again_when_the_log_is_back(home: Path) -> None:
    before = sums(home)
    away = transcript_in(home).rename(home / "away.jsonl")
    tracklog("index", home=home)
    cut(copy_in_archive(home))
    (home / ".local/share/tracklog/index.db").unlink()
    tracklog("rebuild", home=home)
    assert sums(home)[0] < before[0]
    away.rename(transcript_in(home))
    assert sums(home) == before


def test_an_unreadable_log_does_not_empty_its_session_with_a_full_index(home: Path) -> None:
    before = sums(home)
    copy_in_archive(home).unlink()
    transcript_in(home).chmod(0)
    tracklog("index", "--full", home=home, is_mighty=False)
    assert sums(home, is_mighty=False) == before
    transcript_in(home).chmod(0o600)
    assert sums(home) == before
