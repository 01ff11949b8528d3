"""The table of states, row by row, and what holds for every list of signs."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.cases import for_each
from tracklog.model import states
from tracklog.model.states import SETTLES_MS, SILENT_MS, Doing, LiveState, Sign, State, pending, state_of
from tracklog.sources.process_start import UNKNOWN_PROCESS, Alive

NOW = 1_800_000_000_000
LIVES = Alive("alive", "process 4410 lives", 4410)
LEFT = Alive("gone", "sessions/4410.json was taken away", 4410, has_left=True, at_ms=NOW - 10)
KILLED = Alive("gone", "there is no process 4410", 4410)
NOBODY_KNOWS = Alive("unknown", "never registered")


def hook(state: Doing, ago_ms: int = 0, **more: Any) -> Sign:
    return Sign("hook", state, NOW - ago_ms, where="hook Some", **more)


def registry(state: Doing, ago_ms: int = 0, **more: Any) -> Sign:
    return Sign("registry", state, NOW - ago_ms, where="sessions/4410.json", **more)


def log(state: Doing, ago_ms: int = 0, **more: Any) -> Sign:
    return Sign("log", state, NOW - ago_ms, where="log line 3", **more)


def said(*signs: Sign, alive: Alive = LIVES, now_ms: int = NOW) -> LiveState:
    made = state_of(signs, alive, now_ms=now_ms)
    assert made.alive == alive
    return replace(made, alive=UNKNOWN_PROCESS)


TABLE: list[tuple[Doing | None, Alive, int, State]] = [
    ("working", LIVES, 0, "working"),
    ("working", LIVES, SILENT_MS * 9, "working"),
    ("working", LEFT, 0, "ended"),
    ("working", KILLED, 0, "crashed"),
    ("working", NOBODY_KNOWS, SILENT_MS, "working"),
    ("working", NOBODY_KNOWS, SILENT_MS + 1, "unknown"),
    ("waiting", LIVES, 0, "waiting"),
    ("waiting", LEFT, 0, "ended"),
    ("waiting", KILLED, 0, "crashed"),
    ("waiting", NOBODY_KNOWS, SILENT_MS, "waiting"),
    ("waiting", NOBODY_KNOWS, SILENT_MS + 1, "unknown"),
    ("idle", LIVES, SILENT_MS * 9, "idle"),
    ("idle", LEFT, 0, "ended"),
    ("idle", KILLED, 0, "ended"),
    ("idle", NOBODY_KNOWS, SILENT_MS, "idle"),
    ("idle", NOBODY_KNOWS, SILENT_MS + 1, "idle"),
    ("ended", LIVES, 0, "ended"),
    ("ended", LEFT, 0, "ended"),
    ("ended", KILLED, 0, "ended"),
    ("ended", NOBODY_KNOWS, SILENT_MS + 1, "ended"),
    (None, LIVES, 0, "unknown"),
    (None, LEFT, 0, "ended"),
    (None, KILLED, 0, "ended"),
    (None, NOBODY_KNOWS, 0, "unknown"),
]


@for_each("newest, alive, ago_ms, expected", TABLE)
def test_the_table_holds(newest: Doing | None, alive: Alive, ago_ms: int, expected: State) -> None:
    signs = [] if newest is None else [log(newest, ago_ms)]
    assert state_of(signs, alive, now_ms=NOW).state == expected


def test_every_row_of_the_documented_table_is_a_case() -> None:
    rows = re.findall(r"^\| (\w+) .*\|$", states.__doc__ or "", re.MULTILINE)
    assert set(rows) - {"the"} == {newest or "none" for newest, *_ in TABLE}


def test_the_newest_sign_wins_over_a_stronger_one() -> None:
    """An Esc 200 ms after PreToolUse: no hook tells of it."""
    assert said(hook("working", 199, call="a", open_calls=("a",)), log("idle")).state == "idle"
    assert said(hook("working", 199, call="a", open_calls=("a",)), registry("idle")).state == "idle"


def test_at_the_same_moment_the_stronger_source_wins() -> None:
    assert said(log("working"), hook("idle")).state == "idle"


def test_a_hook_is_ahead_of_the_registry_for_two_seconds_only() -> None:
    """Stop was seen, but another hook kept the turn going: the status stays `busy`."""
    signs = [registry("working", 60_000), hook("idle", SETTLES_MS)]
    assert said(*signs).state == "idle"
    assert said(*signs, now_ms=NOW + 1) == LiveState(
        state="working",
        doing="thinking",
        since_ms=NOW - 60_000,
        evidence=["sessions/4410.json", "process 4410 lives"],
        pid=4410,
    )


def test_a_line_right_behind_the_registry_is_of_the_same_fact() -> None:
    assert said(registry("idle", 300), log("working")).state == "idle"
    assert said(registry("idle", 301), log("working")).state == "working"


def test_a_goodbye_needs_no_registry_file_to_follow() -> None:
    assert said(registry("idle", 60_000), hook("ended", 30_000)).state == "ended"


def test_that_a_call_was_made_ends_no_wait() -> None:
    """The model streams a second call while the first one is asked about."""
    waits = hook("waiting", 500, call="a", waiting_for="permission", doing="Bash: touch x")
    more = log("working", 0, call="a", open_calls=("a", "b"), doing="Bash: touch x")
    assert said(waits, more).state == "waiting"
    assert said(registry("waiting", 500, waiting_for="permission"), more).state == "waiting"
    assert said(waits._replace(call=None), more).state == "waiting"


def test_that_the_call_has_its_result_ends_the_wait_though_the_hook_came_later() -> None:
    late = hook("waiting", 0, call="a", waiting_for="permission")
    assert said(late, log("idle", 46, over=frozenset("a"))).state == "idle"


def test_the_registry_knows_that_and_others_know_in_what() -> None:
    waits = registry("waiting", 10, waiting_for="permission", doing="permission prompt")
    called = log("working", 90, call="a", open_calls=("a",), doing="Bash: rm x")
    assert said(waits, called) == LiveState(
        state="waiting",
        waiting_for="permission",
        doing="Bash: rm x",
        call="a",
        since_ms=NOW - 10,
        evidence=["sessions/4410.json", "log line 3", "process 4410 lives"],
        pid=4410,
    )


def test_a_permission_prompt_of_a_tool_that_only_asks_is_a_wait_for_an_answer() -> None:
    """2.1.197 calls questions and plans `permission prompt`, too."""
    waits = registry("waiting", 10, waiting_for="permission", doing="permission prompt")
    asks = log("waiting", 90, call="a", waiting_for="answer", doing="AskUserQuestion: Which?")
    plans = asks._replace(waiting_for="plan")
    assert [said(waits, one).waiting_for for one in (asks, plans)] == ["answer", "plan"]


def test_a_permitted_call_is_worked_on_since_the_answer() -> None:
    asked = hook("waiting", 5_000, call="a", waiting_for="permission", doing="Bash: rm x")
    state = said(asked, registry("working", 1_000))
    assert (state.state, state.doing, state.call, state.since_ms) == (
        "working",
        "Bash: rm x",
        "a",
        NOW - 1_000,
    )


def test_work_in_a_tool_is_since_the_call_and_not_since_the_prompt() -> None:
    state = said(registry("working", 60_000), hook("working", 9_000, call="a", doing="Bash: make"))
    assert (state.doing, state.since_ms) == ("Bash: make", NOW - 9_000)


def test_a_wait_and_a_rest_begin_with_the_first_sign_of_them() -> None:
    assert (
        said(registry("waiting", 60, waiting_for="permission"), hook("waiting", 0, call="a")).since_ms
        == NOW - 60
    )
    assert said(hook("idle", 80), registry("idle", 0), log("idle", 40)).since_ms == NOW - 80


def test_an_idle_session_may_have_something_in_the_background() -> None:
    state = said(registry("idle", 0, has_background=True), hook("idle", 50))
    assert (state.state, state.has_background, state.doing) == (
        "idle",
        True,
        "something runs in the background",
    )


def test_a_crashed_session_tells_in_what_and_since_when() -> None:
    called = log("working", 900, call="a", open_calls=("a",), doing="Bash: make")
    assert said(registry("working", 5_000), called, alive=KILLED) == LiveState(
        state="crashed",
        doing="Bash: make",
        call="a",
        since_ms=NOW - 900,
        evidence=["log line 3", "there is no process 4410"],
        pid=4410,
    )


def test_a_crash_counts_from_the_last_sign_of_life() -> None:
    signs = [registry("working", 5_000), log("working", 900)]
    assert state_of(signs, KILLED, now_ms=NOW).since_ms == NOW - 900
    assert state_of(signs, KILLED, now_ms=NOW + 9_000, last_ms=NOW - 700).since_ms == NOW - 700


def test_what_nobody_can_say_names_that_as_its_evidence() -> None:
    silent = log("idle", SILENT_MS + 1)
    assert said(silent, alive=Alive("unknown")).evidence == [
        "log line 3",
        "nothing shows whether its process lives",
    ]


def test_a_sign_of_a_clock_that_is_ahead_counts_as_of_now() -> None:
    assert said(log("working", -90_000)).since_ms == NOW


@pytest.mark.parametrize(
    ("parent", "expected"),
    [("working", "pending"), ("idle", "pending"), ("ended", "lost"), ("crashed", "lost")],
)
def test_work_without_a_log_is_pending_until_its_parent_ends(parent: State, expected: State) -> None:
    above = LiveState(state=parent, evidence=["hook SessionEnd"], pid=4410)
    assert pending(NOW, above, "log line 9").state == expected


SIGNS = st.builds(
    Sign,
    source=st.sampled_from(["hook", "registry", "log", "process"]),
    state=st.sampled_from(["working", "waiting", "idle", "ended"]),
    at_ms=st.integers(NOW - 3_000, NOW + 1_000),
    doing=st.sampled_from([None, "thinking", "Bash: make"]),
    call=st.sampled_from([None, "a", "b"]),
    waiting_for=st.sampled_from([None, "permission", "answer"]),
    where=st.sampled_from(["here", "there"]),
    has_background=st.booleans(),
    open_calls=st.sampled_from([(), ("a",), ("a", "b")]),
    over=st.sampled_from([frozenset(), frozenset("a")]),
)


@given(st.lists(SIGNS, max_size=5).flatmap(lambda one: st.tuples(st.just(one), st.permutations(one))))
def test_the_order_of_signs_does_not_matter(both: tuple[list[Sign], list[Sign]]) -> None:
    one, other = both
    for alive in (LIVES, LEFT, KILLED, NOBODY_KNOWS):
        assert state_of(one, alive, now_ms=NOW) == state_of(other, alive, now_ms=NOW)


@given(st.lists(SIGNS, min_size=1, max_size=5))
def test_a_living_session_is_in_a_state_that_somebody_told_and_not_since_the_future(
    signs: list[Sign],
) -> None:
    state = state_of(signs, LIVES, now_ms=NOW)
    told = {sign.state for sign in signs}
    assert state.state in told or (state.state == "unknown" and all(one.call for one in signs))
    assert state.since_ms is None or state.since_ms <= NOW


def test_a_question_that_was_put_to_us_holds_for_as_long_as_it_is_open_whatever_the_registry_says() -> None:
    ask = Sign("ask", "waiting", NOW - 60_000, "Bash: touch x", waiting_for="permission", where="question q1")
    found = said(registry("working", 50_000), hook("waiting", 60_000, waiting_for="permission"), ask)
    assert (found.state, found.waiting_for, found.doing, found.since_ms) == (
        "waiting",
        "permission",
        "Bash: touch x",
        NOW - 60_000,
    )
    assert said(registry("working", 50_000), ask, alive=KILLED).state == "crashed"
