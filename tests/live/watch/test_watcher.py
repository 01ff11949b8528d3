from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.live.live_home import ONE, TWO, LiveHome, a_process, append
from tracklog.live.journal import LiveEvent
from tracklog.live.watch.watcher import Watch

LIMIT_S = 10.0


@pytest.fixture
def home(tmp_path: Path) -> LiveHome:
    return LiveHome(tmp_path)


@pytest.fixture
def watch(home: LiveHome) -> Iterator[Watch]:
    with closing(Watch(home.roots, spool=home.ours / "spool")) as watch:
        watch.begin()
        yield watch


def until(watch: Watch, is_it: Callable[[LiveEvent], bool]) -> list[LiveEvent]:
    """What was told up to the event that is waited for."""
    told: list[LiveEvent] = []
    deadline = time.monotonic() + LIMIT_S
    while time.monotonic() < deadline:
        told += watch.wait(0.05)
        if any(map(is_it, told)):
            return told
    raise AssertionError(f"it never came; told was {[(one.event, one.data) for one in told]}")


def state(name: str, **facts: Any) -> Callable[[LiveEvent], bool]:
    wanted = {"state": name, **facts}
    return lambda event: event.event == "state_changed" and wanted.items() <= event.data.items()


def named(name: str) -> Callable[[LiveEvent], bool]:
    return lambda event: event.event == name


def test_a_new_session_is_told_with_its_lines_and_its_state(home: LiveHome, watch: Watch) -> None:
    home.prompt("fix it")
    told = until(watch, state("working"))
    assert [(one.event, one.line, one.session) for one in told] == [
        ("session_seen", None, ONE),
        ("prompt_given", 1, ONE),
        ("state_changed", None, ONE),
    ]


def test_the_call_that_is_worked_on_is_named_until_it_returns(home: LiveHome, watch: Watch) -> None:
    home.prompt("fix it")
    home.call("t1", "Bash", command="npm test")
    until(watch, state("working", doing="Bash: npm test", call="t1"))
    home.result("t1")
    until(watch, state("working", doing="thinking"))
    home.reply("All is well.")
    until(watch, state("idle"))
    assert watch.sessions["claude", ONE].latest.last_words == "All is well."


def test_what_stood_there_before_is_known_and_not_told(home: LiveHome) -> None:
    home.prompt("fix it")
    home.call("t1", "Bash", command="npm test")
    with closing(Watch(home.roots)) as watch:
        watch.begin()
        assert watch.wait(0.05) == []
        assert watch.sessions["claude", ONE].state.doing == "Bash: npm test"


def test_a_permission_is_announced_when_it_has_waited_for_a_second(home: LiveHome, watch: Watch) -> None:
    home.prompt("fix it")
    home.call("t1", "Bash", command="rm -r build")
    path = home.register(os.getpid(), "waiting", waitingFor="permission prompt")
    began = time.monotonic()
    told = until(watch, named("waiting_began"))
    assert time.monotonic() - began >= 1.0
    assert state("waiting", waiting_for="permission", call="t1")(told[-2])
    home.register(os.getpid(), "busy")
    until(watch, named("waiting_ended"))
    path.unlink()
    until(watch, state("ended"))


def test_a_wait_that_a_hook_ends_by_itself_is_not_announced(home: LiveHome, watch: Watch) -> None:
    home.prompt("fix it")
    home.call("t1", "Bash", command="ls")
    home.register(os.getpid(), "waiting", waitingFor="permission prompt")
    told = until(watch, state("waiting"))
    home.register(os.getpid(), "busy")
    told += until(watch, state("working"))
    deadline = time.monotonic() + 1.5
    while time.monotonic() < deadline:
        told += watch.wait(0.05)
    assert "waiting_began" not in {one.event for one in told}


def test_a_hook_tells_of_a_permission_before_the_log_does(home: LiveHome, watch: Watch) -> None:
    home.prompt("fix it")
    home.hook("PreToolUse", tool_name="Bash", tool_input={"command": "ls"}, tool_use_id="t1")
    home.hook("PermissionRequest", tool_name="Bash", tool_input={"command": "ls"})
    told = until(watch, state("waiting", waiting_for="permission", call="t1"))
    assert [one.data["hook"] for one in told if one.event == "hook_called"] == [
        "PreToolUse",
        "PermissionRequest",
    ]


def test_a_process_that_was_killed_at_work_has_crashed(home: LiveHome, watch: Watch) -> None:
    process = a_process()
    try:
        home.prompt("fix it")
        home.register(process.pid, "busy")
        until(watch, state("working", pid=process.pid))
    finally:
        process.kill()
        process.wait()
    told = until(watch, state("crashed"))
    assert f"there is no process {process.pid}" in told[-1].data["evidence"]


def test_another_process_with_the_same_number_is_not_the_session(home: LiveHome, watch: Watch) -> None:
    home.prompt("fix it")
    home.register(os.getpid(), "busy", procStart="1")
    told = until(watch, state("crashed"))
    assert "is another one now" in " ".join(told[-1].data["evidence"])


