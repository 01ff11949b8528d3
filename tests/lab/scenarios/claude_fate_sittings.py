"""The fates that only a person can give to Claude Code's calls: No, No with a word, Escape, Ctrl+B, leaving."""

from __future__ import annotations

from tests.lab.scenarios.claude_agents import agent
from tests.lab.scenarios.claude_fates import PERMISSION_HOOK
from tests.lab.scenarios.claude_sittings import READY, STOPPED
from tests.lab.scenarios.claude_tools import ALL_TOOLS, HELLO
from tests.lab.words import Answered, FileSeen, Pressed, Say, Scenario, Seen, Sitting, Typed, call, reply

ESCAPED = Scenario(
    name="sitting_escape",
    files=HELLO,
    env=ALL_TOOLS,
    steps=(
        Sitting(
            (
                READY,
                Typed("[three] please do three things"),
                FileSeen("started"),
                Pressed(("Escape",)),
                STOPPED,
                Typed("[last] please finish"),
                Seen("Finished"),
                Typed("/exit"),
            )
        ),
    ),
    threads={
        "three": [
            reply(
                call("Bash", command="echo early", description="Early"),
                call("Bash", command="touch started; echo begun; sleep 9", description="Work long"),
                call("Bash", command="echo queued", description="Wait behind it"),
            )
        ],
        "last": [reply(Say("Finished."))],
    },
)

REFUSED_TWICE = Scenario(
    name="sitting_refusals",
    skip_permissions=False,
    files=HELLO,
    env=ALL_TOOLS,
    steps=(
        Sitting(
            (
                READY,
                Typed("[two] please do two things"),
                Answered("Do you want to", ("Escape",)),
                STOPPED,
                Typed("[no] please write a file"),
                Answered("Do you want to", ("3",)),
                STOPPED,
                Typed("[last] please finish"),
                Seen("Finished"),
                Typed("/exit"),
            )
        ),
    ),
    threads={
        "two": [
            reply(
                call("Write", file_path="{{cwd}}/one.txt", content="one\n"),
                call("Write", file_path="{{cwd}}/two.txt", content="two\n"),
            )
        ],
        "no": [reply(call("Write", file_path="{{cwd}}/three.txt", content="three\n"))],
        "last": [reply(Say("Finished."))],
    },
)

FEEDBACK = Scenario(
    name="sitting_feedback",
    since="2.1.100",
    skip_permissions=False,
    files=HELLO,
    env=ALL_TOOLS,
    steps=(
        Sitting(
            (
                READY,
                Typed("please write a file"),
                Seen("Do you want to"),
                Pressed(("Down",)),
                Pressed(("Down",)),
                Pressed(("Tab",)),
                Typed("rather not this one"),
                Seen("As you wish"),
                Typed("/exit"),
            )
        ),
    ),
    threads={
        "main": [
            reply(call("Write", file_path="{{cwd}}/new.txt", content="one\n")),
            reply(Say("As you wish.")),
        ]
    },
)

HOOK_ASKED = Scenario(
    name="sitting_permission_hook",
    since="2.1.150",
    skip_permissions=False,
    files=HELLO,
    settings=PERMISSION_HOOK,
    steps=(Sitting((READY, Typed("please ask the one hook"), Seen("Went on"), Typed("/exit"))),),
    threads={
        "main": [
            reply(call("Write", file_path="{{cwd}}/new.txt", content="x\n")),
            reply(Say("Went on.")),
        ]
    },
)

SENT_BEHIND = Scenario(
    name="sitting_background",
    env={**ALL_TOOLS, "ENABLE_BACKGROUND_TASKS": "1"},  # 1.0.60 has it only so
    steps=(
        Sitting(
            (
                READY,
                Typed("please work a while"),
                FileSeen("started"),
                Seen(r"(?i)ctrl.?b"),
                Pressed(("C-b",)),
                Seen("Went on"),
                FileSeen("ended"),
                Seen("Went on"),
                Typed("/exit"),
            )
        ),
    ),
    threads={
        "main": [
            reply(call("Bash", command="touch started; sleep 7; touch ended", description="Work a while")),
            reply(Say("Went on.")),
        ]
    },
)

LEFT_RUNNING = Scenario(
    name="sitting_left_running",
    since="2.1.150",
    env=ALL_TOOLS,
    steps=(
        Sitting(
            (
                READY,
                Typed("please start a server"),
                Seen("It serves"),
                Pressed(("C-c",)),
                Pressed(("C-c",)),
                Seen("Background work is running"),
                Pressed(("Enter",)),
            )
        ),
    ),
    threads={
        "main": [
            reply(call("Bash", command="sleep 60", description="Serve", run_in_background=True)),
            reply(Say("It serves.")),
        ]
    },
)

AGENT_LEFT = Scenario(
    name="sitting_agent",
    since="2.1.0",
    env=ALL_TOOLS,
    steps=(
        Sitting(
            (
                READY,
                Typed("please delegate"),
                FileSeen("working"),
                Pressed(("Escape",)),
                Pressed(("C-c",)),
                Pressed(("C-c",)),
            )
        ),
    ),
    threads={
        "main": [reply(agent("worker", run_in_background=False)), reply(Say("It works on."))],
        "worker": [
            reply(call("Bash", command="touch working; echo begun; sleep 9", description="Work long"))
        ],
    },
)

ALL = (ESCAPED, REFUSED_TWICE, FEEDBACK, HOOK_ASKED, SENT_BEHIND, LEFT_RUNNING, AGENT_LEFT)
