"""The lives of Claude Code sessions: resumed, forked, compacted, commanded, interrupted, killed."""

from __future__ import annotations

import signal

from tests.lab.scenarios.claude_tools import HELLO
from tests.lab.words import Interrupt, Say, Scenario, Step, Think, call, reply

LOOK = reply(Think("Look first."), call("Bash", command="ls", description="Look"))
LONG_WORK = reply(
    Say("This takes a while."),
    call("Bash", command="echo begun; touch started; sleep 9", description="Work long"),
    call("Bash", command="echo second", description="Wait behind it"),
)

RESUMED = Scenario(
    name="resume",
    steps=(
        Step("please begin"),
        Step("please go on", args=("--resume", "{{session}}")),
        Step("and once more", args=("--continue",)),
    ),
    files=HELLO,
    threads={"main": [LOOK, reply(Say("Begun.")), LOOK, reply(Say("Went on.")), reply(Say("Once more."))]},
)

FORKED = Scenario(
    name="fork",
    steps=(
        Step("please begin"),
        Step("please try another way", args=("--resume", "{{session}}", "--fork-session")),
    ),
    since="2.0.0",
    files=HELLO,
    threads={"main": [LOOK, reply(Say("Begun.")), LOOK, reply(Say("Another way."))]},
)

COMPACTED = Scenario(
    name="compact",
    steps=(
        Step("please begin"),
        Step("/compact keep the names", args=("--resume", "{{session}}")),
        Step("what do you remember?", args=("--resume", "{{session}}")),
    ),
    files=HELLO,
    threads={
        "main": [
            LOOK,
            reply(call("Read", file_path="{{cwd}}/hello.txt")),
            reply(Say("Begun.")),
            reply(Say("I remember the names.")),
        ]
    },
)

FULL = Scenario(
    name="auto_compact",
    env={
        "CLAUDE_CODE_AUTO_COMPACT_WINDOW": "100000"
    },  # late clients do not compact by themselves in -p otherwise
    steps=(Step("please fill the window"), Step("and go on", args=("--resume", "{{session}}"))),
    threads={
        "main": [
            reply(call("Bash", command="ls", description="Look"), usage={"cache_read_input_tokens": 120_000}),
            reply(call("Bash", command="ls", description="Look"), usage={"cache_read_input_tokens": 199_000}),
            reply(Say("It is full."), usage={"cache_read_input_tokens": 199_500}),
            reply(Say("There is room again.")),
        ]
    },
)

COMMANDED = Scenario(
    name="slash_commands",
    steps=(
        Step("/greet the world"),
        Step("/cost", args=("--resume", "{{session}}")),
        Step("/context", args=("--resume", "{{session}}")),
        Step("/nonsense of mine", args=("--resume", "{{session}}")),
    ),
    files={
        **HELLO,
        ".claude/commands/greet.md": "---\ndescription: Greets\nallowed-tools: Bash(echo:*)\n---\n"
        "Greet $ARGUMENTS. The list: !`echo one two`\n",
    },
    threads={"main": [reply(Say("Hello, world.")), reply(Say("Yes.")), reply(Say("Well."))]},
)

MENTIONING = Scenario(
    name="mentions_and_memory",
    steps=(Step("please read @hello.txt and @src and ./src/app.py"),),
    files={
        **HELLO,
        "CLAUDE.md": "# House rules\nBe brief.\n",
        "src/CLAUDE.md": "# Rules of src\nBe briefer.\n",
        "notes/deep.md": "deep\n",
    },
    threads={
        "main": [
            reply(call("Read", file_path="{{cwd}}/src/app.py")),
            reply(
                call("Bash", command="echo changed >> hello.txt", description="Change a file that was read")
            ),
            reply(call("Read", file_path="{{cwd}}/notes/deep.md")),
        ]
    },
)

INTERRUPTED = Scenario(
    name="interrupt",
    steps=(
        Step("please work long", interrupt=Interrupt(signal.SIGINT, when_file="started")),
        Step("go on then", args=("--continue",)),
    ),
    threads={"main": [LONG_WORK, reply(Say("Went on."))]},
)

KILLED = Scenario(
    name="kill",
    steps=(
        Step("please work long", interrupt=Interrupt(signal.SIGKILL, when_file="started")),
        Step("go on then", args=("--continue",)),
    ),
    threads={"main": [LONG_WORK, reply(Say("Went on."))]},
)

TERMINATED = Scenario(
    name="terminate",
    steps=(Step("please work long", interrupt=Interrupt(signal.SIGTERM, when_file="started")),),
    threads={"main": [LONG_WORK]},
    ends=(0, 143, -15),
)

CAPPED = Scenario(
    name="max_turns",
    steps=(Step("please go round", args=("--max-turns", "2")),),
    threads={"main": [LOOK, LOOK, LOOK]},
    ends=(0, 1),
)

SHAPED = Scenario(
    name="structured_output",
    steps=(
        Step(
            "please answer in shape",
            args=(
                "--json-schema",
                '{"type":"object","properties":{"answer":{"type":"integer"}},"required":["answer"]}',
            ),
        ),
    ),
    since="2.1.0",
    threads={
        "main": [
            reply(call("StructuredOutput", answer="many")),
            reply(call("StructuredOutput", answer=42)),
            reply(Say("Shaped.")),
        ]
    },
)

ALL = (
    RESUMED,
    FORKED,
    COMPACTED,
    FULL,
    COMMANDED,
    MENTIONING,
    INTERRUPTED,
    KILLED,
    TERMINATED,
    CAPPED,
    SHAPED,
)