def test_clear_ends_one_session_and_goes_on_with_another_in_the_same_process(
    home: LiveHome, watch: Watch
) -> None:
    home.prompt("fix it")
    home.reply("Done.")
    home.register(os.getpid(), "idle")
    until(watch, state("idle", pid=os.getpid()))
    home.prompt("and now?", session=TWO)
    home.register(os.getpid(), "busy", session=TWO)
    until(watch, lambda one: state("ended")(one) and one.session == ONE)
    states = {id: one.state.state for (_, id), one in watch.sessions.items()}
    assert states == {ONE: "ended", TWO: "working"}


def test_a_subagent_is_pending_until_its_log_is_there(home: LiveHome, watch: Watch) -> None:
    home.prompt("look around")
    home.call("t1", "Agent", description="look", prompt="look")
    (pending,) = [one for one in until(watch, named("thread_pending")) if one.event == "thread_pending"]
    assert pending.data == {"call": "t1", "name": "look"}
    beside = home.log().with_suffix("") / "subagents"
    beside.mkdir(parents=True)
    (beside / "agent-a1.meta.json").write_text(
        '{"agentType":"general","description":"look","toolUseId":"t1"}'
    )
    append(
        beside / "agent-a1.jsonl",
        b'{"type":"user","uuid":"s1","isSidechain":true,"agentId":"a1","sessionId":"%s",'
        b'"timestamp":"2026-11-16T10:00:00.000Z","message":{"role":"user","content":"look"}}\n'
        % ONE.encode(),
    )
    told = until(watch, named("thread_seen"))
    assert [one.thread for one in told if one.event == "thread_seen"] == ["a1"]
    deadline = time.monotonic() + LIMIT_S
    while watch.sessions["claude", ONE].pending and time.monotonic() < deadline:
        watch.wait(0.05)
    assert watch.sessions["claude", ONE].pending == {}


def test_a_subagent_that_never_came_is_lost_with_its_session(home: LiveHome, watch: Watch) -> None:
    process = a_process()
    try:
        home.prompt("look around")
        home.call("t1", "Agent", description="look", prompt="look")
        home.register(process.pid, "busy")
        until(watch, named("thread_pending"))
    finally:
        process.kill()
        process.wait()
    told = until(watch, named("thread_lost"))
    assert told[-1].data == {"call": "t1", "name": "look"}


def test_a_log_that_was_cut_is_said_and_its_new_lines_come_once(home: LiveHome, watch: Watch) -> None:
    home.prompt("one")
    until(watch, named("prompt_given"))
    whole = home.log().read_bytes()
    home.reply("half")
    until(watch, named("model_replied"))
    home.log().write_bytes(whole)
    home.prompt("two")
    told = until(watch, lambda one: one.data.get("text") == "two")
    assert [one.data.get("text") for one in told if one.event == "prompt_given"] == ["two"]
    assert "log_replaced" in {one.event for one in told}


def test_a_person_names_a_session_by_the_beginning_of_its_id(home: LiveHome) -> None:
    home.prompt("one")
    home.prompt("two", session=TWO)
    with closing(Watch(home.roots)) as watch:
        watch.begin()
        assert watch.session_named("2222") == ("claude", TWO)
        assert watch.session_named("@last") == ("claude", TWO)
        assert watch.session_named("9999") is None


def test_a_session_of_a_living_process_is_known_however_old_its_log_is(home: LiveHome) -> None:
    home.prompt("fix it")
    home.call("t1", "Bash", command="rm -r build")
    home.register(os.getpid(), "waiting", waitingFor="permission prompt")
    long_ago = time.time() - 3 * 86_400
    os.utime(home.log(), (long_ago, long_ago))
    with closing(Watch(home.roots)) as watch:
        watch.begin()
        state = watch.sessions["claude", ONE].state
    assert (state.state, state.call, state.doing) == ("waiting", "t1", "Bash: rm -r build")


def test_of_two_waits_right_behind_one_another_both_are_announced(home: LiveHome, watch: Watch) -> None:
    home.prompt("fix it")
    home.call("t1", "Bash", command="one")
    home.call("t2", "Bash", command="two")
    home.hook("PreToolUse", tool_name="Bash", tool_input={"command": "one"}, tool_use_id="t1")
    home.hook("PermissionRequest", tool_name="Bash", tool_input={"command": "one"})
    until(watch, named("waiting_began"))
    home.hook("PostToolUse", tool_name="Bash", tool_input={"command": "one"}, tool_use_id="t1")
    home.hook("PreToolUse", tool_name="Bash", tool_input={"command": "two"}, tool_use_id="t2")
    home.hook("PermissionRequest", tool_name="Bash", tool_input={"command": "two"})
    told = until(watch, named("waiting_began"))
    assert told[-1].data["call"] == "t2"


