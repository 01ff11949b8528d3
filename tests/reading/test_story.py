"""From files to a session: what `tracklog.read` gives for each kind of file that one may name."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import zstandard

import tracklog
from tests.model.lines import Line, at, log, reply, result, use, user
from tests.sources.tree import ONE, TWO, plant
from tracklog import read
from tracklog.agents.discovery import find_at
from tracklog.errors import UserError
from tracklog.model.session import Session
from tracklog.reading.session_files import group
from tracklog.reading.session_reader import read_session

PROJECT = ".claude/projects/-w"
DAY = ".codex/sessions/2026/11/15"


def named(line: Line, session: str = ONE) -> Line:
    return {**line, "sessionId": session}


MAIN = [
    named(user("u", None, "go", timestamp=at(1), cwd="/w")),
    named(reply("a", "u", "m1", use("c1", "Agent", prompt="work"), timestamp=at(2))),
    named(result("r", "a", "c1", toolUseResult={"status": "completed", "agentId": "a1"}, timestamp=at(5))),
    named(reply("b", "r", "m2", "all done", message={"stop_reason": "end_turn"}, timestamp=at(6))),
]
AGENT = [
    {**named(line), "isSidechain": True, "agentId": "a1"}
    for line in (
        user("x", None, "work", timestamp=at(3)),
        reply("y", "x", "m9", use("c9"), timestamp=at(4)),
        result("z", "y", "c9", timestamp=at(4.5)),
    )
]


def text(lines: list[Line]) -> bytes:
    return log(lines) + b"\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A project with one session of two threads, and another session beside it."""
    plant(tmp_path, f"{PROJECT}/{ONE}.jsonl", content=text(MAIN))
    plant(tmp_path, f"{PROJECT}/{ONE}/subagents/agent-a1.jsonl", content=text(AGENT))
    meta = json.dumps({"agentType": "Explore", "description": "look", "toolUseId": "c1"}).encode()
    plant(tmp_path, f"{PROJECT}/{ONE}/subagents/agent-a1.meta.json", content=meta)
    plant(tmp_path, f"{PROJECT}/{TWO}.jsonl", content=text([named(user("o", None, "other"), TWO)]))
    return tmp_path


def in_short(made: Session) -> dict[str, Any]:
    return {
        "id": made.id,
        "agent": made.agent,
        "turns": [turn.prompt for turn in made.turns],
        "threads": [(thread.id, thread.type, thread.parent_call) for thread in made.threads],
        "calls": [(call.id, call.thread, call.verdict) for call in made.calls],
        "problems": [problem.place.line for problem in made.problems],
    }


WHOLE = {
    "id": ONE,
    "agent": "claude",
    "turns": ["go"],
    "threads": [("main", None, None), ("a1", "Explore", "c1")],
    "calls": [("c1", "main", "ok"), ("c9", "a1", "ok")],
    "problems": [],
}


@pytest.mark.parametrize(
    "name", [f"{ONE}.jsonl", f"{ONE}/subagents/agent-a1.jsonl", f"{ONE}/subagents/agent-a1.meta.json"]
)
def test_any_file_of_a_session_gives_the_whole_session(home: Path, name: str) -> None:
    assert in_short(read(home / PROJECT / name)) == WHOLE
    assert in_short(read(str(home / PROJECT / name))) == WHOLE


def test_a_relative_path_gives_the_session_too(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home / PROJECT)
    assert in_short(read(f"{ONE}.jsonl")) == WHOLE


def test_reading_is_what_the_package_offers(home: Path) -> None:
    assert tracklog.read is read


def test_the_session_knows_its_files_and_its_end(home: Path) -> None:
    made = read(home / PROJECT / f"{ONE}.jsonl")
    assert [Path(path).name for path in made.paths] == [
        f"{ONE}.jsonl",
        "agent-a1.jsonl",
        "agent-a1.meta.json",
    ]
    assert made.final is not None
    assert (made.final.text, made.cwd, made.started_at, made.last_at) == ("all done", "/w", at(1), at(6))


def test_a_loose_log_is_a_session(tmp_path: Path) -> None:
    plant(tmp_path, "export.jsonl", content=text(MAIN))
    made = read(tmp_path / "export.jsonl")
    assert (made.id, made.agent, [call.id for call in made.calls]) == (ONE, "claude", ["c1"])


def codex(kind: str, second: float, **payload: Any) -> Line:
    return {"timestamp": at(second), "type": kind, "payload": payload}


