"""What Codex is charged for: subagents that know their parent's history, families of forks, other models, cache writes."""

from __future__ import annotations

from tests.lab.scenarios.codex_tools import CODE_MODE, HELLO
from tests.lab.words import Call, Json, Say, Scenario, Step, call, reply

LOOK = reply(call("exec_command", cmd="ls"))


def _agent(tool: str, space: str, **args: object) -> Call:
    given: Json = dict(args)
    return Call((tool,), given, space=space)


INFORMED = Scenario(
    name="usage_informed_agent",
    steps=(Step("please look and delegate with all you know"),),
    files=HELLO,
    since="0.150.0",
    threads={
        "main": [
            LOOK,
            reply(
                _agent("spawn_agent", "multi_agent_v1", message="[scout] go on from here", fork_context=True)
            ),
            reply(_agent("wait_agent", "multi_agent_v1", targets=["{{agent}}"], timeout_ms=10_000)),
            reply(Say("The scout is back.")),
        ],
        "scout": [LOOK, reply(Say("Nothing in sight."))],
    },
)

INFORMED_TEAM = Scenario(
    name="usage_informed_team",
    steps=(Step("please look and delegate with all you know"),),
    files=HELLO,
    model=CODE_MODE,
    since="0.150.0",
    threads={
        "main": [
            reply(Say("I look first."), _agent("list_agents", "collaboration")),
            reply(
                _agent(
                    "spawn_agent",
                    "collaboration",
                    task_name="scout",
                    message="[scout] go on from here",
                    fork_turns="all",
                )
            ),
            reply(_agent("wait_agent", "collaboration", timeout_ms=10_000)),
            reply(Say("The scout is back.")),
        ],
        "scout": [reply(_agent("list_agents", "collaboration")), reply(Say("Nothing in sight."))],
    },
)

FAMILY = Scenario(
    name="usage_family",
    steps=(
        Step("please begin"),
        Step("please try another way", command=("fork", "{{session}}")),
        Step("please go on that way", command=("resume", "{{session}}")),
        Step("please try a third way", command=("fork", "{{session}}")),
    ),
    files=HELLO,
    since="0.160.0",
    threads={
        "main": [
            LOOK,
            reply(Say("Begun.")),
            reply(Say("Another way.")),
            LOOK,
            reply(Say("Went on.")),
            reply(Say("A third way.")),
        ]
    },
)

MODELS = Scenario(
    name="usage_models",
    steps=(
        Step("please begin"),
        Step("please go on with another", args=("--model", "gpt-5-codex"), command=("resume", "{{session}}")),
    ),
    threads={"main": [LOOK, reply(Say("Begun.")), LOOK, reply(Say("Went on."))]},
)


def _cached(given: int, *, read: int, written: int, said: int) -> Json:
    details = {"cached_tokens": read, "cache_write_tokens": written}
    return {
        "input_tokens": given,
        "input_tokens_details": details,
        "output_tokens": said,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": given + said,
    }


CACHES = Scenario(
    name="usage_caches",
    since="0.145.0",  # before, what was written to the cache is not told
    steps=(Step("please remember"),),
    threads={
        "main": [
            reply(call("exec_command", cmd="ls"), usage=_cached(9_000, read=5_000, written=3_000, said=100)),
            reply(call("exec_command", cmd="ls"), usage=_cached(9_000, read=5_000, written=3_000, said=100)),
            reply(Say("It is read."), usage=_cached(290_000, read=280_000, written=4_000, said=200)),
        ]
    },
)

TWINS = Scenario(
    name="usage_twins",
    steps=(Step("please do the same again"),),
    threads={
        "main": [
            *[reply(call("exec_command", cmd="ls"), usage=_cached(9_000, read=5_000, written=0, said=100))]
            * 3,
            reply(Say("Done.")),
        ]
    },
)

ALL = (INFORMED, INFORMED_TEAM, FAMILY, MODELS, CACHES, TWINS)
