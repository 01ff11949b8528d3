"""Folds become a session, the same in whatever order they come and however often it is asked for."""

from __future__ import annotations

import pytest

from tests.model.lines import LOG, attachment, folded, record, reply, result, session, told, use, user
from tracklog.model.assemble.session import assemble
from tracklog.model.fold.log import FileFold
from tracklog.model.ids import SessionId
from tracklog.model.session import Session

GO = user("u", None, "go")
SPAWN = reply("a", "u", "m1", use("c1", "Agent", prompt="work"))
BACK = result("r", "a", "c1", toolUseResult={"status": "completed", "agentId": "a1"})
INNER = [
    user("x", None, "work", isSidechain=True, agentId="a1"),
    reply("y", "x", "m9", use("c9"), isSidechain=True, agentId="a1"),
]


def made_of(*folds: FileFold) -> Session:
    return assemble(folds, session=SessionId("s1"), agent="claude")


def test_nothing_is_an_empty_session() -> None:
    made = session()
    assert (made.id, made.paths, made.turns, made.calls, made.final, made.main.id) == (
        "s1",
        [],
        [],
        [],
        None,
        "main",
    )


def test_the_order_of_the_files_means_nothing() -> None:
    main, agent = folded(GO, SPAWN, BACK), folded(*INNER, path="agent-a1.jsonl", thread="a1")
    assert made_of(main, agent) == made_of(agent, main)


def test_asking_twice_gives_the_same() -> None:
    main, agent = folded(GO, SPAWN, BACK), folded(*INNER, path="agent-a1.jsonl", thread="a1")
    assert made_of(main, agent) == made_of(main, agent)


def test_a_fold_goes_on_growing_after_it_was_asked_for() -> None:
    fold, events = folded(GO, SPAWN), told(GO, SPAWN, BACK)
    assert [call.verdict for call in made_of(fold).calls] == ["lost"]
    fold.add(event for event in events if event.place.line == 3)
    assert made_of(fold) == made_of(folded(GO, SPAWN, BACK))


def test_a_session_without_its_main_log_has_its_subagents() -> None:
    made = made_of(folded(*INNER, path="agent-a1.jsonl", thread="a1"))
    assert ([thread.id for thread in made.threads], made.main.turns) == (["main", "a1"], [])


def test_the_last_request_of_the_living_branch_is_the_final_one() -> None:
    made = session(
        GO,
        reply("a", "u", "m1", "first try"),
        user("v", None, "go another way"),
        reply("b", "v", "m2", "done"),
    )
    assert made.final is not None
    assert (made.final.id, made.final.text) == ("m2", "done")
    assert [request.on_active_branch for request in made.requests] == [False, True]
    assert [turn.on_active_branch for turn in made.turns] == [False, True]


def test_hooks_of_no_call_are_told_of_the_session() -> None:
    made = session(
        GO,
        SPAWN,
        attachment("h1", "a", "hook_success", hookEvent="SessionStart", hookName="SessionStart"),
        attachment("h2", "a", "hook_success", hookEvent="PreToolUse", toolUseID="c1"),
        attachment("h3", "a", "hook_success", hookEvent="PreToolUse", toolUseID="gone"),
        record("system", "s", "a", subtype="stop_hook_summary", hookInfos=[{"command": "x.sh"}]),
    )
    assert [(hook.event, hook.place.line) for hook in made.hooks] == [
        ("SessionStart", 3),
        ("PreToolUse", 5),
        ("Stop", 6),
    ]


@pytest.mark.parametrize("n_agents", [0, 3])
def test_all_threads_calls_and_requests_are_listed_main_first(n_agents: int) -> None:
    agents = [
        folded(
            user(f"x{n}", None, f"other work {n}", isSidechain=True, agentId=f"a{n}"),
            reply(f"y{n}", f"x{n}", f"m9{n}", use(f"c9{n}"), isSidechain=True, agentId=f"a{n}"),
            path=f"agent-a{n}.jsonl",
            thread=f"a{n}",
        )
        for n in range(n_agents)
    ]
    made = session(GO, SPAWN, *agents)
    assert [thread.id for thread in made.threads] == ["main", *(f"a{n}" for n in range(n_agents))]
    assert [call.id for call in made.calls] == ["c1", *(f"c9{n}" for n in range(n_agents))]
    assert made.paths == sorted([LOG, *(f"agent-a{n}.jsonl" for n in range(n_agents))])
