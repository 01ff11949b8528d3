"""Coverage: every line counts once, under its version; what is unknown is counted with a place."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

from tests.agents.test_reading import found, write
from tracklog.agents.discovery import find_at
from tracklog.reading.survey import Coverage, Strange, survey
from tracklog.sources.log_file import LogFile

USER = {"type": "user", "uuid": "u", "sessionId": "s", "message": {"content": "x"}}


def size(value: Any) -> int:
    return len(json.dumps(value))


def test_lines_count_under_the_version_said_before_or_first_after_them(tmp_path: Path) -> None:
    mode = {"type": "mode", "mode": "normal", "sessionId": "s"}
    path = write(
        tmp_path / "a.jsonl", mode, {**USER, "version": "2.1.1"}, mode, {**USER, "version": "2.1.2"}, mode
    )
    result = survey([found(path)])
    assert result.coverage == [
        Coverage("claude", "2.1.1", "mode", "read", 2, 2 * size(mode)),
        Coverage("claude", "2.1.1", "user", "read", 1, size({**USER, "version": "2.1.1"})),
        Coverage("claude", "2.1.2", "mode", "read", 1, size(mode)),
        Coverage("claude", "2.1.2", "user", "read", 1, size({**USER, "version": "2.1.2"})),
    ]
    assert (result.files, result.lines, result.unknown) == (1, 5, [])


def test_unknown_kinds_keys_and_parts_are_counted_with_one_place_each(tmp_path: Path) -> None:
    odd = {**USER, "mood": 1, "message": {"content": [{"type": "hologram"}]}}
    path = write(tmp_path / "a.jsonl", USER, {"type": "novel", "sessionId": "s"}, odd, odd)
    assert survey([found(path)]).unknown == [
        Strange(
            "claude",
            "user",
            "message.content[](hologram)",
            "unknown part: Invalid value 'hologram' - at `$.type`",
            f"{path}:3",
            2,
        ),
        Strange("claude", "user", "mood", "unnamed key", f"{path}:3", 2),
        Strange("claude", "novel", None, "unknown type", f"{path}:2", 1),
    ]


def test_unnamed_keys_of_a_tools_report_are_found_by_the_tool_of_the_call(tmp_path: Path) -> None:
    call = {
        "type": "assistant",
        "message": {"content": [{"type": "tool_use", "id": "t", "name": "Glob", "input": {}}]},
    }
    result = {
        "type": "user",
        "message": {"content": [{"type": "tool_result", "tool_use_id": "t", "content": "x"}]},
        "toolUseResult": {"filenames": [], "numFiles": 0, "novelty": True},
    }
    path = write(tmp_path / "a.jsonl", call, result)
    assert [(strange.kind, strange.key) for strange in survey([found(path)]).unknown] == [
        ("user", "toolUseResult(Glob).novelty")
    ]


def test_broken_lines_and_refused_files_are_noted_and_the_rest_is_read(tmp_path: Path) -> None:
    torn = write(tmp_path / "a.jsonl", USER)
    torn.write_bytes(torn.read_bytes() + b'{"type":"us')
    gone = found(write(tmp_path / "b.jsonl", USER))
    gone.path.unlink()
    sizes: list[int] = []
    result = survey([gone, found(torn)], on_bytes=sizes.append)
    assert (result.lines, result.broken, sum(sizes)) == (2, [f"{torn}:2"], result.bytes)
    assert [(refused.path, refused.why) for refused in result.skipped] == [(gone.path, "does not exist")]


def test_lines_of_strangers_have_no_agent_and_no_version(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", {"type": "session", "version": 3})
    assert survey([found(path)]).coverage == [
        Coverage(None, None, "session", "unknown", 1, size({"type": "session", "version": 3}))
    ]


def test_a_part_in_an_unexpected_shape_is_counted(tmp_path: Path) -> None:
    odd = {**USER, "message": {"content": [{"type": "text", "text": 5}, {"type": "text", "text": "fine"}, 7]}}
    path = write(tmp_path / "a.jsonl", odd)
    assert [(strange.key, strange.why) for strange in survey([found(path)]).unknown] == [
        ("message.content[](int)", "unknown part: Expected `str | object`, got `int`"),
        ("message.content[](text)", "unknown part: Expected `str`, got `int` - at `$.text`"),
    ]


def test_different_reasons_are_told_apart(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", {**USER, "timestamp": 1}, {**USER, "cwd": 1}, {**USER, "cwd": 2})
    assert [(strange.kind, strange.count) for strange in survey([found(path)]).unknown] == [
        ("user", 2),
        ("user", 1),
    ]


def test_every_kind_of_side_file_can_be_surveyed(tmp_path: Path) -> None:
    uuid = "3f2a0c1e-0000-4000-8000-000000000001"
    project = tmp_path / "projects" / "-x"
    write(project / "sessions-index.json", {"version": 1, "entries": [], "originalPath": "/x"})
    write(project / uuid / "custom-title.json", {"customTitle": "t"})
    write(project / uuid / "workflows" / "wf_1.json", {"runId": "wf_1", "status": "completed"})
    write(project / uuid / "subagents" / "agent-a.meta.json", {"agentType": "Explore"})
    write(tmp_path / "sessions" / "1.json", {"pid": 1, "sessionId": uuid})
    result = survey([file for file in find_at(tmp_path) if isinstance(file, LogFile)])
    assert {(row.kind, row.reading) for row in result.coverage} == {
        ("project-index", "read"),
        ("title", "read"),
        ("workflow", "read"),
        ("meta", "read"),
        ("registry", "read"),
    }


def test_waiting_for_a_version_keeps_no_records(tmp_path: Path) -> None:
    long = {"type": "mode", "mode": "x" * 1_000_000, "sessionId": "s"}
    path = write(tmp_path / "a.jsonl", *[long] * 60)
    file = found(path)
    tracemalloc.start()
    survey([file])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20_000_000
