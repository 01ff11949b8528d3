"""Codex's tools: commands, patches, plans, pictures, MCP, shells that stay, code mode."""

from __future__ import annotations

from tests.lab.scenarios.pictures import PNG, as_base64
from tests.lab.words import Call, Freeform, Say, Scenario, Step, Think, Wire, call, if_offered, reply

HELLO = {"hello.txt": "hello\nworld\n", "gone.txt": "bye\n", "src/app.py": "def main():\n    return 1\n"}
CLASSIC = "gpt-5.5"  # the newest model with plain tools; releases that do not know it treat it as any other
CODE_MODE = "gpt-6.1-sol"  # a model whose tools are all called from JavaScript

PATCH = """*** Begin Patch
*** Add File: new.txt
+one
+two
*** Update File: src/app.py
@@ def main():
-    return 1
+    return 2
*** Update File: hello.txt
*** Move to: moved.txt
@@
-hello
+goodbye
 world
*** Delete File: gone.txt
*** End Patch
"""
BAD_PATCH = """*** Begin Patch
*** Update File: src/app.py
@@
-    return 7
+    return 8
*** End Patch
"""

PARALLEL = Scenario(
    name="parallel_commands",
    steps=(Step("please look around"),),
    files=HELLO,
    threads={
        "main": [
            reply(
                Think("I should look around before I change anything."),
                Say("Let me look."),
                call("exec_command", cmd="ls -la; echo warn >&2"),
                call("exec_command", cmd="false"),
                call("exec_command", cmd="cat hello.txt", workdir="{{cwd}}"),
            ),
        ]
    },
)

FAILING = Scenario(
    name="failing_tools",
    steps=(Step("please break things"),),
    files=HELLO,
    threads={
        "main": [
            reply(
                call("no_such_tool", anything=1), call("exec_command", cmd="echo out; echo bad >&2; exit 3")
            ),
            reply(Call(("exec_command",), {}, raw='{"cmd": "echo cut')),
            reply(call("exec_command", wrong=1)),
            reply(call("exec_command", cmd="kill -9 $$")),
            reply(call("exec_command", cmd="ls", workdir="{{cwd}}/absent")),
            reply(call("view_image", path="{{cwd}}/absent.png")),
        ]
    },
)

PATCHES = Scenario(
    name="apply_patch",
    steps=(Step("please patch"),),
    files=HELLO,
    model=CLASSIC,
    threads={
        "main": [
            reply(Freeform(("apply_patch",), PATCH)),
            reply(Freeform(("apply_patch",), BAD_PATCH)),
            reply(Freeform(("apply_patch",), "no patch at all")),
            reply(call("exec_command", cmd="apply_patch <<'EOF'\n" + BAD_PATCH.replace("7", "2") + "EOF\n")),
        ]
    },
)

PLAN = Scenario(
    name="plan_and_goal",
    steps=(Step("please plan the work"),),
    threads={
        "main": [
            reply(
                call(
                    "update_plan",
                    explanation="Two steps",
                    plan=[{"step": "Look", "status": "in_progress"}, {"step": "Act", "status": "pending"}],
                )
            ),
            reply(call("update_plan", plan=[{"step": "Look", "status": "completed"}])),
            reply(if_offered(call("create_goal", objective="Finish the work"))),
            reply(if_offered(call("get_goal"))),
            reply(if_offered(call("update_goal", status="complete"))),
            reply(
                call(
                    "request_user_input",
                    questions=[{"id": "colour", "header": "Colour", "question": "Which?", "options": []}],
                )
            ),
        ]
    },
)

MCP = Scenario(
    name="mcp_tools",
    steps=(Step("please use the lab's tools"),),
    mcp=True,
    threads={
        "main": [
            reply(
                Call(("echo",), {"text": "hello"}, space="mcp__lab"),
                Call(("fail",), {"text": "on purpose"}, space="mcp__lab"),
                Call(("picture",), {}, space="mcp__lab"),
            ),
            reply(Call(("slow",), {"text": "late"}, space="mcp__lab")),
            reply(Call(("absent",), {}, space="mcp__lab")),
            reply(call("list_mcp_resources", server="lab")),
        ]
    },
)