def test_hooks_of_sessions_elsewhere_are_not_told(home: LiveHome, watch: Watch) -> None:
    home.hook("UserPromptSubmit", session=TWO, transcript_path="/elsewhere/projects/-p/x.jsonl")
    home.prompt("fix it")
    told = until(watch, state("working"))
    assert {one.session for one in told} == {ONE}
    assert set(watch.sessions) == {("claude", ONE)}


def test_a_hook_tells_of_a_session_that_has_no_log_yet(home: LiveHome, watch: Watch) -> None:
    home.hook("UserPromptSubmit", session=TWO, transcript_path=str(home.log(TWO)))
    told = until(watch, state("working"))
    assert {one.session for one in told} == {TWO}


@pytest.mark.parametrize("at", [10**25, -(10**25), 9 * 10**18])
def test_a_hook_call_of_an_impossible_time_ends_nothing(home: LiveHome, watch: Watch, at: int) -> None:
    home.prompt("fix it")
    line = {"v": 1, "at": at, "agent": "claude", "payload": {"session_id": ONE, "hook_event_name": "Stop"}}
    append(home.ours / "spool" / "hooks.jsonl", json.dumps(line).encode() + b"\n")
    home.reply("Done.")
    until(watch, state("idle"))


def test_a_clock_that_is_ahead_stops_no_state(home: LiveHome, watch: Watch) -> None:
    home.line(type="user", timestamp="2126-01-01T00:00:00.000Z", message={"role": "user", "content": "x"})
    until(watch, state("working"))
    since = watch.sessions["claude", ONE].state.since_ms
    watch.wait(0.2)
    assert watch.sessions["claude", ONE].state.since_ms == since
    home.register(os.getpid(), "idle")
    until(watch, state("idle"))


def test_every_event_says_in_which_folder_its_session_works(home: LiveHome, watch: Watch) -> None:
    home.prompt("fix it")
    told = until(watch, state("working"))
    assert {one.cwd for one in told} == {"/work/app"}


def test_a_session_that_no_registry_file_names_has_left(home: LiveHome) -> None:
    """It ended before anybody watched: its client took its file away."""
    home.line(type="user", timestamp="2026-03-01T10:00:00.000Z", message={"role": "user", "content": "x"})
    with closing(Watch(home.roots)) as watch:
        watch.begin()
        assert watch.sessions["claude", ONE].state.state == "ended"
        home.prompt("and now?")
        until(watch, state("working"))


def test_where_no_registry_is_kept_a_session_without_a_process_has_crashed_in_its_work(
    home: LiveHome,
) -> None:
    (home.path / "sessions").rmdir()
    home.line(type="user", timestamp="2026-03-01T10:00:00.000Z", message={"role": "user", "content": "x"})
    with closing(Watch(home.roots)) as watch:
        watch.begin()
        assert watch.sessions["claude", ONE].state.state == "crashed"


def test_a_log_that_moves_on_while_it_is_read_is_told_once(
    home: LiveHome, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was read of it and not told yet went with its old place, or the log was told again from its beginning."""
    monkeypatch.setattr("tracklog.live.watch.watcher._AT_ONCE_S", -1.0)  # one line in each round
    told: list[str] = []
    texts = [f"line {n}" for n in range(100)]
    for text in texts:
        home.prompt(text)
    at = home.log()
    for project in ("-q", "-r", "-p", "-q", "-p"):
        until_n = len(told) + 10
        while len(told) < until_n:
            told += [event.data["text"] for event in watch.wait(0.05) if event.event == "prompt_given"]
        there = home.path / "projects" / project / at.name
        there.parent.mkdir(exist_ok=True)
        at = at.rename(there)
    deadline = time.monotonic() + LIMIT_S
    while len(told) < len(texts) and time.monotonic() < deadline:
        told += [event.data["text"] for event in watch.wait(0.05) if event.event == "prompt_given"]
    home.prompt("the last")
    told += [
        event.data["text"] for event in until(watch, named("prompt_given")) if event.event == "prompt_given"
    ]
    assert told == [*texts, "the last"]


def test_of_many_lines_at_once_so_many_are_told_at_a_time_and_no_log_waits_for_ever(
    home: LiveHome, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tracklog.live.watch.watcher._MOST_AT_ONCE", 10)
    for n in range(100):
        home.prompt(f"one {n}")
        home.prompt(f"two {n}", session=TWO)
    rounds: list[list[str | None]] = []
    deadline = time.monotonic() + LIMIT_S
    while sum(map(len, rounds)) < 200 and time.monotonic() < deadline:
        events = watch.wait(0.05)
        rounds.append([event.session for event in events if event.event == "prompt_given"])
    assert sorted(session for told in rounds for session in told if session) == [ONE] * 100 + [TWO] * 100
    assert max(map(len, rounds)) <= 12  # and one of each log that was not looked at yet
    half = [session for told in rounds for session in told][:100]
    assert min(half.count(ONE), half.count(TWO)) >= 30
