"""Claude Code's hooks: those that only watch, one that blocks, one that adds context, one that fails."""

from __future__ import annotations

import json
import shlex

from tests.lab.scenarios.claude_agents import agent
from tests.lab.scenarios.claude_tools import HELLO
from tests.lab.words import Json, Say, Scenario, Step, call, reply


def _shell(script: str) -> Json:
    return {"type": "command", "command": script}


def _says(event: str, **output: object) -> Json:
    document = {"hookSpecificOutput": {"hookEventName": event, **output}}
    return _shell(f"echo {shlex.quote(json.dumps(document))}")


def _on(*hooks: Json, matcher: str | None = None) -> Json:
    return {"hooks": list(hooks)} if matcher is None else {"matcher": matcher, "hooks": list(hooks)}


WATCH = _shell("{{python}} {{lab}}/watching_hook.py {{home}}/hook-events.jsonl")

HOOKS: Json = {  # 1.0.60 drops all settings when it does not know one event: the later ones have their own scenario
    "UserPromptSubmit": [_on(WATCH, _says("UserPromptSubmit", additionalContext="It is raining."))],
    "PreToolUse": [
        _on(WATCH, matcher="*"),
        _on(_shell("grep -q forbidden && { echo 'not this one' >&2; exit 2; }; exit 0"), matcher="Bash"),
        _on(
            _says("PreToolUse", permissionDecision="deny", permissionDecisionReason="no writes"),
            matcher="Write",
        ),
    ],
    "PostToolUse": [
        _on(WATCH, matcher="*"),
        _on(_says("PostToolUse", additionalContext="It was read."), matcher="Read"),
        _on(_shell("echo 'a look is due' >&2; exit 2"), matcher="Edit"),
        _on(_shell("echo 'the hook broke' >&2; exit 1"), matcher="Bash"),
    ],
    "Stop": [_on(WATCH)],
    "SubagentStop": [_on(WATCH)],
}

HOOKED = Scenario(
    name="hooks",
    steps=(Step("please work under watch"),),
    files=HELLO,
    settings={"hooks": HOOKS},
    threads={
        "main": [
            reply(call("Bash", command="echo allowed", description="Allowed")),
            reply(call("Bash", command="echo forbidden", description="Forbidden")),
            reply(call("Write", file_path="{{cwd}}/new.txt", content="x\n")),
            reply(call("Read", file_path="{{cwd}}/hello.txt")),
            reply(call("Edit", file_path="{{cwd}}/hello.txt", old_string="hello", new_string="bye")),
        ]
    },
)

CHANGING = _says(
    "PreToolUse",
    permissionDecision="allow",
    permissionDecisionReason="fine",
    updatedInput={"command": "echo changed", "description": "Changed by a hook"},
)

SESSION_HOOKED = Scenario(
    name="session_hooks",
    steps=(Step("please work under watch"), Step("/compact", args=("--resume", "{{session}}"))),
    since="2.0.0",
    files=HELLO,
    settings={
        "hooks": {
            "SessionStart": [_on(WATCH, _says("SessionStart", additionalContext="The lab is open."))],
            "PreToolUse": [_on(CHANGING, matcher="Bash")],
            "Stop": [_on(WATCH, _shell("""echo '{"systemMessage": "the hook says goodbye"}'"""))],
            **{event: [_on(WATCH)] for event in ("SessionEnd", "PreCompact", "Notification")},
        }
    },
    threads={"main": [reply(call("Bash", command="echo original", description="To be changed"))]},
)

LATER_HOOKED = Scenario(
    name="later_hooks",
    steps=(Step("please delegate under watch"), Step("/compact", args=("--resume", "{{session}}"))),
    since="2.1.150",  # earlier releases drop all settings for one of these events
    files=HELLO,
    settings={
        "hooks": {
            event: [_on(WATCH)]
            for event in (
                "PermissionRequest",
                "PostCompact",
                "PostToolBatch",
                "PostToolUseFailure",
                "StopFailure",
                "SubagentStart",
                "SubagentStop",
            )
        }
    },
    threads={
        "main": [
            reply(call("Read", file_path="{{cwd}}/missing.txt")),
            reply(agent("helper", run_in_background=False)),
        ],
        "helper": [reply(call("Read", file_path="{{cwd}}/hello.txt")), reply(Say("Helped."))],
    },
)

STOPPING = Scenario(
    name="stopping_hooks",
    steps=(Step("please stop when told"),),
    settings={
        "hooks": {
            "PreToolUse": [
                _on(
                    _shell("""echo '{"continue": false, "stopReason": "enough for today"}'"""), matcher="Bash"
                )
            ]
        }
    },
    threads={"main": [reply(call("Bash", command="echo last", description="Last"))]},
)

ONCE_MORE = Scenario(
    name="blocking_stop_hook",
    steps=(Step("please do not stop at once"),),
    settings={
        "hooks": {
            "Stop": [
                _on(
                    _shell(
                        "test -e {{cwd}}/asked && exit 0; touch {{cwd}}/asked; "
                        """echo '{"decision": "block", "reason": "one more thing"}'"""
                    )
                )
            ]
        }
    },
    threads={"main": [reply(Say("I would stop here.")), reply(Say("One more thing is done."))]},
)

REFUSED_PROMPT = Scenario(
    name="refused_prompt",
    since="2.1.150",  # 2.1.100 leaves no log of it
    steps=(Step("please say the secret word"),),
    settings={
        "hooks": {
            "UserPromptSubmit": [_on(_shell("""echo '{"decision": "block", "reason": "not that prompt"}'"""))]
        }
    },
    threads={"main": []},
    ends=(0, 1),
)

ALL = (HOOKED, SESSION_HOOKED, LATER_HOOKED, STOPPING, ONCE_MORE, REFUSED_PROMPT)
