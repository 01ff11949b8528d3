"""What can go wrong between Claude Code and its API: errors, cuts, refusals, silence."""

from __future__ import annotations

import signal

from tests.lab.words import Interrupt, Say, Scenario, Step, Think, Wire, call, reply

LOOK = reply(call("Bash", command="ls", description="Look"))

RETRIED = Scenario(
    name="api_errors_retried",
    steps=(Step("please try again and again"),),
    threads={
        "main": [
            reply(status=529),
            reply(status=500, error="Internal server error"),
            LOOK,
            reply(status=529),
            reply(Say("It worked in the end.")),
        ]
    },
)

FATAL = Scenario(
    name="api_error_fatal",
    steps=(Step("please fail"),),
    threads={
        "main": [LOOK, *[reply(status=400, error="This request is not good.")] * 5]
    },  # 2.1.325 asks twice
    ends=(0, 1),
)

CUT = Scenario(
    name="stream_cut",
    steps=(Step("please talk through a bad line"),),
    threads={
        "main": [
            reply(
                Think("Thought before the cut."),
                Say("Said before the cut."),
                call("Bash", command="echo lost", description="Lost"),
                cut_after=2,
            ),
            LOOK,
            reply(Say("The line holds.")),
        ]
    },
    ends=(0, 1),
)

HELD_INTERRUPTED = Scenario(
    name="stream_interrupt",
    steps=(Step("please talk slowly", interrupt=Interrupt(signal.SIGINT)),),
    threads={"main": [LOOK, reply(Think("Half."), Say("Half an answer."), Say("Never sent."), hold_after=2)]},
    ends=(0, 1, 130, -2),
)

HELD_KILLED = Scenario(
    name="stream_kill",
    steps=(Step("please talk slowly", interrupt=Interrupt(signal.SIGKILL)),),
    threads={"main": [LOOK, reply(Think("Half."), Say("Half an answer."), Say("Never sent."), hold_after=2)]},
    ends=(-9, 137),
)

REFUSED = Scenario(
    name="refusal",
    steps=(Step("please do what you must not"),),
    threads={"main": [reply(Say("I will not."), stop_reason="refusal"), reply(Say("Still not."))]},
    ends=(0, 1),
)

TOO_LONG = Scenario(
    name="max_tokens",
    steps=(Step("please talk without end"),),
    threads={
        "main": [
            reply(Say("And then and then and then"), stop_reason="max_tokens"),
            reply(Say("and then the end.")),
        ]
    },
    ends=(0, 1),
)

HIDDEN_THOUGHT = Scenario(
    name="hidden_thought",
    steps=(Step("please think in secret"),),
    threads={
        "main": [
            reply(
                Wire({"type": "redacted_thinking", "data": "c2VjcmV0IHRob3VnaHQ="}),
                call("Bash", command="ls", description="Look"),
            ),
            reply(Think(""), Say("Nothing to see.")),
        ]
    },
)

FALLBACK = Scenario(
    name="fallback_model",
    steps=(Step("please try with anyone", args=("--fallback-model", "claude-haiku-4-5-20251001")),),
    threads={"main": [LOOK, *[reply(status=529)] * 4, reply(Say("Somebody answered."))]},
    ends=(0, 1),
)

RICH_USAGE = Scenario(
    name="rich_usage",
    steps=(Step("please count everything"),),
    threads={
        "main": [
            reply(
                call("Bash", command="ls", description="Look"),
                usage={
                    "speed": "standard",
                    "server_tool_use": {"web_search_requests": 1, "web_fetch_requests": 0},
                    "iterations": [
                        {
                            "type": "message",
                            "input_tokens": 5,
                            "output_tokens": 50,
                            "cache_read_input_tokens": 12_000,
                            "cache_creation_input_tokens": 0,
                            "cache_creation": {
                                "ephemeral_5m_input_tokens": 0,
                                "ephemeral_1h_input_tokens": 0,
                            },
                        }
                    ],
                },
            ),
        ]
    },
)

ALL = (
    RETRIED,
    FATAL,
    CUT,
    HELD_INTERRUPTED,
    HELD_KILLED,
    REFUSED,
    TOO_LONG,
    HIDDEN_THOUGHT,
    FALLBACK,
    RICH_USAGE,
)
