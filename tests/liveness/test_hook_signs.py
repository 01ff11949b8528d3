"""What hooks tell, in the orders in which clients run them (docs/live.md)."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracklog.agents.hooks.records import HookInput
from tracklog.liveness.hook_signs import HookSigns
from tracklog.model.states import Sign

BASH = {"tool_name": "Bash", "tool_input": {"command": "make"}}
LIST = {"tool_name": "Bash", "tool_input": {"command": "ls"}}
ASK = {"tool_name": "AskUserQuestion", "tool_input": {"questions": [{"question": "Which?"}]}}
PLAN = {"tool_name": "ExitPlanMode", "tool_input": {"plan": "Do it"}}


def told(event: str, **more: Any) -> HookInput:
    return msgspec.json.decode(json.dumps({"hook_event_name": event, **more}), type=HookInput)


def after(*hooks: HookInput) -> Sign:
    """The sign after hooks that ran 100 ms apart, the first at 100."""
    signs = HookSigns()
    for n, hook in enumerate(hooks, 1):
        signs.add(hook, n * 100)
    assert signs.sign is not None
    return signs.sign


PROMPT = told("UserPromptSubmit", prompt="go")
CALL = told("PreToolUse", tool_use_id="a", **BASH)
REQUEST = told("PermissionRequest", **BASH)
DONE = told("PostToolUse", tool_use_id="a", **BASH)
BATCH = told("PostToolBatch", tool_calls=[])
STOP = told("Stop", stop_hook_active=False)
ASKED = Sign(
    "hook",
    "waiting",
    300,
    doing="Bash: make",
    call="a",
    waiting_for="permission",
    where="hook PermissionRequest",
)


def test_before_any_hook_there_is_no_sign() -> None:
    signs = HookSigns()
    signs.add(told("InstructionsLoaded"), 5)
    assert signs.sign is None


@pytest.mark.parametrize(
    ("hooks", "expected"),
    [
        ((told("SessionStart", source="startup"),), ("idle", None, None, 100)),
        ((PROMPT,), ("working", "thinking", None, 100)),
        ((PROMPT, CALL), ("working", "Bash: make", "a", 200)),
        ((PROMPT, CALL, DONE), ("working", "thinking", None, 300)),
        (
            (PROMPT, CALL, told("PostToolUseFailure", tool_use_id="a", **BASH)),
            ("working", "thinking", None, 300),
        ),
        ((PROMPT, CALL, BATCH), ("working", "thinking", None, 300)),  # a deny rule, a hook's block
        (
            (PROMPT, CALL, told("PermissionDenied", tool_use_id="a", **BASH)),
            ("working", "thinking", None, 300),
        ),
        ((PROMPT, STOP), ("idle", None, None, 200)),
        ((PROMPT, STOP, PROMPT, STOP), ("idle", None, None, 400)),  # woken by the background: a second Stop
        ((PROMPT, told("StopFailure", error="api")), ("idle", None, None, 200)),
        ((PROMPT, CALL, REQUEST, told("Interrupt")), ("idle", None, None, 400)),  # Codex
        ((PROMPT, told("SessionEnd", reason="clear")), ("ended", None, None, 200)),
        (
            (told("SessionEnd", reason="other"), told("SessionStart", source="resume")),
            ("idle", None, None, 200),
        ),
        ((PROMPT, told("PreCompact", trigger="auto")), ("working", "compacting", None, 200)),
        ((PROMPT, CALL, told("SessionStart", source="compact")), ("working", "Bash: make", "a", 200)),
        ((PROMPT, told("PostCompact", trigger="auto")), ("working", "thinking", None, 200)),
        ((STOP, told("PreCompact"), told("PostCompact", trigger="manual")), ("idle", None, None, 300)),
        ((PROMPT, told("SubagentStop", agent_id="x")), ("working", "thinking", None, 100)),
        ((PROMPT, told("SubagentStop")), ("working", "thinking", None, 100)),  # of /compact: without an agent
        ((PROMPT, told("StopFailure", agent_id="x", error="api")), ("working", "thinking", None, 100)),
        (
            (PROMPT, told("PreToolUse", tool_use_id="b", agent_id="x", **LIST)),
            ("working", "thinking", None, 100),
        ),
        ((STOP, told("PreToolUse", tool_use_id="b", agent_id="x", **LIST)), ("idle", None, None, 100)),
        ((PROMPT, CALL, told("Notification", notification_type="idle_prompt")), ("idle", None, None, 300)),
        ((STOP, told("Notification", notification_type="idle_prompt")), ("idle", None, None, 100)),
        ((STOP, told("Notification", notification_type="auth_success")), ("idle", None, None, 100)),
    ],
)
def test_the_newest_hook_tells_what_is_done(
    hooks: tuple[HookInput, ...], expected: tuple[str, str | None, str | None, int]
) -> None:
    sign = after(*hooks)
    assert (sign.state, sign.doing, sign.call, sign.at_ms) == expected


def test_a_request_waits_for_the_permission_of_its_call() -> None:
    assert after(PROMPT, CALL, REQUEST) == ASKED


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        (DONE, "working"),
        (BATCH, "working"),
        (PROMPT, "working"),
        (STOP, "idle"),
        (told("SessionEnd"), "ended"),
    ],
)
def test_a_wait_is_over_with_the_call_or_the_turn(answer: HookInput, state: str) -> None:
    assert after(PROMPT, CALL, REQUEST, answer).state == state


def test_a_request_belongs_to_the_last_call_of_equal_tool_input_and_thread() -> None:
    again = told("PreToolUse", tool_use_id="b", **BASH)
    other = told("PreToolUse", tool_use_id="c", **LIST)
    inside = told("PreToolUse", tool_use_id="d", agent_id="x", **BASH)
    assert after(CALL, again, other, inside, REQUEST).call == "b"


def test_a_second_request_for_equal_calls_belongs_to_the_other_one() -> None:
    again = told("PreToolUse", tool_use_id="b", **BASH)
    signs = after(CALL, again, REQUEST, REQUEST, told("PostToolUse", tool_use_id="b", **BASH))
    assert (signs.state, signs.call) == ("waiting", "a")


def test_a_request_that_comes_after_the_end_of_its_call_makes_nobody_wait() -> None:
    assert after(PROMPT, CALL, DONE, REQUEST).state == "working"


def test_a_request_without_a_known_call_waits_until_a_call_of_that_tool_returns() -> None:
    assert after(PROMPT, REQUEST) == ASKED._replace(at_ms=200, call=None)
    assert after(PROMPT, REQUEST, DONE).state == "working"


@pytest.mark.parametrize(("tool", "waiting_for"), [(ASK, "answer"), (PLAN, "plan")])
def test_a_tool_that_only_asks_waits_from_its_call_on(tool: dict[str, Any], waiting_for: str) -> None:
    called = told("PreToolUse", tool_use_id="q", **tool)
    for hooks in ((PROMPT, called), (PROMPT, called, told("PermissionRequest", **tool))):
        sign = after(*hooks)
        assert (sign.state, sign.waiting_for, sign.call, sign.at_ms) == ("waiting", waiting_for, "q", 200)
    assert after(PROMPT, called, told("PostToolUse", tool_use_id="q", **tool)).state == "working"


def test_a_subagent_may_wait_while_the_main_thread_is_idle() -> None:
    inside = told("PreToolUse", tool_use_id="b", agent_id="x", **LIST)
    request = told("PermissionRequest", agent_id="x", **LIST)
    assert after(STOP, inside, request).state == "waiting"
    assert after(STOP, inside, request, PROMPT).state == "waiting"
    for end in (
        told("PostToolUse", tool_use_id="b", agent_id="x", **LIST),
        told("SubagentStop", agent_id="x"),
    ):
        assert after(STOP, inside, request, end).state == "idle"


def test_a_notification_tells_of_a_wait_that_no_other_hook_told_of() -> None:
    late = told("Notification", notification_type="permission_prompt", message="Claude needs your permission")
    sign = after(PROMPT, CALL, late)
    assert (sign.state, sign.waiting_for, sign.call, sign.doing) == (
        "waiting",
        "permission",
        "a",
        "Bash: make",
    )
    following = told("PreToolUse", tool_use_id="b", **LIST)
    assert [after(PROMPT, CALL, late, one).state for one in (DONE, following)] == ["working", "working"]
    assert after(PROMPT, CALL, REQUEST, late) == ASKED


def test_a_notification_without_a_type_is_read_by_its_words() -> None:
    asks = told("Notification", message="Claude needs your permission to use Bash")
    rests = told("Notification", message="Claude is waiting for your input")
    assert [after(PROMPT, one).state for one in (asks, rests)] == ["waiting", "idle"]


def test_a_server_that_asks_the_person_waits_for_an_answer() -> None:
    asks = told("Elicitation", mcp_server_name="deploy", message="Which region?")
    sign = after(PROMPT, asks)
    assert (sign.state, sign.waiting_for, sign.doing) == ("waiting", "answer", "deploy: Which region?")
    assert after(PROMPT, asks, told("ElicitationResult", action="accept")).state == "working"


def test_a_stop_tells_what_runs_on_in_the_background() -> None:
    running = [{"id": "b1", "type": "shell", "status": "running"}]
    ended = [{"id": "b1", "type": "shell", "status": "completed"}]
    tasks: tuple[object, ...] = (running, ended, [], "odd", [7])
    assert [after(told("Stop", background_tasks=one)).has_background for one in tasks] == [True, *[False] * 4]


def test_codex_tells_by_notify_that_a_turn_is_complete() -> None:
    signs = HookSigns()
    signs.add(CALL, 100)
    signs.turn_completed(200)
    assert signs.sign == Sign("hook", "idle", 200, where="notify agent-turn-complete")


EVENTS = st.builds(
    lambda event, more: told(event, **more),
    st.sampled_from([*sorted(HookSigns()._handlers), "Setup", "NewEvent"]),
    st.fixed_dictionaries(
        {},
        optional={
            "tool_use_id": st.sampled_from(["a", "b", ""]),
            "tool_name": st.sampled_from(["Bash", "AskUserQuestion"]),
            "tool_input": st.sampled_from([{"command": "x"}, {}, 7, None]),
            "agent_id": st.sampled_from(["x"]),
            "notification_type": st.sampled_from(["permission_prompt", "idle_prompt"]),
            "trigger": st.sampled_from(["manual", "auto"]),
        },
    ),
)


@given(st.lists(EVENTS, max_size=12))
def test_any_order_of_hooks_gives_a_sign_and_a_prompt_or_the_end_sets_it_right(
    hooks: list[HookInput],
) -> None:
    assert after(*hooks, told("SessionEnd")).state == "ended"
    assert after(*hooks, told("SessionStart", source="startup")).state == "idle"
