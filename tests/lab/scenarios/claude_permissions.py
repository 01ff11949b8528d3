"""Claude Code without permission to do everything: rules, modes, questions that nobody can answer."""

from __future__ import annotations

from tests.lab.scenarios.claude_tools import ALL_TOOLS, HELLO
from tests.lab.words import Scenario, Step, call, if_offered, reply

QUESTION = {
    "question": "Which colour?",
    "header": "Colour",
    "multiSelect": False,
    "options": [{"label": "Red", "description": "Warm"}, {"label": "Blue", "description": "Cold"}],
}

NOBODY_ASKED = Scenario(
    name="permission_refusals",
    steps=(Step("please act without permission"),),
    files=HELLO,
    skip_permissions=False,
    mcp=True,
    env=ALL_TOOLS,
    settings={"permissions": {"deny": ["Bash(rm:*)", "Read({{cwd}}/src/**)"], "allow": ["Bash(echo:*)"]}},
    threads={
        "main": [
            reply(call("Bash", command="echo allowed", description="Allowed by a rule")),
            reply(call("Bash", command="touch made.txt", description="Needs approval")),
            reply(call("Bash", command="rm -f hello.txt", description="Denied by a rule")),
            reply(call("Write", file_path="{{cwd}}/new.txt", content="x\n")),
            reply(call("Read", file_path="{{cwd}}/src/app.py")),
            reply(call("Read", file_path="/etc/hostname")),
            reply(call("mcp__lab__echo", text="hello")),
            reply(if_offered(call("AskUserQuestion", questions=[QUESTION]))),
        ]
    },
)

PLAN = Scenario(
    name="plan_mode",
    steps=(Step("please make a plan", args=("--permission-mode", "plan")),),
    files=HELLO,
    skip_permissions=False,
    env=ALL_TOOLS,
    threads={
        "main": [
            reply(call("Read", file_path="{{cwd}}/hello.txt")),
            reply(call("Write", file_path="{{cwd}}/new.txt", content="x\n")),
            reply(if_offered(call("ExitPlanMode", plan="1. Look\n2. Act"))),
        ]
    },
)

QUESTIONS = Scenario(
    name="questions",
    steps=(Step("please ask me"),),
    env=ALL_TOOLS,
    threads={
        "main": [
            reply(if_offered(call("AskUserQuestion", questions=[QUESTION]))),
            reply(if_offered(call("EnterPlanMode"))),
            reply(if_offered(call("ExitPlanMode", plan="1. Look\n2. Act"))),
        ]
    },
)

ACCEPTING_EDITS = Scenario(
    name="accept_edits",
    steps=(Step("please edit freely", args=("--permission-mode", "acceptEdits")),),
    files=HELLO,
    skip_permissions=False,
    threads={
        "main": [
            reply(call("Read", file_path="{{cwd}}/hello.txt")),
            reply(call("Edit", file_path="{{cwd}}/hello.txt", old_string="hello", new_string="bye")),
            reply(call("Bash", command="curl http://127.0.0.1:1/", description="Not an edit")),
        ]
    },
)

DONT_ASK = Scenario(
    name="dont_ask",
    steps=(Step("please do not ask", args=("--permission-mode", "dontAsk")),),
    skip_permissions=False,
    since="2.1.0",
    threads={"main": [reply(call("Bash", command="touch made.txt", description="Not allowed"))]},
)

ALL = (NOBODY_ASKED, PLAN, QUESTIONS, ACCEPTING_EDITS, DONT_ASK)
