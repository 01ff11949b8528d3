"""Each kind of record leads to events, holds its place on the tree, or is silent with a reason."""

from __future__ import annotations

import types
from typing import Any, Union, get_args, get_origin

import msgspec
import pytest

from tests.model.lines import LOG, Line, facts, record, said, told, user
from tracklog.agents.claude_code.records import JOURNAL_READER, META_READER, side_files
from tracklog.agents.claude_code.records.context.attachments import AnyAttachment, AttachmentLine
from tracklog.agents.claude_code.records.envelope import Envelope
from tracklog.agents.claude_code.records.metadata import AnyMetadata
from tracklog.agents.claude_code.records.progress import AnyProgress, ProgressLine
from tracklog.agents.claude_code.records.reader import AnyLine, Journal
from tracklog.agents.claude_code.records.system import SUBTYPES, SystemHead, SystemText
from tracklog.agents.claude_code.translate.translator import SILENT, TABLE
from tracklog.model.events import (
    HistoryInherited,
    LeafMarked,
    LinkMade,
    ModeChanged,
    NodeSeen,
    Place,
    QueueChanged,
    SessionDescribed,
    SessionTitled,
    StrangeSeen,
    TaskSeen,
    ThreadDescribed,
    TurnEnded,
)
from tracklog.model.ids import CallId, NodeId, ThreadId
from tracklog.model.records import Blank, Broken, Unknown

HERE = Place(LOG, 1)
BY_THEIR_PART = {AttachmentLine, ProgressLine, SystemHead}  # looked up by what they hold, or never a record
NOT_OF_A_SESSION = {
    side_files.Registry,
    side_files.ClaudeHistoryLine,
    side_files.WorkflowRun,
    side_files.TitleFile,
    side_files.ProjectIndex,
}  # files that no fold reads


def members(union: Any) -> set[type[Any]]:
    if get_origin(union) in (Union, types.UnionType):
        return {member for part in get_args(union) for member in members(part)}
    return {union}


def by_name(kinds: set[type[Any]]) -> list[type[Any]]:
    return sorted(kinds, key=lambda kind: str(kind.__name__))


LINES = members(AnyLine) | set(SUBTYPES.values()) | {SystemText} | members(Journal) | {side_files.AgentMeta}
PARTS = members(AnyAttachment) | members(AnyProgress)
SIDE_FILES = {
    one
    for one in vars(side_files).values()
    if isinstance(one, type) and issubclass(one, msgspec.Struct) and one.__module__ == side_files.__name__
}


@pytest.mark.parametrize("kind", by_name(LINES - BY_THEIR_PART))
def test_each_kind_of_line_is_in_the_table_or_silent_or_on_the_tree(kind: type[Any]) -> None:
    assert (kind in TABLE) + (kind in SILENT) + (issubclass(kind, Envelope) and kind not in TABLE) == 1


def test_the_tables_name_only_what_can_be_read() -> None:
    assert set(TABLE) <= LINES | PARTS
    assert set(SILENT) <= LINES | {Blank}


def test_each_silence_has_its_reason() -> None:
    assert [kind.__name__ for kind, reason in SILENT.items() if not reason.strip()] == []


def test_metadata_is_never_forgotten() -> None:
    off_the_tree = {kind for kind in members(AnyMetadata) if not issubclass(kind, Envelope)}
    assert off_the_tree - set(TABLE) - set(SILENT) == set()


def test_each_side_file_is_read_silent_or_not_of_one_session() -> None:
    bases = {side_files.JournalLine}
    assert SIDE_FILES - set(TABLE) - set(SILENT) - bases == NOT_OF_A_SESSION


@pytest.mark.parametrize("kind", by_name(PARTS - set(TABLE)))
def test_an_attachment_or_progress_without_a_meaning_holds_its_place(kind: type[Any]) -> None:
    name = str(kind.__struct_config__.tag)
    part = {"type": name}
    held = {"attachment": part} if kind in members(AnyAttachment) else {"data": part}
    line = record("attachment" if "attachment" in held else "progress", "x", "p", **held)
    assert [(type(event), event.node, event.parent) for event in said(line)] in (
        [(NodeSeen, "x", "p")],
        [(StrangeSeen, "x", "p")],  # a kind that wants more keys than its type is not this kind
    )