def rollout(thread: str, **meta: Any) -> list[Line]:
    said = [{"type": "input_text", "text": f"ask {thread[0]}"}]
    return [
        codex("session_meta", 0, id=thread, cwd="/w", cli_version="0.98.0", source="cli", **meta),
        codex("response_item", 1, type="message", role="user", content=said),
        codex("event_msg", 1, type="user_message", message=f"ask {thread[0]}"),
        codex("response_item", 2, type="function_call", name="exec_command", arguments='{"cmd":"ls"}', call_id=f"call-{thread[0]}"),
        codex("response_item", 3, type="function_call_output", call_id=f"call-{thread[0]}", output="Process exited with code 0\nOutput:\nx"),
    ]  # fmt: skip


def test_a_codex_rollout_gives_its_session(tmp_path: Path) -> None:
    name = f"{DAY}/rollout-2026-11-15T10-00-00-{ONE}.jsonl"
    plant(tmp_path, name, content=text(rollout(ONE)))
    made = read(tmp_path / name)
    assert (made.id, made.agent, [turn.prompt for turn in made.turns]) == (ONE, "codex", ["ask 1"])
    assert [(call.id, call.verdict) for call in made.calls] == [("call-1", "ok")]


def test_a_compressed_rollout_gives_the_same_session(tmp_path: Path) -> None:
    name = f"{DAY}/rollout-2026-11-15T10-00-00-{ONE}.jsonl.zst"
    plant(tmp_path, name, content=zstandard.compress(text(rollout(ONE))))
    made = read(tmp_path / name)
    assert [(call.id, call.verdict) for call in made.calls] == [("call-1", "ok")]


def test_a_rollout_of_a_subagent_gives_the_session_above_it(tmp_path: Path) -> None:
    above, below = (f"{DAY}/rollout-2026-11-15T10-00-0{n}-{id}.jsonl" for n, id in enumerate((ONE, TWO)))
    source = {"subagent": {"thread_spawn": {"parent_thread_id": ONE, "depth": 1}}}
    plant(tmp_path, above, content=text(rollout(ONE)))
    child = rollout(TWO)
    child[0]["payload"] |= {"source": source}
    plant(tmp_path, below, content=text(child))
    made = read(tmp_path / below)
    assert (made.id, sorted(thread.id for thread in made.threads)) == (ONE, sorted(["main", TWO]))


def both_roots(top: Path) -> Session:
    [made] = group(chain(find_at(top / "one"), find_at(top / "two")))
    return read_session(made)


def test_two_copies_of_one_log_in_two_roots_are_one_session(tmp_path: Path) -> None:
    plant(tmp_path, f"one/projects/-w/{ONE}.jsonl", f"two/projects/-w/{ONE}.jsonl", content=text(MAIN))
    made = both_roots(tmp_path)
    assert ([turn.prompt for turn in made.turns], [request.text for request in made.requests]) == (
        ["go"],
        ["", "all done"],
    )
    assert [(call.id, len(call.results)) for call in made.calls] == [("c1", 1)]


@pytest.mark.parametrize(("first", "second"), [("one", "two"), ("two", "one")])
def test_a_session_that_went_on_in_another_root_is_read_in_the_order_of_time(
    tmp_path: Path, first: str, second: str
) -> None:
    later = [
        *MAIN[2:],
        named(user("v", "b", "next", timestamp=at(10))),
        named(reply("c", "v", "m3", "more", timestamp=at(11))),
    ]
    plant(tmp_path, f"{first}/projects/-w/{ONE}.jsonl", content=text(MAIN))
    plant(tmp_path, f"{second}/projects/-w/{ONE}.jsonl", content=text(later))
    made = both_roots(tmp_path)
    assert [(turn.prompt, turn.requests) for turn in made.turns] == [("go", ["m1", "m2"]), ("next", ["m3"])]
    assert [(call.id, call.verdict, len(call.results)) for call in made.calls] == [("c1", "ok", 1)]


def test_notes_that_stand_in_both_copies_are_told_once(tmp_path: Path) -> None:
    note = {
        "type": "queue-operation",
        "operation": "enqueue",
        "content": "also",
        "sessionId": ONE,
        "timestamp": at(7),
    }
    plant(
        tmp_path, f"one/projects/-w/{ONE}.jsonl", f"two/projects/-w/{ONE}.jsonl", content=text([*MAIN, note])
    )
    assert [note.value for note in both_roots(tmp_path).notes] == ["enqueue"]


