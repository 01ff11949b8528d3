"""What the model's answers tell: words, thoughts, calls, and what the API ran itself."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import Raw

from tests.model.lines import LOG, Line, facts, only, reply, said, use
from tracklog.model.events import (
    MessagesRetracted,
    ModelReplied,
    Place,
    RequestFailed,
    ToolCalled,
    ToolReturned,
)
from tracklog.model.ids import CallId, NodeId, RequestId

HERE = Place(LOG, 1)
A, P, M1, C1 = NodeId("a"), NodeId("p"), RequestId("m1"), CallId("c1")


def test_an_answer_is_told_with_its_request() -> None:
    line = reply("a", "p", "m1", "hello", message={"stop_reason": "end_turn"}, effort="high")
    assert said(line) == [
        ModelReplied(
            place=HERE, node=A, parent=P, is_message=True, request=M1, model="claude-x", text="hello", stop_reason="end_turn", effort="high"
        )
    ]  # fmt: skip


def test_a_call_follows_the_answer_that_wished_it() -> None:
    line = reply("a", "p", "m1", use("c1", "Bash", command="ls"))
    assert said(line) == [
        ModelReplied(place=HERE, node=A, parent=P, is_message=True, request=M1, model="claude-x"),
        ToolCalled(
            place=HERE,
            node=A,
            parent=P,
            is_message=True,
            call=C1,
            name="Bash",
            input=Raw(b'{"command": "ls"}'),
            request=M1,
        ),
    ]


def test_all_blocks_of_one_line_are_told_in_order() -> None:
    line = reply("a", "p", "m1", "one", use("c1"), "two", use("c2", "Read"))
    [answer] = only(said(line), ModelReplied)
    assert answer.text == "one\ntwo"
    assert [facts(event, "call", "name") for event in only(said(line), ToolCalled)] == [
        ("c1", "Bash"),
        ("c2", "Read"),
    ]


@pytest.mark.parametrize(
    ("thought", "expected"),
    [
        ({"type": "thinking", "thinking": "hm", "signature": "s"}, ("hm", False)),
        ({"type": "thinking", "thinking": "", "signature": "s"}, ("", True)),
        ({"type": "redacted_thinking", "data": "x"}, ("", True)),
        ({"type": "thinking", "thinking": ""}, ("", False)),
    ],
)
def test_thoughts_are_kept_or_known_to_be_hidden(thought: Line, expected: tuple[str, bool]) -> None:
    [answer] = only(said(reply("a", "p", "m1", thought)), ModelReplied)
    assert facts(answer, "thinking", "has_hidden_thought") == expected


def test_what_the_client_says_in_the_model_s_name_is_synthetic() -> None:
    [answer] = only(
        said(reply("a", "p", "m1", "No response requested.", message={"model": "<synthetic>"})), ModelReplied
    )
    assert facts(answer, "text", "is_synthetic", "api_error") == ("No response requested.", True, None)


@pytest.mark.parametrize(
    ("status", "code"), [(529, 529), ("400", 400), (None, None), ("unknown", None), ("9" * 9, None)]
)
def test_an_api_error_is_no_answer(status: Any, code: int | None) -> None:
    line = reply(
        "a",
        "p",
        "m1",
        "API Error: 529",
        isApiErrorMessage=True,
        apiErrorStatus=status,
        message={"model": "<synthetic>"},
    )
    answer, failure = said(line)
    assert isinstance(answer, ModelReplied)
    assert facts(answer, "text", "api_error", "is_synthetic") == ("", "API Error: 529", True)
    assert failure == RequestFailed(
        place=HERE, node=A, parent=P, is_message=True, text="API Error: 529", status=code, is_final=True
    )


def test_an_answer_that_takes_the_place_of_others_retracts_them() -> None:
    events = said(reply("a", "p", "m2", "again", supersedesUuids=["x", "y"]))
    assert events[1:] == [
        MessagesRetracted(
            place=HERE, node=A, parent=P, is_message=True, nodes=[NodeId("x"), NodeId("y")], why="superseded"
        )
    ]


@pytest.mark.parametrize(
    ("name", "server"),
    [
        ("mcp__life__echo", "life"),
        ("mcp__a__b__c", "a"),
        ("mcp__life", None),
        ("Bash", None),
        ("my__mcp__x", None),
    ],
)
def test_the_server_of_an_mcp_tool_is_read_from_its_name(name: str, server: str | None) -> None:
    [called] = only(said(reply("a", "p", "m1", use("c1", name))), ToolCalled)
    assert facts(called, "name", "server") == (name, server)


SEARCH = {"type": "server_tool_use", "id": "c1", "name": "web_search", "input": {"query": "x"}}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ([{"type": "web_search_result", "url": "u"}], ("ok", False)),
        ({"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"}, ("error", True)),
        ({"type": "web_search_result"}, ("ok", False)),
        ([], ("ok", False)),
    ],
)
def test_a_tool_of_the_api_is_a_call_with_its_result_in_the_answer(
    content: Any, expected: tuple[str, bool]
) -> None:
    found = {"type": "web_search_tool_result", "tool_use_id": "c1", "content": content}
    events = said(reply("a", "p", "m1", SEARCH, found))
    [called], [back] = only(events, ToolCalled), only(events, ToolReturned)
    assert facts(called, "call", "name", "is_server_side", "server", "request") == (
        "c1",
        "web_search",
        True,
        None,
        "m1",
    )
    assert facts(back, "call", "said", "is_error", "why") == ("c1", *expected, "the API says so")


@pytest.mark.parametrize("is_error", [True, False])
def test_an_mcp_tool_that_the_api_called_is_a_call_too(is_error: bool) -> None:
    wish = {"type": "mcp_tool_use", "id": "c1", "name": "echo", "server_name": "life", "input": {}}
    back = {"type": "mcp_tool_result", "tool_use_id": "c1", "is_error": is_error, "content": []}
    events = said(reply("a", "p", "m1", wish, back))
    assert [facts(e, "name", "server", "is_server_side") for e in only(events, ToolCalled)] == [
        ("echo", "life", True)
    ]
    assert [e.said for e in only(events, ToolReturned)] == ["error" if is_error else "ok"]


def test_a_block_of_an_unknown_kind_spoils_nothing_around_it() -> None:
    events = said(reply("a", "p", "m1", "one", {"type": "from_the_future", "x": 1}, use("c1")))
    assert [type(event) for event in events] == [ModelReplied, ToolCalled]


def test_an_answer_whose_content_is_a_text_is_read() -> None:
    line = reply("a", "p", "m1")
    line["message"]["content"] = "plain"
    [answer] = only(said(line), ModelReplied)
    assert answer.text == "plain"
