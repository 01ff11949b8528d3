"""A guard with `fails_closed` let `{}` pass: it is valid JSON, so nothing failed, and the handler saw no event it guards.

The same held for a `PreToolUse` without the name of its tool, which reached the handler as an event of no known kind.
"""

from __future__ import annotations

import pytest

from tracklog.hooking import Event, PreToolUse, call, deny


def guard(event: Event) -> object:
    return deny("no") if isinstance(event, PreToolUse) else None


@pytest.mark.parametrize(
    "payload",
    [
        "{}",
        '{"hook_event_name":""}',
        '{"hook_event_name":7}',
        '{"hook_event_name":"PreToolUse","tool_name":7}',
    ],
)
def test_a_payload_that_a_guard_cannot_judge_is_blocked(payload: str) -> None:
    outcome = call(guard, payload, fails_closed=True)  # type: ignore[arg-type]
    assert (outcome.exit_code, outcome.stdout) == (2, "")
    assert "the guard blocks" in outcome.stderr
    assert call(guard, payload).exit_code == 0  # type: ignore[arg-type]


def test_an_event_that_came_later_is_not_blocked() -> None:
    assert call(guard, {"hook_event_name": "SomethingNew"}, fails_closed=True).exit_code == 0  # type: ignore[arg-type]
