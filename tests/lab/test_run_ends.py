"""However a run ends, its result says so, all of it is gone, and what it spent is accounted for: with real clients.

The child's tool has started a process that left the group, the session and its parent; the scripted API's log is the truth about
money.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.lab.run_child import Place, place_for, wait_until
from tests.lab.run_stories import BYPASS, CODEX_LONG, DEAR, LONG, SHORT, STUCK, WORKED, Story
from tests.lab.words import Json
from tracklog.errors import UserError
from tracklog.home import Home as OurHome
from tracklog.live.run_register import runs
from tracklog.run import Child, Limits

pytestmark = pytest.mark.lab
BOTH = pytest.mark.parametrize("told", [LONG, CODEX_LONG], ids=lambda one: one.name)
AT_ONCE = ("--permission-mode", "bypassPermissions", "--json")
WAIT_S = 60.0
LIMITS_S = (4, 12, 40)


@dataclass(frozen=True)
class End:
    """How a command ended: its exit code, its result, what it said."""

    code: int
    document: Json
    err: str


def told_to(told: Story) -> tuple[str, ...]:
    """The command that plays a story."""
    return ("run", "please work", "--agent", told.agent, *AT_ONCE)


def end_of(process: subprocess.Popen[bytes]) -> End:
    """Waits for the command's end."""
    out, err = process.communicate(timeout=WAIT_S)
    assert out.startswith(b"{"), err.decode()
    return End(process.returncode, json.loads(out), err.decode())


def accounted(place: Place, document: Json) -> None:
    """What the API charged lies within our bounds, and nothing of the run is left."""
    low, high = document["bounds"]["cost_micro_usd"]
    assert low - 0.5 <= place.charged_micro_usd() <= high + 0.5
    assert document["cost_micro_usd"] == low
    assert place.charged_micro_usd() > 0
    assert (place.processes(), place.leftovers()) == ([], [])
    assert Path(document["transcript_path"]).is_file()
    assert [word["what"] for word in place.register() if word["what"] != "named"] == ["started", "ended"]


def supervisor_of(child: Child) -> psutil.Process:
    """The process between us and the client."""
    assert child.pid is not None
    supervisor = psutil.Process(child.pid).parent()
    assert supervisor is not None
    assert supervisor.pid != os.getpid()
    return supervisor


def ended_by_a_limit(told: Story, root: Path, *, option: str, says: str) -> None:
    """Play with longer and longer limits, until one strikes while the client is at work: its start may take long."""
    for limit_s in LIMITS_S:
        with place_for(told, root / f"{limit_s}") as place:
            end = end_of(place.command(*told_to(told), option, f"{limit_s}s"))
            assert (end.code, end.document["ended_by"]) == (124, "timeout")
            assert end.err == f"tracklog: timeout: {says.format(limit_s)}\n"
            assert (place.processes(), place.leftovers()) == ([], [])
            if place.is_at_work():
                accounted(place, end.document)
                return
    raise AssertionError(f"not at work after {LIMITS_S[-1]} s")


@BOTH
def test_at_its_time_limit_it_is_ended(told: Story, tmp_path: Path) -> None:
    ended_by_a_limit(told, tmp_path, option="--timeout", says="not done after {} s")


def test_without_a_sign_of_life_it_is_ended(tmp_path: Path) -> None:
    ended_by_a_limit(LONG, tmp_path, option="--idle-timeout", says="no sign of life for {} s")


@pytest.mark.parametrize("end", ["timeout", "cancelled", "killed", "crashed"])
def test_an_answer_that_came_before_a_stop_hook_hangs_is_not_lost(end: str, tmp_path: Path) -> None:
    """A hook that hangs leaves the client without a result of its own, or with an empty one."""
    for limit_s in LIMITS_S if end == "timeout" else (None,):
        with place_for(STUCK, tmp_path / f"{limit_s}") as place:
            child = place.start(**BYPASS, is_trusted=True, limits=Limits(idle_s=limit_s))
            hung = place.home.cwd / "hung"
            if end != "timeout":
                wait_until(hung.exists, "the hook was not run")
                wait_until(lambda: _has_answer(place), "the answer was not logged")
                supervisor = supervisor_of(child)
                {
                    "cancelled": child.cancel,
                    "killed": psutil.Process(child.pid).kill,
                    "crashed": supervisor.kill,
                }[end]()
            document = child.result().document
            # Without its supervisor the client is told to terminate, and may still write the result that it had.
            assert document["ended_by"] in ({end, "completed"} if end == "crashed" else {end})
            if hung.exists():
                break
    assert document["result"] == STUCK.text
    assert document["sources"]["result"] in ("stop_payload", "log", "stream")
    assert (place.processes(), place.leftovers()) == ([], [])


