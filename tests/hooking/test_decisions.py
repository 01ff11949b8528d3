"""What a handler decides is said in the words, and by the exit code, that agents understand."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.agents.hooks.test_spool import COMMON, EVENTS
from tracklog import hooking
from tracklog.agents.hooks.records import HookInput
from tracklog.hooking import (
    Decision,
    Event,
    OtherEvent,
    Outcome,
    PermissionRequest,
    PostToolUse,
    PreToolUse,
    Stop,
    WrongDecision,
    allow,
    ask,
    block,
    call,
    context,
    deny,
    read_event,
    replace_output,
    retry,
    run,
    say,
    stop,
)
from tracklog.hooking.decisions import BLOCKING, LISTENING
from tracklog.hooking.events import KNOWN
from tracklog.hooking.running import outcome_of

SOURCE = Path(hooking.__file__).parents[2]


def payload(event: str) -> dict[str, Any]:
    return {**COMMON, "hook_event_name": event, **EVENTS[event]}


def answered(decision: Decision | list[Decision] | None, event: str) -> Outcome:
    return call(lambda _: decision, payload(event))


def specific(event: str, **said: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event, **said}}


@pytest.mark.parametrize(
    ("decision", "event", "document"),
    [
        (allow(), "PreToolUse", specific("PreToolUse", permissionDecision="allow")),
        (
            allow("fine", updated_input={"command": "ls"}),
            "PreToolUse",
            specific(
                "PreToolUse",
                permissionDecision="allow",
                permissionDecisionReason="fine",
                updatedInput={"command": "ls"},
            ),
        ),
        (
            deny("no writes"),
            "PreToolUse",
            specific("PreToolUse", permissionDecision="deny", permissionDecisionReason="no writes"),
        ),
        (
            ask("sure?"),
            "PreToolUse",
            specific("PreToolUse", permissionDecision="ask", permissionDecisionReason="sure?"),
        ),
        (allow(), "PermissionRequest", specific("PermissionRequest", decision={"behavior": "allow"})),
        (
            allow(updated_input={"a": 1}, updated_permissions=[1]),
            "PermissionRequest",
            specific(
                "PermissionRequest",
                decision={"behavior": "allow", "updatedInput": {"a": 1}, "updatedPermissions": [1]},
            ),
        ),
        (
            deny("no", interrupts=True),
            "PermissionRequest",
            specific("PermissionRequest", decision={"behavior": "deny", "message": "no", "interrupt": True}),
        ),
        (context("It rains."), "SessionStart", specific("SessionStart", additionalContext="It rains.")),
        (replace_output("x"), "PostToolUse", specific("PostToolUse", updatedToolOutput="x")),
        (retry(), "PermissionDenied", specific("PermissionDenied", retry=True)),
        (stop("enough"), "PostToolUse", {"continue": False, "stopReason": "enough"}),
        (say("hello"), "SessionEnd", {"systemMessage": "hello"}),
        (
            [allow(), context("so be it"), say("hm")],
            "PreToolUse",
            {
                "systemMessage": "hm",
                **specific("PreToolUse", permissionDecision="allow", additionalContext="so be it"),
            },
        ),
    ],
)
def test_a_decision_is_said_on_stdout_with_exit_code_0(
    decision: Decision, event: str, document: dict[str, Any]
) -> None:
    outcome = answered(decision, event)
    assert (outcome.exit_code, outcome.stderr, outcome.document) == (0, "", document)


@pytest.mark.parametrize("event", sorted(BLOCKING))
def test_a_block_is_exit_code_2_with_its_reason_on_stderr(event: str) -> None:
    assert answered(block("not yet"), event) == Outcome(2, "", "not yet\n")


@pytest.mark.parametrize("event", sorted(KNOWN))
def test_no_decision_is_no_word_and_exit_code_0(event: str) -> None:
    assert answered(None, event) == Outcome(0, "", "")


@pytest.mark.parametrize("event", sorted(KNOWN))
def test_a_decision_that_an_event_does_not_know_is_a_mistake(event: str) -> None:
    known = {
        "allow": {"PreToolUse", "PermissionRequest"},
        "deny": {"PreToolUse", "PermissionRequest"},
        "ask": {"PreToolUse"},
        "block": BLOCKING,
        "context": LISTENING,
        "replace_output": {"PostToolUse"},
        "retry": {"PermissionDenied"},
    }
    made = (allow(), deny("x"), ask(), block("x"), context("x"), replace_output(1), retry())
    for decision in made:
        outcome = answered(decision, event)
        assert (outcome.exit_code in (0, 2)) == (event in known[decision.what]), decision.what
        if outcome.exit_code == 1:
            assert f"{event} knows no {decision.what}" in outcome.stderr


def test_whoever_asks_for_an_outcome_directly_gets_the_mistake() -> None:
    with pytest.raises(WrongDecision, match="Stop knows no allow: PermissionRequest, PreToolUse do"):
        outcome_of(allow(), Stop())


def test_all_events_are_known_with_the_fields_that_agents_send() -> None:
    assert set(KNOWN) == set(EVENTS)
    spooled = {field.encode_name for field in msgspec.structs.fields(HookInput)}
    for event in KNOWN.values():
        own = {field.encode_name for field in msgspec.structs.fields(event)} - {"payload"}
        assert own <= spooled, event
    everything = {f.encode_name for event in KNOWN.values() for f in msgspec.structs.fields(event)}
    assert spooled - everything - {"hook_event_name"} == set()


@pytest.mark.parametrize("event", sorted(KNOWN))
def test_an_event_is_told_whole(event: str) -> None:
    told = payload(event)
    read = read_event(told)
    assert (type(read), read.name, read.payload) == (KNOWN[event], event, told)
    names = {field.encode_name: field.name for field in msgspec.structs.fields(type(read))}
    assert {key: getattr(read, names[key]) for key in told if key in names} == {
        key: value for key, value in told.items() if key in names
    }


@pytest.mark.parametrize(
    "told", [{}, {"hook_event_name": "Tomorrow"}, {"hook_event_name": 7}, {"hook_event_name": "PreToolUse"}]
)
def test_news_is_another_event_and_no_mistake(told: dict[str, Any]) -> None:
    event = read_event(told)
    assert (type(event), event.payload, event.name) == (
        OtherEvent,
        told,
        str(told.get("hook_event_name") or ""),
    )
    assert call(guard, told) == Outcome(0)


def guard(event: Event) -> Decision | None:
    match event:
        case PreToolUse(tool_name="Bash", tool_input={"command": str(command)}) if "rm -rf" in command:
            return deny("not in this house")
        case PermissionRequest():
            return allow()
        case PostToolUse(duration_ms=float(ms)) if ms > 1000:
            return context("that was slow")
    return None


def test_a_handler_is_tried_without_the_agent() -> None:
    tool = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "rm -rf /"}}
    assert call(guard, tool).document["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert call(guard, json.dumps({**tool, "tool_name": "Read"})) == Outcome(0)
    assert call(guard, json.dumps({**tool, "tool_input": "rm -rf"}).encode()) == Outcome(0)


def test_what_a_handler_prints_does_not_spoil_its_answer() -> None:
    def chatty(event: Event) -> Decision:
        print("thinking")
        return say("hello")

    assert call(chatty, payload("Stop")) == Outcome(0, '{"systemMessage": "hello"}\n', "thinking\n")


@pytest.mark.parametrize("mistake", [ValueError("oops"), SystemExit(2), KeyError("x")])
def test_a_handler_that_fails_blocks_only_if_that_is_wanted(mistake: BaseException) -> None:
    def failing(event: Event) -> Decision:
        raise mistake

    for told in (payload("PreToolUse"), "no JSON", "[]"):
        handler = failing if isinstance(told, dict) else guard
        opened, closed = call(handler, told), call(handler, told, fails_closed=True)
        assert (opened.exit_code, closed.exit_code, opened.stdout, closed.stdout) == (1, 2, "", "")
        assert "Traceback" in opened.stderr


SCRIPT = """
import sys
sys.path.insert(0, {source!r})
from tracklog.hooking import *

