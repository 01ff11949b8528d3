"""Processes that live, have ended, are others by now, or stand where we cannot see them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracklog.agents.codex.processes import holder_of, running_codex
from tracklog.sources.process_start import Alive
from tracklog.sources.processes import RunningClient, process_of

ME = os.getpid()
STARTED_MS = int(psutil.Process().create_time() * 1000)
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")


def ticks(pid: int = ME) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]


def our_domain() -> str:
    machine = Path("/etc/machine-id")
    known = machine.read_text().strip() if machine.exists() else "none"
    return f"linux:{known}:{os.readlink('/proc/self/ns/pid')}"


@on_linux
def test_a_process_with_the_noted_start_lives() -> None:
    assert process_of(ME, proc_start=ticks()) == Alive("alive", f"process {ME} lives", ME)


@on_linux
def test_a_pid_with_another_start_is_another_process() -> None:
    later = str(int(ticks()) - 1)
    why = f"process {ME} is another one now: it started later"
    assert process_of(ME, proc_start=later, started_at_ms=STARTED_MS) == Alive("gone", why, ME)


def test_a_client_that_notes_only_when_it_registered_may_have_started_before() -> None:
    assert process_of(ME, started_at_ms=STARTED_MS + 600_000).life == "alive"
    assert process_of(ME, started_at_ms=STARTED_MS - 1_900).life == "alive"
    assert process_of(ME, started_at_ms=STARTED_MS - 2_100).life == "gone"


def test_the_start_as_macos_tells_it_is_understood_in_local_time_and_in_utc() -> None:
    for zone in (None, UTC):
        noted = datetime.fromtimestamp(STARTED_MS / 1000, zone).strftime("%a %b %d %H:%M:%S %Y")
        assert process_of(ME, proc_start=noted).life == "alive"
    assert process_of(ME, proc_start="Thu Sep 10 08:31:58 2020").life == "gone"


def test_a_start_in_words_that_we_do_not_know_leaves_the_registration_to_tell() -> None:
    assert process_of(ME, proc_start="last Thursday", started_at_ms=STARTED_MS).life == "alive"
    assert process_of(ME, proc_start="last Thursday").life == "unknown"


def test_a_process_that_nobody_can_have_is_gone() -> None:
    for pid in (-1, 0x7FFF_FFFF, 1 << 40, 1 << 80):
        assert process_of(pid, started_at_ms=1).life == "gone"


def test_an_ended_process_is_gone_also_while_its_parent_has_not_asked() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as child:
        deadline = time.monotonic() + 20
        while psutil.Process(child.pid).status() != psutil.STATUS_ZOMBIE and time.monotonic() < deadline:
            time.sleep(0.01)
        assert process_of(child.pid, started_at_ms=STARTED_MS + 10_000_000) == Alive(
            "gone", f"process {child.pid} has ended", child.pid
        )
    assert process_of(child.pid, started_at_ms=1).life == "gone"


def test_a_pid_that_is_another_users_by_now_is_not_the_one_that_registered() -> None:
    not_me = os.getuid() + 1
    why = f"process {ME} is another user's now"
    assert process_of(ME, started_at_ms=STARTED_MS, owner=not_me) == Alive("gone", why, ME)


@on_linux
def test_a_process_with_the_noted_start_lives_whoevers_the_file_is() -> None:
    assert process_of(ME, proc_start=ticks(), owner=os.getuid() + 1).life == "alive"


@on_linux
def test_a_pid_of_a_container_or_another_machine_says_nothing_here() -> None:
    inside = our_domain().rpartition("[")[0] + "[1]]"
    elsewhere = f"linux:{'0' * 32}:{os.readlink('/proc/self/ns/pid')}"
    why = f"process {ME} runs in another container or on another machine"
    for domain in (inside, elsewhere, "darwin:some", "linux", ""):
        assert process_of(ME, started_at_ms=STARTED_MS, pid_domain=domain) == Alive("unknown", why, ME)
    assert process_of(ME, started_at_ms=STARTED_MS, pid_domain=our_domain()).life == "alive"


@on_linux
def test_the_same_start_proves_a_process_also_where_its_domain_reads_otherwise() -> None:
    assert process_of(ME, proc_start=ticks(), pid_domain="linux:of-a-later-kind").life == "alive"


@given(
    st.integers(-5, 1 << 70),
    st.none() | st.text(max_size=30) | st.integers(0, 1 << 70).map(str),
    st.none() | st.integers(-5, 1 << 60),
    st.none() | st.text(max_size=30),
)
def test_every_question_has_an_answer(
    pid: int, proc_start: str | None, started_at_ms: int | None, pid_domain: str | None
) -> None:
    alive = process_of(pid, proc_start=proc_start, started_at_ms=started_at_ms, pid_domain=pid_domain)
    assert alive.life in ("alive", "gone", "unknown")


@pytest.fixture
def codex(tmp_path: Path) -> Iterator[tuple[psutil.Process, Path]]:
    """A program named codex that holds a rollout open, as Codex does."""
    rollout = tmp_path / "rollout-2026-11-16T10-14-47-01a1e3da.jsonl"
    program = tmp_path / "codex"
    shutil.copy("/bin/sleep", program)
    with rollout.open("a") as stream, subprocess.Popen([program, "60"], cwd=tmp_path, stdout=stream) as child:
        process = psutil.Process(child.pid)
        deadline = time.monotonic() + 20
        while process.name() != "codex" and time.monotonic() < deadline:
            time.sleep(0.01)  # the fork has not become the program yet
        yield process, rollout
        child.kill()


@on_linux
def test_the_codex_that_has_a_log_open_writes_it(codex: tuple[psutil.Process, Path]) -> None:
    process, rollout = codex
    running = running_codex()
    mine = next(one for one in running if one.pid == process.pid)
    assert mine.cwd == str(rollout.parent.resolve())
    assert mine.logs == frozenset([str(rollout.resolve())])
    assert holder_of(rollout, running) == Alive(
        "alive", f"process {process.pid} has the log open", process.pid, began_ms=mine.started_ms
    )
    assert holder_of(rollout.with_name("rollout-other.jsonl"), [mine]) == Alive(
        "gone", "no process has the log open", is_sure=False
    )


HIDDEN = RunningClient(77, 5_000, "/home/dev/project", None)


@pytest.mark.parametrize(
    ("process", "life"),
    [
        (HIDDEN, "unknown"),
        (HIDDEN._replace(cwd=None), "unknown"),
        (HIDDEN._replace(cwd="/home/dev/other"), "gone"),
        (HIDDEN._replace(started_ms=99_000), "gone"),
        (HIDDEN._replace(logs=frozenset()), "gone"),
    ],
)
def test_a_codex_that_may_not_be_looked_into_could_be_the_one(process: RunningClient, life: str) -> None:
    alive = holder_of(Path("/x/rollout-1.jsonl"), [process], cwd="/home/dev/project", started_at_ms=9_000)
    assert alive.life == life