def _has_answer(place: Place) -> bool:
    return any(b"The answer is 42." in log.read_bytes() for log in place.logs())


def test_when_it_costs_too_much_it_is_ended_and_what_subagents_spend_counts(tmp_path: Path) -> None:
    with place_for(DEAR, tmp_path) as place:
        end = end_of(place.command(*told_to(DEAR), "--max-cost", "0.03"))
        assert (end.code, end.document["ended_by"]) == (124, "budget")
        threads = [exchange.thread for exchange in place.api.exchanges]
        assert threads[:3] == ["main", "scout", "scout"]
        assert len(threads) <= 5
        assert end.document["cost_micro_usd"] > 30_000
        accounted(place, end.document)


def test_a_model_without_a_price_is_refused_where_a_cost_limit_is_asked_for(tmp_path: Path) -> None:
    with place_for(SHORT, tmp_path) as place:
        process = place.command("run", "please work", "--model", "nobody-knows-1", "--max-cost", "1")
        out, err = process.communicate(timeout=WAIT_S)
        assert (process.returncode, out) == (2, b"")
        assert err.startswith(b"tracklog: nobody-knows-1 has no price")
        assert place.api.exchanges == []


@pytest.mark.parametrize(
    ("told", "number"),
    [(LONG, signal.SIGINT), (LONG, signal.SIGTERM), (CODEX_LONG, signal.SIGINT)],
    ids=lambda one: one.name,
)
def test_a_signal_to_tracklog_ends_the_child_first(
    told: Story, number: signal.Signals, tmp_path: Path
) -> None:
    with place_for(told, tmp_path) as place:
        process = place.command(*told_to(told))
        place.at_work()
        process.send_signal(number)
        end = end_of(process)
        assert (end.code, end.document["ended_by"], end.document["error"]) == (
            130,
            "cancelled",
            "interrupted",
        )
        accounted(place, end.document)


@BOTH
def test_a_cancelled_child_is_over_and_says_what_it_had_done(told: Story, tmp_path: Path) -> None:
    with place_for(told, tmp_path) as place:
        child = place.start(**BYPASS)
        place.at_work()
        child.cancel()
        result = child.result()
        assert (result.ended_by, result.code) == ("cancelled", 130)
        assert result.document["calls"] == {"interrupted": 1}
        accounted(place, result.document)


@BOTH
@pytest.mark.parametrize("whom", ["client", "keeper"])
def test_a_killed_client_or_supervisor_takes_all_of_the_run_with_it(
    told: Story, whom: str, tmp_path: Path
) -> None:
    with place_for(told, tmp_path) as place:
        child = place.start(**BYPASS)
        place.at_work()
        supervisor = supervisor_of(child)
        (psutil.Process(child.pid) if whom == "client" else supervisor).kill()
        result = child.result()
        expected = ("killed", -signal.SIGKILL) if whom == "client" else ("crashed", None)
        assert (result.ended_by, result.document["exit_code"]) == expected
        assert result.code == 1
        assert result.document["calls"] == {"lost": 1}
        accounted(place, result.document)


@BOTH
def test_when_tracklog_itself_is_killed_all_of_the_run_ends_and_the_log_tells_what_it_cost(
    told: Story, tmp_path: Path
) -> None:
    with place_for(told, tmp_path) as place:
        process = place.command(*told_to(told))
        place.at_work()
        process.kill()
        process.communicate(timeout=WAIT_S)
        place.becomes_clean()
        (run,) = runs(OurHome(place.ours))
        assert run.ended is None
        assert run.session is not None
        usage = place.answer("usage", "session", "--json")
        (row,) = [one for one in usage["rows"] if one["key"] == run.session]
        assert row["cost_micro_usd"] == pytest.approx(place.charged_micro_usd(), abs=0.5)


@BOTH
def test_when_tracklog_and_its_supervisor_are_killed_at_once_the_client_ends_and_the_next_run_removes_the_rest(
    told: Story, tmp_path: Path
) -> None:
    with place_for(told, tmp_path) as place:
        process = place.command(*told_to(told))
        place.at_work()
        (supervisor,) = place.supervisors()
        ours = psutil.Process(process.pid)
        for one in (ours, supervisor):
            one.suspend()
        for one in (ours, supervisor):
            one.kill()
        process.communicate(timeout=WAIT_S)
        wait_until(
            lambda: not any(place.agent in one.name() for one in place.processes()), "the client lives"
        )
        assert place.start("say it", **BYPASS).result().ended_by == "completed"
        assert (place.processes(), place.leftovers()) == ([], [])