@pytest.mark.parametrize("subtype", sorted(SUBTYPES))
def test_a_system_record_keeps_its_place_on_the_tree(subtype: str) -> None:
    line = record("system", "x", "p", subtype=subtype, content="text", durationMs=5)
    events = said(line)
    assert {(event.node, event.parent) for event in events} == {("x", "p")}


def test_what_repeats_prompts_and_results_is_silent() -> None:
    result = [{"type": "tool_result", "tool_use_id": "c1", "content": "<task-notification>"}]
    blob = {"type": "api-request-blob", "sessionId": "s1", "message": {"role": "user", "content": result}}
    assert told(blob) == []


def test_an_unknown_line_keeps_its_place_on_the_tree_and_is_a_problem() -> None:
    line = record("from-the-future", "x", "p")
    assert said(line) == [
        StrangeSeen(
            place=HERE,
            node=NodeId("x"),
            parent=NodeId("p"),
            is_aside=True,
            kind="from-the-future",
            problem="unknown type",
        )
    ]


def test_a_broken_line_is_a_problem_at_its_line() -> None:
    [event] = told(b'{"type":"user","uuid":"x","mess')
    assert isinstance(event, StrangeSeen)
    assert facts(event, "place", "node", "kind") == (HERE, None, "broken")


def test_nothing_is_told_by_blank_lines() -> None:
    assert told(b"", b"  ", b"") == []
    assert {Unknown, Broken}.isdisjoint(SILENT)


def test_a_record_describes_itself_only_where_it_differs_from_the_one_before() -> None:
    lines = [user(id, None, "x", cwd=cwd) for id, cwd in (("a", "/one"), ("b", "/one"), ("c", "/two"))]
    described = [event for event in told(*lines) if isinstance(event, SessionDescribed)]
    assert [facts(event, "place", "cwd") for event in described] == [
        (Place(LOG, 1), "/one"),
        (Place(LOG, 3), "/two"),
    ]


def test_a_description_is_complete() -> None:
    line = user(
        "a", None, "x", cwd="/w", gitBranch="main", version="2.1.197", entrypoint="cli", teamName="t", agentName="n"
    )  # fmt: skip
    assert told(line)[0] == SessionDescribed(
        place=HERE, session="s1", cwd="/w", branch="main", version="2.1.197", entrypoint="cli", team="t", name="n"
    )  # fmt: skip


def test_a_copied_record_that_says_so_is_inherited_up_to_its_line() -> None:
    line = user("a", None, "x", forkedFrom={"sessionId": "s0", "messageUuid": "a"})
    assert [event for event in told(line) if isinstance(event, HistoryInherited)] == [
        HistoryInherited(place=HERE, source="s0")
    ]


