from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conversation.test_lines import log_at
from tests.model.lines import Line, at, log, reply, result, use, user
from tracklog.conversation.lines import Room, ThreadLines
from tracklog.conversation.rows import MOST, EventRow
from tracklog.conversation.thread_reader import _NO_ROOM, ThreadReading, all_of_row
from tracklog.model.events import ToolCalled
from tracklog.sources.log_file import FileKind, LogFile


def reading_of(tmp_path: Path, *lines: Line | bytes) -> ThreadReading:
    return ThreadReading(ThreadLines([log_at(tmp_path / "a.jsonl", log(lines) + b"\n")]))


def codex_reading(tmp_path: Path, *payloads: dict[str, Any]) -> ThreadReading:
    lines = [json.dumps({"timestamp": at(n % 60), **payload}) for n, payload in enumerate(payloads)]
    made = log_at(tmp_path / "rollout-a.jsonl", "\n".join(lines).encode() + b"\n")
    file: LogFile = made._replace(agent="codex")
    return ThreadReading(ThreadLines([file]))


def told(rows: list[EventRow]) -> list[tuple[int, str, str, str]]:
    return [(row.seq, row.kind, row.label, row.gist or row.text) for row in rows]


def test_every_line_has_a_row(tmp_path: Path) -> None:
    reading = reading_of(
        tmp_path,
        user("a", None, "do it", timestamp=at(1)),
        reply("b", "a", "m1", {"type": "thinking", "thinking": "well"}, timestamp=at(2)),
        reply("c", "b", "m1", "I will.", timestamp=at(3)),
        reply("d", "c", "m1", use("t1", command="ls /"), timestamp=at(4)),
        result("e", "d", "t1", "bin", timestamp=at(5)),
        {"type": "file-history-snapshot", "messageId": "x", "snapshot": {}, "isSnapshotUpdate": False},
        {"type": "something-new", "uuid": "f"},
        b"{torn",
    )
    assert told(reading.rows(1, 99)) == [
        (1, "prompt", "typed", "do it"),
        (2, "thinking", "", "well"),
        (3, "answer", "", "I will."),
        (4, "call", "Bash", "ls /"),
        (5, "result", "ok", "bin"),
        (6, "quiet", "file-history-snapshot", ""),
        (7, "unknown", "something-new", reading.rows(7, 7)[0].text),
        (8, "broken", "broken", reading.rows(8, 8)[0].text),
    ]
    assert reading.rows(7, 7)[0].text
    assert reading.rows(8, 8)[0].text


def test_a_window_is_the_same_as_that_part_of_the_whole(tmp_path: Path) -> None:
    lines = [user(f"u{n}", None, f"prompt {n}", timestamp=at(n % 60)) for n in range(30)]
    reading = reading_of(tmp_path, *lines)
    whole = reading.rows(1, 30)
    assert reading.rows(11, 20) == whole[10:20]


def test_several_things_in_a_line_are_numbered(tmp_path: Path) -> None:
    reading = reading_of(
        tmp_path, reply("a", None, "m1", "First.", use("t1", command="a"), use("t2", command="b"))
    )
    assert [(row.n, row.kind, row.call) for row in reading.rows(1, 1)] == [
        (0, "answer", None),
        (1, "call", "t1"),
        (2, "call", "t2"),
    ]


def test_a_long_text_is_cut_and_can_be_had_whole(tmp_path: Path) -> None:
    words = "word " * MOST
    reading = reading_of(tmp_path, user("a", None, words))
    (row,) = reading.rows(1, 1)
    assert (row.is_cut, row.length, row.text) == (True, len(words), words[:MOST])
    assert all_of_row(reading, 1, 0) == ("prompt", words)
    assert all_of_row(reading, 1, 1) is None
    assert all_of_row(reading, 2, 0) is None


def test_the_result_of_a_call_can_be_had_whole(tmp_path: Path) -> None:
    reading = reading_of(tmp_path, result("a", None, "t1", "x" * 20_000))
    assert all_of_row(reading, 1, 0, call="t1") == ("result", "x" * 20_000)
    assert all_of_row(reading, 1, 0, call="t2") is None


