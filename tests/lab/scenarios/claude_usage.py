"""What Claude Code is charged for: caches, long prompts, models, advisors, gateways, and what kills leave unsaid.

Some figures here are chosen, not drawn: they tell apart rules that agree on ordinary ones. Long prompts come last in
their stories, because older clients compact by themselves behind them.
"""

from __future__ import annotations

import signal

from tests.lab.scenarios.claude_agents import agent
from tests.lab.scenarios.claude_tools import HELLO
from tests.lab.words import Call, Interrupt, Json, Say, Scenario, Step, Think, call, reply

GATEWAY_ID = "msg_20251030084941"  # a gateway's clock: two requests of the same second get the same id
PRICED_MODELS = (
    "claude-opus-4-5-20251101",
    "claude-opus-4-8",
    "claude-opus-5-5",
    "claude-haiku-4-5-20251001",
    "claude-haiku-5-5",
    "claude-sonnet-5",
    "claude-sonnet-5-5",
    "claude-fable-5",
    "claude-fable-5-2",
)


def look() -> Call:
    """The shortest work there is."""
    return call("Bash", command="ls", description="Look")


def kept(*, in_all: int, for_5m: int, for_1h: int) -> Json:
    """Usage of a request that wrote to the cache, as much as one says."""
    lives = {"ephemeral_5m_input_tokens": for_5m, "ephemeral_1h_input_tokens": for_1h}
    return {"cache_creation_input_tokens": in_all, "cache_creation": lives}


CACHES = Scenario(
    name="usage_caches",
    steps=(Step("please remember for long and for short"),),
    threads={
        "main": [
            reply(look(), usage=kept(in_all=3_000, for_5m=3_000, for_1h=0)),
            reply(look(), usage=kept(in_all=2_500, for_5m=0, for_1h=2_500)),
            reply(look(), usage=kept(in_all=1_900, for_5m=700, for_1h=200)),
            reply(look(), usage=kept(in_all=2_000, for_5m=0, for_1h=0)),
            reply(look(), usage={"cache_creation_input_tokens": 1_300, "cache_creation": None}),
            reply(look(), usage={"input_tokens": 0, "cache_read_input_tokens": 0}),
            reply(Say("Remembered.")),
        ]
    },
)

LONG = Scenario(
    name="usage_long_prompt",
    steps=(Step("please read the whole library"),),
    threads={
        "main": [
            reply(look(), usage={"cache_read_input_tokens": 101_000}),
            reply(Say("It is read."), usage={"cache_read_input_tokens": 240_000, "input_tokens": 2_345}),
        ]
    },
)

TERMS = Scenario(
    name="usage_terms",
    steps=(Step("please be quick, or near"),),
    model="claude-opus-4-8",
    threads={
        "main": [
            reply(look(), usage={"inference_geo": "us"}),
            reply(look(), usage={"service_tier": "priority"}),
            reply(look(), usage={"server_tool_use": {"web_search_requests": 3, "web_fetch_requests": 2}}),
            reply(Say("Done.")),
        ]
    },
)


def _advice(model: str, given: int, said: int) -> Json:
    usage = {"input_tokens": given, "output_tokens": said, "cache_read_input_tokens": 0}
    return {"type": "advisor_message", "model": model, **usage, **kept(in_all=0, for_5m=0, for_1h=0)}


def _own_share(given: int, said: int) -> Json:
    usage = {"input_tokens": given, "output_tokens": said, "cache_read_input_tokens": 12_000}
    return {"type": "message", **usage, **kept(in_all=0, for_5m=0, for_1h=0)}


ADVISED = Scenario(
    name="usage_advisor",
    steps=(Step("please ask somebody wiser"),),
    threads={
        "main": [
            reply(
                look(),
                usage={
                    "input_tokens": 9,
                    "output_tokens": 120,
                    "iterations": [
                        _own_share(5, 50),
                        _advice("claude-opus-4-8", 2_000, 300),
                        _own_share(4, 70),
                    ],
                },
            ),
            reply(Say("So be it.")),
        ]
    },
)