ZEROS = "00000000-0000-0000-0000-000000000000"
NOTES: list[tuple[Line, list[Any]]] = [
    ({"type": "custom-title", "customTitle": "A"}, [SessionTitled(place=HERE, title="A", source="custom")]),
    ({"type": "ai-title", "aiTitle": "A"}, [SessionTitled(place=HERE, title="A", source="ai")]),
    ({"type": "agent-name", "agentName": "A"}, [SessionTitled(place=HERE, title="A", source="name")]),
    (
        {"type": "summary", "summary": "A", "leafUuid": "x"},
        [SessionTitled(place=HERE, title="A", source="summary", leaf=NodeId("x"))],
    ),
    ({"type": "mode", "mode": "coordinator"}, [ModeChanged(place=HERE, what="mode", value="coordinator")]),
    (
        {"type": "permission-mode", "permissionMode": "plan"},
        [ModeChanged(place=HERE, what="permission", value="plan")],
    ),
    (
        {"type": "last-prompt", "lastPrompt": "go", "leafUuid": "x"},
        [
            LeafMarked(place=HERE, leaf=NodeId("x"), prompt="go"),
            SessionTitled(place=HERE, title="go", source="last_prompt"),
        ],
    ),
    (
        {"type": "last-prompt", "leafUuid": ZEROS, "explicit": True},
        [LeafMarked(place=HERE, leaf=NodeId(ZEROS), explicit=True)],
    ),
    (
        {"type": "pr-link", "prNumber": 7, "prUrl": "https://x/7"},
        [LinkMade(place=HERE, what="pull_request", target="https://x/7")],
    ),
    ({"type": "pr-link", "prNumber": 7}, [LinkMade(place=HERE, what="pull_request", target="7")]),
    (
        {"type": "frame-link", "path": "/w/a.html"},
        [LinkMade(place=HERE, what="artifact", target="/w/a.html")],
    ),
    (
        {"type": "worktree-state", "worktreeSession": {"worktreePath": "/w/t"}},
        [LinkMade(place=HERE, what="worktree", target="/w/t")],
    ),
    (
        {"type": "worktree-state", "worktreeSession": None},
        [LinkMade(place=HERE, what="worktree", target="")],
    ),
    (
        {"type": "relocated", "relocatedCwd": "/new"},
        [LinkMade(place=HERE, what="moved_to", target="/new")],
    ),
    (
        {"type": "continued-in", "continuedInSessionId": "s2"},
        [LinkMade(place=HERE, what="continued_in", target="s2")],
    ),
    (
        {"type": "fork-context-ref", "agentId": "a1"},
        [ThreadDescribed(place=HERE, thread=ThreadId("a1"), is_fork=True)],
    ),
    (
        {"type": "queue-operation", "operation": "remove", "reason": "absorbed_mid_turn", "content": "also"},
        [QueueChanged(place=HERE, operation="remove", text="also", reason="absorbed_mid_turn")],
    ),
    (
        {
            "type": "queue-operation",
            "operation": "enqueue",
            "content": 'Background agent "sub work" was stopped by the user.',
        },
        [
            QueueChanged(
                place=HERE,
                operation="enqueue",
                text='Background agent "sub work" was stopped by the user.',
            ),
            TaskSeen(
                place=HERE,
                task=None,
                end="killed",
                description="sub work",
                text='Background agent "sub work" was stopped by the user.',
            ),
        ],
    ),
]


@pytest.mark.parametrize(
    ("line", "events"), NOTES, ids=[f"{line['type']}{n}" for n, (line, _) in enumerate(NOTES)]
)
def test_what_a_note_beside_the_conversation_tells(line: Line, events: list[Any]) -> None:
    assert told(line) == events


def test_a_turn_says_how_long_it_took() -> None:
    [event] = said(record("system", "x", "p", subtype="turn_duration", durationMs=1500))
    assert isinstance(event, TurnEnded)
    assert facts(event, "node", "parent", "took_ms", "error") == ("x", "p", 1500, None)


def test_the_meta_file_names_the_call_and_the_kind_of_agent() -> None:
    meta: Line = {
        "agentType": "Explore",
        "description": "look around",
        "toolUseId": "c1",
        "parentAgentId": "a0",
        "spawnDepth": 2,
        "worktreePath": "/w/t",
        "stoppedByUser": True,
    }
    assert told(meta, path="agent-a1.meta.json", reader=META_READER) == [
        ThreadDescribed(
            place=Place("agent-a1.meta.json", 1),
            parent_thread=ThreadId("a0"),
            parent_call=CallId("c1"),
            type="Explore",
            description="look around",
            depth=2,
            worktree="/w/t",
            stopped_by_user=True,
        )
    ]


def test_a_journal_names_the_agents_of_its_workflow() -> None:
    lines: list[Line] = [
        {"type": "launched", "key": "k"},
        {"type": "started", "key": "k1", "agentId": "a1", "label": "first"},
        {"type": "started", "key": "k2"},
        {"type": "result", "key": "k1", "agentId": "a1", "result": "fine"},
    ]
    events = told(*lines, path="journal.jsonl", reader=JOURNAL_READER)
    assert [facts(event, "thread", "description", "type") for event in events] == [
        ("a1", "first", "workflow-subagent")
    ]
