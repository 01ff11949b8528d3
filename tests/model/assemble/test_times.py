"""How long a call ran, and how long it waited."""

from __future__ import annotations

from typing import Any

import pytest

from tests.model.lines import LOG, REJECTED, Line, at, reply, result, session, use, user
from tracklog.model.events import HookRan, Place
from tracklog.model.ids import CallId
from tracklog.model.session import Call

ASK = user("u", None, "go", timestamp=at(1))
SPOOL = Place("spool.jsonl", 1)


def call(*lines: Line, name: str = "Bash", heard: tuple[HookRan, ...] = ()) -> Call:
    """The one call of a log that asks for it at 10:00:02."""
    made = session(ASK, reply("a", "u", "m1", use("c1", name), timestamp=at(2)), *lines, heard=heard)
    [one] = made.calls
    return one


def back(content: Any = "done", second: float = 9, **fields: Any) -> Line:
    return result("r", "a", "c1", content, timestamp=at(second), **fields)


def hook(event: str, outcome: str, second: float, took_ms: float | None = None) -> HookRan:
    return HookRan(
        place=SPOOL,
        at=at(second),
        hook_event=event,
        name=None,
        outcome=outcome,
        call=CallId("c1"),
        is_heard=True,
        call_took_ms=took_ms,
    )


def times(one: Call) -> tuple[float | None, float | None, float | None]:
    return one.took_ms, one.run_ms, one.waited_ms


def test_the_times_of_lines_alone_do_not_say_how_long_a_call_ran() -> None:
    assert times(call(back())) == (7000, None, None)
    assert times(call()) == (None, None, None)


def test_a_time_that_is_stated_is_how_long_it_ran() -> None:
    assert times(call(back(toolUseResult={"durationMs": 250}))) == (250, 250, None)


def test_our_hook_tells_when_a_permission_was_asked_for_and_when_it_came() -> None:
    heard = (hook("PermissionRequest", "asked", 2.5), hook("PostToolUse", "ok", 8.5, took_ms=1500))
    assert times(call(back(), heard=heard)) == (1500, 1500, 4500)


def test_without_a_stated_time_a_call_ran_for_the_rest() -> None:
    heard = (hook("PermissionRequest", "asked", 2.5),)
    assert times(call(back(REJECTED, is_error=True), heard=heard)) == (7000, 0, 6500)


def test_what_the_settings_allow_waits_for_nobody() -> None:
    allowed = {"decision": "accept", "source": "config", "reasonType": "mode"}
    assert times(call(back(permissionDecision=allowed))) == (7000, 7000, 0)
    asked = {"decision": "accept", "source": "user_temporary"}
    assert times(call(back(permissionDecision=asked))) == (7000, None, None)


def test_a_refused_call_waited_and_did_not_run() -> None:
    assert times(call(back(REJECTED, is_error=True))) == (7000, 0, 7000)


def test_a_refused_call_beside_another_may_have_waited_for_that() -> None:
    calls = session(
        ASK,
        reply("a", "u", "m1", use("c1"), use("c2"), timestamp=at(2)),
        back(REJECTED, is_error=True),
    ).calls
    assert times(calls[0]) == (7000, 0, None)


@pytest.mark.parametrize("name", ["AskUserQuestion", "ExitPlanMode", "request_user_input"])
def test_a_tool_that_asks_the_person_only_waits(name: str) -> None:
    assert times(call(back(), name=name)) == (7000, 0, 7000)
    assert times(call(name=name)) == (None, None, None)


def test_an_interruption_has_its_time_and_place() -> None:
    stopped = user("i", "r", "[Request interrupted by user for tool use]", timestamp=at(10))
    made = session(
        ASK, reply("a", "u", "m1", use("c1"), timestamp=at(2)), back(REJECTED, is_error=True), stopped
    )
    assert [(one.at, one.place, one.thread, one.in_tool) for one in made.interruptions] == [
        (at(10), Place(LOG, 4), "main", True)
    ]