def handler(event):
    print("a word")
    match event:
        case Stop(stop_hook_active=False):
            return block("one more thing")
        case SessionStart():
            return context("Guten Tag, 日本")

run(handler)
"""


@pytest.mark.parametrize(
    ("told", "code", "stdout", "stderr"),
    [
        ({"hook_event_name": "Stop"}, 2, b"", b"a word\none more thing\n"),
        ({"hook_event_name": "Stop", "stop_hook_active": True}, 0, b"", b"a word\n"),
        (
            {"hook_event_name": "SessionStart"},
            0,
            json.dumps(specific("SessionStart", additionalContext="Guten Tag, 日本")).encode() + b"\n",
            b"a word\n",
        ),
    ],
)
def test_run_answers_as_a_process(told: dict[str, Any], code: int, stdout: bytes, stderr: bytes) -> None:
    argv = [sys.executable, "-c", SCRIPT.format(source=str(SOURCE))]
    done = subprocess.run(argv, input=json.dumps(told).encode(), capture_output=True, timeout=20)
    assert (done.returncode, done.stdout, done.stderr) == (code, stdout, stderr)


def test_run_is_what_the_package_offers() -> None:
    assert hooking.run is run
    assert all(hasattr(hooking, name) for name in hooking.__all__)


def test_the_toolkit_rests_on_nothing_but_msgspec() -> None:
    code = "import sys, tracklog.hooking; print(*sorted(m for m in sys.modules if m.startswith('tracklog')))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        timeout=20,
    )
    assert {name.split(".")[1] for name in done.stdout.split() if "." in name} == {"hooking"}
