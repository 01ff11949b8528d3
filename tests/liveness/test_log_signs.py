"""What a log alone tells, line by line."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import Raw

from tracklog.clock import moment_ms, moment_text
from tracklog.liveness.log_signs import UNSAID_MS, LogSigns
from tracklog.model.events import (
    CommandRun,
    HookRan,
    LogEvent,
    ModelReplied,
    NodeSeen,
    Place,
    PromptGiven,
    RequestFailed,
    SessionDescribed,
    TaskSeen,
    TextInjected,
    ToolCalled,
    ToolReturned,
    TurnBegan,
    TurnEnded,
    TurnInterrupted,
)
from tracklog.model.ids import CallId, RequestId, TaskId
from tracklog.model.states import Sign

BEGAN = 1_800_000_000_000


def at(second: int) -> dict[str, Any]:
    """Place and time of the line of that second."""
    return {"place": Place("log", second), "at": moment_text(BEGAN + second * 1000)}


def prompt(second: int, **more: Any) -> PromptGiven:
    return PromptGiven(**at(second), text="go", is_message=True, **more)


def reply(second: int, reason: str | None, text: str = "Done.", **more: Any) -> ModelReplied:
    return ModelReplied(**at(second), request=RequestId("r"), stop_reason=reason, text=text, **more)


def called(second: int, call: str = "a", name: str = "Bash", **more: Any) -> ToolCalled:
    return ToolCalled(**at(second), call=CallId(call), name=name, input=Raw(b'{"command":"make"}'), **more)


def returned(second: int, call: str = "a", **more: Any) -> ToolReturned:
    return ToolReturned(**at(second), call=CallId(call), **{"said": "ok", **more})


def after(*events: LogEvent, now_ms: int | None = None, is_subagent: bool = False) -> Sign | None:
    signs = LogSigns(is_subagent=is_subagent)
    signs.add(events)
    last = max((moment_ms(event.at) for event in events), default=BEGAN)
    return signs.sign(last if now_ms is None else now_ms)


NOTICE = TextInjected(**at(5), why="notification", text="<task-notification>", is_message=True)


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([prompt(1)], ("working", "thinking", None, 1)),
        ([prompt(1), reply(2, None, "", thinking="hm")], ("working", "thinking", None, 2)),
        ([prompt(1), reply(2, "tool_use", "Let me."), called(2)], ("working", "Bash: make", "a", 2)),
        ([prompt(1), called(2), returned(3)], ("working", "thinking", None, 3)),
        ([prompt(1), called(2), called(2, "b"), returned(3)], ("working", "Bash: make", "b", 3)),
        ([prompt(1), called(2, is_server_side=True)], ("working", "thinking", None, 1)),
        ([prompt(1), reply(2, "end_turn")], ("idle", None, None, 2)),
        ([prompt(1), reply(2, "refusal", "")], ("idle", None, None, 2)),
        ([prompt(1), reply(2, None, is_synthetic=True)], ("idle", None, None, 2)),
        ([prompt(1), reply(2, "end_turn"), TurnEnded(**at(3))], ("idle", None, None, 2)),
        ([prompt(1), called(2), returned(3), TurnInterrupted(**at(4))], ("idle", None, None, 4)),
        ([prompt(1), TurnInterrupted(**at(4))], ("idle", None, None, 4)),
        ([prompt(1), RequestFailed(**at(2), text="529", attempt=1)], ("working", "thinking", None, 2)),
        ([prompt(1), RequestFailed(**at(2), text="400", is_final=True)], ("idle", None, None, 2)),
        ([reply(2, "end_turn"), NOTICE], ("working", "thinking", None, 5)),
        (
            [reply(2, "end_turn"), HookRan(**at(3), hook_event="Stop", name="Stop", outcome="blocked")],
            ("working", "thinking", None, 3),
        ),
        (
            [called(2), HookRan(**at(3), hook_event="PreToolUse", name="x", outcome="stopped")],
            ("idle", None, None, 3),
        ),
        ([returned(2), NodeSeen(**at(3), kind="attachment/max_turns_reached")], ("idle", None, None, 3)),
        ([returned(2), NodeSeen(**at(3), kind="attachment/environment")], ("working", "thinking", None, 2)),
        ([reply(2, "end_turn"), prompt(3, origin="slash")], ("idle", None, None, 2)),
        (
            [
                reply(2, "end_turn"),
                prompt(3, origin="slash"),
                CommandRun(**at(3), kind="slash", name="/exit"),
            ],
            ("idle", None, None, 2),
        ),
        ([called(2), prompt(3, is_copy=True)], ("working", "Bash: make", "a", 2)),
        ([called(2), returned(3, is_sidechain=True)], ("working", "Bash: make", "a", 2)),
        ([TurnBegan(**at(1)), prompt(2), called(3), TurnEnded(**at(4))], ("idle", None, None, 4)),
        ([TurnBegan(**at(1)), prompt(2), reply(3, None)], ("working", "thinking", None, 3)),
    ],
)
def test_the_newest_lines_tell_what_is_done(
    events: list[LogEvent], expected: tuple[str, str | None, str | None, int]
) -> None:
    sign = after(*events)
    assert sign is not None
    said = (sign.state, sign.doing, sign.call, (sign.at_ms - BEGAN) // 1000)
    assert said == expected
    assert sign.where == f"log line {expected[3]}"


def test_a_log_that_tells_nothing_of_work_gives_no_sign() -> None:
    assert after(SessionDescribed(**at(1), cwd="/home/dev")) is None


@pytest.mark.parametrize(
    ("tool", "waiting_for"),
    [("AskUserQuestion", "answer"), ("ExitPlanMode", "plan"), ("request_user_input", "answer")],
)
def test_an_open_call_that_only_asks_is_a_wait(tool: str, waiting_for: str) -> None:
    sign = after(prompt(1), called(2, "b"), called(3, "q", tool))
    assert sign is not None
    assert (sign.state, sign.waiting_for, sign.call, sign.open_calls) == (
        "waiting",
        waiting_for,
        "q",
        ("b", "q"),
    )


def test_an_answer_without_a_reason_to_stop_is_the_last_after_ten_seconds() -> None:
    events = [prompt(1), reply(2, None)]
    ends = BEGAN + 2_000 + UNSAID_MS
    states = [after(*events, now_ms=now_ms) for now_ms in (ends, ends + 1)]
    assert [one.state for one in states if one] == ["working", "idle"]


def test_a_prompt_forgets_the_calls_of_a_run_that_was_killed() -> None:
    sign = after(called(1), prompt(60))
    assert sign is not None
    assert (sign.doing, sign.open_calls) == ("thinking", ())


def test_a_prompt_that_was_queued_leaves_the_running_call_open() -> None:
    sign = after(called(1), prompt(2, origin="queued"))
    assert sign is not None
    assert sign.call == "a"


def test_a_line_that_stands_late_makes_no_sign_older() -> None:
    """A queued prompt is written when it is taken up, with the time at which it was typed."""
    sign = after(called(1), returned(9), prompt(3, origin="queued"))
    assert sign is not None
    assert (sign.at_ms, sign.where) == (BEGAN + 9_000, "log line 3")


def test_a_sign_knows_which_calls_are_over() -> None:
    sign = after(called(1), called(1, "b"), returned(2), TurnInterrupted(**at(3)))
    assert sign is not None
    assert sign.over == frozenset(["a", "b"])


def test_an_idle_session_knows_what_runs_in_the_background() -> None:
    begun = returned(2, said="backgrounded", task=TaskId("t"))
    ended = TaskSeen(**at(9), task=TaskId("t"), end="ok")
    rests = after(called(1), begun, reply(3, "end_turn"))
    later = after(called(1), begun, reply(3, "end_turn"), ended)
    assert [one.has_background for one in (rests, later) if one] == [True, False]


def test_a_subagents_own_log_is_followed_though_all_of_it_is_beside_the_main_thread() -> None:
    inside = called(2, is_sidechain=True)
    assert after(inside) is None
    sign = after(inside, is_subagent=True)
    assert sign is not None
    assert sign.call == "a"


def test_half_a_log_and_then_the_rest_is_the_same_as_all_of_it() -> None:
    events = [prompt(1), called(2), returned(3), reply(4, None), called(5, "b"), TurnInterrupted(**at(6))]
    for n in range(len(events) + 1):
        signs = LogSigns()
        signs.add(events[:n])
        signs.add(events[n:])
        assert signs.sign(BEGAN + 9_000) == after(*events, now_ms=BEGAN + 9_000)
