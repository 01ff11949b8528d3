"""Claude Code's tools: side by side, failing, writing, drawing, listing, searching."""

from __future__ import annotations

import json

from tests.lab.scenarios.pictures import PDF, PNG, as_base64
from tests.lab.words import Call, Json, Say, Scenario, Step, Think, call, if_offered, reply

HELLO = {"hello.txt": "hello\nworld\n", "src/app.py": "def main():\n    return 1\n"}
NOTEBOOK = json.dumps(
    {
        "cells": [
            {
                "cell_type": "code",
                "id": "one",
                "source": ["print(1)"],
                "metadata": {},
                "outputs": [],
                "execution_count": None,
            },
            {"cell_type": "markdown", "id": "two", "source": ["# Title"], "metadata": {}},
        ],
        "metadata": {"language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
)
ALL_TOOLS = {"ENABLE_TOOL_SEARCH": "false"}  # late clients hide most tools behind ToolSearch; this lists them

PARALLEL = Scenario(
    name="parallel_tools",
    steps=(Step("please look around"),),
    files=HELLO,
    threads={
        "main": [
            reply(
                Think("I should look around before I change anything."),
                Say("Let me look."),
                call("Bash", command="ls -la && echo warn >&2", description="List the files"),
                call("Read", file_path="{{cwd}}/hello.txt"),
                call("Bash", command="grep -c nothing hello.txt", description="Count"),
                if_offered(call("Grep", pattern="main", output_mode="content")),
                if_offered(call("Glob", pattern="**/*.py")),
                if_offered(call("LS", path="{{cwd}}")),
            ),
            reply(call("Read", file_path="{{cwd}}/hello.txt", offset=2, limit=1)),
        ]
    },
)

FAILING = Scenario(
    name="failing_tools",
    steps=(Step("please break things"),),
    files=HELLO,
    env=ALL_TOOLS,
    threads={
        "main": [
            reply(
                call("Bash", command="echo out; echo bad >&2; exit 3", description="Fail"),
                call("Read", file_path="{{cwd}}/missing.txt"),
                call("Edit", file_path="{{cwd}}/hello.txt", old_string="absent", new_string="x"),
            ),
            reply(call("Bash", description="No command at all")),
            reply(call("NoSuchTool", anything=1)),
            reply(Call(("Bash",), {}, raw='{"command": "echo cut')),
            reply(call("Bash", command="kill -9 $$", description="Die by a signal")),
            reply(call("Read", file_path="{{cwd}}")),
        ]
    },
)

EDITS = Scenario(
    name="edits",
    steps=(Step("please write and edit"),),
    files={**HELLO, "book.ipynb": NOTEBOOK},
    env=ALL_TOOLS,
    threads={
        "main": [
            reply(
                call("Read", file_path="{{cwd}}/hello.txt"),
                call("Read", file_path="{{cwd}}/src/app.py"),
                call("Read", file_path="{{cwd}}/book.ipynb"),
                if_offered(call("NotebookRead", notebook_path="{{cwd}}/book.ipynb")),
            ),
            reply(call("Write", file_path="{{cwd}}/new.txt", content="one\ntwo\n")),
            reply(call("Write", file_path="{{cwd}}/new.txt", content="one\ntwo\nthree\n")),
            reply(call("Edit", file_path="{{cwd}}/hello.txt", old_string="hello", new_string="goodbye")),
            reply(
                call("Edit", file_path="{{cwd}}/hello.txt", old_string="o", new_string="0", replace_all=True)
            ),
            reply(
                if_offered(
                    call(
                        "MultiEdit",
                        file_path="{{cwd}}/src/app.py",
                        edits=[
                            {"old_string": "main", "new_string": "start"},
                            {"old_string": "return 1", "new_string": "return 2"},
                        ],
                    )
                ),
                call(
                    "NotebookEdit",
                    notebook_path="{{cwd}}/book.ipynb",
                    cell_id="one",
                    new_source="print(2)",
                    cell_type="code",
                    edit_mode="replace",
                ),
            ),
            reply(call("Bash", command="echo changed >> hello.txt", description="Change it behind the back")),
            reply(call("Edit", file_path="{{cwd}}/hello.txt", old_string="w0rld", new_string="earth")),
        ]
    },
)

TODOS = Scenario(
    name="todo_list",
    steps=(Step("please plan the work"),),
    env=ALL_TOOLS,
    threads={
        "main": [
            reply(
                if_offered(
                    call(
                        "TodoWrite",
                        todos=[
                            {
                                "content": "Look",
                                "status": "in_progress",
                                "activeForm": "Looking",
                                "priority": "high",
                                "id": "1",
                            },
                            {
                                "content": "Act",
                                "status": "pending",
                                "activeForm": "Acting",
                                "priority": "low",
                                "id": "2",
                            },
                        ],
                    ),
                    call("TaskCreate", subject="Look", description="Look around", activeForm="Looking"),
                ),
                if_offered(call("TaskCreate", subject="Act", description="Do it", activeForm="Acting")),
            ),
            reply(
                if_offered(
                    call(
                        "TodoWrite",
                        todos=[
                            {
                                "content": "Look",
                                "status": "completed",
                                "activeForm": "Looking",
                                "priority": "high",
                                "id": "1",
                            }
                        ],
                    ),
                    call("TaskUpdate", taskId="1", status="in_progress"),
                )
            ),
            reply(if_offered(call("TaskUpdate", taskId="2", addBlockedBy=["1"]))),
            reply(if_offered(call("TaskList")), if_offered(call("TaskGet", taskId="1"))),
            reply(if_offered(call("TaskUpdate", taskId="1", status="completed"))),
            reply(if_offered(call("TaskUpdate", taskId="9", status="completed"))),
        ]
    },
)


def _message(*content: Json) -> Json:
    return {"type": "user", "message": {"role": "user", "content": list(content)}}


PICTURE: Json = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": as_base64(PNG)},
}

IMAGES = Scenario(
    name="image_prompt",
    since="2.0.0",  # before, a message of a stream may hold one block only
    steps=(
        Step(
            "",
            messages=(
                _message(PICTURE, {"type": "text", "text": "what is in this picture?"}),
                _message({"type": "text", "text": "and now?"}),
            ),
        ),
    ),
    threads={"main": [reply(Say("A few pixels.")), reply(Say("The same pixels."))]},
)

PICTURES = Scenario(
    name="images",
    steps=(Step("what is in these files?"),),
    files={"picture.png": PNG, "paper.pdf": PDF, "fake.png": b"no picture"},
    threads={
        "main": [
            reply(call("Read", file_path="{{cwd}}/picture.png"), call("Read", file_path="{{cwd}}/paper.pdf")),
            reply(call("Read", file_path="{{cwd}}/fake.png")),
        ]
    },
)

MCP = Scenario(
    name="mcp_tools",
    steps=(Step("please use the lab's tools"),),
    mcp=True,
    env=ALL_TOOLS,
    threads={
        "main": [
            reply(
                call("mcp__lab__echo", text="hello"),
                call("mcp__lab__fail", text="on purpose"),
                call("mcp__lab__picture"),
            ),
            reply(call("mcp__lab__slow", text="late")),
            reply(call("mcp__lab__echo", wrong=1)),
            reply(call("mcp__lab__absent", text="x")),
            reply(if_offered(call("ListMcpResourcesTool"))),
        ]
    },
)

LARGE = Scenario(
    name="large_output",
    steps=(Step("please print a lot"),),
    files={"long.txt": "".join(f"line {n}\n" for n in range(3000)), "wide.txt": "x" * 300_000},
    threads={
        "main": [
            reply(call("Bash", command="seq 1 40000", description="Print a lot")),
            reply(call("Bash", command="seq 1 40000; exit 1", description="Print a lot and fail")),
            reply(call("Read", file_path="{{cwd}}/long.txt"), call("Read", file_path="{{cwd}}/wide.txt")),
        ]
    },
)

BACKGROUND = Scenario(
    name="background_shell",
    steps=(Step("please work in the background"),),
    env=ALL_TOOLS,
    threads={
        "main": [
            reply(call("Bash", command="sleep 0.5; exit 7", description="Fail soon", run_in_background=True)),
            reply(call("Bash", command="sleep 1.2; echo waited", description="Wait")),
            reply(call("Bash", command="echo begun; sleep 9", description="Stay", run_in_background=True)),
            reply(
                if_offered(
                    call("TaskOutput", task_id="{{task}}", block=False, timeout=500),
                    call("BashOutput", bash_id="{{task}}"),
                )
            ),
            reply(
                if_offered(
                    call("TaskStop", task_id="{{task}}"),
                    call("KillShell", shell_id="{{task}}"),
                )
            ),
            reply(if_offered(call("TaskStop", task_id="b0000000"), call("KillShell", shell_id="b0000000"))),
            reply(call("Bash", command="echo a; sleep 2; echo b", description="Too slow", timeout=1000)),
        ]
    },
)

WEB = Scenario(
    name="web",
    steps=(Step("please search the web"),),
    env=ALL_TOOLS,
    threads={
        "main": [
            reply(if_offered(call("WebSearch", query="flight recorder"))),
            reply(if_offered(call("WebFetch", url="https://example.invalid/page", prompt="What is it?"))),
        ]
    },
)

ALL = (PARALLEL, FAILING, EDITS, TODOS, IMAGES, PICTURES, MCP, LARGE, BACKGROUND, WEB)
