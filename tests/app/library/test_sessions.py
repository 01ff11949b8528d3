"""Sessions and calls for callers in Python: the same as the commands give."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

import tracklog
from tests.views.cli.command import tracklog as command
from tracklog.sources.folders import noted_folders

TALLY = "12812c74"  # the session in which tally.py is mended


def shown(demo: Path, *arguments: str) -> Any:
    """The document that a command prints about the sample home."""
    roots = ("--root", demo / "claude", "--root", demo / "codex")
    return command(*arguments, "--json", *roots, home=demo.parent).json


def test_requests_have_the_figures_that_show_prints(demo: Path) -> None:
    for session in tracklog.sessions():
        rows = [row for turn in shown(demo, "show", session.id)["turns"] for row in turn["requests"]]
        told = {
            row["id"]: (row["tokens"]["output_tokens"], row["certainty"], row["cost_micro_usd"], row["cost_is_lower_bound"])
            for row in rows
        }  # fmt: skip
        ours = {
            one.id: (one.tokens.output, one.certainty, one.cost_micro_usd, one.cost_is_lower_bound)
            for one in session.main.requests
            if one.tokens is not None and not one.is_synthetic
        }
        assert ours == told != {}


@pytest.mark.usefixtures("demo")
def test_a_session_is_read_by_path_id_start_of_an_id_and_last() -> None:
    newest = tracklog.read("@last")
    assert newest.id == next(tracklog.sessions()).id
    ways = [
        tracklog.read(newest.paths[0]),
        tracklog.read(Path(newest.paths[0])),
        tracklog.read(newest.id),
        tracklog.read(newest.id[:13]),
    ]
    assert [(one.id, one.requests) for one in ways] == [(newest.id, newest.requests)] * 4  # fmt: skip


@pytest.mark.usefixtures("demo")
def test_what_names_no_session_is_an_error() -> None:
    for name in ("absent.jsonl", "", os.sep):
        with pytest.raises(tracklog.UserError):
            tracklog.read(name)
    with pytest.raises(tracklog.NotThere, match="no session ffffffff"):
        tracklog.read("ffffffff")
    with pytest.raises(tracklog.NotThere, match="no session ffff"):
        tracklog.read("f" * 5000)  # longer than the name of any file


def test_sessions_are_those_of_the_command_the_last_changed_first(demo: Path) -> None:
    log = next((demo / "claude").rglob(f"{TALLY}*.jsonl"))
    os.utime(log)
    found = [session.id for session in tracklog.sessions()]
    assert sorted(found) == sorted(row["id"] for row in shown(demo, "sessions")["sessions"])
    assert found[0] == log.stem


def test_sessions_fit_the_filters(demo: Path) -> None:
    assert {session.agent for session in tracklog.sessions(agent="codex")} == {"codex"}
    assert list(tracklog.sessions(since="2030-01-01")) == []
    assert [one.id[:8] for one in tracklog.sessions(roots=demo / "claude", model="haiku")] == ["6fb7a297"]


@pytest.mark.usefixtures("demo")
def test_the_folders_are_looked_at_once_for_all_sessions() -> None:
    with noted_folders() as noted:
        each = tracklog.sessions()
    with noted_folders() as noted_later:
        found = list(each)
    logs = [folder for folder in noted_later if "projects" in folder or "codex" in folder]
    assert (len(found), bool(noted), logs) == (6, True, [])


def test_a_session_that_only_the_archive_has_is_there(demo: Path) -> None:
    n_calls = len(tracklog.read(TALLY).calls)
    assert tracklog.sql("select count(*) from sessions").rows == [
        (6,)
    ]  # makes the index, and with it the archive
    logs = list((demo / "claude").rglob(f"{TALLY}*"))
    for log in logs:
        shutil.rmtree(log) if log.is_dir() else log.unlink()
    assert len(list(tracklog.sessions())) == 6
    assert len(tracklog.read(TALLY).calls) == n_calls
    assert [len(tracklog.read(log).calls) for log in logs if log.suffix == ".jsonl"] == [n_calls]


def test_calls_are_those_of_the_command_and_have_their_results(demo: Path) -> None:
    told = [row["id"] for row in shown(demo, "calls", "--verdict", "error")["calls"]]
    found = list(tracklog.calls(verdicts="error"))
    assert [call.id for call in found] == told
    assert all(call.result is not None for call in found)
    assert [call.name for call in tracklog.calls(TALLY, tools=["Edit", "Write"], limit=2)] == ["Edit", "Edit"]
    slowest = next(tracklog.calls(slowest_first=True))
    assert slowest.took_ms == max(call.took_ms or 0 for call in tracklog.calls())


def test_a_log_that_cannot_be_read_is_told_of(demo: Path) -> None:
    bad = demo / "claude/projects/-home-dev-project/ffffffff-aaaa-4aaa-8aaa-111111111111.jsonl.zst"
    bad.write_bytes(b"no frame")
    told: list[str] = []
    assert len(list(tracklog.sessions(on_message=told.append))) == 6
    assert [bad.name in line for line in told] == [True]
