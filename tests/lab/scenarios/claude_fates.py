"""The rarer fates of Claude Code's calls: background work and its ends, time limits, stopped agents, hooks that decide, death."""

from __future__ import annotations

import json
import shlex
import signal

from tests.lab.scenarios.claude_agents import agent
from tests.lab.scenarios.claude_tools import ALL_TOOLS, HELLO
from tests.lab.words import Interrupt, Json, Say, Scenario, Step, call, if_offered, reply

LONG_WORK = call("Bash", command="echo begun; touch started; sleep 9", description="Work long")
UNTIL_WORKING = call(
    "Bash", command="until test -e working; do sleep 0.1; done; sleep 0.5", description="Wait for the worker"
)
READ_TASK = if_offered(
    call("TaskOutput", task_id="{{task}}", block=False, timeout=500), call("BashOutput", bash_id="{{task}}")
)

BACKGROUND_ENDS = Scenario(
    name="background_ends",
    steps=(Step("please let it work behind you"),),
    env=ALL_TOOLS,
    since="2.0.0",
    threads={
        "main": [
            reply(call("Bash", command="echo fine", description="Go well", run_in_background=True)),
            reply(call("Bash", command="sleep 0.8", description="Wait")),
            reply(READ_TASK),
            reply(call("Bash", command="echo bad; exit 7", description="Go wrong", run_in_background=True)),
            reply(call("Bash", command="sleep 0.8", description="Wait again")),
            reply(READ_TASK),
            reply(Say("Both are over.")),
        ]
    },
)

AGENT_STOPPED = Scenario(
    name="agent_stopped",
    steps=(Step("please delegate and think better of it"),),
    env=ALL_TOOLS,
    since="2.1.0",
    threads={
        "main": [
            reply(agent("worker", run_in_background=True)),
            reply(UNTIL_WORKING),
            reply(call("TaskStop", task_id="{{agent}}")),
            reply(call("Bash", command="sleep 0.6", description="Wait")),
            reply(Say("It is stopped.")),
        ],
        "worker": [
            reply(call("Bash", command="echo ready", description="Begin")),
            reply(call("Bash", command="touch working; sleep 9", description="Work long")),
        ],
    },
)

LATE_SERVER = (  # the lab's server, three times as slow: late clients wait a second whatever the limit says
    "import sys, time; sys.path.insert(0, '{{lab}}'); import mcp_server; real = time.sleep; "
    "time.sleep = lambda s: real(3 * s); mcp_server.main()"
)

MCP_TIMED_OUT = Scenario(
    name="mcp_timeout",
    steps=(Step("please hurry", args=("--mcp-config", "{{cwd}}/late.json")),),
    files={
        "late.json": json.dumps(
            {"mcpServers": {"late": {"type": "stdio", "command": "{{python}}", "args": ["-c", LATE_SERVER]}}}
        )
    },
    env={**ALL_TOOLS, "MCP_TOOL_TIMEOUT": "1000"},
    threads={
        "main": [
            reply(call("mcp__late__echo", text="in time")),
            reply(call("mcp__late__slow", text="too late")),
        ]
    },
)


def _prints(document: Json) -> Json:
    return {"type": "command", "command": f"echo {shlex.quote(json.dumps(document))}"}


def _decides(event: str, **decision: object) -> Json:
    return _prints({"hookSpecificOutput": {"hookEventName": event, **decision}})


HOOKS_DECIDE = Scenario(
    name="hook_decisions",
    steps=(Step("please ask the hooks"),),
    files=HELLO,
    skip_permissions=False,
    settings={
        "permissions": {"allow": ["Bash(echo:*)", "Read"]},
        "hooks": {
            "PreToolUse": [
                {"matcher": "Bash", "hooks": [_prints({"decision": "block", "reason": "not with a shell"})]},
                {
                    "matcher": "Write",
                    "hooks": [
                        _decides(
                            "PreToolUse", permissionDecision="ask", permissionDecisionReason="please confirm"
                        )
                    ],
                },
            ]
        },
    },
    threads={
        "main": [
            reply(call("Bash", command="echo hello", description="Not with a shell")),
            reply(call("Write", file_path="{{cwd}}/new.txt", content="x\n")),
            reply(call("Read", file_path="{{cwd}}/hello.txt")),
        ]
    },
)

PERMISSION_HOOK: Json = {
    "hooks": {
        "PermissionRequest": [
            {
                "matcher": "Write",
                "hooks": [
                    _decides(
                        "PermissionRequest", decision={"behavior": "deny", "message": "the hook says no"}
                    )
                ],
            }
        ]
    }
}