def test_a_fork_knows_what_it_copied_and_the_original_its_fork(tmp_path: Path) -> None:
    copies = [named(line, TWO) for line in MAIN]
    later = [
        named(user("v", "b", "next", timestamp=at(20)), TWO),
        named(reply("c", "v", "m3", use("c3")), TWO),
    ]
    plant(tmp_path, f"{PROJECT}/{ONE}.jsonl", content=text(MAIN))
    plant(tmp_path, f"{PROJECT}/{TWO}.jsonl", content=text([*copies, *later]))
    fork, original = read(tmp_path / PROJECT / f"{TWO}.jsonl"), read(tmp_path / PROJECT / f"{ONE}.jsonl")
    assert (fork.forked_from, fork.forks, original.forked_from, original.forks) == (ONE, [], None, [TWO])
    assert [(first.line, last.line) for first, last in fork.inherited] == [(1, 4)]
    assert [(turn.prompt, turn.is_inherited) for turn in fork.turns] == [("go", True), ("next", False)]
    assert [(call.id, call.is_inherited) for call in fork.calls] == [("c1", True), ("c3", False)]
    assert [(call.id, call.is_inherited, call.inherited_by) for call in original.calls] == [
        ("c1", False, [TWO])
    ]


def test_the_caller_says_the_time_and_whether_the_process_lives(tmp_path: Path) -> None:
    plant(tmp_path, f"{PROJECT}/{ONE}.jsonl", content=text(MAIN[:2]))
    [files] = group(find_at(tmp_path / ".claude"))
    soon = datetime(2026, 11, 15, 10, 1, tzinfo=UTC)
    told = [
        read_session(files, is_alive=is_alive, now=now).calls[0].verdict
        for is_alive, now in ((True, None), (False, soon), (None, soon), (None, None))
    ]
    assert told == ["running", "lost", "running", "lost"]


def test_who_reads_learns_how_far_it_is(home: Path) -> None:
    [files] = [one for one in group(find_at(home / ".claude")) if one.id == ONE]
    read_bytes: list[int] = []
    read_session(files, on_bytes=read_bytes.append)
    names = ("", "/subagents/agent-a1")
    logs = [home / PROJECT / f"{ONE}{name}.jsonl" for name in names]
    n_newlines = sum(path.read_bytes().count(b"\n") for path in logs)
    meta = home / PROJECT / ONE / "subagents/agent-a1.meta.json"
    assert sum(read_bytes) == sum(path.stat().st_size for path in (*logs, meta)) - n_newlines


def test_without_text_the_verdicts_are_the_same(home: Path) -> None:
    [files] = [one for one in group(find_at(home / ".claude")) if one.id == ONE]
    assert in_short(read_session(files, with_text=False)) == WHOLE


def test_an_empty_path_asks_which_log() -> None:
    with pytest.raises(UserError, match="the path is empty"):
        read("")


def test_a_directory_is_no_log(home: Path) -> None:
    with pytest.raises(UserError, match="is a directory: name one of the logs in it"):
        read(home / PROJECT)


