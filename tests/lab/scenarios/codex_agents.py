"""Codex's subagents, in both generations of its agent tools."""

from __future__ import annotations

from tests.lab.scenarios.codex_tools import CODE_MODE, HELLO
from tests.lab.words import Call, Json, Say, Scenario, Step, call, reply


def _agent(tool: str, **args: object) -> Call:
    given: Json = dict(args)
    return Call((tool,), given, space="multi_agent_v1")


AGENTS = Scenario(
    name="agents",
    steps=(Step("please delegate"),),
    files=HELLO,
    since="0.150.0",
    config="[agents]\nmax_depth = 3\n",
    threads={
        "main": [
            reply(
                Say("I delegate."), _agent("spawn_agent", message="[scout] look around", agent_type="default")
            ),
            reply(_agent("wait_agent", targets=["{{agent}}"], timeout_ms=10_000)),
            reply(_agent("send_input", target="{{agent}}", message="once more please")),
            reply(_agent("wait_agent", targets=["{{agent}}"], timeout_ms=10_000)),
            reply(_agent("close_agent", target="{{agent}}")),
            reply(_agent("wait_agent", targets=["00000000-0000-7000-8000-000000000000"], timeout_ms=10_000)),
        ],
        "scout": [
            reply(call("exec_command", cmd="ls")),
            reply(_agent("spawn_agent", message="[deep] look deeper")),
            reply(_agent("wait_agent", targets=["{{agent}}"], timeout_ms=10_000)),
            reply(Say("Nothing in sight.")),
            reply(Say("Still nothing.")),
        ],
        "deep": [reply(call("exec_command", cmd="false")), reply(Say("Deep is done."))],
    },
)

TEAM = Scenario(
    name="agent_team",
    steps=(Step("please delegate to a team"),),
    files=HELLO,
    model=CODE_MODE,
    since="0.150.0",
    threads={
        "main": [
            reply(
                Call(
                    ("spawn_agent",),
                    {"task_name": "scout", "message": "[scout] look around", "fork_turns": "none"},
                    space="collaboration",
                )
            ),
            reply(Call(("list_agents",), {}, space="collaboration")),
            reply(Call(("wait_agent",), {"timeout_ms": 10_000}, space="collaboration")),
            reply(
                Call(("followup_task",), {"target": "scout", "message": "and again"}, space="collaboration")
            ),
            reply(Call(("wait_agent",), {"timeout_ms": 10_000}, space="collaboration")),
            reply(Call(("interrupt_agent",), {"target": "scout"}, space="collaboration")),
        ],
        "scout": [
            reply(
                Call(("send_message",), {"target": "/root", "message": "on my way"}, space="collaboration")
            ),
            reply(Say("Nothing in sight.")),
            reply(Say("Still nothing.")),
        ],
    },
)

ALL = (AGENTS, TEAM)
