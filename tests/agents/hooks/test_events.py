"""What our hook was told joins the calls of the logs: who was asked, how it ended, how long it took."""

from __future__ import annotations

from typing import Any

import pytest

from tests.model.lines import (
    REJECTED,
    STOPPED,
    Line,
    at,
    attachment,
    folded,
    reply,
    result,
    session,
    use,
    user,
)
from tests.spool_lines import after, asked, before, failed, spool_line, told
from tracklog.agents.hooks.events import heard
from tracklog.agents.hooks.records import READER, Spooled
from tracklog.model.events import HookRan, Place
from tracklog.model.session import Call
from tracklog.sources.lines import cut

SPOOL = "/home/spool/hooks.jsonl"
BEGAN_MS = 1_794_736_800_000  # 2026-11-15T10:00:00Z, the minute of tests/model/lines.py


def hearing(*payloads: dict[str, Any], begins: float = 3, **more: Any) -> list[HookRan]:
    """What these payloads tell, a second apart."""
    lines = [spool_line(one, BEGAN_MS + int(1000 * (begins + n)), **more) for n, one in enumerate(payloads)]
    pieces = READER.read(cut(lines))
    return list(
        heard(
            (piece.record, Place(SPOOL, piece.line)) for piece in pieces if isinstance(piece.record, Spooled)
        )
    )


def in_short(events: list[HookRan]) -> list[tuple[Any, ...]]:
    return [(event.name, event.outcome, event.call) for event in events]


CALLED: list[Line] = [
    user("u", None, "go", timestamp=at(1)),
    reply("a", "u", "m1", use("c1", command="x"), timestamp=at(2)),
]


def call(*lines: Line, heard: list[HookRan], **how: Any) -> Call:
    made = session(*CALLED, *lines, heard=heard, **how)
    return next(one for one in made.calls if one.id == "c1")


def rejected(**more: Any) -> Line:
    return result("r", "a", "c1", REJECTED, is_error=True, timestamp=at(9), **more)


def test_each_event_says_how_the_call_stood() -> None:
    events = hearing(
        told("UserPromptSubmit", prompt="go"),
        before("c1"),
        asked(),
        after("c1", duration_ms=5),
        before("c2"),
        failed("c2", "Exit code 1"),
        failed("c3", 'MCP server "life" tool "slow" timed out after 2s'),
        failed("c4", "x", is_interrupt=True),
        told("PermissionDenied", tool_name="Bash", tool_use_id="c5", reason="Classifier unavailable"),
        told("PostToolBatch", tool_calls=[]),
        told("Stop", last_assistant_message="Done."),
        told("SomethingNew"),
    )
    assert in_short(events) == [
        ("UserPromptSubmit", "told", None),
        ("PreToolUse:Bash", "began", "c1"),
        ("PermissionRequest:Bash", "asked", "c1"),
        ("PostToolUse:Bash", "ok", "c1"),
        ("PreToolUse:Bash", "began", "c2"),
        ("PostToolUseFailure:Bash", "error", "c2"),
        ("PostToolUseFailure:Bash", "timed_out", "c3"),
        ("PostToolUseFailure:Bash", "interrupted", "c4"),
        ("PermissionDenied:Bash", "denied", "c5"),
        ("PostToolBatch", "told", None),
        ("Stop", "told", None),
        ("SomethingNew", "told", None),
    ]
    assert (events[3].at, events[3].call_took_ms, events[3].place) == (at(6), 5.0, Place(SPOOL, 4))
    assert all(event.is_heard for event in events)


@pytest.mark.parametrize("response", [{"backgroundTaskId": "b1"}, {"status": "async_launched"}])
def test_work_that_goes_on_has_not_ended(response: Any) -> None:
    assert in_short(hearing(after("c1", tool_response=response))) == [("PostToolUse:Bash", "told", "c1")]