def test_a_file_that_is_not_there_is_no_log(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot read"):
        read(tmp_path / "nothing.jsonl")


@pytest.mark.parametrize("content", [b'{"hello":"world"}\n', b"plain words\n", b"", b"\0" * 100])
def test_a_stranger_s_file_is_no_session(tmp_path: Path, content: bytes) -> None:
    plant(tmp_path, "notes.jsonl", content=content)
    with pytest.raises(UserError, match=r"notes\.jsonl is no log of a session"):
        read(tmp_path / "notes.jsonl")


def test_a_fifo_is_no_log(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    with pytest.raises(UserError, match="cannot read"):
        read(tmp_path / "pipe.jsonl")


def test_broken_lines_are_problems_and_the_rest_is_read(tmp_path: Path) -> None:
    damaged = log([MAIN[0], b'{"type":"assistant","uuid', *MAIN[1:], b"\xff\xfe"])
    plant(tmp_path, f"{PROJECT}/{ONE}.jsonl", content=damaged)
    made = read(tmp_path / PROJECT / f"{ONE}.jsonl")
    assert [problem.place.line for problem in made.problems] == [2, 6]
    assert [(call.id, call.verdict) for call in made.calls] == [("c1", "ok")]


def test_a_file_that_ends_in_damage_gives_what_it_gave_and_a_problem(tmp_path: Path) -> None:
    packed = zstandard.ZstdCompressor(level=1).compress(text(rollout(ONE))) + b"no frame of zstd"
    name = f"{DAY}/rollout-2026-11-15T10-00-00-{ONE}.jsonl.zst"
    plant(tmp_path, name, content=packed)
    made = read(tmp_path / name)
    assert [(call.id, call.verdict) for call in made.calls] == [("call-1", "ok")]
    assert [(problem.place.line, problem.what.partition(":")[0]) for problem in made.problems] == [
        (6, "not readable")
    ]


def test_a_damaged_subagent_does_not_spoil_its_session(home: Path) -> None:
    agent = home / PROJECT / ONE / "subagents/agent-a1.jsonl"
    agent.write_bytes(agent.read_bytes()[:-40])
    made = read(home / PROJECT / f"{ONE}.jsonl")
    assert [(call.id, call.verdict) for call in made.calls] == [("c1", "ok"), ("c9", "lost")]
    assert [problem.place.line for problem in made.problems] == [3]


def test_a_turn_over_two_logs_is_in_the_order_of_time_whatever_the_folders_are_called(tmp_path: Path) -> None:
    plant(tmp_path, f".claude/projects/-z/{ONE}.jsonl", content=text(MAIN[:2]))
    plant(tmp_path, f".claude/projects/-a/{ONE}.jsonl", content=text(MAIN[2:]))
    [files] = group(find_at(tmp_path / ".claude"))
    made = read_session(files)
    assert [(turn.requests, turn.text) for turn in made.turns] == [(["m1", "m2"], "all done")]
    assert [path.rpartition("projects/")[2][:2] for path in made.main.paths] == ["-z", "-a"]


def test_two_logs_of_one_session_that_went_apart_are_a_fork(tmp_path: Path) -> None:
    ways = [named(user(id, "b", id, timestamp=at(10 + n))) for n, id in enumerate(("v", "w"))]
    for folder, way in zip("za", ways, strict=True):
        plant(tmp_path, f".claude/projects/-{folder}/{ONE}.jsonl", content=text([*MAIN, way]))
    [files] = group(find_at(tmp_path / ".claude"))
    assert [(branch.id, branch.why) for branch in read_session(files).branches] == [
        ("main", None),
        ("v", "fork"),
    ]


def turn_of(thread: str, prompt: str, answer: str, second: float) -> list[Line]:
    return [
        codex("event_msg", second, type="task_started", turn_id=prompt),
        codex("event_msg", second, type="user_message", message=prompt),
        codex("response_item", second + 1, type="message", role="assistant", content=[{"type": "output_text", "text": answer}]),
        codex("event_msg", second + 1, type="task_complete", turn_id=prompt),
    ]  # fmt: skip


def test_a_thread_that_was_rolled_back_keeps_its_answers_apart(tmp_path: Path) -> None:
    head = codex("session_meta", 0, id=ONE, cwd="/w", cli_version="0.166.0", source="cli")
    kept, left = turn_of(ONE, "first", "one", 1), turn_of(ONE, "wrong", "two", 3)
    base = {"thread_id": ONE, "end_ordinal_exclusive": 5, "end_byte_offset": len(text([head, *kept]))}
    meta = codex("session_meta", 6, id=ONE, cwd="/w", cli_version="0.166.0", source="cli", history_base=base)
    plant(tmp_path, f"{DAY}/rollout-2026-11-15T10-00-00-{ONE}.jsonl", content=text([head, *kept, *left]))
    second = f"{DAY}/rollout-2026-11-15T10-00-06-{ONE}_{TWO}.jsonl"
    plant(tmp_path, second, content=text([meta, *turn_of(ONE, "right", "three", 7)]))
    [files] = group(find_at(tmp_path / ".codex"))
    made = read_session(files)
    assert [(turn.prompt, turn.text, turn.on_active_branch) for turn in made.turns] == [
        ("first", "one", True),
        ("wrong", "two", False),
        ("right", "three", True),
    ]
    assert [(branch.id, branch.start, branch.why) for branch in made.branches] == [
        ("main", "first", None),
        ("wrong", "first", "rewind"),
    ]
    assert len({request.id for request in made.requests}) == 3


def test_a_turn_that_the_client_began_by_itself_belongs_to_the_one_before(tmp_path: Path) -> None:
    own = [codex("event_msg", 5, type="task_started", turn_id="x"), codex("compacted", 6, message="in short")]
    lines = [
        codex("session_meta", 0, id=ONE, cwd="/w", cli_version="0.166.0", source="cli"),
        *turn_of(ONE, "go", "done", 1),
    ]
    plant(tmp_path, f"{DAY}/rollout-2026-11-15T10-00-00-{ONE}.jsonl", content=text([*lines, *own]))
    [files] = group(find_at(tmp_path / ".codex"))
    assert [turn.prompt for turn in read_session(files).turns] == ["go"]
