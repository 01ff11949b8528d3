"""What is played to children of `tracklog run`, and what their results must say of it.

A story is a scenario with the request that starts it, and the part of the result that is ours by what was staged: how it ended, the
calls by verdict, what was denied, which files changed. `{{cwd}}` is filled in as everywhere in the lab.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.lab.scenarios.claude_agents import agent
from tests.lab.scenarios.claude_tools import ALL_TOOLS
from tests.lab.scenarios.codex_tools import CLASSIC
from tests.lab.words import Call, Freeform, Json, Say, Scenario, call, reply

SHAPE = {
    "type": "object",
    "properties": {"answer": {"type": "integer"}},
    "required": ["answer"],
    "additionalProperties": False,
}
BYPASS = {"permission_mode": "bypassPermissions"}
OK = call("Bash", command="echo hi", description="Say hi")
LOOK = reply(OK)
CODEX_LOOK = reply(call("exec_command", cmd="ls"))
PATCH = "*** Begin Patch\n*** Add File: new.txt\n+one\n*** End Patch\n"
# Its detached grandchild leaves the process group, the session and its parent.
DETACHED = "setsid sleep 300 > /dev/null 2>&1 & touch started; sleep 60"


@dataclass(frozen=True, eq=False)
class Story:
    """What is asked of one child, what the model answers, and what must come of it."""

    agent: str
    scenario: Scenario
    request: Mapping[str, Any] = field(default_factory=lambda: BYPASS)
    text: str | None = None  # the final words, where there are any
    ended_by: str = "completed"
    calls: Mapping[str, int] = field(default_factory=dict)
    denied: tuple[str, ...] = ()  # the tools
    changed: tuple[str, ...] = ()
    since: str = "0"

    @property
    def name(self) -> str:
        """As it stands in the test's id."""
        return f"{self.agent}-{self.scenario.name}"


def story(name: str, *threads: Any, agent: str = "claude", **more: Any) -> Story:
    """A story told in the replies of its main thread, or in those of several."""
    told = threads[0] if threads and isinstance(threads[0], dict) else {"main": list(threads)}
    staged = {
        key: more.pop(key) for key in ("files", "settings", "config", "model", "env", "git") if key in more
    }
    return Story(agent, Scenario(name=name, steps=(), threads=told, **staged), **more)


