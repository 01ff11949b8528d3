from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.views.cli.command import (
    ONE,
    TWO,
    both_agents,
    rollout_in,
    tracklog,
    transcript_in,
    user_line,
    write,
)

DAY_S = 86_400
THEN = datetime(2026, 3, 1, 12, tzinfo=UTC).timestamp()


def indexed_home(home: Path) -> Path:
    """One session of each agent, in the archive."""
    both_agents(home)
    write(transcript_in(home), user_line() * 100)
    os.utime(transcript_in(home), (THEN, THEN))
    assert tracklog("index", home=home).code == 0
    return home


def test_the_status_says_how_much_is_there_and_what_is_saved(tmp_path: Path) -> None:
    indexed_home(tmp_path)
    rollout = rollout_in(tmp_path).stat().st_size
    rollout_in(tmp_path).unlink()
    tracklog("index", home=tmp_path)
    archive = tmp_path / ".local/share/tracklog/archive"
    stored = sum(path.stat().st_size for path in archive.rglob("*.zst"))
    contents = rollout + transcript_in(tmp_path).stat().st_size
    assert tracklog("archive", "--json", home=tmp_path).json == {
        "schema_version": 1,
        "path": str(archive),
        "logs": 2,
        "contents_bytes": contents,
        "stored_bytes": stored,
        "saving": round(1 - stored / contents, 4),
        "only_here": 1,
        "only_here_bytes": rollout,
        "past": 0,
        "recompressed": 2,
        "pruned": 0,
        "oldest_at": "2026-03-01T12:00:00Z",
    }
    shown = tracklog("archive", "--status", home=tmp_path).out
    assert shown.startswith("2 logs, ")
    assert "  1 log only here, " in shown


def test_the_status_is_of_what_is_asked_for(tmp_path: Path) -> None:
    indexed_home(tmp_path)
    assert tracklog("archive", "--json", "--agent", "codex", home=tmp_path).json["logs"] == 1
    assert tracklog("archive", "--json", "--root", tmp_path / ".claude", home=tmp_path).json["logs"] == 1
    assert tracklog("archive", "--json", "--root", tmp_path / "none", home=tmp_path).json["logs"] == 0


def test_without_an_index_there_is_no_archive(tmp_path: Path) -> None:
    answer = tracklog("archive", home=tmp_path)
    assert (answer.code, answer.err) == (1, "tracklog: there is no archive yet: `tracklog index` makes it\n")
    assert tracklog("restore", ONE, home=tmp_path).code == 1


def test_pruning_says_what_it_would_free_and_then_does(tmp_path: Path) -> None:
    indexed_home(tmp_path)
    asked = ("archive", "--prune", "--older-than", "90d", "--json")
    would = tracklog(*asked, "--dry-run", home=tmp_path).json
    assert [one["path"] for one in would["pruned"]] == [str(transcript_in(tmp_path))]
    assert tracklog("archive", "--json", home=tmp_path).json["logs"] == 2
    did = tracklog(*asked, home=tmp_path).json
    assert did == {**would, "dry_run": False}
    assert tracklog("archive", "--json", home=tmp_path).json["logs"] == 1
    assert tracklog("verify", home=tmp_path).code == 0


def test_what_was_pruned_is_archived_again_as_the_pruning_says(tmp_path: Path) -> None:
    indexed_home(tmp_path)
    done = tracklog("archive", "--prune", "--older-than", "3mo", home=tmp_path)
    assert done.out.splitlines()[1:] == [
        "  what stands at its source is archived again when it grows, or by `tracklog index --full`"
    ]
    tracklog("index", home=tmp_path)
    assert tracklog("archive", "--json", home=tmp_path).json["pruned"] == 1
    tracklog("index", "--full", home=tmp_path)
    status = tracklog("archive", "--json", home=tmp_path).json
    assert (status["logs"], status["pruned"]) == (2, 0)
    bytes_before = transcript_in(tmp_path).read_bytes()
    transcript_in(tmp_path).unlink()
    assert tracklog("restore", ONE, home=tmp_path).code == 0
    assert transcript_in(tmp_path).read_bytes() == bytes_before


def test_what_stands_nowhere_else_stays_unless_it_is_forced(tmp_path: Path) -> None:
    indexed_home(tmp_path)
    transcript_in(tmp_path).unlink()
    tracklog("index", home=tmp_path)
    kept = tracklog("archive", "--prune", "--older-than", "12w", "--json", home=tmp_path).json
    assert (kept["pruned"], kept["spared"]) == (
        [],
        [{"path": str(transcript_in(tmp_path)), "why": "only here"}],
    )
    lost = tracklog("archive", "--prune", "--to-size", "0", "--force", home=tmp_path)
    assert (lost.code, lost.out.splitlines()[1:]) == (
        0,
        [
            "  1 log of them were only here",
            "  what stands at its source is archived again when it grows, or by `tracklog index --full`",
        ],
    )
    assert [one["id"] for one in tracklog("sessions", "--json", home=tmp_path).json["sessions"]] == [TWO]


