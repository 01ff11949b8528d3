"""Whether a log's last turn waits for an answer: then a request was sent of which no line tells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.agents.claude_code.test_usage_scan import MAIN, ONE, log_file, scanned
from tests.oracle.logs import NOON, OPUS, ClaudeLog, Json, dumps, later, message_id, text, tool_use, usage
from tracklog.agents.base import LogToScan
from tracklog.agents.claude_code.usage_scan import scan
from tracklog.agents.pending_request import Waiting
from tracklog.clock import moment_ms
from tracklog.model.events import ModelReplied, Place, PromptGiven, ToolCalled, ToolReturned
from tracklog.model.ids import CallId, RequestId
from tracklog.model.usage import COUNT_RULES, Awaited, Source, UsageBlock
from tracklog.sources.log_file import FileKind

AGENT = Source("agent-a1.jsonl", "claude", ONE, "a1", is_main=False)


def begun(**over: Any) -> ClaudeLog:
    """A log with a turn that was answered."""
    log = ClaudeLog(ONE, **over)
    log.prompt()
    log.reply(message_id(1), usage(1, 1))
    return log


def called(*calls: str) -> ClaudeLog:
    """A log whose last answer asked for tools."""
    log = ClaudeLog(ONE)
    log.prompt()
    log.reply(message_id(1), usage(1, 1), content=[tool_use(call) for call in calls], stop="tool_use")
    return log


def attachment(kind: str, **more: Any) -> Json:
    return {"type": "attachment", "attachment": {"type": kind} | more}


def awaited(log: ClaudeLog, **more: Any) -> Awaited | None:
    return scanned(log.bytes(), **more).awaited


def is_awaited(log: ClaudeLog) -> bool:
    return awaited(log) is not None


def test_an_answered_turn_awaits_nothing() -> None:
    assert not is_awaited(begun())
    assert not is_awaited(ClaudeLog(ONE))


def test_a_prompt_awaits_its_answer_at_its_place_and_time() -> None:
    log = begun()
    before = len(log.bytes())
    log.prompt("And then?")
    block = scanned(log.bytes())
    assert block.awaited is not None
    assert (block.awaited.offset, block.awaited.at) == (before, moment_ms(later(NOON, seconds=3)))
    assert block.names[block.awaited.model] == OPUS


def test_a_first_prompt_awaits_a_model_that_nobody_named() -> None:
    log = ClaudeLog(ONE)
    log.prompt()
    block = scanned(log.bytes())
    assert block.awaited == Awaited(0, moment_ms(later(NOON, seconds=1)), 0)


def test_all_results_of_an_answer_ask_for_the_next_one() -> None:
    log = called("toolu_1", "toolu_2")
    assert not is_awaited(log)
    log.result("toolu_1")
    assert not is_awaited(log)
    log.result("toolu_2")
    assert is_awaited(log)
    log.reply(message_id(2), usage(1, 1))
    assert not is_awaited(log)


def test_a_model_that_is_still_calling_awaits_nothing() -> None:
    log = called("toolu_1")
    log.result("toolu_1")
    log.reply(message_id(2), usage(1, 1), content=[tool_use("toolu_2")])
    assert not is_awaited(log)


@pytest.mark.parametrize("kind", ["max_turns_reached", "hook_stopped_continuation", "structured_output"])
def test_a_client_that_stops_by_itself_awaits_nothing(kind: str) -> None:
    log = called("toolu_1")
    log.result("toolu_1")
    log.add(attachment(kind))
    assert not is_awaited(log)
    log.prompt("Once more.")
    assert is_awaited(log)


def test_a_structured_output_before_its_result_is_the_end_as_well() -> None:
    log = called("toolu_1")
    log.add(attachment("structured_output", data={"answer": 42}))
    log.result("toolu_1")
    assert not is_awaited(log)


def test_where_requests_are_noted_only_a_note_counts() -> None:
    log = ClaudeLog(ONE)
    log.prompt()
    log.note({"type": "api-request", "id": "r1"})
    log.reply(message_id(1), usage(1, 1))
    log.prompt("And then?")
    assert not is_awaited(log)
    place = len(log.bytes())
    log.note({"type": "api-request", "id": "r2"})
    found = awaited(log)
    assert found is not None
    assert found.offset == place
    log.reply(message_id(2), usage(1, 1))
    assert not is_awaited(log)


def test_words_about_a_note_are_no_note() -> None:
    log = begun()
    log.prompt('Look at {"type":"api-request"} here.')
    assert is_awaited(log)


def test_a_note_is_seen_over_the_border_of_two_pieces() -> None:
    """A file is looked at a MiB at a time; here every border within the note's word is tried."""
    log = ClaudeLog(ONE)
    log.reply(message_id(1), usage(1, 1))
    log.prompt("@@")
    note = dumps(log.note({"type": "api-request", "id": "r2"}))
    data, word = log.bytes(), b'"type":"api-request"'
    for n in range(1, len(word)):
        room = (1 << 20) - data.index(word) + len(b"@@") - n
        padded = data.replace(b"@@", b"x" * room)
        found = scanned(padded).awaited
        assert padded.index(word) == (1 << 20) - n
        assert found is not None
        assert found.offset == padded.index(note)


