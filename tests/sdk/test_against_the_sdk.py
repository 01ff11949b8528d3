"""Our living branch is the one that `claude-agent-sdk` returns; what differs differs for a reason of docs/branches.md."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.lab.clients import PLAYS_ALL
from tests.lab.run import LabRun
from tests.sdk.comparing import (
    AGREED,
    DROPPED,
    EMPTY,
    KEPT,
    MARKED,
    ORDER,
    UNEXPLAINED,
    compare,
    main_logs,
    verdict_on,
)
from tests.sdk.feeding import Reading

DATA = Path(__file__).parents[1] / "data" / "claude"
PAGE = Path(__file__).parents[2] / "docs" / "branches.md"
COMPACTING = {"compact", "auto_compact", "later_hooks", "session_hooks", "sitting_commands"}
DROPPING = {"kill", "interrupt"}  # of releases that leave a call without result behind when they resume
WITH_FORKS = ("parallel_tools", "hooks", "fork", "resume", "slash_commands", *COMPACTING, *DROPPING)
PLAYED = () if PLAYS_ALL else WITH_FORKS


def test_the_logs_that_we_keep_are_read_alike(sdk: Path) -> None:
    logs = [log for log in main_logs([DATA]) if log.name != "agent.jsonl"]
    compared = compare(logs)
    assert [(one.log.name, one.verdict) for one in compared] == [(log.name, AGREED) for log in logs]
    assert all(one.ours for one in compared)


@pytest.mark.lab_of(agent="claude", scenarios=PLAYED)
def test_a_lab_session_is_read_alike(sdk: Path, lab_run: LabRun) -> None:
    found = {one.verdict for one in compare(main_logs([lab_run.config_dir / "projects"]))}
    allowed = {AGREED, EMPTY}
    if lab_run.scenario.name in COMPACTING:
        allowed.add(KEPT)
    if lab_run.scenario.name in DROPPING:
        allowed.add(DROPPED)
    assert AGREED in found or found & {KEPT, DROPPED}
    assert found <= allowed


def _log(folder: Path, *records: dict[str, object]) -> Path:
    log = folder / "log.jsonl"
    log.write_text("".join(json.dumps(record) + "\n" for record in records))
    return log


def _user(id: str, parent: str | None, content: object = "words", **more: object) -> dict[str, object]:
    return {"type": "user", "uuid": id, "parentUuid": parent, "message": {"content": content}, **more}


def _answer(id: str, parent: str, message: str, block: object = None) -> dict[str, object]:
    content = [block or {"type": "text", "text": "words"}]
    return {
        "type": "assistant",
        "uuid": id,
        "parentUuid": parent,
        "message": {"id": message, "content": content},
    }


def test_of_two_writers_the_sdk_follows_the_last_and_we_the_mark(sdk: Path, tmp_path: Path) -> None:
    log = _log(
        tmp_path,
        _user("p", None),
        _answer("a", "p", "m1"),
        _answer("b", "p", "m2"),
        {"type": "last-prompt", "leafUuid": "a"},
    )
    assert [(one.ours, one.theirs, one.verdict) for one in compare([log])] == [
        (["p", "a"], ["p", "b"], MARKED)
    ]


def test_a_difference_without_a_reason_is_called_unexplained(tmp_path: Path) -> None:
    reading = Reading(_log(tmp_path, _user("p", None), _answer("a", "p", "m1"), _answer("b", "a", "m2")))
    assert verdict_on(reading, ["p", "a", "b"]) == AGREED
    assert {
        verdict_on(reading, theirs) for theirs in (["p", "a"], ["p", "a", "b", "c"], ["a", "p", "b"])
    } == {UNEXPLAINED}


def test_calls_that_a_resume_dropped_are_put_back_by_the_sdk_alone(sdk: Path, tmp_path: Path) -> None:
    call = {"type": "tool_use", "id": "k", "name": "Bash", "input": {}}
    log = _log(
        tmp_path,
        _user("p", None),
        _answer("a", "p", "m1"),
        _answer("c", "a", "m1", call),
        _user("q", "a"),
        _answer("b", "q", "m2"),
    )
    assert [(one.ours, one.theirs, one.verdict) for one in compare([log])] == [
        (["p", "a", "q", "b"], ["p", "a", "c", "q", "b"], DROPPED)
    ]


def test_every_reason_is_written_down() -> None:
    page = PAGE.read_text("utf-8")
    assert [reason for reason in (KEPT, DROPPED, MARKED, ORDER) if f"**{reason}**" not in page] == []