WORKED = story(
    "success",
    reply(Say("I look."), OK, call("Bash", command="exit 3", description="Fail")),
    reply(call("Write", file_path="{{cwd}}/new.txt", content="x\n")),
    reply(Say("It is done: née — ünïcode, 漢字.")),
    text="It is done: née — ünïcode, 漢字.",
    calls={"error": 1, "ok": 2},
    changed=("{{cwd}}/new.txt",),
)
FAILED = story(
    "error",
    LOOK,
    *[reply(status=400, error="This request is not good.")] * 40,  # 2.1.325 asks six times
    text="API Error: 400 This request is not good.",
    ended_by="error",
    calls={"ok": 1},
)
CAPPED = story(
    "max_turns",
    LOOK,
    LOOK,
    LOOK,
    request={**BYPASS, "max_turns": 2},
    ended_by="error",
    calls={"ok": 2},
)
SHAPED = story(
    "structured_output",
    reply(call("StructuredOutput", answer="many")),
    reply(call("StructuredOutput", answer=42)),
    reply(Say("Shaped.")),
    request={**BYPASS, "json_schema": SHAPE},
    calls={"error": 1, "ok": 1},
)
REFUSED = story(
    "refused",
    reply(call("Bash", command="echo allowed", description="Allowed by a rule")),
    reply(call("Bash", command="touch made.txt", description="Needs approval")),
    reply(call("Bash", command="rm -f hello.txt", description="Denied by a rule")),
    reply(call("Write", file_path="{{cwd}}/new.txt", content="x\n")),
    reply(Say("I could not.")),
    env=ALL_TOOLS,
    request={"allowed_tools": ("Bash(echo:*)",), "disallowed_tools": ("Bash(rm:*)",)},
    text="I could not.",
    calls={"denied": 3, "ok": 1},
    denied=("Bash", "Bash", "Write"),
)
DELEGATED = story(
    "subagent",
    {
        "main": [reply(agent("scout", run_in_background=False)), reply(Say("The scout is back."))],
        "scout": [
            reply(call("Bash", command="echo scouting", description="Scout")),
            reply(call("Write", file_path="{{cwd}}/seen.txt", content="x\n")),
            reply(Say("Nothing in sight.")),
        ],
    },
    text="The scout is back.",
    calls={"ok": 3},
    changed=("{{cwd}}/seen.txt",),
)
IN_BACKGROUND = story(
    "background_subagent",
    {
        "main": [
            reply(agent("scout", run_in_background=True)),
            reply(call("Bash", command="sleep 1.5; echo meanwhile", description="Go on")),
            reply(Say("The scout is back.")),
        ],
        "scout": [
            reply(call("Bash", command="sleep 0.3; echo scouting", description="Scout")),
            reply(Say("Nothing in sight.")),
        ],
    },
    text="The scout is back.",
    calls={"backgrounded": 1, "ok": 2},
)
CODEX_WORKED = story(
    "success",
    reply(call("exec_command", cmd="echo hi"), call("exec_command", cmd="exit 3")),
    reply(Freeform(("apply_patch",), PATCH)),
    reply(Say("It is done: née — 漢字.")),
    agent="codex",
    model=CLASSIC,
    text="It is done: née — 漢字.",
    calls={"error": 1, "ok": 2},
    changed=("{{cwd}}/new.txt",),
    since="0.150.0",  # older ones offer no `apply_patch` to a model that they do not know
)
CODEX_FAILED = story(
    "error",
    CODEX_LOOK,
    reply(status=400, error="This request is not good."),
    agent="codex",
    ended_by="error",
    calls={"ok": 1},
)
CODEX_SHAPED = story(
    "structured_output",
    reply(Say('{"answer": 42}')),
    agent="codex",
    request={**BYPASS, "json_schema": SHAPE},
    text='{"answer": 42}',
)


def _of_codex(tool: str, **args: object) -> Call:
    given: Json = dict(args)
    return Call((tool,), given, space="multi_agent_v1")


CODEX_DELEGATED = story(
    "subagent",
    {
        "main": [
            reply(_of_codex("spawn_agent", message="[scout] look around", agent_type="default")),
            reply(_of_codex("wait_agent", targets=["{{agent}}"], timeout_ms=10_000)),
            reply(Say("The scout is back.")),
        ],
        "scout": [CODEX_LOOK, reply(Say("Nothing in sight."))],
    },
    agent="codex",
    text="The scout is back.",
    calls={"ok": 3},
    since="0.150.0",
)

ALL = (
    WORKED,
    FAILED,
    CAPPED,
    SHAPED,
    REFUSED,
    DELEGATED,
    IN_BACKGROUND,
    CODEX_WORKED,
    CODEX_FAILED,
    CODEX_SHAPED,
    CODEX_DELEGATED,
)

AGAIN = story("again", reply(Say("First.")), reply(Say("Second.")), reply(Say("Third.")))
CODEX_AGAIN = story("again", reply(Say("First.")), reply(Say("Second.")), reply(Say("Third.")), agent="codex")
SHORT = story("short", reply(Say("Short and whole.")), text="Short and whole.")

HUNG = {"type": "command", "command": "touch hung; sleep 300", "timeout": 600}
STUCK = story(
    "stuck_stop_hook",
    reply(Say("I look."), OK),
    reply(Say("The answer is 42.")),
    settings={"hooks": {"Stop": [{"hooks": [HUNG]}]}},
    text="The answer is 42.",
)

LONG = story(
    "long",
    reply(Say("This takes long."), call("Bash", command=DETACHED, description="Long", timeout=120_000)),
)
CODEX_LONG = story("long", reply(call("exec_command", cmd=DETACHED, yield_time_ms=30_000)), agent="codex")
DEAR = story(
    "dear",
    {
        "main": [reply(agent("scout", run_in_background=False))],
        "scout": [
            *[reply(call("Bash", command="touch started; sleep 0.8", description="Spend"))] * 20,
            reply(Say("All is spent.")),
        ],
    },
)
