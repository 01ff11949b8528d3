"""The rarer fates of Codex's calls: shells that stay and how they end, death, a look at itself."""

from __future__ import annotations

import signal

from tests.lab.words import Call, Interrupt, Say, Scenario, Step, call, reply


def _typed(chars: str, *, wait_ms: int = 600) -> Call:
    """Writes to the open shell; its number is no text, so the input is sent as it stands."""
    raw = f'{{"session_id": {{{{task}}}}, "chars": "{chars}", "yield_time_ms": {wait_ms}}}'
    return Call(("write_stdin",), {}, raw=raw)


SHELL_ENDS = Scenario(
    name="shell_ends",
    steps=(Step("please keep shells open"),),
    threads={
        "main": [
            reply(call("exec_command", cmd="read a; echo got $a", tty=True, yield_time_ms=300)),
            reply(_typed("good\\n")),
            reply(call("exec_command", cmd="read b; echo got $b; exit 6", tty=True, yield_time_ms=300)),
            reply(_typed("bad\\n")),
            reply(_typed("too late\\n", wait_ms=300)),
            reply(call("exec_command", cmd="sleep 1; echo later", yield_time_ms=300)),
            reply(_typed("", wait_ms=5000)),
            reply(call("exec_command", cmd="read c; echo never", tty=True, yield_time_ms=300)),
            reply(Say("One is still open.")),
        ]
    },
)

KILLED_FOR_GOOD = Scenario(
    name="kill_for_good",
    steps=(Step("please work long", interrupt=Interrupt(signal.SIGKILL, when_file="started")),),
    threads={
        "main": [
            reply(call("exec_command", cmd="echo before")),
            reply(call("exec_command", cmd="touch started; sleep 9", yield_time_ms=30_000)),
        ]
    },
    ends=(-9, 137),
)


def _ask_tracklog(into: str) -> str:
    """A shell command that asks tracklog about the very session it runs in, once its own line is on disk."""
    return (
        "sleep 0.8; TRACKLOG_HOME={{home}}/tracklog PYTHONPATH={{lab}}/../../src "
        f"{{{{python}}}} -m tracklog calls --json --root {{{{home}}}}/.codex > {into} 2> {into}.err; true"
    )


ASKED_WITHIN = Scenario(
    name="asked_within",
    steps=(Step("please look at yourself"),),
    threads={
        "main": [
            reply(call("exec_command", cmd=_ask_tracklog("within.json"), yield_time_ms=20_000)),
            reply(call("exec_command", cmd=_ask_tracklog("behind.json"), yield_time_ms=300)),
            reply(_typed("", wait_ms=8000)),
            reply(Say("Seen.")),
        ]
    },
)

ALL = (SHELL_ENDS, KILLED_FOR_GOOD, ASKED_WITHIN)
