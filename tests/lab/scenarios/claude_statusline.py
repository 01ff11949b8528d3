"""Claude Code with our status line: what it tells, what we made of it, and that it stands on the screen."""

from __future__ import annotations

from tests.lab.scenarios.claude_agents import agent
from tests.lab.scenarios.claude_sittings import READY
from tests.lab.scenarios.claude_tools import ALL_TOOLS, HELLO
from tests.lab.words import Json, Say, Scenario, Seen, Sitting, Typed, call, reply

SHOWN = Seen(r"Sonnet 4\.5 · \$0\.\d+")
COMMAND: Json = {
    "type": "command",
    "command": "{{python}} {{lab}}/watching_statusline.py {{home}}/status.jsonl",
}

WATCHED = Scenario(
    name="sitting_statusline",
    since="2.0.0",  # 1.0.60 has no status line
    files=HELLO,
    env=ALL_TOOLS,
    settings={"statusLine": COMMAND},
    steps=(
        Sitting(
            (
                READY,
                Typed("please look and write"),
                Seen("Written it"),
                SHOWN,
                Typed("please delegate"),
                Seen("Delegated it"),
                Typed("[more] please go on"),
                Seen("Went on"),
                Typed("/compact"),
                Seen("Compacted|compacted|Conversation"),
                Typed("[after] what is left?"),
                Seen("Not much"),
                SHOWN,
                Typed("/clear"),
                Typed("[anew] a new start"),
                Seen("Started anew"),
                SHOWN,
                Typed("/exit"),
            )
        ),
    ),
    threads={
        "main": [
            reply(call("Read", file_path="{{cwd}}/hello.txt")),
            reply(call("Edit", file_path="{{cwd}}/hello.txt", old_string="world", new_string="there\nnew")),
            reply(Say("Written it.")),
            reply(agent("outer", run_in_background=False)),
            reply(Say("Delegated it.")),
        ],
        "outer": [
            reply(call("Bash", command="echo outer", description="Say it")),
            reply(Say("Outer is done.")),
        ],
        "more": [reply(Say("Went on."))],
        "after": [reply(Say("Not much."))],
        "anew": [reply(Say("Started anew."))],
    },
)

ALL = (WATCHED,)
