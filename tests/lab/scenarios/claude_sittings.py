"""Claude Code with a person before the screen: prompts answered, work interrupted, thoughts queued, words taken back."""

from __future__ import annotations

from tests.lab.scenarios.claude_permissions import QUESTION
from tests.lab.scenarios.claude_tools import ALL_TOOLS, HELLO
from tests.lab.words import Answered, FileSeen, Pressed, Say, Scenario, Seen, Sitting, Typed, call, reply

READY = Seen(r"\? for shortcuts|bypass permissions on|plan mode on")
STOPPED = Seen(
    "[Ii]nterrupted|What should Claude do|[Rr]ejected|[Dd]eclined"
)  # by a person, in each release's words
CHOICE = r"1\. Red"  # only the open dialog shows it; the question itself stays on the screen

ASKED = Scenario(
    name="sitting_permissions",
    skip_permissions=False,
    files=HELLO,
    env=ALL_TOOLS,
    steps=(
        Sitting(
            (
                READY,
                Typed("please touch a file"),
                Answered("Do you want to", ("Enter",)),
                Seen("Touched it"),
                Typed("please write a file"),
                Answered("Do you want to", ("Escape",)),
                STOPPED,
                Typed("please go on"),
                Seen("Went on"),
                Typed("/exit"),
            )
        ),
    ),
    threads={
        "main": [
            reply(call("Bash", command="touch made.txt", description="Touch")),
            reply(Say("Touched it.")),
            reply(call("Write", file_path="{{cwd}}/new.txt", content="one\n")),
            reply(Say("Went on.")),
        ]
    },
)

BUSY = Scenario(
    name="sitting_busy",
    files=HELLO,
    env=ALL_TOOLS,
    steps=(
        Sitting(
            (
                READY,
                Typed("[first] please work a while"),
                FileSeen("started"),
                Typed("[queued] and think of this too"),
                Seen("Thought of it|Worked a while"),  # late clients put it into the running turn
                Typed("[long] please work long"),
                FileSeen("again"),
                Pressed(("Escape",)),
                STOPPED,
                Typed("!echo from the shell"),
                Seen("from the shell\\n"),
                Typed("[last] please finish"),
                Seen("Finished"),
                Typed("/clear"),
                Typed("[anew] a new start"),
                Seen("Started anew"),
                Typed("/exit"),
            )
        ),
    ),
    threads={
        "first": [
            reply(call("Bash", command="touch started; sleep 2.5; echo done", description="Work a while")),
            reply(Say("Worked a while.")),
        ],
        "queued": [reply(Say("Thought of it."))],
        "long": [reply(call("Bash", command="touch again; echo begun; sleep 9", description="Work long"))],
        "last": [reply(Say("Finished."))],
        "anew": [reply(Say("Started anew."))],
    },
)

QUESTIONED = Scenario(
    name="sitting_questions",
    since="2.1.0",
    skip_permissions=False,
    env=ALL_TOOLS,
    steps=(
        Sitting(
            (
                READY,
                Typed("please ask me"),
                Answered(CHOICE, ("Enter",)),
                Seen("Red it is"),
                Typed("please ask me again"),
                Answered(CHOICE, ("Escape",)),
                STOPPED,
                Typed("/exit"),
            )
        ),
    ),
    threads={
        "main": [
            reply(call("AskUserQuestion", questions=[QUESTION])),
            reply(Say("Red it is.")),
            reply(call("AskUserQuestion", questions=[QUESTION])),
        ]
    },
)

REWOUND = Scenario(
    name="sitting_rewind",
    since="2.0.0",
    files=HELLO,
    steps=(
        Sitting(
            (
                READY,
                Typed("please write the first"),
                Seen("First is written"),
                Typed("please write the second"),
                Seen("Second is written"),
                Pressed(("Escape",)),
                Pressed(("Escape",)),
                Seen("Rewind|rewind"),
                Pressed(("Up",)),
                Pressed(("Enter",)),
                Seen("Restore|restore"),
                Pressed(("Enter",)),
                Seen(r"please write the second"),
                Pressed(("Enter",)),
                Seen("Third is written"),
                Typed("/exit"),
            )
        ),
    ),
    threads={
        "main": [
            reply(call("Write", file_path="{{cwd}}/one.txt", content="one\n")),
            reply(Say("First is written.")),
            reply(call("Write", file_path="{{cwd}}/two.txt", content="two\n")),
            reply(Say("Second is written.")),
            reply(call("Write", file_path="{{cwd}}/three.txt", content="three\n")),
            reply(Say("Third is written.")),
        ]
    },
)

COMMANDED = Scenario(
    name="sitting_commands",
    since="2.1.150",
    skip_permissions=False,
    files=HELLO,
    env=ALL_TOOLS,
    steps=(
        Sitting(
            (
                READY,
                Typed("please begin"),
                Seen("Begun"),
                Typed("/rename the great work"),
                Seen("the great work"),
                Typed("[plan] please make a plan"),
                Seen("plan on|plan mode"),
                Answered(r"Would you like to proceed|Exit plan mode\?", ("Enter",)),
                Seen("Planned"),
                Typed("/compact"),
                Seen("Compacted|compacted|Conversation"),
                Typed("[after] what is left?"),
                Seen("Not much"),
                Typed("/exit"),
            ),
            args=("--permission-mode", "plan"),
        ),
    ),
    threads={
        "main": [reply(Say("Begun."))],
        "plan": [
            reply(call("Read", file_path="{{cwd}}/hello.txt")),
            reply(call("Write", file_path="{{plan}}", content="# Plan\n1. Look\n2. Act\n")),
            reply(call("ExitPlanMode", plan="1. Look\n2. Act")),
            reply(Say("Planned.")),
        ],
        "after": [reply(Say("Not much."))],
    },
)

ALL = (ASKED, BUSY, QUESTIONED, REWOUND, COMMANDED)
