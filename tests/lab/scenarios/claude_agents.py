"""Claude Code's subagents: nested, side by side, in the background, of a kind of their own, failing."""

from __future__ import annotations

from tests.lab.scenarios.claude_tools import ALL_TOOLS, HELLO
from tests.lab.words import Call, Json, Say, Scenario, Step, Think, call, if_offered, reply


def agent(thread: str, kind: str = "general-purpose", **more: object) -> Call:
    """A wish for a subagent whose script is `thread`; the tool was called Task before it was called Agent."""
    args: Json = {
        "description": f"Work of {thread}",
        "prompt": f"[{thread}] do your part",
        "subagent_type": kind,
    }
    return Call(("Agent", "Task"), args | more)


NESTED = Scenario(
    name="nested_agents",
    steps=(Step("please delegate"),),
    files=HELLO,
    threads={
        "main": [reply(Say("I delegate."), agent("outer", run_in_background=False))],
        "outer": [
            reply(Think("I need help myself."), agent("inner", run_in_background=False)),
            reply(call("Bash", command="echo outer", description="Say it")),
            reply(Say("Outer is done.")),
        ],
        "inner": [
            reply(
                call("Read", file_path="{{cwd}}/hello.txt"),
                call("Bash", command="exit 2", description="Fail"),
            ),
            reply(Say("Inner is done.")),
        ],
    },
)

SIDE_BY_SIDE = Scenario(
    name="parallel_agents",
    steps=(Step("please delegate twice"),),
    files=HELLO,
    threads={
        "main": [reply(agent("left", run_in_background=False), agent("right", run_in_background=False))],
        "left": [
            reply(call("Bash", command="sleep 0.3; echo left", description="Left")),
            reply(Say("Left is done.")),
        ],
        "right": [
            reply(call("Bash", command="sleep 0.3; echo right", description="Right")),
            reply(Say("Right is done.")),
        ],
    },
)

IN_BACKGROUND = Scenario(
    name="background_agent",
    steps=(Step("please delegate and go on"),),
    files=HELLO,
    env=ALL_TOOLS,
    threads={
        "main": [
            reply(agent("scout", run_in_background=True)),
            reply(call("Bash", command="sleep 1.5; echo meanwhile", description="Go on")),
            reply(if_offered(call("SendMessage", to="{{agent}}", message="thanks", summary="thanks"))),
            reply(if_offered(call("ListAgents"))),
            reply(Say("The scout is back.")),
        ],
        "scout": [
            reply(call("Bash", command="sleep 0.4; echo scouting", description="Scout")),
            reply(Say("Nothing in sight.")),
        ],
    },
)

OF_ITS_OWN_KIND = Scenario(
    name="custom_agent",
    steps=(Step("please let the reviewer look"),),
    files={
        **HELLO,
        ".claude/agents/reviewer.md": "---\nname: reviewer\ndescription: Reviews\ntools: Read, Bash\nmodel: haiku\n---\n"
        "You review.\n",
    },
    threads={
        "main": [
            reply(agent("review", "reviewer", run_in_background=False)),
            reply(agent("nobody", "no-such-agent")),
        ],
        "review": [reply(call("Read", file_path="{{cwd}}/src/app.py")), reply(Say("It returns one."))],
        "nobody": [],
    },
)

DYING = Scenario(
    name="dying_agent",
    steps=(Step("please delegate to the unlucky"),),
    threads={
        "main": [reply(agent("unlucky", run_in_background=False))],
        "unlucky": [
            reply(call("Bash", command="echo alive", description="Live")),
            *[reply(status=400, error="This request is not good.")] * 5,
        ],
    },
)

ALL = (NESTED, SIDE_BY_SIDE, IN_BACKGROUND, OF_ITS_OWN_KIND, DYING)
