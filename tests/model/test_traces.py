"""What real clients did (tests/live/data), and what we say of it: all sources together, and with some of them missing."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.live.traces import DATA, names, played, told
from tracklog.model.states import Source


def spoken(name: str, *without: Source) -> list[str]:
    """The states in their order, without repetitions."""
    words = [
        " ".join(word for word in (state.state, state.waiting_for) if word)
        for _, state in played(name, without=frozenset(without))
    ]
    return [words[0], *(after for before, after in pairwise(words) if after != before)]


@pytest.mark.parametrize("name", names())
def test_the_states_of_a_real_session_are_those_that_were_reviewed(name: str) -> None:
    assert told(name) == (DATA / f"{name}.states.txt").read_text("utf-8")


ASKED_TWICE = ["idle", "working", "waiting permission", "working", "idle", "working", "waiting permission"]


@pytest.mark.parametrize("without", [(), ("hook",), ("log",)], ids=["all", "no hooks", "no log"])
def test_a_permission_prompt_is_seen_whoever_tells_of_it(without: tuple[Source, ...]) -> None:
    said = spoken("claude-2.1.325-permissions", *without)
    assert said[:7] == ASKED_TWICE
    assert [one for one in said[7:] if one != "working"][:1] == ["idle"]


def test_a_refused_call_leaves_hooks_alone_waiting_until_the_next_prompt() -> None:
    """No hook runs after a refusal: docs/live.md says so."""
    said = spoken("claude-2.1.325-permissions", "registry", "log")
    assert said == ["unknown", *ASKED_TWICE, "working", "idle", "ended"]


@pytest.mark.parametrize("name", ["claude-2.1.325-questions", "claude-2.1.197-questions"])
@pytest.mark.parametrize("without", [(), ("hook",), ("registry",)], ids=["all", "no hooks", "no registry"])
def test_a_question_is_a_wait_for_an_answer_however_the_client_calls_it(
    name: str, without: tuple[Source, ...]
) -> None:
    said = spoken(name, *without)
    assert said.count("waiting answer") == 2
    assert "waiting permission" not in said


def test_a_request_that_a_hook_tells_after_the_refusal_leaves_nobody_waiting() -> None:
    """Measured: the person refused 46 ms before the hook of the request had written its line."""
    for without in ((), ("registry",)):
        assert spoken("claude-2.1.325-questions", *without)[-2:] == ["idle", "ended"]


def test_an_escape_right_after_a_hook_is_seen_though_no_hook_tells_of_it() -> None:
    for without in ((), ("registry",), ("log",)):
        assert spoken("claude-2.1.325-escape", *without)[-5:] == [
            "working",
            "idle",
            "working",
            "idle",
            "ended",
        ]


def test_a_session_with_a_shell_in_the_background_is_idle_and_works_when_that_ends() -> None:
    states = [state for _, state in played("claude-2.1.325-background")]
    assert [(one.state, one.has_background) for one in states if one.state != "working"] == [
        ("idle", False),
        ("idle", True),
        ("idle", False),
        ("ended", False),
    ]


def test_an_approval_of_codex_is_not_on_disk_and_reads_as_work() -> None:
    assert "waiting permission" not in spoken("codex-0.166.0-approvals")


def test_a_question_of_codex_is_a_wait_for_an_answer() -> None:
    assert spoken("codex-0.166.0-plan")[:3] == ["working", "waiting answer", "working"]