HOOK_ASKED = Scenario(
    name="permission_hook",
    steps=(Step("please ask the one hook"),),
    skip_permissions=False,
    since="2.1.150",  # earlier releases drop all settings for this event
    settings=PERMISSION_HOOK,
    threads={"main": [reply(call("Write", file_path="{{cwd}}/new.txt", content="x\n"))]},
)

KILLED_FOR_GOOD = Scenario(
    name="kill_for_good",
    steps=(Step("please work long", interrupt=Interrupt(signal.SIGKILL, when_file="started")),),
    threads={
        "main": [
            reply(call("Bash", command="echo before", description="Begin")),
            reply(Say("Now."), LONG_WORK),
        ]
    },
    ends=(-9, 137),
)

KILLED_WITH_AGENT = Scenario(
    name="kill_agent",
    steps=(Step("please delegate long", interrupt=Interrupt(signal.SIGKILL, when_file="started")),),
    threads={
        "main": [reply(agent("worker", run_in_background=False))],
        "worker": [reply(call("Bash", command="echo ready", description="Begin")), reply(LONG_WORK)],
    },
    ends=(-9, 137),
)

FIRST_PROMPT = "11111111-2222-4333-8444-555555555555"

LEFT_BEHIND = Scenario(
    name="left_behind",
    since="2.1.150",
    steps=(
        Step(
            "",
            messages=(
                {
                    "type": "user",
                    "uuid": FIRST_PROMPT,
                    "message": {"role": "user", "content": [{"type": "text", "text": "please begin"}]},
                },
            ),
        ),
        Step(
            "please work long",
            args=("--resume", "{{session}}"),
            interrupt=Interrupt(signal.SIGKILL, when_file="started"),
        ),
        Step("go another way", args=("--resume", "{{session}}", "--resume-session-at", FIRST_PROMPT)),
    ),
    threads={"main": [reply(Say("Begun.")), reply(LONG_WORK), reply(Say("Another way."))]},
)

TERMINATED_ALONE = Scenario(
    name="terminate_alone",
    steps=(Step("please work long", interrupt=Interrupt(signal.SIGTERM, when_file="started")),),
    threads={"main": [reply(LONG_WORK)]},
    ends=(0, 143, -15),
)


def _ask_tracklog(into: str) -> str:
    """A shell command that asks tracklog about the very session it runs in, once its own line is on disk."""
    return f"sleep 0.8; {{{{python}}}} -m tracklog calls --json --root {{{{home}}}}/.claude > {into} 2> {into}.err; true"


ASKED_WITHIN = Scenario(
    name="asked_within",
    steps=(Step("please look at yourself"),),
    env={**ALL_TOOLS, "TRACKLOG_HOME": "{{home}}/tracklog", "PYTHONPATH": "{{lab}}/../../src"},
    threads={
        "main": [
            reply(call("Bash", command=_ask_tracklog("within.json"), description="Look from within")),
            reply(
                call(
                    "Bash",
                    command=_ask_tracklog("behind.json"),
                    description="Look from behind",
                    run_in_background=True,
                )
            ),
            reply(
                call(
                    "Bash",
                    command="for n in 1 2 3 4 5 6 7 8 9; do test -e behind.json.err && break; sleep 0.3; done; sleep 2",
                    description="Wait",
                )
            ),
            reply(Say("Seen.")),
        ]
    },
)

SWITCH_ON = (  # what a server of features would have told 2.1.100: run tools while the answer still streams
    "import json, pathlib; p = pathlib.Path('{{home}}/.claude/.claude.json'); d = json.loads(p.read_text()); "
    "d.setdefault('cachedGrowthBookFeatures', {})['tengu_streaming_tool_execution2'] = True; p.write_text(json.dumps(d))"
)

SIBLINGS = Scenario(
    name="failing_sibling",
    steps=(Step("[prepare] please turn the switch"), Step("please do three things at once")),
    since="2.1.100",
    env={"DISABLE_TELEMETRY": "", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": ""},
    threads={
        "prepare": [
            reply(call("Bash", command=f'{{{{python}}}} -c "{SWITCH_ON}"', description="Turn it")),
            reply(Say("Turned.")),
        ],
        "main": [
            reply(
                call("Bash", command="ls nosuch_dir_1", description="Fail"),
                call("Bash", command="sleep 0.2; echo second", description="Second"),
                call("Bash", command="echo third", description="Third"),
            )
        ],
    },
)

ALL = (
    BACKGROUND_ENDS,
    AGENT_STOPPED,
    MCP_TIMED_OUT,
    HOOKS_DECIDE,
    HOOK_ASKED,
    KILLED_FOR_GOOD,
    KILLED_WITH_AGENT,
    LEFT_BEHIND,
    TERMINATED_ALONE,
    ASKED_WITHIN,
    SIBLINGS,
)
