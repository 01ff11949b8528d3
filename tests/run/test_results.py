"""The result of a run, from whatever was heard of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tracklog.agents.supported import support_for
from tracklog.model.run_request import RunRequest
from tracklog.model.usage import Tokens, UsageRow
from tracklog.run.limits import StopReason
from tracklog.run.log_facts import NOTHING_COLLECTED, Collected, RunUsage
from tracklog.run.result import Ending, Result, ended_by, result_of

SUCCESS = {
    "type": "result",
    "subtype": "success",
    "is_error": False,
    "result": "42",
    "session_id": "s",
    "num_turns": 2,
    "total_cost_usd": 0.5,
    "usage": {"input_tokens": 1},
    "modelUsage": {"m": {"costUSD": 0.5}},
    "something_new": [1],
}
ROW = UsageRow(
    key="s",
    requests=2,
    tokens=Tokens(input=10, output=20, cache_read=5),
    cost_pico_usd=7_000_000,
    most_output=30,
    most_cost_pico_usd=9_000_000,
    partial_requests=1,
)


def ending(
    tmp_path: Path, *, agent: Any = "claude", said: list[dict[str, Any]] | None = None, **others: Any
) -> Ending:
    stream = support_for(agent).client.stream()
    for line in said or []:
        stream.add(line)
    known: dict[str, Any] = {
        "run": "r",
        "request": RunRequest(agent=agent, prompt="x", cwd=tmp_path, **others.pop("request", {})),
        "stream": stream,
        "session": "s",
        "transcript_path": "/t.jsonl",
        "stop": None,
        "exit_code": 0,
        "took_ms": 1234,
        "stop_text": None,
        "has_stop": False,
        "collected": NOTHING_COLLECTED,
        "spent": RunUsage(ROW, {"m": ROW}),
        "last_words": "",
    }
    return Ending(**(known | others))


def test_the_client_s_own_object_stands_as_it_came_with_ours_beside_it(tmp_path: Path) -> None:
    collected = Collected(text="42", calls={"ok": 3}, files_changed=("/a",), entrypoint="sdk-cli")
    document = result_of(ending(tmp_path, said=[SUCCESS], collected=collected)).document
    assert {key: document[key] for key in SUCCESS} == SUCCESS
    ours = {key: value for key, value in document.items() if key not in SUCCESS}
    assert ours == {
        "agent": "claude",
        "run": "r",
        "transcript_path": "/t.jsonl",
        "exit_code": 0,
        "ended_by": "completed",
        "error": None,
        "calls": {"ok": 3},
        "denials": [],
        "files_changed": ["/a"],
        "entrypoint": "sdk-cli",
        "cost_micro_usd": 7,
        "bounds": {"output_tokens": [20, 30], "cost_micro_usd": [7, 9]},
        "unpriced_requests": 0,
        "partial_requests": 1,
        "sources": {"end": "stream", "usage": "stream", "result": "stream", "cost": "log"},
        "left_behind": 0,
        "problems": [],
    }


def test_a_client_that_was_killed_gets_a_result_in_its_own_shape_from_the_log(tmp_path: Path) -> None:
    collected = Collected(text="so far", n_requests=2, calls={"lost": 1})
    document = result_of(ending(tmp_path, exit_code=-9, collected=collected)).document
    assert document["ended_by"] == "killed"
    assert document["error"] == "the client was ended by signal 9"
    assert {
        key: document[key] for key in ("type", "subtype", "is_error", "result", "session_id", "num_turns")
    } == {
        "type": "result",
        "subtype": "error_during_execution",
        "is_error": True,
        "result": "so far",
        "session_id": "s",
        "num_turns": 2,
    }
    assert document["usage"]["output_tokens"] == 20
    assert document["modelUsage"]["m"]["outputTokens"] == 20
    assert document["total_cost_usd"] == pytest.approx(0.000007)
    assert document["sources"] == {"end": "exit", "usage": "log", "result": "log", "cost": "log"}


@pytest.mark.parametrize(
    ("others", "why", "code"),
    [
        ({"said": [SUCCESS]}, "completed", 0),
        ({"said": [{**SUCCESS, "is_error": True}]}, "error", 1),
        ({"said": [SUCCESS], "exit_code": 1}, "error", 1),
        ({"said": [SUCCESS], "exit_code": -9}, "completed", 0),
        ({"said": [SUCCESS], "exit_code": 1, "we_ended_it": True}, "completed", 0),
        ({"said": [], "exit_code": 1}, "error", 1),
        ({"said": [], "exit_code": 0}, "crashed", 1),
        ({"said": [], "exit_code": None}, "crashed", 1),
        ({"said": [], "has_stop": True, "stop_text": "done"}, "completed", 0),
        ({"said": [], "has_stop": True, "stop_text": "done", "exit_code": 1}, "error", 1),
        ({"said": [], "collected": Collected(text="done", is_finished=True)}, "completed", 0),
        ({"said": [], "collected": Collected(text="done")}, "crashed", 1),
        ({"said": [], "exit_code": -9}, "killed", 1),
        ({"said": [SUCCESS], "stop": StopReason("timeout", "late")}, "timeout", 124),
        ({"said": [], "stop": StopReason("budget", "dear"), "exit_code": -9}, "budget", 124),
        ({"said": [], "stop": StopReason("cancelled", "interrupted")}, "cancelled", 130),
    ],
)
def test_every_end_has_its_name_and_its_code(
    tmp_path: Path, others: dict[str, Any], why: str, code: int
) -> None:
    found = ending(tmp_path, **others)
    assert (ended_by(found), result_of(found).code) == (why, code)


def test_the_stop_hook_s_words_come_before_the_log_s_where_the_stream_says_none(tmp_path: Path) -> None:
    found = ending(tmp_path, exit_code=-9, stop_text="by the hook", collected=Collected(text="by the log"))
    assert (result_of(found).text, result_of(found).document["sources"]["result"]) == (
        "by the hook",
        "stop_payload",
    )


def test_codex_is_told_in_the_same_shape_with_its_own_usage(tmp_path: Path) -> None:
    said: list[dict[str, Any]] = [
        {"type": "thread.started", "thread_id": "s"},
        {"type": "turn.started"},
        {"type": "item.completed", "item": {"type": "agent_message", "text": '{"n":1}'}},
        {"type": "turn.completed", "usage": {"input_tokens": 9, "cached_input_tokens": 3}},
    ]
    found = ending(tmp_path, agent="codex", said=said, request={"json_schema": {"type": "object"}})
    document = result_of(found).document
    assert (document["ended_by"], document["result"], document["structured_output"]) == (
        "completed",
        '{"n":1}',
        {"n": 1},
    )
    assert document["usage"] == {"input_tokens": 9, "cached_input_tokens": 3}
    assert document["sources"] == {"end": "stream", "usage": "stream", "result": "stream", "cost": "log"}


def test_without_a_log_the_client_s_own_sum_is_all_there_is(tmp_path: Path) -> None:
    found = ending(tmp_path, said=[SUCCESS], spent=None, request={"persists": False})
    document = result_of(found).document
    assert (document["cost_micro_usd"], document["bounds"], document["sources"]["cost"]) == (
        500_000,
        None,
        "stream",
    )


@pytest.mark.parametrize(
    ("document", "is_overloaded"),
    [
        ({"ended_by": "error", "api_error_status": 529, "error": "x"}, True),
        ({"ended_by": "error", "api_error_status": 400, "error": "overloaded"}, False),
        ({"ended_by": "error", "error": "Selected model is at capacity"}, True),
        ({"ended_by": "completed", "error": "overloaded"}, False),
        ({"ended_by": "error", "error": "wrong path"}, False),
    ],
)
def test_an_api_without_room_is_told_from_other_errors(document: dict[str, Any], is_overloaded: bool) -> None:
    assert Result(document).is_overloaded is is_overloaded


def test_the_end_may_be_told_by_the_hook_or_the_log_alone(tmp_path: Path) -> None:
    by_hook = result_of(ending(tmp_path, has_stop=True, stop_text="done")).document
    by_log = result_of(ending(tmp_path, collected=Collected(text="done", is_finished=True))).document
    assert (by_hook["sources"]["end"], by_hook["subtype"], by_hook["result"]) == (
        "stop_payload",
        "success",
        "done",
    )
    assert (by_log["sources"]["end"], by_log["is_error"], by_log["result"]) == ("log", False, "done")


@pytest.mark.parametrize("odd", [1e308, -5, True, "much", None, float("nan")])
def test_a_sum_that_is_none_is_not_taken_for_one(tmp_path: Path, odd: object) -> None:
    found = ending(
        tmp_path, said=[{**SUCCESS, "total_cost_usd": odd}], spent=None, request={"persists": False}
    )
    assert result_of(found).cost_micro_usd is None


@pytest.mark.parametrize("text", ["", " \n"])
def test_an_empty_text_of_the_client_is_filled_from_the_next_source(tmp_path: Path, text: str) -> None:
    said = [SUCCESS | {"result": text}]
    stop = StopReason("timeout", "silent")
    by_hook = result_of(ending(tmp_path, said=said, stop=stop, stop_text="the hook's")).document
    by_log = result_of(ending(tmp_path, said=said, stop=stop, collected=Collected(text="the log's"))).document
    assert (by_hook["result"], by_hook["sources"]["result"]) == ("the hook's", "stop_payload")
    assert (by_log["result"], by_log["sources"]["result"]) == ("the log's", "log")


def test_a_run_that_completed_without_a_word_does_not_answer_with_an_earlier_remark(tmp_path: Path) -> None:
    remark = {"type": "assistant", "message": {"content": [{"type": "text", "text": "I look."}]}}
    document = result_of(ending(tmp_path, said=[remark, SUCCESS | {"result": ""}])).document
    assert (document["result"], document["sources"]["result"]) == ("", "stream")
