"""What the system records tell."""

from __future__ import annotations

from typing import Any

import pytest

from tests.model.lines import LOG, facts, record, said
from tracklog.model.events import (
    CommandPrinted,
    CommandRun,
    ContextCompacted,
    HookRan,
    LogEvent,
    MessagesRetracted,
    ModeChanged,
    NodeSeen,
    Place,
    RequestFailed,
    TextInjected,
)
from tracklog.model.ids import NodeId

HERE = Place(LOG, 1)
X, P = NodeId("x"), NodeId("p")


def system(subtype: str | None, **fields: Any) -> list[LogEvent]:
    return said(record("system", "x", "p", **({"subtype": subtype} if subtype else {}), **fields))


def test_a_compaction_tells_what_it_kept() -> None:
    kept = {"headUuid": "k1", "anchorUuid": "s", "tailUuid": "k2"}
    metadata = {
        "trigger": "auto", "preTokens": 900, "postTokens": 100, "durationMs": 5, "preservedSegment": kept,
        "preservedMessages": {"uuids": ["k1", "k2"]},
    }  # fmt: skip
    assert system("compact_boundary", logicalParentUuid="last", compactMetadata=metadata) == [
        ContextCompacted(
            place=HERE, node=X, parent=P, trigger="auto", tokens_before=900, tokens_after=100, took_ms=5,
            logical_parent=NodeId("last"), kept_head=NodeId("k1"), kept_anchor=NodeId("s"), kept_tail=NodeId("k2"),
            kept=[NodeId("k1"), NodeId("k2")],
        )
    ]  # fmt: skip


def test_a_compaction_that_says_little_is_one() -> None:
    assert system("compact_boundary") == [ContextCompacted(place=HERE, node=X, parent=P)]


def test_each_stop_hook_is_told() -> None:
    infos = [{"command": "a.sh", "durationMs": 3}, {"command": "b.sh"}]
    events = system("stop_hook_summary", hookInfos=infos, preventedContinuation=True, stopReason="enough")
    assert events == [
        HookRan(
            place=HERE, node=X, parent=P, hook_event="Stop", name=None, outcome="stopped", command=command, took_ms=took, text="enough"
        )
        for command, took in (("a.sh", 3), ("b.sh", None))
    ]  # fmt: skip


def test_a_summary_of_no_hooks_holds_its_place() -> None:
    assert system("stop_hook_summary", hookInfos=[]) == [
        NodeSeen(place=HERE, node=X, parent=P, kind="system/stop_hook_summary")
    ]


@pytest.mark.parametrize("subtype", ["local_command", None])
def test_a_command_in_a_system_record_is_run_but_is_no_prompt(subtype: str | None) -> None:
    text = "<command-name>/compact</command-name><command-args>short</command-args>"
    assert system(subtype, content=text) == [
        CommandRun(place=HERE, node=X, parent=P, kind="slash", name="/compact", arguments="short")
    ]


def test_what_a_local_command_printed_is_told() -> None:
    text = "<local-command-stdout>ok</local-command-stdout>"
    assert system("local_command", content=text) == [CommandPrinted(place=HERE, node=X, parent=P, text="ok")]
    assert system("local_command", content="plain") == [
        CommandPrinted(place=HERE, node=X, parent=P, text="plain")
    ]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (
            {"error": {"status": 529, "message": "busy"}, "retryAttempt": 2, "maxRetries": 10},
            ("busy", 529, 2, 10),
        ),
        ({"error": {"status": "529", "formatted": "busy"}}, ("busy", None, None, None)),
        ({"error": "busy"}, ("busy", None, None, None)),
        (
            {"error": {"status": 401, "error": {"type": "error", "error": {"message": "who?"}}}},
            ("who?", 401, None, None),
        ),
        ({"error": {"error": [1]}}, ("", None, None, None)),
        ({"content": "said", "error": {"message": "busy"}}, ("said", None, None, None)),
        ({}, ("", None, None, None)),
    ],
)
@pytest.mark.parametrize("subtype", ["api_error", "error"])
def test_a_request_that_failed_is_told_with_its_attempt(
    subtype: str, fields: dict[str, Any], expected: tuple[Any, ...]
) -> None:
    [event] = system(subtype, **fields)
    assert isinstance(event, RequestFailed)
    assert facts(event, "text", "status", "attempt", "of_attempts") == expected
    assert event.is_final is False


def test_a_prompt_that_a_hook_blocked_is_a_hook_s_decision() -> None:
    text = "UserPromptSubmit operation blocked by hook:\n- [x.sh]: no secrets"
    assert system("informational", content=text) == [
        HookRan(
            place=HERE, node=X, parent=P, hook_event="UserPromptSubmit", name="UserPromptSubmit", outcome="blocked", text=text
        )
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("subtype", "why"),
    [
        ("informational", "notice"),
        (None, "notice"),
        ("away_summary", "away_summary"),
        ("post_turn_summary", "turn_summary"),
        ("scheduled_task_fire", "schedule"),
    ],
)
def test_notices_are_injected_text(subtype: str | None, why: str) -> None:
    assert system(subtype, content="hear") == [
        TextInjected(place=HERE, node=X, parent=P, why=why, text="hear")
    ]


@pytest.mark.parametrize(
    "subtype",
    [
        "model_refusal_fallback",
        "model_consent_fallback",
        "api_refusal",
        "model_refusal_no_fallback",
        "model_fallback",
    ],
)
def test_a_refusal_retracts_and_changes_the_model(subtype: str) -> None:
    assert system(subtype, retractedMessageUuids=["r1"], fallbackModel="claude-y") == [
        MessagesRetracted(place=HERE, node=X, parent=P, nodes=[NodeId("r1")], why=f"system/{subtype}"),
        ModeChanged(place=HERE, node=X, parent=P, what="model", value="claude-y"),
    ]
    assert [type(event) for event in system(subtype)] == [NodeSeen]