def test_codex_does_not_tell_what_failed_from_what_went_well() -> None:
    """Real 0.166.0: `exit 3` is a PostToolUse with its output, as any other."""
    failing = after("c1", tool_response="", turn_id="9")
    assert [hearing(failing, agent=agent)[0].outcome for agent in ("codex", None)] == ["told", "told"]


def test_a_question_is_about_the_newest_open_call_with_its_tool_and_input() -> None:
    events = hearing(
        before("c1", input={"command": "a"}),
        before("c2", input={"command": "b"}),
        before("c3", input={"command": "a"}),
        before("c4", "Write", {"command": "a"}),
        before("c5", input={"command": "a"}, agent_id="agent"),
        asked(input={"command": "a"}),
        after("c3"),
        asked(input={"command": "a"}),
        asked(input={"command": "b", "description": "why"}),
        asked("Write", {"command": "other"}),
        asked(input={"command": "a"}, agent_id="agent"),
        told("UserPromptSubmit"),
        asked(input={"command": "a"}),
    )
    assert [event.call for event in events if event.outcome == "asked"] == [
        "c3",
        "c1",
        "c2",
        None,
        "c5",
        None,
    ]
    assert [event.thread for event in events if event.call == "c5"] == ["agent", "agent"]


def test_a_notice_of_codex_tells_that_a_turn_is_over() -> None:
    notice = {
        "type": "agent-turn-complete",
        "thread-id": "s1",
        "turn-id": "9",
        "last-assistant-message": "Done.",
    }
    (event,) = hearing(notice, via="notify")
    assert (event.hook_event, event.outcome, event.turn, event.text) == (
        "agent-turn-complete",
        "told",
        "9",
        "Done.",
    )


def test_garbage_and_unknown_payloads_tell_nothing() -> None:
    assert hearing({"session_id": "s1"}) == []


def test_how_long_it_took_is_what_the_agent_stated() -> None:
    made = call(
        result("r", "a", "c1", timestamp=at(9)), heard=hearing(before("c1"), after("c1", duration_ms=51))
    )
    assert (made.took_ms, made.took_by, made.verdict) == (51.0, "stated", "ok")


def test_asked_and_allowed_are_moments_of_the_call() -> None:
    events = hearing(before("c1"), asked(), after("c1", duration_ms=500))
    made = call(result("r", "a", "c1", timestamp=at(9)), heard=events)
    assert [(phase.what, phase.at, phase.place.path) for phase in made.phases] == [
        ("asked", at(2), "one.jsonl"),
        ("hook_before", at(3), SPOOL),
        ("permission", at(4), SPOOL),
        ("allowed", at(4.5), SPOOL),
        ("hook_after", at(5), SPOOL),
        ("returned", at(9), "one.jsonl"),
    ]


def test_who_was_not_asked_did_not_allow() -> None:
    made = call(
        result("r", "a", "c1", timestamp=at(9)), heard=hearing(before("c1"), after("c1", duration_ms=5))
    )
    assert [phase.what for phase in made.phases] == ["asked", "hook_before", "hook_after", "returned"]


@pytest.mark.parametrize(
    ("event", "verdict"),
    [
        (after("c1"), "ok"),
        (failed("c1", "Exit code 3"), "error"),
        (failed("c1", "Command timed out after 2s"), "timed_out"),
        (failed("c1", "x", is_interrupt=True), "interrupted"),
        (told("PermissionDenied", tool_name="Bash", tool_use_id="c1", reason="no"), "denied"),
    ],
)
def test_a_call_without_a_result_has_the_end_that_was_heard(event: dict[str, Any], verdict: str) -> None:
    for is_alive in (True, False, None):
        made = call(heard=hearing(before("c1"), event), is_alive=is_alive)
        assert (made.verdict, made.sureness, made.evidence) == (
            verdict,
            "stated",
            [Place("one.jsonl", 2), Place(SPOOL, 2)],
        )


def test_a_call_that_only_began_is_running_or_lost_as_before() -> None:
    verdicts = [call(heard=hearing(before("c1"), asked()), is_alive=alive).verdict for alive in (True, False)]
    assert verdicts == ["running", "lost"]