def message(role: str, text: str) -> dict[str, Any]:
    part = {"type": "input_text" if role == "user" else "output_text", "text": text}
    return {"type": "response_item", "payload": {"type": "message", "role": role, "content": [part]}}


def test_any_window_of_codex_is_the_same_as_that_part_of_the_whole(tmp_path: Path) -> None:
    parts: list[dict[str, Any]] = [{"type": "session_meta", "payload": {"id": "s", "cwd": "/work"}}]
    for n in range(700):
        parts.append(message("user", f"prompt {n}"))
        parts.append({"type": "event_msg", "payload": {"type": "user_message", "message": f"prompt {n}"}})
        parts.append(message("assistant", f"answer {n}"))
    whole = codex_reading(tmp_path, *parts).rows(1, 3000)
    for first in (1, 2, 3, 499, 500, 501, 1400, 1999):
        part = codex_reading(tmp_path, *parts).rows(first, first + 99)
        assert part == [row for row in whole if first <= row.seq <= first + 99], first
    again = codex_reading(tmp_path, *parts)
    again.rows(1, 2100)
    assert again.rows(1502, 1601) == [row for row in whole if 1502 <= row.seq <= 1601]


def test_work_of_a_subagent_is_aside_in_the_log_of_another_and_not_in_its_own(tmp_path: Path) -> None:
    line = user("a", None, "look around", isSidechain=True)
    in_another = reading_of(tmp_path, line)
    own = log_at(tmp_path / "agent-x.jsonl", log([line]) + b"\n", kind=FileKind.SUBAGENT)
    assert [row.is_aside for row in in_another.rows(1, 1)] == [True]
    assert [row.is_aside for row in ThreadReading(ThreadLines([own])).rows(1, 1)] == [False]


def test_lines_beyond_the_room_of_a_window_say_so_and_the_others_are_as_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [
        user("a", None, "short"),
        *(user(f"u{n}", None, "x" * 100_000) for n in range(3)),
        user("z", None, "short, too"),
    ]
    reading = reading_of(tmp_path, *lines)
    monkeypatch.setattr(Room, "READ_BYTES", 250_000)
    assert [(row.kind, row.label, row.length) for row in reading.rows(1, 5)] == [
        ("prompt", "typed", 5),
        ("prompt", "typed", 100_000),
        ("prompt", "typed", 100_000),
        ("unknown", "user", len(_NO_ROOM)),
        ("prompt", "typed", 10),
    ]
    assert [row.text for row in reading.rows(1, 5) if row.kind == "unknown"] == [_NO_ROOM]
    assert [row.length for row in reading.rows(4, 4)] == [100_000]  # in a window of its own


def test_what_a_row_leaves_out_takes_no_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Room, "KEPT_BYTES", 250_000)
    prompts = reading_of(tmp_path, *(user(f"u{n}", None, "x" * 100_000) for n in range(10)))
    assert [row.kind for row in prompts.rows(1, 10)] == ["prompt"] * 10
    calls = reading_of(
        tmp_path, *(reply(f"a{n}", None, f"m{n}", use(f"t{n}", command="x" * 100_000)) for n in range(4))
    )
    assert [row.kind for row in calls.rows(1, 4)] == ["call", "call", "unknown", "unknown"]
    told = [event for event in calls.events(1, 4) if isinstance(event[1], ToolCalled)]
    assert [seq for seq, _ in told] == [1, 2]


def test_what_was_left_out_of_a_window_of_codex_is_not_forgotten_in_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = {"cwd": "/work", "model": "the-model", "user_instructions": "x" * 100_000}
    parts = [
        {"type": "session_meta", "payload": {"id": "s", "cwd": "/work"}},
        {"type": "turn_context", "payload": context},
        *(message("assistant", f"answer {n}") for n in range(120)),
    ]
    reading = codex_reading(tmp_path, *parts)
    monkeypatch.setattr(Room, "READ_BYTES", 90_000)
    assert [row.model for row in reading.rows(1, 120) if row.seq > 2] == [None] * 118
    assert [row.model for row in reading.rows(110, 120)] == ["the-model"] * 11
