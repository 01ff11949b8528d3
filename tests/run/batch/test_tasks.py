"""A list of requests: what a line says, what it leaves out, and what is wrong with it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tracklog.model.run_request import Limits, RunRequest
from tracklog.run.batch.tasks import BatchTask, TaskList, WrongLine, digest_of, read_list, same_again


def base(folder: Path, **more: Any) -> RunRequest:
    return RunRequest(agent="claude", prompt="(of the list)", cwd=folder, **more)


def lines(*objects: Any) -> list[bytes]:
    return [json.dumps(one).encode() + b"\n" for one in objects]


def read(folder: Path, *objects: Any, **more: Any) -> TaskList:
    return read_list(lines(*objects), base(folder, **more), folder=folder)


def test_a_line_may_say_everything_of_a_child(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    schema = {"type": "object"}
    line = {
        "prompt": "do it",
        "id": "one",
        "agent": "claude",
        "cwd": "there",
        "model": "opus",
        "timeout": 90,
        "idle_timeout": 1.5,
        "max_cost": 0.25,
        "max_turns": 3,
        "permission_mode": "plan",
        "allow": ["Read", "Bash(git *)"],
        "deny": ["Write"],
        "append_system_prompt": "be brief",
        "json_schema": schema,
        "resume": "11111111-aaaa-4aaa-8aaa-111111111111",
        "fork": True,
        "name": "first",
        "worktree": True,
        "args": ["--verbose"],
    }
    request = RunRequest(
        agent="claude",
        prompt="do it",
        cwd=tmp_path / "there",
        model="opus",
        limits=Limits(timeout_s=90, idle_s=1.5, max_cost_micro_usd=250_000),
        max_turns=3,
        permission_mode="plan",
        allowed_tools=("Read", "Bash(git *)"),
        disallowed_tools=("Write",),
        append_system_prompt="be brief",
        json_schema=schema,
        resume="11111111-aaaa-4aaa-8aaa-111111111111",
        is_fork=True,
        name="first",
        client_arguments=("--verbose",),
    )
    assert read(tmp_path, line) == TaskList(
        [BatchTask("one", 1, request, digest_of(request, in_worktree=True), True)], []
    )


def test_what_a_line_leaves_out_is_as_the_command_line_says(tmp_path: Path) -> None:
    limits = Limits(timeout_s=5, max_cost_micro_usd=7)
    found = read(tmp_path, {"prompt": "do it"}, model="opus", limits=limits, client_arguments=("-x",))
    request = base(tmp_path, model="opus", limits=limits, client_arguments=("-x",))
    assert [task.request for task in found.tasks] == [request._replace(prompt="do it")]


def test_a_prompt_file_is_looked_for_beside_the_list(tmp_path: Path) -> None:
    (tmp_path / "ask.md").write_bytes("größer?\n".encode() + b"\xff")
    found = read(tmp_path, {"prompt_file": "ask.md"})
    assert [task.request.prompt for task in found.tasks] == ["größer?\n\udcff"]


def test_empty_lines_comments_and_a_byte_order_mark_are_skipped_and_lines_keep_their_numbers(
    tmp_path: Path,
) -> None:
    text = b'\xef\xbb\xbf# a list\n\n   \n{"prompt": "a"}\r\n#{"prompt": "b"}\n{"prompt": "c"}'
    found = read_list(text.splitlines(keepends=True), base(tmp_path), folder=tmp_path)
    assert [(task.id, task.n, task.request.prompt) for task in found.tasks] == [
        ("line-4", 4, "a"),
        ("line-6", 6, "c"),
    ]


def test_every_wrong_line_is_told_with_its_number_and_its_reason(tmp_path: Path) -> None:
    found = read_list(
        [
            b'{"prompt": "fine"}',
            b'{"prompt": "a", "modle": "opus"}',
            b'{"prompt": 7}',
            b"{}",
            b'{"prompt": "a", "prompt_file": "b"}',
            b'{"prompt": "  "}',
            b'{"prompt": "a", "cwd": "nowhere"}',
            b'{"prompt_file": "nowhere.md"}',
            b'{"prompt": "a", "timeout": 0}',
            b'{"prompt": "a", "agent": "other"}',
            b'{"prompt": "a", "agent": "codex", "max_turns": 2}',
            b'{"prompt": "a", "fork": true}',
            b'{"prompt": "a", "id": ""}',
            b'["prompt"]',
            b'{"prompt": "a"',
            b"[" * 100_000,
            b'{"prompt": "a", "id": "same"}',
            b'{"prompt": "b", "id": "same"}',
            b'{"prompt": "\xff"}',
            b'{"prompt": "a", "cwd": "a\\u0000b"}',
        ],
        base(tmp_path),
        folder=tmp_path,
    )
    whys = {one.n: one.why for one in found.wrong}
    assert list(whys) == [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 19, 20]
    assert whys[2] == "Object contains unknown field `modle`"
    assert whys[3] == "Expected `str | null`, got `int` - at `$.prompt`"
    assert whys[4] == whys[5] == "it takes either `prompt` or `prompt_file`"
    assert whys[7] == f"{tmp_path}/nowhere is no folder: name the one to work in with --cwd"
    assert whys[11] == "--max-turns: Codex has no such thing"
    assert whys[18] == "the id same stands on line 17 already"
    assert all(whys.values())


def test_an_id_that_looks_like_the_number_of_another_line_is_told(tmp_path: Path) -> None:
    found = read(tmp_path, {"prompt": "a", "id": "line-2"}, {"prompt": "b"})
    assert found.wrong == [WrongLine(2, "the id line-2 stands on line 1 already")]


def test_limits_are_no_part_of_the_question(tmp_path: Path) -> None:
    one = base(tmp_path)
    slower = one._replace(
        limits=Limits(timeout_s=1, max_cost_micro_usd=3), max_turns=9, batch="b", client="c"
    )
    assert digest_of(one, in_worktree=False) == digest_of(slower, in_worktree=False)


@pytest.mark.parametrize(
    "change",
    [
        {"prompt": "other"},
        {"model": "opus"},
        {"allowed_tools": ("Read",)},
        {"json_schema": {"type": "array"}},
        {"permission_mode": "plan"},
        {"client_arguments": ("-x",)},
    ],
)
def test_whoever_asks_something_else_gets_another_digest(tmp_path: Path, change: dict[str, Any]) -> None:
    one = base(tmp_path)
    assert digest_of(one, in_worktree=False) != digest_of(one._replace(**change), in_worktree=False)
    assert digest_of(one, in_worktree=False) != digest_of(one, in_worktree=True)


def test_a_schema_with_its_keys_in_another_order_is_the_same_question(tmp_path: Path) -> None:
    one = base(tmp_path, json_schema={"a": 1, "b": {"c": 2, "d": 3}})
    two = base(tmp_path, json_schema={"b": {"d": 3, "c": 2}, "a": 1})
    assert digest_of(one, in_worktree=False) == digest_of(two, in_worktree=False)


def test_the_same_again_is_the_same_question_under_another_id(tmp_path: Path) -> None:
    request = base(tmp_path)
    assert same_again(request, 2) == [
        BatchTask("run-1", 1, request, digest_of(request, in_worktree=False)),
        BatchTask("run-2", 2, request, digest_of(request, in_worktree=False)),
    ]


def test_a_list_of_ten_thousand_lines_is_read(tmp_path: Path) -> None:
    found = read_list((b'{"prompt": "p%d"}\n' % n for n in range(10_000)), base(tmp_path), folder=tmp_path)
    assert (len(found.tasks), found.wrong, found.tasks[-1].id) == (10_000, [], "line-10000")
