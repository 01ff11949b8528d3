"""The files that calls of both agents read and changed."""

from __future__ import annotations

import json
from typing import Any

from msgspec import Raw

from tests.model.lines import Line, reply, result, session, use, user
from tests.model.translate.codex_log import act, call, item, meta, output, said, translated
from tracklog.model.assemble.session import assemble
from tracklog.model.fold.log import FileFold
from tracklog.model.ids import CallId, SessionId, ThreadId
from tracklog.model.session import Call, TouchedFile

PATCH = "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** End Patch"


def claude(name: str, report: Any = None, **input: Any) -> Call:
    lines: list[Line] = [user("u", None, "go"), reply("a", "u", "m1", use("c1", name, **input))]
    [one] = session(*lines, result("r", "a", "c1", toolUseResult=report)).calls
    return one


def codex(*lines: Line) -> list[Call]:
    fold = FileFold("sessions/rollout-1.jsonl")
    fold.add(translated(meta(), said("user", "go"), *lines))
    return assemble([fold], session=SessionId("t1"), agent="codex").calls


def patched(input: str) -> Line:
    return item("custom_tool_call", call_id="c1", name="apply_patch", input=input)


def test_an_edit_of_claude_code_has_the_diff_that_the_client_states() -> None:
    patch = [{"oldStart": 3, "newStart": 3, "lines": [" a", "-b", "+B"]}]
    made = claude("Edit", {"filePath": "/w/a.py", "structuredPatch": patch}, file_path="/w/a.py")
    diff = "--- /w/a.py\n+++ /w/a.py\n@@ -3,2 +3,2 @@\n a\n-b\n+B\n"
    assert made.files == [TouchedFile(path="/w/a.py", act="update", added=1, removed=1, diff=diff)]
    assert made.diff == diff


def test_a_patch_of_codex_has_the_places_that_the_client_notes() -> None:
    changes = {"/w/a.py": {"type": "update", "unified_diff": "@@ -3 +3 @@\n-x\n+y\n", "move_path": None}}
    noted = act("FileChange", "c1", changes=changes, status="completed")
    [made] = codex(patched(PATCH), noted, output("Success."))
    diff = "--- /w/a.py\n+++ /w/a.py\n@@ -3 +3 @@\n-x\n+y\n"
    assert made.files == [TouchedFile(path="/w/a.py", act="update", added=1, removed=1, diff=diff)]


def test_without_such_a_note_the_patch_itself_is_the_diff() -> None:
    [made] = codex(patched(PATCH))
    assert made.diff == "--- a.py\n+++ a.py\n@@ @@\n-x\n+y\n"


def test_what_was_read_is_a_file_of_the_call_and_in_no_diff() -> None:
    read = claude("Read", {"type": "text", "file": {"filePath": "/w/a.py"}}, file_path="/w/a.py")
    assert (read.files, read.diff) == ([TouchedFile(path="/w/a.py", act="read")], "")
    parsed = [
        {"type": "read", "cmd": "cat a.py", "name": "a.py", "path": "src/a.py"},
        {"type": "search", "cmd": "rg x", "path": "src"},
    ]
    noted = act(
        "CommandExecution",
        "c1",
        command=["cat", "src/a.py"],
        cwd="/w",
        source="agent",
        status="completed",
        parsed_cmd=parsed,
        exit_code=0,
    )
    [made] = codex(call("exec_command", cmd="cat src/a.py"), noted)
    assert made.files == [TouchedFile(path="src/a.py", act="read")]


def test_a_command_changes_no_file_that_we_know_of() -> None:
    assert (claude("Bash", {"stdout": "x"}, command="rm a").files, claude("Glob", pattern="*").files) == (
        [],
        [],
    )


def test_what_is_no_input_of_a_tool_has_no_files() -> None:
    for input in (b"", b"7", b'"x"', b"[1]", b"{", json.dumps({"file_path": 7}).encode()):
        one = Call(
            id=CallId("c"), session=SessionId("s"), agent="claude", thread=ThreadId("main"), name="Read",
            verdict="ok", sureness="stated", why="", evidence=[], input=Raw(input), noted=Raw(input),
        )  # fmt: skip
        assert one.files == []