MODELS = Scenario(
    name="usage_models",
    steps=(
        Step("please begin cheaply"),
        Step("please go on dearly", args=("--resume", "{{session}}", "--model", "claude-opus-4-8")),
        Step("please end cheaply", args=("--resume", "{{session}}", "--model", "claude-haiku-4-5-20251001")),
    ),
    threads={
        "main": [
            reply(look()),
            reply(Say("Begun.")),
            reply(look()),
            reply(Say("Went on.")),
            reply(Say("Ended.")),
        ]
    },
)

PRICES = Scenario(  # one start of the client: a subagent for each model
    name="usage_prices",
    since="2.1.300",
    steps=(Step("please say what each model costs"),),
    files={
        f".claude/agents/{model}.md": f"---\nname: {model}\ndescription: Says it\nmodel: {model}\n---\nYou say it.\n"
        for model in PRICED_MODELS
    },
    threads={
        "main": [
            reply(*(agent(model, model, run_in_background=False) for model in PRICED_MODELS)),
            reply(Say("Those were their costs.")),
        ],
        **{model: [reply(Say(f"This was {model}."))] for model in PRICED_MODELS},
    },
)

GATEWAY = Scenario(
    name="usage_gateway",
    steps=(Step("please go through a gateway"),),
    files=HELLO,
    threads={
        "main": [
            reply(
                Say("I delegate."),
                agent("left", run_in_background=False),
                agent("right", run_in_background=False),
                message_id=GATEWAY_ID,
                names_request=False,
                first_usage={"input_tokens": 65_464, "output_tokens": 0},
                usage={"input_tokens": 63_344, "output_tokens": 475},
            ),
            reply(look(), message_id="msg_20251030084955", names_request=False),
            reply(Say("Through."), message_id="msg_20251030084955", names_request=False),
        ],
        "left": [
            reply(look(), message_id="msg_20251030084945", names_request=False),
            reply(Say("Left is done."), message_id="msg_20251030084946", names_request=False),
        ],
        "right": [
            reply(look(), message_id="msg_20251030084945", names_request=False),
            reply(Say("Right is done."), message_id="msg_20251030084946", names_request=False),
        ],
    },
)

LINGERING = Scenario(
    name="usage_late_end",
    steps=(Step("please take your time to end"),),
    files=HELLO,
    threads={
        "main": [
            reply(Think("Slowly."), Say("I delegate."), agent("slow", run_in_background=False), linger_s=0.6),
            reply(Say("Done at last."), linger_s=0.6),
        ],
        "slow": [reply(Say("Let me see."), look(), linger_s=0.6), reply(Say("Seen."), linger_s=0.6)],
    },
)

FAMILY = Scenario(
    name="usage_family",
    since="2.0.0",
    steps=(
        Step("please begin"),
        Step("please try another way", args=("--resume", "{{session}}", "--fork-session")),
        Step("please go on that way", args=("--resume", "{{session}}")),
        Step("please try a third way", args=("--resume", "{{session}}", "--fork-session")),
    ),
    threads={
        "main": [
            reply(look()),
            reply(Say("Begun.")),
            reply(Say("Another way.")),
            reply(look()),
            reply(Say("Went on.")),
            reply(Say("A third way.")),
        ]
    },
)

KILLED_AND_COMPACTED = Scenario(
    name="usage_kill_compact",
    steps=(
        Step("please begin"),
        Step(
            "please work long",
            args=("--resume", "{{session}}"),
            interrupt=Interrupt(signal.SIGKILL, when_file="started"),
        ),
        Step("/compact keep the names", args=("--resume", "{{session}}")),
        Step("what do you remember?", args=("--resume", "{{session}}")),
    ),
    files=HELLO,
    threads={
        "main": [
            reply(look()),
            reply(Say("Begun.")),
            reply(look()),
            reply(call("Bash", command="touch started; sleep 9", description="Work long")),
            reply(Say("I remember the names.")),
        ]
    },
)

ALL = (
    CACHES,
    LONG,
    TERMS,
    ADVISED,
    MODELS,
    PRICES,
    GATEWAY,
    LINGERING,
    FAMILY,
    KILLED_AND_COMPACTED,
)
