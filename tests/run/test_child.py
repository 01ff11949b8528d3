"""A child from start to result, with a small program in the client's place."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

from tracklog import run
from tracklog.errors import UserError
from tracklog.home import Home
from tracklog.live.run_register import runs
from tracklog.run import limits, log_facts
from tracklog.run.child import Child
from tracklog.run.process import supervise
from tracklog.run.registration import RunRegistration

STARTED = '{"type":"system","subtype":"init","session_id":"s","model":"m"}'
ENDED = (
    '{"type":"result","subtype":"success","is_error":false,"result":"42","session_id":"s","total_cost_usd":0}'
)


@pytest.fixture(autouse=True)
def _no_log_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client of these tests writes no log; results are complete without it."""
    monkeypatch.setitem(log_facts.collect.__kwdefaults__ or {}, "patience_s", 0.05)


def client(tmp_path: Path, *lines: str) -> str:
    """A program that stands for the client."""
    path = tmp_path / "client"
    path.write_text(
        f"#!{sys.executable} -IS\nimport os, signal, sys, time\nprompt = sys.stdin.read()\n"
        + "\n".join(lines)
    )
    path.chmod(0o755)
    return str(path)


def started(tmp_path: Path, *lines: str, **limits: float) -> run.Child:
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": str(tmp_path / "claude")}
    request = run.RunRequest(
        agent="claude",
        prompt="six times seven",
        cwd=tmp_path,
        client=client(tmp_path, *lines),
        limits=run.Limits(grace_s=0.3, **limits),  # type: ignore[arg-type]
    )
    return run.start(request, home=tmp_path / "ours", env=env)


def say(line: str) -> str:
    return f"print({line!r}, flush=True)"


def left_of(child: run.Child) -> list[psutil.Process]:
    def is_ours(process: psutil.Process) -> bool:
        try:
            return process.environ().get("TRACKLOG_RUN") == child.run
        except (psutil.Error, OSError):
            return False

    return [one for one in psutil.process_iter() if is_ours(one) and one.status() != psutil.STATUS_ZOMBIE]


def assert_nothing_is_left(child: run.Child, tmp_path: Path) -> None:
    assert left_of(child) == []
    assert list((tmp_path / "ours/runs/now").iterdir()) == []


def test_the_prompt_goes_in_and_the_result_comes_out(tmp_path: Path) -> None:
    child = started(tmp_path, say(STARTED), "print('noise', prompt)", say(ENDED))
    result = child.result()
    assert (result.text, result.ended_by, result.code) == ("42", "completed", 0)
    assert [(one.source, one.what) for one in child.events() if one.source == "stream"] == [
        ("stream", "system/init"),
        ("stream", "result/success"),
    ]
    assert_nothing_is_left(child, tmp_path)
    (told,) = runs(Home(tmp_path / "ours"))
    assert (told.id, told.session, told.ended_by) == (child.run, "s", "completed")


def test_a_client_that_says_nothing_has_crashed_and_its_last_words_are_told(tmp_path: Path) -> None:
    result = started(tmp_path, "sys.exit('not logged in')").result()
    assert (result.ended_by, result.why, result.code) == ("error", "not logged in", 1)
    assert started(tmp_path, "").result().ended_by == "crashed"


def test_a_client_that_is_killed_is_told_by_its_signal(tmp_path: Path) -> None:
    result = started(tmp_path, say(STARTED), "os.kill(os.getpid(), signal.SIGKILL)").result()
    assert (result.ended_by, result.document["exit_code"]) == ("killed", -9)


def test_a_client_that_does_not_want_to_end_is_ended_all_the_same(tmp_path: Path) -> None:
    child = started(
        tmp_path,
        "signal.signal(signal.SIGINT, signal.SIG_IGN)",
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)",
        say(STARTED),
        "time.sleep(300)",
    )
    next(one for one in child.events() if one.what == "system/init")  # by then it ignores signals
    child.cancel()
    result = child.result()
    assert (result.ended_by, result.code, result.document["exit_code"]) == ("cancelled", 130, -9)
    assert_nothing_is_left(child, tmp_path)


def test_at_its_time_limit_a_child_is_ended(tmp_path: Path) -> None:
    child = started(tmp_path, say(STARTED), "time.sleep(300)", timeout_s=0.8)
    result = child.result()
    assert (result.ended_by, result.code, result.why) == ("timeout", 124, "not done after 0.8 s")
    assert_nothing_is_left(child, tmp_path)


def test_silence_ends_a_child(tmp_path: Path) -> None:
    result = started(tmp_path, say(STARTED), "time.sleep(300)", idle_s=0.8).result()
    assert (result.ended_by, result.why) == ("timeout", "no sign of life for 0.8 s")


def test_cancelling_ends_it_and_says_so(tmp_path: Path) -> None:
    with started(tmp_path, say(STARTED), "time.sleep(300)") as child:
        next(child.events())
        child.cancel()
        result = child.result()
    assert (result.ended_by, result.code) == ("cancelled", 130)
    assert_nothing_is_left(child, tmp_path)


def test_leaving_the_block_cancels_a_child_that_still_runs(tmp_path: Path) -> None:
    with started(tmp_path, say(STARTED), "time.sleep(300)") as child:
        pass
    assert child.result().ended_by == "cancelled"
    assert_nothing_is_left(child, tmp_path)


def test_it_can_be_awaited_and_who_stops_waiting_cancels_it(tmp_path: Path) -> None:
    async def both() -> tuple[str, list[str]]:
        first = started(tmp_path, say(STARTED), say(ENDED))
        heard = [one.what async for one in first.events_async() if one.source == "stream"]
        ended_by = (await first.wait_async()).ended_by
        second = started(tmp_path, say(STARTED), "time.sleep(300)")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(second.wait_async(), 0.2)
        assert second.result().ended_by == "cancelled"
        return ended_by, heard

    assert asyncio.run(both()) == ("completed", ["system/init", "result/success"])


