"""The lives of Codex sessions: resumed, forked, compacted, reviewed, sandboxed, interrupted, killed, cut off."""

from __future__ import annotations

import signal

from tests.lab.scenarios.codex_tools import CLASSIC, HELLO
from tests.lab.words import Freeform, Interrupt, Say, Scenario, Step, Think, call, reply

LOOK = reply(Think("Look first."), call("exec_command", cmd="ls"))
LONG_WORK = reply(
    Say("This takes a while."),
    call("exec_command", cmd="echo begun; touch started; sleep 9", yield_time_ms=30_000),
)

RESUMED = Scenario(
    name="resume",
    steps=(
        Step("please begin"),
        Step("please go on", command=("resume", "{{session}}")),
        Step("and once more", command=("resume", "--last")),
    ),
    files=HELLO,
    threads={"main": [LOOK, reply(Say("Begun.")), LOOK, reply(Say("Went on.")), reply(Say("Once more."))]},
)

FORKED = Scenario(
    name="fork",
    steps=(Step("please begin"), Step("please try another way", command=("fork", "{{session}}"))),
    files=HELLO,
    since="0.160.0",
    threads={"main": [LOOK, reply(Say("Begun.")), LOOK, reply(Say("Another way."))]},
)

ARCHIVED = Scenario(
    name="archive",
    steps=(Step("please begin"), Step("", command=("archive", "{{session}}"), bare=True)),
    since="0.150.0",
    threads={"main": [LOOK, reply(Say("Begun."))]},
)

COMPACTED = Scenario(
    name="compaction",
    steps=(Step("please fill the window"), Step("what do you remember?", command=("resume", "{{session}}"))),
    files=HELLO,
    config="model_auto_compact_token_limit = 6000\n",
    threads={"main": [LOOK, LOOK, reply(Say("Filled.")), reply(Say("I remember."))]},
)

REVIEWED = Scenario(
    name="review",
    steps=(Step("", command=("review", "--uncommitted")),),
    files=HELLO,
    git=True,
    threads={
        "main": [
            reply(call("exec_command", cmd="git status --short")),
            reply(
                Say(
                    '{"findings":[{"title":"[P2] Returns one","body":"It should return two.","confidence_score":0.7,'
                    '"priority":2,"code_location":{"absolute_file_path":"{{cwd}}/src/app.py",'
                    '"line_range":{"start":1,"end":2}}}],"overall_correctness":"patch is correct",'
                    '"overall_explanation":"Fine.","overall_confidence_score":0.8}'
                )
            ),
        ]
    },
)

READ_ONLY = Scenario(
    name="read_only",
    steps=(Step("please write where you may not", args=("--sandbox", "read-only")),),
    files={**HELLO, "AGENTS.md": "# House rules\nBe brief.\n"},
    skip_permissions=False,
    git=True,
    model=CLASSIC,
    threads={
        "main": [
            reply(call("exec_command", cmd="touch made.txt")),
            reply(
                Freeform(("apply_patch",), "*** Begin Patch\n*** Add File: new.txt\n+one\n*** End Patch\n")
            ),
            reply(
                call(
                    "exec_command",
                    cmd="touch made.txt",
                    sandbox_permissions="require_escalated",
                    justification="It is needed",
                )
            ),
        ]
    },
)

SHAPED = Scenario(
    name="structured_output",
    steps=(Step("please answer in shape", args=("--output-schema", "{{cwd}}/shape.json")),),
    files={
        "shape.json": '{"type":"object","properties":{"answer":{"type":"integer"}},"required":["answer"],'
        '"additionalProperties":false}'
    },
    threads={"main": [reply(Say('{"answer": 42}'))]},
)

INTERRUPTED = Scenario(
    name="interrupt",
    steps=(
        Step("please work long", interrupt=Interrupt(signal.SIGINT, when_file="started")),
        Step("go on then", command=("resume", "{{session}}")),
    ),
    threads={"main": [LONG_WORK, reply(Say("Went on."))]},
)

KILLED = Scenario(
    name="kill",
    steps=(
        Step("please work long", interrupt=Interrupt(signal.SIGKILL, when_file="started")),
        Step("go on then", command=("resume", "{{session}}")),
    ),
    threads={"main": [LONG_WORK, reply(Say("Went on."))]},
)

HELD_KILLED = Scenario(
    name="stream_kill",
    steps=(Step("please talk slowly", interrupt=Interrupt(signal.SIGKILL)),),
    threads={"main": [LOOK, reply(Think("Half."), Say("Half an answer."), Say("Never sent."), hold_after=2)]},
    ends=(-9, 137),
)

RETRIED = Scenario(
    name="api_errors_retried",
    steps=(Step("please try again"),),
    threads={
        "main": [
            reply(status=500, error="Internal server error"),
            LOOK,
            reply(Say("Said before the cut."), cut_after=1),
            reply(Say("The line holds.")),
        ]
    },
)

FATAL = Scenario(
    name="api_error_fatal",
    steps=(Step("please fail"),),
    threads={"main": [LOOK, reply(status=400, error="This request is not good.")]},
    ends=(1,),
)

ALL = (
    RESUMED,
    FORKED,
    ARCHIVED,
    COMPACTED,
    REVIEWED,
    READ_ONLY,
    SHAPED,
    INTERRUPTED,
    KILLED,
    HELD_KILLED,
    RETRIED,
    FATAL,
)
