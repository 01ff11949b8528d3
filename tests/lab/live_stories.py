"""What clients do while they are watched: the model thinks, works, asks; the tools note when they run."""

from __future__ import annotations

from tests.lab.scenarios.claude_permissions import QUESTION
from tests.lab.scenarios.claude_tools import ALL_TOOLS
from tests.lab.scenarios.codex_sittings import TRUSTED
from tests.lab.words import Call, Say, Scenario, call, reply

WORK = "date +%s%3N > started; sleep 0.8\n"
NO_END = "date +%s%3N > started; sleep 30\n"


def shell(agent: str, command: str) -> Call:
    if agent == "claude":
        return call("Bash", command=command, description="Work")
    return call("exec_command", cmd=command, yield_time_ms=20_000)


def asking(agent: str, command: str) -> Call:
    """A call for which the client asks the person."""
    if agent == "claude":
        return shell(agent, command)
    return call("exec_command", cmd=command, sandbox_permissions="require_escalated", justification="Needed")


def story(agent: str, *, work: str = WORK) -> Scenario:
    """The model thinks, works, asks for a permission, and says a last word."""
    return Scenario(
        name="live",
        steps=(),
        files={"work.sh": work},
        settings={"permissions": {"allow": ["Bash(sh work.sh)"]}} if agent == "claude" else {},
        config=TRUSTED,
        skip_permissions=False,
        threads={
            "main": [
                reply(shell(agent, "sh work.sh"), delay_s=0.6),
                reply(asking(agent, "touch made.txt"), delay_s=0.3),
                reply(Say("Touched it."), delay_s=0.3),
            ]
        },
    )


def alone(agent: str, *, work: str = WORK) -> Scenario:
    """The same without anybody who could be asked."""
    threads = {"main": [reply(shell(agent, "sh work.sh"), delay_s=0.6), reply(Say("Worked."), delay_s=0.3)]}
    return Scenario(name="live_alone", steps=(), files={"work.sh": work}, threads=threads)


RESTLESS = {
    "claude": Scenario(
        name="live_restless",
        steps=(),
        files={"work.sh": NO_END},
        settings={"permissions": {"allow": ["Bash(sh work.sh)"]}},
        env=ALL_TOOLS,
        threads={
            "ask": [
                reply(call("AskUserQuestion", questions=[QUESTION]), delay_s=0.3),
                reply(Say("Red it is."), delay_s=0.3),
            ],
            "touch": [reply(asking("claude", "touch made.txt"), delay_s=0.3)],
            "long": [reply(shell("claude", "sh work.sh"), delay_s=0.3)],
            "anew": [reply(Say("Started anew."), delay_s=1.2)],
        },
    ),
    "codex": Scenario(
        name="live_restless",
        steps=(),
        files={"work.sh": NO_END},
        config=TRUSTED,
        threads={
            "touch": [reply(asking("codex", "touch made.txt"), delay_s=0.3)],
            "long": [reply(shell("codex", "sh work.sh"), delay_s=0.3)],
            "anew": [reply(Say("Started anew."), delay_s=1.2)],
        },
    ),
}
