"""Runs whose results nobody wrote down: which they are, and what they have cost."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.run.fake_client import COST_MICRO_USD, install
from tracklog.errors import UserError
from tracklog.home import Home
from tracklog.live.run_entries import Ended, RunEntry, Started
from tracklog.live.run_register import runs, start_mark
from tracklog.run import RunRequest, start
from tracklog.run.batch.results_file import cut_off, left_behind
from tracklog.run.launch import prices_of
from tracklog.run.process.private_dir import make_private, note_process
from tracklog.run.process.supervise import MARK, await_end

RUN = "0123456789abcdef"


def run(id: str, batch: str | None, ended_by: str | None = None) -> RunEntry:
    ended = Ended(run=id, ended_by=ended_by, cost_micro_usd=7) if ended_by is not None else None
    return RunEntry(Started(run=id, agent="claude", session="s", batch=batch), ended=ended)


def test_only_runs_of_this_list_that_are_not_written_down_are_left_behind() -> None:
    one, two = run("1", "b:x"), run("2", "b:x", "completed")
    known = [one, run("3", None), run("4", "c:x"), run("5", "b:y"), two, run("6", "bb:x")]
    assert left_behind(known, "b", {"5"}) == {"b:x": [one, two]}


@pytest.mark.parametrize(
    ("said", "told"),
    [(None, "killed"), ("completed", "killed"), ("cancelled", "cancelled"), ("crashed", "crashed")],
)
def test_a_run_without_an_answer_is_none_whatever_the_register_says(
    tmp_path: Path, said: str | None, told: str
) -> None:
    request = RunRequest(agent="claude", prompt="p", cwd=tmp_path)
    env = {"HOME": str(tmp_path)}
    assert cut_off(run("1", "b:x", said), request, env=env, prices=prices_of(Home(tmp_path))).document == {
        "run": "1",
        "ended_by": told,
        "error": "tracklog was ended before it was",
        "session_id": "s",
        "cost_micro_usd": None if said is None else 7,
        "unpriced_requests": 0,
    }


def test_what_a_run_that_was_cut_off_has_cost_is_counted_from_its_log(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    env = {"PATH": os.defpath, "HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": str(tmp_path / ".claude")}
    request = RunRequest(
        agent="claude", prompt="spend 3 die late", cwd=tmp_path, client=str(install(tmp_path / "bin"))
    )
    start(request, home=home, env=env).result()
    (known,) = runs(home)
    unheard = RunEntry(known.started)  # as if we had been killed before we could say how it ended
    found = cut_off(unheard, request, env=env, prices=prices_of(home))
    assert (found.ended_by, found.cost_micro_usd, found.session) == (
        "killed",
        3 * COST_MICRO_USD,
        known.session,
    )


def test_a_run_of_a_list_is_in_the_register_before_its_client_runs(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    program = tmp_path / "claude"
    program.write_text(f"#!/bin/sh\ncat {home.runs}/runs.jsonl > {tmp_path}/seen\n")
    program.chmod(0o700)
    env = {"PATH": os.defpath, "HOME": str(tmp_path)}
    child = start(
        RunRequest(agent="claude", prompt="p", cwd=tmp_path, client=str(program), batch="b:x"),
        home=home,
        env=env,
    )
    child.result()
    assert child.run in (tmp_path / "seen").read_text()
    assert [(one.id, one.ended_by) for one in runs(home)] == [(child.run, "crashed")]


def test_a_run_of_a_list_that_cannot_be_started_is_over_in_the_register(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    request = RunRequest(agent="claude", prompt="p", cwd=tmp_path, client=str(tmp_path / "none"), batch="b:x")
    with pytest.raises(UserError, match="no program"):
        start(request, home=home, env={"PATH": os.defpath, "HOME": str(tmp_path)})
    assert [one.ended_by for one in runs(home)] == ["crashed"]


def test_a_run_is_looked_at_only_when_its_supervisor_has_ended_it(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    folder = make_private(home, RUN).path
    (folder / "keeper").unlink()
    with subprocess.Popen(["sleep", "0.5"]) as supervisor:
        note_process(folder, supervisor.pid)
        await_end(RunEntry(Started(run=RUN, agent="claude", pid=gone_pid(), pid_start="1")), home)
        assert supervisor.poll() == 0


def test_what_goes_on_when_its_supervisor_was_killed_as_well_is_ended(tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "60"], env={MARK: RUN, "PATH": os.defpath}) as client:
        await_end(RunEntry(Started(run=RUN, agent="claude", pid=gone_pid(), pid_start="1")), Home(tmp_path))
        assert client.wait(60) == -signal.SIGKILL


def test_a_run_whose_tracklog_lives_is_left_alone(tmp_path: Path) -> None:
    living = RunEntry(Started(run=RUN, agent="claude", pid=os.getpid(), pid_start=start_mark(os.getpid())))
    with subprocess.Popen(["sleep", "60"], env={MARK: RUN, "PATH": os.defpath}) as client:
        await_end(living, Home(tmp_path))
        assert client.poll() is None
        client.kill()


def gone_pid() -> int:
    with subprocess.Popen(["true"]) as process:
        return process.pid
