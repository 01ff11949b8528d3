"""`toolUseResult`: an object, a list, a string or nothing, typed by the tool that wrote it."""

from __future__ import annotations

import json
from typing import Any

from msgspec import Raw

from tracklog.agents.claude_code.records.outputs.agents import TeammateOutput
from tracklog.agents.claude_code.records.outputs.tool_results import read_tool_result, strays_of_tool_result
from tracklog.agents.claude_code.records.outputs.work import BashOutput, EditOutput, GrepOutput, Hunk
from tracklog.model.records import UnknownPart

HUNK = {
    "oldStart": 6,
    "oldLines": 1,
    "newStart": 6,
    "newLines": 2,
    "lines": [" a", "-b", "+c", "\\ No newline at end of file"],
}


def read(value: Any, tool: str | None = None) -> Any:
    return read_tool_result(Raw(json.dumps(value).encode()), tool)


def test_strings_lists_and_absence_stay_what_they_are() -> None:
    assert read("Error: Exit code 1\nboom", "Bash") == "Error: Exit code 1\nboom"
    assert read([{"type": "text", "text": "x"}], "mcp__a__b") == [{"type": "text", "text": "x"}]
    assert read(None, "Bash") is None
    assert read_tool_result(Raw(), "Bash") is None


def test_the_result_of_an_edit_has_its_hunks() -> None:
    value = {
        "filePath": "/a",
        "oldString": "b",
        "newString": "c",
        "structuredPatch": [HUNK],
        "userModified": False,
    }
    assert read(value, "Edit") == EditOutput(
        file_path="/a",
        old_string="b",
        new_string="c",
        structured_patch=[Hunk(old_start=6, old_lines=1, new_start=6, new_lines=2, lines=HUNK["lines"])],  # type: ignore[arg-type]
        user_modified=False,
    )


def test_without_the_tools_name_the_shape_decides() -> None:
    assert type(read({"stdout": "x", "stderr": "", "interrupted": False, "isImage": False})) is BashOutput
    assert (
        type(read({"mode": "content", "numFiles": 0, "filenames": [], "content": "x", "numLines": 1}))
        is GrepOutput
    )


def test_a_tool_with_two_shapes_gets_the_one_that_fits() -> None:
    assert (
        type(read({"status": "teammate_spawned", "teammate_id": "t", "agent_id": "a"}, "Task"))
        is TeammateOutput
    )


def test_what_an_mcp_tool_gave_is_its_own_business() -> None:
    assert read({"any": {"thing": 1}}, "mcp__server__tool") == {"any": {"thing": 1}}
    assert strays_of_tool_result({"any": {"thing": 1}}, "mcp__server__tool") == []


def test_an_object_of_an_unknown_tool_is_an_unknown_part() -> None:
    assert read({"a": 1}, "Hologram") == UnknownPart(name="Hologram", why="unknown tool", body={"a": 1})
    assert strays_of_tool_result({"a": 1}, "Hologram") == [("toolUseResult(Hologram)", {"a": 1})]


def test_an_object_that_fits_no_shape_of_its_tool_is_an_unknown_part() -> None:
    assert read({"stdout": 5}, "Bash") == UnknownPart(
        name="Bash", why="no shape of this tool fits", body={"stdout": 5}
    )
