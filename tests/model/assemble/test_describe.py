"""What a session is called, where and how it ran, and what was noted along the way."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.model.lines import LOG, Line, at, folded, record, reply, session, user
from tracklog.model.events import Place
from tracklog.model.ids import NodeId
from tracklog.model.session import Compaction, Failure, Note, Problem

GO = user("u", None, "go", timestamp=at(1))


def title(*lines: Line) -> str | None:
    return session(GO, *lines).title


CUSTOM: Line = {"type": "custom-title", "customTitle": "Mine"}
NAME: Line = {"type": "agent-name", "agentName": "Named"}
AI: Line = {"type": "ai-title", "aiTitle": "Guessed"}
SUMMARY: Line = {"type": "summary", "summary": "Summed up", "leafUuid": "u"}
LAST: Line = {"type": "last-prompt", "lastPrompt": "the last words"}


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([CUSTOM, NAME, AI, SUMMARY, LAST], "Mine"),
        ([SUMMARY, AI, NAME], "Named"),
        ([AI, SUMMARY], "Guessed"),
        ([SUMMARY, LAST], "Summed up"),
        ([LAST], "go"),
        ([], "go"),
    ],
)
def test_the_person_s_title_comes_before_all_others(lines: list[Line], expected: str) -> None:
    assert title(*lines) == expected
    assert title(*reversed(lines)) == expected


def test_the_last_title_of_a_kind_counts_and_an_empty_one_takes_it_away() -> None:
    assert title(AI, {"type": "ai-title", "aiTitle": " Better "}) == "Better"
    assert title(CUSTOM, AI, {"type": "custom-title", "customTitle": ""}) == "Guessed"


def test_the_summary_of_another_session_s_leaf_is_ignored() -> None:
    assert title({**SUMMARY, "leafUuid": "elsewhere"}) == "go"
    assert title({"type": "summary", "summary": "Whose?"}) == "Whose?"


def test_a_prompt_comes_before_a_command_as_title() -> None:
    command = user("x", None, "<command-name>/review</command-name>")
    lines = [command, reply("a", "x", "m1", "ok")]
    assert session(*lines).title == "/review"
    assert session(*lines, user("v", "a", "  fix\nit  ")).title == "fix\nit"


def test_a_long_prompt_is_cut_for_the_title() -> None:
    assert session(user("u", None, "x" * 500)).title == "x" * 200


def test_a_session_without_words_has_no_title() -> None:
    assert session(reply("a", None, "m1", "hello")).title is None
    assert session().title is None


def test_all_titles_are_kept_by_their_source() -> None:
    assert session(GO, CUSTOM, AI, LAST).titles == {
        "custom": "Mine", "ai": "Guessed", "last_prompt": "the last words", "first_prompt": "go",
    }  # fmt: skip


def stamped(id: str, second: float, **fields: Any) -> Line:
    return user(id, None, "x", timestamp=at(second), **fields)


def test_where_and_how_a_session_ran() -> None:
    made = session(
        stamped("a", 1, cwd="/one", gitBranch="main", version="2.1.100", entrypoint="cli"),
        stamped("b", 2, cwd="/two", gitBranch="topic", version="2.1.197", entrypoint="sdk-cli"),
        stamped("c", 3, cwd="/one", version="2.1.100"),
    )
    assert (made.cwd, made.cwds, made.branch, made.versions, made.entrypoint) == (
        "/one", ["/one", "/two"], "topic", ["2.1.100", "2.1.197"], "cli",
    )  # fmt: skip
    assert (made.started_at, made.last_at) == (at(1), at(3))


def test_a_subagent_s_directory_is_not_the_session_s() -> None:
    inner = user(
        "x", None, "work", cwd="/w/tree", version="9", isSidechain=True, agentId="a1", timestamp=at(0)
    )
    made = session(
        stamped("a", 1, cwd="/one", version="1"), folded(inner, path="agent-a1.jsonl", thread="a1")
    )
    assert (made.cwd, made.cwds, sorted(made.versions)) == ("/one", ["/one"], ["1", "9"])


def test_the_models_of_a_session_are_those_that_answered() -> None:
    made = session(
        GO,
        reply("a", "u", "m1", "x"),
        reply("b", "a", "m2", "x", message={"model": "claude-y"}),
        reply("c", "b", "m3", "x", message={"model": "<synthetic>"}),
        reply("d", "c", "m4", "x"),
    )
    assert made.models == ["claude-x", "claude-y"]


def test_permission_modes_are_told_by_notes_and_by_prompts() -> None:
    made = session(
        user("u", None, "go", permissionMode="default"),
        {"type": "permission-mode", "permissionMode": "bypassPermissions"},
        {"type": "mode", "mode": "coordinator"},
        user("v", "u", "on", permissionMode="plan"),
        user("w", "v", "on", permissionMode="acceptEdits"),
    )
    assert made.permission_modes == ["default", "bypassPermissions", "plan", "acceptEdits"]


def test_a_compaction_is_told_with_its_summary() -> None:
    made = session(
        GO,
        record(
            "system", "x", None, subtype="compact_boundary", logicalParentUuid="u", timestamp=at(2),
            compactMetadata={"trigger": "manual", "preTokens": 9, "preservedMessages": {"uuids": ["u"]}},
        ),
        user("y", "x", "All was well.", isCompactSummary=True),
        user("z", "y", "Not this one.", isCompactSummary=True),
    )  # fmt: skip
    assert made.compactions == [
        Compaction(
            place=Place(LOG, 2), at=at(2), trigger="manual", tokens_before=9, tokens_after=None, took_ms=None,
            kept=[NodeId("u")], summary="All was well.",
        )
    ]  # fmt: skip


def test_failures_are_told_with_their_attempts() -> None:
    made = session(
        GO,
        record(
            "system",
            "x",
            "u",
            subtype="api_error",
            error={"status": 529, "message": "busy"},
            retryAttempt=1,
            maxRetries=10,
        ),
        reply(
            "a",
            "x",
            "m1",
            "API Error",
            isApiErrorMessage=True,
            apiErrorStatus=529,
            message={"model": "<synthetic>"},
        ),
    )
    assert made.failures == [
        Failure(
            place=Place(LOG, 2), at=None, text="busy", status=529, attempt=1, of_attempts=10, is_final=False
        ),
        Failure(
            place=Place(LOG, 3),
            at=None,
            text="API Error",
            status=529,
            attempt=None,
            of_attempts=None,
            is_final=True,
        ),
    ]
    assert [(request.error, request.is_synthetic, request.text) for request in made.requests] == [
        ("API Error", True, "")
    ]


def test_notes_stand_in_the_order_of_the_log() -> None:
    made = session(
        {"type": "pr-link", "prUrl": "https://x/7"},
        {"type": "queue-operation", "operation": "enqueue", "content": "also"},
        {"type": "mode", "mode": "normal"},
        user("u", None, "<command-name>/cost</command-name>"),
        user("v", "u", "<local-command-stdout>1</local-command-stdout>"),
        {"type": "relocated", "relocatedCwd": "/new"},
    )
    assert made.notes == [
        Note(what="pull_request", value="https://x/7", at=None, place=Place(LOG, 1)),
        Note(what="queue", value="enqueue", detail="also", at=None, place=Place(LOG, 2)),
        Note(what="mode", value="normal", at=None, place=Place(LOG, 3)),
        Note(what="slash", value="/cost", at=None, place=Place(LOG, 4)),
        Note(what="printed", value="1", at=None, place=Place(LOG, 5)),
        Note(what="moved_to", value="/new", at=None, place=Place(LOG, 6)),
    ]


def test_injected_words_and_retractions_are_told() -> None:
    made = session(
        GO,
        user("x", "u", "Continue.", isMeta=True),
        record("system", "y", "x", subtype="api_refusal", retractedMessageUuids=["u"]),
    )
    assert made.injected == [Note(what="meta", value="Continue.", at=None, place=Place(LOG, 2))]
    assert made.retracted == ["u"]


def test_what_cannot_be_read_is_a_problem() -> None:
    made = session(GO, {"type": "from-the-future", "sessionId": "s1"}, b"{torn")
    assert made.problems[0] == Problem(place=Place(LOG, 2), what="from-the-future: unknown type")
    assert [problem.place.line for problem in made.problems] == [2, 3]


@pytest.mark.parametrize(
    ("is_alive", "now", "state"),
    [
        (True, None, "unknown"),
        (False, datetime(2026, 11, 15, 10, 0, 2, tzinfo=UTC), "ended"),
        (None, datetime(2026, 11, 15, 10, 0, 2, tzinfo=UTC), "unknown"),
        (None, None, "ended"),
    ],
)
def test_a_session_is_over_where_nothing_speaks_for_its_life(
    is_alive: bool | None, now: datetime | None, state: str
) -> None:
    assert session(GO, is_alive=is_alive, now=now).state == state


def test_commands_of_the_client_are_listed_with_what_they_printed() -> None:
    made = session(
        GO,
        user(
            "c", "u", "<command-name>/cost</command-name>\n<command-args>all</command-args>", timestamp=at(2)
        ),
        user("o", "c", "<local-command-stdout>3 cents</local-command-stdout>", timestamp=at(3)),
        user("b", "o", "<bash-input>ls</bash-input>", timestamp=at(4)),
        user("p", "b", "<bash-stdout>a.py</bash-stdout><bash-stderr></bash-stderr>", timestamp=at(4)),
        user("q", "p", "<command-name>/clear</command-name>", timestamp=at(5)),
    )
    assert [
        (one.kind, one.name, one.arguments, one.output, one.at, one.place.line) for one in made.commands
    ] == [
        ("slash", "/cost", "all", "3 cents", at(2), 2),
        ("shell", "ls", "", "a.py", at(4), 4),
        ("slash", "/clear", "", None, at(5), 6),
    ]