@BOTH
def test_a_session_that_is_at_work_is_not_resumed_beside_it(told: Story, tmp_path: Path) -> None:
    with place_for(told, tmp_path) as place, place.start(**BYPASS) as child:
        place.at_work()
        before = [log.stat().st_size for log in place.logs()]
        with pytest.raises(UserError, match=f"{child.session} is open in process "):
            place.start("go on", resume=child.session, **BYPASS)
        process = place.command("resume", str(child.session), "go on")
        _, err = process.communicate(timeout=WAIT_S)
        assert process.returncode == 2
        assert f"{child.session} is open in process ".encode() in err
        assert [log.stat().st_size for log in place.logs()] == before


def _without_fifo(place: Place) -> None:
    (fifo,) = (place.ours / "runs" / "now").rglob("stop.fifo")
    fifo.unlink()


def _without_folder(place: Place) -> None:
    (folder,) = (place.ours / "runs" / "now").iterdir()
    shutil.rmtree(folder)


@pytest.mark.parametrize("lose", [_without_fifo, _without_folder], ids=lambda lose: lose.__name__[1:])
def test_a_run_whose_pipe_is_deleted_ends_as_ever(lose: Callable[[Place], None], tmp_path: Path) -> None:
    with place_for(WORKED, tmp_path) as place:
        child = place.start(**BYPASS)
        next(one for one in child.events() if one.source == "stream")  # by then it has read its settings
        lose(place)
        result = child.result()
        assert (result.ended_by, result.text) == ("completed", WORKED.text)
        accounted(place, result.document)


def test_a_home_that_cannot_be_made_costs_the_hooks_and_the_register_but_not_the_run(tmp_path: Path) -> None:
    with place_for(WORKED, tmp_path) as place:
        place.ours.write_text("a file stands where our home should be")
        end = end_of(place.command(*told_to(WORKED)))
        ended_without_room(place, end)


@contextmanager
def a_full_disk(folder: Path, *, kilobytes: int = 0) -> Iterator[None]:
    """A small file system with only so much room left."""
    folder.mkdir(mode=0o700)
    size = f"size={16 + kilobytes}k,mode=700"
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", size, "tmpfs", folder], capture_output=True, text=True
    )
    if mounted.returncode:
        pytest.skip(f"nothing can be mounted here: {mounted.stderr.strip()}")
    try:
        (folder / "all").write_bytes(b"x" * 16_384)
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def test_a_full_disk_costs_the_hooks_and_the_register_but_not_the_run(tmp_path: Path) -> None:
    with place_for(WORKED, tmp_path) as place, a_full_disk(place.ours):
        end = end_of(place.command(*told_to(WORKED)))
        ended_without_room(place, end)
        assert place.leftovers() == []


def test_a_full_disk_under_the_clients_log_is_said_and_the_cost_is_not_lost(tmp_path: Path) -> None:
    with place_for(WORKED, tmp_path) as place, a_full_disk(place.home.claude / "projects", kilobytes=32):
        document = place.start(**BYPASS).result().document
        assert (document["ended_by"], document["result"]) == ("completed", WORKED.text)
        low, high = document["bounds"]["cost_micro_usd"]
        assert low - 0.5 <= place.charged_micro_usd() <= high + 0.5
        assert any("log" in problem for problem in document["problems"])


def ended_without_room(place: Place, end: End) -> None:
    """It ended well, and said what it could not write."""
    document = end.document
    assert (end.code, document["ended_by"], document["result"]) == (0, "completed", WORKED.text)
    assert document["cost_micro_usd"] == pytest.approx(place.charged_micro_usd(), abs=0.5)
    problems: list[Any] = document["problems"]
    said = [problem.split(":")[0] for problem in problems]
    assert [one for one in said if not one.startswith("cannot read the prices")] == [
        "no hooks for this run",
        "the register of runs was not written",
    ]
    assert end.err.splitlines() == [f"tracklog: {problem}" for problem in problems]
    assert place.processes() == []


def test_a_child_left_as_a_context_is_cancelled(tmp_path: Path) -> None:
    with place_for(LONG, tmp_path) as place:
        with place.start(limits=Limits(grace_s=2.0), **BYPASS) as child:
            place.at_work()
        assert child.result().ended_by == "cancelled"
        accounted(place, child.result().document)