def test_an_interrupted_tool_awaits_nothing() -> None:
    log = called("toolu_1")
    log.result("toolu_1")
    log.prompt("[Request interrupted by user for tool use]")
    assert not is_awaited(log)


def test_a_command_of_the_client_awaits_nothing() -> None:
    log = begun()
    log.prompt(
        "<command-name>/clear</command-name>\n<command-message>clear</command-message>\n<command-args></command-args>"
    )
    log.prompt("<local-command-stdout>done</local-command-stdout>")
    assert not is_awaited(log)


def test_an_error_of_the_api_is_an_answer() -> None:
    log = begun()
    log.prompt()
    log.reply("0", usage(), model="<synthetic>", content=[text("API Error: 529")], isApiErrorMessage=True)
    assert not is_awaited(log)


def test_a_sidechain_in_the_main_file_is_not_the_main_thread() -> None:
    log = begun()
    log.prompt("for the subagent", isSidechain=True)
    assert not is_awaited(log)


def test_a_subagents_own_file_may_wait_as_well(tmp_path: Path) -> None:
    log = ClaudeLog(ONE, sidechain=True, agent="a1")
    log.prompt()
    file = log_file(tmp_path / "agent-a1.jsonl", log.bytes(), kind=FileKind.SUBAGENT)
    assert scan(LogToScan(1, AGENT, file)).awaited is not None


def test_of_several_files_of_a_thread_only_the_newest_is_asked(tmp_path: Path) -> None:
    log = begun()
    log.prompt()
    file = log_file(tmp_path / "one.jsonl", log.bytes())
    assert scan(LogToScan(0, MAIN, file, is_newest=False)).awaited is None


@pytest.mark.parametrize("rule", [rule for rule in COUNT_RULES if rule != "ours"])
def test_other_rules_know_of_no_awaited_answer(rule: Any) -> None:
    log = begun()
    log.prompt()
    assert awaited(log, rule=rule) is None


def test_a_notice_of_the_background_asks_for_an_answer() -> None:
    log = begun()
    notice = "<task-notification>\n<task-id>b1</task-id>\n<status>completed</status>\n</task-notification>"
    log.prompt(notice, origin={"kind": "task-notification"}, isMeta=True)
    assert is_awaited(log)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from(["prompt", "reply", "call", "result"]), max_size=8), st.integers(0, 40_000))
def test_looking_from_the_last_answer_on_is_enough(acts: list[str], padding: int) -> None:
    """The scan looks at the end of the file alone; all of the file before it changes nothing."""
    log = ClaudeLog(ONE)
    for n, act in enumerate(acts):
        match act:
            case "prompt":
                log.prompt()
            case "reply":
                log.reply(message_id(n), usage(1, 1))
            case "call":
                log.reply(message_id(n), usage(1, 1), content=[tool_use("toolu_1")], stop="tool_use")
            case _:
                log.result("toolu_1")
    before = (
        dumps({"type": "file-history-snapshot", "messageId": "m", "snapshot": {"x": "x" * padding}}) + b"\n"
    )
    bare, padded = scanned(log.bytes()), scanned(before + log.bytes())
    assert _moved(bare, len(before)) == padded.awaited
    assert (bare.awaited is not None) is _waits_by_hand(acts)


def _moved(block: UsageBlock, n_bytes: int) -> Awaited | None:
    found = block.awaited
    return None if found is None else Awaited(found.offset + n_bytes, found.at, found.model)


def _waits_by_hand(acts: list[str]) -> bool:
    return bool(acts) and acts[-1] in ("prompt", "result")


def event(kind: Any, n: int, **more: Any) -> Any:
    return kind(place=Place("p", n), at=None, **more)


def test_what_was_copied_from_another_log_asks_for_nothing() -> None:
    waiting = Waiting()
    waiting.see(event(PromptGiven, 1, text="a", is_copy=True))
    assert waiting.since is None


def test_waiting_follows_calls_and_results() -> None:
    waiting = Waiting()
    one, two = CallId("1"), CallId("2")
    seen = []
    for said in (
        event(PromptGiven, 1, text="a"),
        event(ModelReplied, 2, request=RequestId("r")),
        event(ToolCalled, 3, call=one, request=RequestId("r"), name="Bash"),
        event(ToolCalled, 4, call=two, request=RequestId("r"), name="Bash"),
        event(ToolReturned, 5, call=one, said="ok"),
        event(ToolReturned, 6, call=two, said="ok"),
    ):
        waiting.see(said)
        seen.append(waiting.since is said)
    assert seen == [True, False, False, False, False, True]
