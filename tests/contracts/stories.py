"""Logs of Claude Code as its clients could have written them, made up at random: what the contracts of folding are tried on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from tests.model.lines import (
    REJECTED,
    STOPPED,
    Line,
    at,
    attachment,
    notice,
    record,
    reply,
    result,
    use,
    user,
)

TOOLS = ["Bash", "Read", "Agent", "TodoWrite", "TaskOutput", "AskUserQuestion", "mcp__life__echo"]
WORDS = [
    "done",
    "",
    "Exit code 3\nbad",
    "Exit code 137",
    REJECTED,
    STOPPED,
    "Command timed out after 2s",
    "PreToolUse:Bash hook error: [x]: no",
    "[Tool call interrupted: the session ended before its result",
    "Command running in background with ID: b1",
]
REPORTS: list[Any] = [
    None,
    "Error: x",
    {"stdout": "x"},
    {"backgroundTaskId": "b1"},
    {"status": "async_launched", "agentId": "a1"},
    {"status": "completed", "agentId": "a2", "totalTokens": 3},
    {"retrieval_status": "success", "task": {"task_id": "b1", "status": "completed", "exitCode": 1}},
]


@dataclass
class Story:
    """A log that grows; knows the ids that stand in it."""

    lines: list[Line] = field(default_factory=list)
    nodes: list[str] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    n_requests: int = 0

    def id(self) -> str:
        self.nodes.append(f"n{len(self.nodes)}")
        return self.nodes[-1]

    def write(self, line: Line) -> None:
        self.lines.append({**line, "timestamp": at(len(self.lines) % 60)})


@st.composite
def stories(draw: st.DrawFn, *, max_steps: int = 14) -> list[Line]:
    """The lines of a plausible main log, each with its parent before it."""
    story = Story()
    for step in draw(st.lists(st.sampled_from("ppaaaaarrrrhimnqc"), max_size=max_steps)):
        parent = draw(st.sampled_from([None, *story.nodes[-4:]])) if story.nodes else None
        _STEPS[step](draw, story, parent)
    return story.lines


def _prompt(draw: st.DrawFn, story: Story, parent: str | None) -> None:
    text = draw(
        st.sampled_from(["go", "on", "<command-name>/x</command-name>", "<bash-input>ls</bash-input>"])
    )
    story.write(user(story.id(), parent, text, isMeta=draw(st.sampled_from([None, None, True]))))


def _answer(draw: st.DrawFn, story: Story, parent: str | None) -> None:
    story.n_requests += draw(st.integers(0, 1)) if story.n_requests else 1
    for _ in range(draw(st.integers(1, 3))):
        block: Line | str = "words"
        if draw(st.booleans()):
            story.calls.append(f"c{len(story.calls)}")
            block = use(story.calls[-1], draw(st.sampled_from(TOOLS)), prompt="work", task_id="b1")
        id = story.id()
        story.write(reply(id, parent, f"m{story.n_requests}", block))
        parent = id


def _result(draw: st.DrawFn, story: Story, parent: str | None) -> None:
    call = draw(st.sampled_from([*story.calls[-4:], "gone"]))
    text, report = draw(st.sampled_from(WORDS)), draw(st.sampled_from(REPORTS))
    story.write(result(story.id(), parent, call, text, is_error=draw(st.booleans()), toolUseResult=report))


def _hook(draw: st.DrawFn, story: Story, parent: str | None) -> None:
    kind = draw(st.sampled_from(["hook_success", "hook_blocking_error", "hook_cancelled"]))
    call = draw(st.sampled_from([None, *story.calls[-3:]]))
    story.write(attachment(story.id(), parent, kind, hookEvent="PreToolUse", toolUseID=call))


def _interruption(draw: st.DrawFn, story: Story, parent: str | None) -> None:
    named = draw(st.sampled_from([None, f"m{story.n_requests}"]))
    story.write(user(story.id(), parent, STOPPED, interruptedMessageId=named))


def _mark(draw: st.DrawFn, story: Story, parent: str | None) -> None:
    story.write(
        {"type": "last-prompt", "leafUuid": parent, "lastPrompt": "go", "explicit": draw(st.booleans())}
    )


def _notice(draw: st.DrawFn, story: Story, parent: str | None) -> None:
    text = notice(
        draw(st.sampled_from(["b1", "a1"])), draw(st.sampled_from(["completed", "killed", "running"]))
    )
    story.write(user(story.id(), parent, text))


def _queued(draw: st.DrawFn, story: Story, parent: str | None) -> None:
    story.write(
        attachment(
            story.id(),
            parent,
            "queued_command",
            prompt=draw(st.sampled_from(["also", notice("b1", "failed")])),
        )
    )


def _compaction(draw: st.DrawFn, story: Story, parent: str | None) -> None:
    story.write(record("system", story.id(), None, subtype="compact_boundary", logicalParentUuid=parent))


_STEPS = {
    "p": _prompt,
    "a": _answer,
    "r": _result,
    "h": _hook,
    "i": _interruption,
    "m": _mark,
    "n": _notice,
    "q": _queued,
    "c": _compaction,
}


@st.composite
def tangled(draw: st.DrawFn) -> list[Line]:
    """Such a log in any order, with any parents: itself, one of a circle, one that never comes; some lines twice."""
    lines = draw(stories().flatmap(st.permutations))
    ids = [line["uuid"] for line in lines if "uuid" in line]
    parents = st.sampled_from([None, "never", *ids])
    changed = [{**line, "parentUuid": draw(parents)} if draw(st.booleans()) else line for line in lines]
    return changed + [line for line in changed if draw(st.integers(0, 5)) == 0]


def agent_lines(lines: list[Line], agent: str) -> list[Line]:
    """A log as that of a subagent: other ids, marked as a sidechain."""
    renamed = []
    for line in lines:
        line = {**line, "isSidechain": True, "agentId": agent}
        renamed.append(
            {**line, **{key: f"{agent}-{line[key]}" for key in ("uuid", "parentUuid") if line.get(key)}}
        )
    return renamed
