"""Chunks of one answer were counted and cut one by one where messages have no id.

Old and foreign logs leave out `message.id`. Each line of an answer then was a request of its own: `final` printed the
last chunk alone, `show` counted three answers, and calls made side by side were not linked. Lines belong together by
the id of the request; without that one, by following each other, and that is said to be inferred.
The ledger went on counting line by line: `usage` said four requests, at twice the price, where `sessions` said two, and
called them something else than `requests` in SQL.
A shell's result that ends in `[Exit code: 3]` had no exit code.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.views.cli.command import ONE, tracklog, write


def line(type_: str, n: int, content: Any, **fields: Any) -> dict[str, Any]:
    role = "assistant" if type_ == "assistant" else "user"
    at = f"2026-11-15T10:00:0{n}.000Z"
    ids = {"uuid": f"n{n}", "parentUuid": f"n{n - 1}" if n > 1 else None, "sessionId": ONE, "timestamp": at}
    return {"type": type_, **ids, "message": {"role": role, "model": "m", "content": content}, **fields}


def use(id: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": id}}


def back(id: str, text: str) -> list[dict[str, Any]]:
    return [{"type": "tool_result", "tool_use_id": id, "content": text}]


def shown(tmp_path: Path, *lines: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    """The requests and the calls of a session."""
    root = tmp_path / "claude"
    raw = b"".join(json.dumps(one).encode() + b"\n" for one in lines)
    write(root / f"projects/-srv-app/{ONE}.jsonl", raw)
    turns = tracklog("show", ONE, "--root", root, "--json", home=tmp_path).json["turns"]
    calls = tracklog("calls", ONE, "--root", root, "--json", home=tmp_path).json["calls"]
    return [one for turn in turns for one in turn["requests"]], calls


def words(text: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": text}]


def test_lines_without_ids_that_follow_each_other_are_one_answer(tmp_path: Path) -> None:
    requests, calls = shown(
        tmp_path,
        line("user", 1, "Go."),
        line("assistant", 2, words("Let me see.")),
        line("assistant", 3, [use("toolu_1")]),
        line("assistant", 4, [use("toolu_2")]),
        line("user", 5, back("toolu_1", "a\n[Exit code: 3]")),
        line("user", 6, back("toolu_2", "b")),
        line("assistant", 7, words("One.")),
        line("assistant", 8, words("Two.")),
    )
    assert [(one["text"], one["calls"], one["grouped_by"]) for one in requests] == [
        ("Let me see.", ["toolu_1", "toolu_2"], "adjacency"),
        ("One.\nTwo.", [], "adjacency"),
    ]
    assert [one["parallel_with"] for one in calls] == [["toolu_2"], ["toolu_1"]]
    assert [one["exit_code"] for one in calls] == [3, None]
    root = tmp_path / "claude"
    assert tracklog("final", ONE, "--root", root, "--all-text", home=tmp_path).out == "One.\nTwo.\n"
    assert "taken for one answer (inferred)" in tracklog("show", ONE, "--root", root, home=tmp_path).out


def test_the_id_of_the_request_joins_lines_that_do_not_follow_each_other(tmp_path: Path) -> None:
    requests, calls = shown(
        tmp_path,
        line("user", 1, "Go."),
        line("assistant", 2, [use("toolu_1")], requestId="req_1"),
        line("user", 3, back("toolu_1", "a")),
        line("assistant", 4, [use("toolu_2")], requestId="req_1"),
        line("user", 5, back("toolu_2", "b")),
        line("assistant", 6, words("Done."), requestId="req_2"),
    )
    assert [(one["id"], one["calls"], one["grouped_by"]) for one in requests] == [
        ("req_1", ["toolu_1", "toolu_2"], "request_id"),
        ("req_2", [], "request_id"),
    ]
    assert calls[0]["parallel_with"] == ["toolu_2"]


USED = {"input_tokens": 100, "output_tokens": 10}


@pytest.mark.parametrize("has_uuids", [True, False], ids=["with uuids", "without"])
@pytest.mark.parametrize("is_indexed", [True, False], ids=["with an index", "without"])
def test_the_ledger_counts_the_same_answers(is_indexed: bool, has_uuids: bool, tmp_path: Path) -> None:
    lines = [
        line("user", 1, "Go."),
        line("assistant", 2, words("Let me see.")),
        line("assistant", 3, [use("toolu_1")]),
        line("user", 4, back("toolu_1", "a")),
        line("assistant", 5, words("One.")),
        line("assistant", 6, words("Two.")),
    ]
    for n, one in enumerate(lines):
        if one["type"] == "assistant":
            one["message"]["usage"] = {**USED, "output_tokens": 10 + n}
        if not has_uuids:
            del one["uuid"], one["parentUuid"]
    path = tmp_path / f".claude/projects/-srv-app/{ONE}.jsonl"
    for end in (2, 3, len(lines)):  # as it is written
        write(path, b"".join(json.dumps(one).encode() + b"\n" for one in lines[:end]))
        if is_indexed:
            tracklog("index", home=tmp_path)
        total = tracklog("usage", "--json", home=tmp_path).json["total"]
        (session,) = tracklog("sessions", "--json", home=tmp_path).json["sessions"]
        assert total["requests"] == session["requests"]
    assert (total["requests"], total["input_tokens"], total["output_tokens"]) == (2, 200, 12 + 15)
    if is_indexed and has_uuids:
        joined = "select count(*) from requests join ledger on ledger.key = requests.id"
        assert tracklog("sql", "--json", joined, home=tmp_path).json["rows"] == [[2]]


def test_only_a_shell_has_an_exit_code_in_its_last_line(tmp_path: Path) -> None:
    read = {"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {"file_path": "/a"}}
    _, calls = shown(
        tmp_path,
        line("user", 1, "Go."),
        line("assistant", 2, [read]),
        line("user", 3, back("toolu_1", "a\n[Exit code: 3]")),
    )
    assert calls[0]["exit_code"] is None


def test_a_summary_of_another_file_names_a_session_that_nothing_else_names(tmp_path: Path) -> None:
    summary = {"type": "summary", "summary": "Summed up", "leafUuid": "elsewhere"}
    answer = line("assistant", 2, words("Hello."))
    for n, (lines, title) in enumerate(
        (([summary, answer], "Summed up"), ([summary, line("user", 1, "Go."), answer], "Go."))
    ):
        shown(tmp_path / str(n), *lines)
        root = tmp_path / str(n) / "claude"
        (row,) = tracklog("sessions", "--root", root, "--json", home=tmp_path / str(n)).json["sessions"]
        assert row["title"] == title
