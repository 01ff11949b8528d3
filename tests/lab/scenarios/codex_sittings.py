"""Codex with a person before the screen: approvals, interrupts, words taken back."""

from __future__ import annotations

from tests.lab.scenarios.codex_tools import HELLO
from tests.lab.words import (
    Answered,
    Call,
    FileSeen,
    Pressed,
    Say,
    Scenario,
    Seen,
    Sitting,
    Typed,
    call,
    reply,
)

COLOURS = [{"label": "Red", "description": "Warm"}, {"label": "Blue", "description": "Cold"}]
TRUSTED = '[projects."{{cwd}}"]\ntrust_level = "trusted"\n'
READY = Seen("context left|for shortcuts|% left|/model|gpt-")

ASKED = Scenario(
    name="sitting_approvals",
    since="0.150.0",
    skip_permissions=False,
    files=HELLO,
    config=TRUSTED,
    steps=(
        Sitting(
            (
                READY,
                Typed("[first] please touch a file"),
                Answered("Would you like to", ("Enter",)),
                Seen("Touched it"),
                Typed("[second] please touch another"),
                Answered("Would you like to", ("Escape",)),
                Seen("interrupted|Interrupted|tell the model"),
                Typed("[third] please go on"),
                Seen("Went on"),
                Typed("/quit"),
            ),
            args=("--no-daemon", "--sandbox", "read-only", "--ask-for-approval", "on-request"),
        ),
    ),
    threads={
        name: [
            reply(
                call(
                    "exec_command",
                    cmd=f"touch {name}.txt",
                    sandbox_permissions="require_escalated",
                    justification="It is needed",
                )
            ),
            reply(Say("Touched it.")),
        ]
        for name in ("first", "second")
    }
    | {"third": [reply(Say("Went on."))]},
)

BUSY = Scenario(
    name="sitting_busy",
    since="0.150.0",
    files=HELLO,
    config=TRUSTED,
    steps=(
        Sitting(
            (
                READY,
                Typed("[first] please look"),
                Seen("Looked"),
                Typed("[long] please work long"),
                FileSeen("started"),
                Pressed(("Escape",)),
                Seen("interrupted|Interrupted|tell the model"),
                Typed("[second] please go on"),
                Seen("Went on"),
                Typed("/compact"),
                Seen("compacted|Compacted"),
                Typed("[third] please finish"),
                Seen("Finished"),
                Typed("/quit"),
            ),
            args=("--no-daemon",),
        ),
    ),
    threads={
        "first": [reply(call("exec_command", cmd="ls")), reply(Say("Looked."))],
        "long": [reply(call("exec_command", cmd="touch started; echo begun; sleep 9", yield_time_ms=20_000))],
        "second": [reply(Say("Went on."))],
        "third": [reply(Say("Finished."))],
    },
)

REWOUND = Scenario(
    name="sitting_rollback",
    since="0.150.0",
    files=HELLO,
    config=TRUSTED,
    steps=(
        Sitting(
            (
                READY,
                Typed("[first] please begin"),
                Seen("Begun"),
                Typed("[second] please take the wrong way"),
                Seen("Wrong way"),
                Pressed(("Escape",)),
                Pressed(("Escape",)),
                Seen("↵ rewind"),
                Pressed(("Enter",)),
                Seen("reverted to this point"),
                Typed(" or the right one"),
                Seen("Right way"),
                Typed("/quit"),
            ),
            args=("--no-daemon",),
        ),
    ),
    threads={"first": [reply(Say("Begun."))], "second": [reply(Say("Wrong way.")), reply(Say("Right way."))]},
)

PLANNED = Scenario(
    name="sitting_plan",
    since="0.150.0",
    files=HELLO,
    config=TRUSTED,
    steps=(
        Sitting(
            (
                READY,
                Typed("/plan"),
                Seen("Plan mode"),
                Typed("[plan] please make a plan"),
                Seen("Which"),
                Pressed(("Enter",)),
                Seen("Implement this plan"),
                Pressed(("Enter",)),
                Seen("Acted"),
                Typed("/rename the great work"),
                Seen("the great work"),
                Typed("/quit"),
            ),
            args=("--no-daemon",),
        ),
    ),
    threads={
        "plan": [
            reply(
                Call(
                    ("request_user_input",),
                    {
                        "questions": [
                            {"id": "colour", "header": "Colour", "question": "Which?", "options": COLOURS}
                        ]
                    },
                )
            ),
            reply(Say("<proposed_plan>\n# Plan\n1. Look\n2. Act\n</proposed_plan>")),
            reply(call("exec_command", cmd="ls")),
            reply(Say("Acted.")),
        ]
    },
)

ALL = (ASKED, BUSY, REWOUND, PLANNED)