SEARCHING = Scenario(
    name="tool_search",
    steps=(Step("please find the right tool"),),
    mcp=True,
    model=CLASSIC,
    since="0.130.0",
    threads={
        "main": [
            reply(
                Wire(
                    {
                        "type": "tool_search_call",
                        "id": "tsc_lab0001",
                        "call_id": "call_search0001",
                        "status": "completed",
                        "execution": "client",
                        "arguments": {"query": "echo text", "limit": 3},
                    }
                )
            ),
            reply(Call(("echo",), {"text": "found"}, space="mcp__lab")),
        ]
    },
)

PICTURES = Scenario(
    name="images",
    steps=(Step("what is in this picture?", args=("-i", "{{cwd}}/picture.png", "--")),),
    files={"picture.png": PNG},
    model=CLASSIC,
    threads={"main": [reply(call("view_image", path="{{cwd}}/picture.png")), reply(Say("A few pixels."))]},
)

SHELL = Scenario(
    name="shell_session",
    steps=(Step("please keep a shell open"),),
    threads={
        "main": [
            reply(call("exec_command", cmd="read line; echo got $line; exit 6", tty=True, yield_time_ms=300)),
            reply(call("write_stdin", session_id="{{task}}", chars="hello\n", yield_time_ms=600)),
            reply(call("write_stdin", session_id="{{task}}", chars="", yield_time_ms=300)),
            reply(call("exec_command", cmd="sleep 9", yield_time_ms=300)),
        ]
    },
)

LARGE = Scenario(
    name="large_output",
    steps=(Step("please print a lot"),),
    threads={"main": [reply(call("exec_command", cmd="seq 1 40000", max_output_tokens=500))]},
)

SERVER_SIDE = Scenario(
    name="server_side_tools",
    steps=(Step("please search the web"),),
    threads={
        "main": [
            reply(
                Wire(
                    {
                        "type": "web_search_call",
                        "id": "ws_lab0001",
                        "status": "completed",
                        "action": {
                            "type": "search",
                            "query": "flight recorder",
                            "queries": ["flight recorder"],
                        },
                    }
                ),
                Wire(
                    {
                        "type": "web_search_call",
                        "id": "ws_lab0002",
                        "status": "completed",
                        "action": {"type": "open_page", "url": "https://example.com/recorders"},
                    }
                ),
                Wire(
                    {
                        "type": "image_generation_call",
                        "id": "ig_lab0001",
                        "status": "completed",
                        "revised_prompt": "A few blue pixels",
                        "result": as_base64(PNG),
                    }
                ),
                Say("One page was found."),
            ),
        ]
    },
)

CODE = Scenario(
    name="code_mode",
    steps=(Step("please write a script"),),
    model=CODE_MODE,
    since="0.150.0",
    files=HELLO,
    mcp=True,
    threads={
        "main": [
            reply(
                Think("One script does it all."),
                Freeform(
                    ("exec",),
                    'const r = await tools.exec_command({cmd: "ls; exit 3"}); text(r);\n'
                    'const p = await tools.apply_patch("*** Begin Patch\\n*** Add File: new.txt\\n+one\\n*** End Patch\\n"); text(p);\n',
                ),
            ),
            reply(Freeform(("exec",), 'throw new Error("on purpose");')),
            reply(Freeform(("exec",), 'text(await tools.mcp__lab__echo({text: "hello"}));')),
            reply(
                Freeform(
                    ("exec",),
                    '// @exec: {"yield_time_ms": 300}\nawait tools.exec_command({cmd: "sleep 1"}); text("late");',
                )
            ),
            reply(Call(("wait",), {"cell_id": "{{task}}", "yield_time_ms": 3000}, space="functions")),
            reply(Call(("sleep",), {"duration_ms": 50}, space="clock")),
        ]
    },
)

ALL = (
    PARALLEL,
    FAILING,
    PATCHES,
    PLAN,
    MCP,
    SEARCHING,
    PICTURES,
    SHELL,
    LARGE,
    SERVER_SIDE,
    CODE,
)