@pytest.mark.parametrize(
    "arguments",
    [
        ("--prune",),
        ("--prune", "--older-than", "soon"),
        ("--prune", "--to-size", "much"),
        ("--older-than", "90d"),
        ("--recompress", "--dry-run"),
        ("--force",),
        ("--status", "--prune", "--older-than", "1d"),
        ("--prune", "--recompress", "--older-than", "1d"),
        ("--status", "--recompress"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    indexed_home(tmp_path)
    answer = tracklog("archive", *arguments, home=tmp_path)
    assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert tracklog("archive", "--json", home=tmp_path).json["logs"] == 2


def test_minutes_are_not_taken_for_months(tmp_path: Path) -> None:
    answer = tracklog("archive", "--prune", "--older-than", "6m", home=tmp_path)
    assert (answer.code, answer.err) == (2, "tracklog: 6m: minutes or months? say 6mo or 180d\n")


def test_an_index_compresses_cold_logs_once_more(tmp_path: Path) -> None:
    both_agents(tmp_path)
    for n in range(8):
        write(transcript_in(tmp_path), b"".join(user_line(f"n {k}", uuid=f"u-{k}") for k in range(n + 1)))
        os.utime(transcript_in(tmp_path), (THEN + n, THEN + n))
        tracklog("index", home=tmp_path)
    assert tracklog("archive", "--json", home=tmp_path).json["recompressed"] == 1
    done = tracklog("archive", "--recompress", "--json", home=tmp_path).json
    assert (done["recompressed"], done["problems"]) == (0, [])
    assert tracklog("verify", home=tmp_path).code == 0


def test_a_deleted_session_is_put_back(tmp_path: Path) -> None:
    indexed_home(tmp_path)
    before = rollout_in(tmp_path).read_bytes(), rollout_in(tmp_path).stat().st_mtime_ns
    rollout_in(tmp_path).unlink()
    would = tracklog("restore", TWO[:8], "--dry-run", "--json", home=tmp_path).json
    assert (would["restored"], rollout_in(tmp_path).exists()) == (False, False)
    answer = tracklog("restore", TWO[:8], home=tmp_path)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.splitlines()[-1].startswith(f"codex resume {TWO}")
    assert (rollout_in(tmp_path).read_bytes(), rollout_in(tmp_path).stat().st_mtime_ns) == before
    assert tracklog("restore", TWO, home=tmp_path).code == 1
    assert tracklog("archive", "--json", home=tmp_path).json["only_here"] == 0


def test_an_old_session_of_claude_code_is_put_back_as_new_and_that_is_said(tmp_path: Path) -> None:
    indexed_home(tmp_path)
    transcript_in(tmp_path).unlink()
    answer = tracklog("restore", ONE, home=tmp_path)
    assert (answer.code, answer.err.count("\n")) == (0, 1)
    assert "their time is now" in answer.err
    assert transcript_in(tmp_path).stat().st_mtime > THEN + DAY_S


def test_a_session_is_put_elsewhere_with_its_time(tmp_path: Path) -> None:
    indexed_home(tmp_path)
    transcript_in(tmp_path).unlink()
    answer = tracklog("restore", ONE, "--to", tmp_path / "to", "--json", home=tmp_path)
    made = tmp_path / "to/projects/-home-dev-project" / f"{ONE}.jsonl"
    assert answer.json == {
        "schema_version": 1,
        "session": ONE,
        "agent": "claude",
        "restored": True,
        "files": [
            {
                "path": str(made),
                "kind": "transcript",
                "bytes": len(user_line() * 100),
                "modified_at": "2026-03-01T12:00:00Z",
            }
        ],
    }
    assert (made.read_bytes(), transcript_in(tmp_path).exists()) == (user_line() * 100, False)
    again = tracklog("restore", ONE, "--to", tmp_path / "to", home=tmp_path)
    assert (again.code, "exists already" in again.err) == (2, True)


def test_a_file_that_came_to_stand_there_is_left_alone(tmp_path: Path) -> None:
    indexed_home(tmp_path)
    transcript_in(tmp_path).unlink()
    tracklog("index", home=tmp_path)
    write(transcript_in(tmp_path), b"somebody's notes\n")
    answer = tracklog("restore", ONE, home=tmp_path)
    assert (answer.code in (1, 2), transcript_in(tmp_path).read_bytes()) == (True, b"somebody's notes\n")


def test_a_session_that_nobody_knows_is_not_there(tmp_path: Path) -> None:
    indexed_home(tmp_path)
    assert tracklog("restore", "ffffffff", home=tmp_path).code == 1