def test_a_program_that_is_none_is_the_user_s_mistake_and_nothing_is_left(tmp_path: Path) -> None:
    request = run.RunRequest(agent="claude", prompt="x", cwd=tmp_path, client=str(tmp_path / "nowhere"))
    with pytest.raises(UserError, match="name another with --client"):
        run.start(request, home=tmp_path / "ours", env={"HOME": str(tmp_path), "PATH": os.environ["PATH"]})
    assert list((tmp_path / "ours/runs/now").iterdir()) == []


def test_a_home_that_may_not_be_written_is_told_and_the_run_goes_on(tmp_path: Path) -> None:
    (tmp_path / "ours").write_text("a file in its place")
    result = started(tmp_path, say(STARTED), say(ENDED)).result()
    assert (result.ended_by, result.text) == ("completed", "42")
    assert any("no hooks for this run" in one for one in result.document["problems"])


def test_a_result_that_has_come_counts_though_the_client_lingers(tmp_path: Path) -> None:
    for timeout_s in (2.0, 15.0, 120.0):  # the result must come before the limit, on a busy machine too
        child = started(tmp_path, say(STARTED), say(ENDED), "time.sleep(300)", timeout_s=timeout_s)
        has_said_it = any(one.what == "result/success" for one in child.events())
        result = child.result()
        if has_said_it:
            break
    assert (result.ended_by, result.text) == ("completed", "42")


def test_who_waits_hears_of_it_when_the_end_cannot_be_registered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was waited for ever, after an upgrade had taken away the module that writes the register."""

    def fail(*_: object) -> None:
        raise ImportError("our files were replaced")

    monkeypatch.setattr(RunRegistration, "ended", fail)
    child = started(tmp_path, say(STARTED), say(ENDED))
    with pytest.raises(ImportError, match="replaced"):
        child.wait(30)
    assert list(child.events())  # and they end


def test_cancelling_a_child_that_is_over_touches_nothing(tmp_path: Path) -> None:
    child = started(tmp_path, say(STARTED), say(ENDED))
    child.result()
    files = [(tmp_path / f"f{n}").open("wb") for n in range(20)]
    child.cancel()
    for file in files:
        file.close()
    assert {path.read_bytes() for path in tmp_path.glob("f*")} == {b""}


def test_a_session_that_could_lead_elsewhere_is_not_believed(tmp_path: Path) -> None:
    odd = STARTED.replace('"s"', '"../../etc"')
    result = started(tmp_path, say(odd), say(ENDED.replace('"s"', "5"))).result()
    assert (result.ended_by, result.text) == ("completed", "42")
    (told,) = runs(Home(tmp_path / "ours"))
    assert told.ended_by == "completed"


def test_the_command_works_where_stdin_or_stderr_is_closed(tmp_path: Path) -> None:
    env = {"HOME": str(tmp_path), "TRACKLOG_HOME": str(tmp_path / "ours"), "PATH": os.environ["PATH"]}
    program = client(tmp_path, say(STARTED), say(ENDED))
    words = [sys.executable, "-m", "tracklog", "run", "x", "--client", program]
    all_at_once = [
        subprocess.Popen(
            ["/bin/sh", "-c", f'exec "$@" {closed}', "sh", *words],
            env=env | {"PYTHONPATH": os.pathsep.join(sys.path)},
            cwd=tmp_path,
            stdout=subprocess.PIPE,
        )
        for closed in ("<&-", "2>&-", "<&- 2>&-")
    ]
    ended = [(one.communicate(timeout=60)[0], one.returncode) for one in all_at_once]
    assert ended == [(b"42\n", 0)] * 3


def test_who_reads_us_may_go_and_the_exit_code_tells_all_the_same(tmp_path: Path) -> None:
    env = {"HOME": str(tmp_path), "TRACKLOG_HOME": str(tmp_path / "ours"), "PATH": os.environ["PATH"]}
    failed = ENDED.replace('"is_error":false', '"is_error":true')
    words = [
        sys.executable,
        "-m",
        "tracklog",
        "run",
        "x",
        "--json",
        "--client",
        client(tmp_path, say(failed)),
    ]
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        words, env=env | {"PYTHONPATH": os.pathsep.join(sys.path)}, cwd=tmp_path, stdout=writing, timeout=60
    )
    os.close(writing)
    assert done.returncode == 1


def client_of(child: Child) -> psutil.Process:
    """The client's process, when it is known: the supervisor and the client speak through different pipes."""
    deadline = time.monotonic() + 60
    while child.pid is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return psutil.Process(child.pid)


def test_a_supervisor_that_was_stopped_does_not_hold_us(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "_IN_VAIN_S", 0.5)
    monkeypatch.setattr(supervise, "_SUPERVISOR_S", 0.5)
    child = started(tmp_path, say(STARTED), "time.sleep(300)")
    next(one for one in child.events() if one.what == "system/init")
    supervisor = client_of(child).parent()
    assert supervisor is not None
    supervisor.suspend()
    child.cancel()
    child.cancel()
    assert child.result().ended_by == "cancelled"
    assert left_of(child) == []


def test_it_is_listened_to_and_ended_in_time_though_loading_takes_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_loaded = threading.Event()
    monkeypatch.setattr(RunRegistration, "started", lambda _: is_loaded.wait(120))
    child = started(tmp_path, say(STARTED), "time.sleep(300)")
    next(one for one in child.events() if one.what == "system/init")
    client = client_of(child)
    child.cancel()
    client.wait(timeout=60)
    assert not is_loaded.is_set()
    is_loaded.set()
    assert child.result().ended_by == "cancelled"