def test_work_in_the_background_is_not_ended_by_what_was_heard() -> None:
    made = call(
        heard=hearing(before("c1"), after("c1", tool_response={"backgroundTaskId": "b"})), is_alive=False
    )
    assert made.verdict == "lost"


def test_a_note_that_nothing_is_known_gives_way_to_what_was_heard() -> None:
    note = result("r", "a", "c1", "[Tool call interrupted: the session ended before this", is_error=True)
    assert call(note, heard=[]).verdict == "lost"
    assert call(note, heard=hearing(before("c1"), after("c1"))).verdict == "ok"


def test_what_a_log_says_is_not_contradicted() -> None:
    bad = result("r", "a", "c1", "Exit code 3\nbad", is_error=True, timestamp=at(9))
    assert call(bad, heard=hearing(before("c1"), after("c1"))).verdict == "error"


def test_rejected_after_a_question_is_denied_with_the_question_as_evidence() -> None:
    stopped = user("s", "r", STOPPED, timestamp=at(10))
    made = call(rejected(), stopped, heard=hearing(before("c1"), asked()))
    assert (made.verdict, made.sureness) == ("denied", "stated")
    assert Place(SPOOL, 2) in made.evidence


def test_the_logs_own_word_for_an_interruption_beats_a_question() -> None:
    stopped = user("s", "r", STOPPED, interruptedMessageId="m1", timestamp=at(10))
    assert call(rejected(), stopped, heard=hearing(before("c1"), asked())).verdict == "interrupted"


def test_a_plain_no_stays_a_no_where_only_the_beginning_was_heard() -> None:
    """Who installed no PermissionRequest hook hears no question: the main log's own words count."""
    stopped = user("s", "r", STOPPED, timestamp=at(10))
    assert call(rejected(), stopped, heard=hearing(before("c1"))).verdict == "denied"


AGENT_LINES = [
    {**line, "isSidechain": True, "agentId": "ag", "uuid": f"x{line['uuid']}"}
    for line in (
        user("1", None, "work", timestamp=at(3)),
        reply("2", "x1", "m9", use("c9", command="x"), timestamp=at(4)),
        result("3", "x2", "c9", REJECTED, is_error=True, timestamp=at(8)),
    )
]


@pytest.mark.parametrize(
    ("events", "verdict", "sureness"),
    [
        ([], "denied", "inferred"),
        ([before("c9", agent_id="ag")], "interrupted", "inferred"),
        ([before("c9", agent_id="ag"), asked(agent_id="ag")], "denied", "stated"),
    ],
)
def test_in_a_subagent_hooks_tell_no_and_esc_apart(
    events: list[dict[str, Any]], verdict: str, sureness: str
) -> None:
    agent = folded(*AGENT_LINES, path="agent.jsonl", thread="ag")
    made = session(*CALLED, agent, heard=hearing(*events))
    (inner,) = [one for one in made.calls if one.id == "c9"]
    assert (inner.verdict, inner.sureness, inner.thread) == (verdict, sureness, "ag")


def test_what_was_heard_stands_beside_what_the_log_says_of_hooks() -> None:
    ran = attachment(
        "h", "a", "hook_success", hookEvent="PreToolUse", hookName="PreToolUse:Bash", toolUseID="c1"
    )
    made = session(*CALLED, ran, heard=hearing(before("c1"), told("Stop"), before("gone")))
    assert [(hook.event, hook.outcome) for hook in made.calls[0].hooks] == [
        ("PreToolUse", "success"),
        ("PreToolUse", "began"),
    ]
    assert made.hooks == []
    assert made.paths == ["one.jsonl"]


def test_what_was_heard_of_a_later_time_does_not_make_a_session_fresh() -> None:
    silent = session(*CALLED, heard=[])
    later = session(*CALLED, heard=hearing(told("SessionEnd"), begins=50_000))
    assert (silent.last_at, silent.state) == (later.last_at, later.state)
