"""The spool as a source of sessions: with and without an index the same, over rotations, compression and forgeries."""

from __future__ import annotations

import json
import os
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import tracklog
from tests.contracts.test_index_agrees import answer, index
from tests.spool_lines import after, asked, before, failed, spool, spool_line, told
from tests.views.cli.command import ONE, TWO
from tests.views.cli.written import Log, tool, working_day
from tracklog.agents.discovery import roots_at
from tracklog.home import Home
from tracklog.index.session_rows import take_note, tidy
from tracklog.reading.session_reader import SpoolReader
from tracklog.sessions.tables_write import unsettled
from tracklog.sources.spool import files_in
from tracklog.store.database import reading, writing

NOW = datetime(2026, 11, 16, 10, 15, tzinfo=UTC)
QUESTIONS = ("calls --json", "calls", "sessions --json", "calls --json --slow", "calls --json --verdict ok")


def of(payload: dict[str, Any], session: str = ONE) -> dict[str, Any]:
    return {**payload, "session_id": session}


HEARD = [
    of(before("toolu_1", input={"command": "make test"})),
    of(asked(input={"command": "make test"})),
    of(failed("toolu_1", "Exit code 2", duration_ms=700)),
    of(before("toolu_9", input={"command": "date"})),
    of(after("toolu_9", duration_ms=30)),
    of(told("Stop")),
]


def logs_in(folder: Path, session: str = ONE) -> Path:
    """A day of work that ends in a call without a result."""
    log = working_day(session).answer("msg_9", tool("toolu_9", "Bash", command="date"), stop="tool_use")
    log.write_in(folder)
    return folder / ".claude"


def verdicts(root: Path, home: Path) -> dict[str, tuple[Any, ...]]:
    calls = json.loads(answer("calls --json", [root], home))["calls"]
    return {call["id"]: (call["verdict"], call["took_ms"], call["took_by"]) for call in calls}


def agree(root: Path, home: Path, without: Path) -> bool:
    """Whether a home with an index answers as one without; both have the same spool, at the same path."""
    for question in QUESTIONS:
        assert answer(question, [root], home) == answer(question, [root], without).replace(
            str(without), str(home)
        )
    return True


def copied(home: Path, to: Path) -> Path:
    """A home with the same spool, and nothing else."""
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(home / "spool", to / "spool")
    return to


def test_what_was_heard_tells_how_a_call_ended_and_how_long_it_took(tmp_path: Path) -> None:
    root = logs_in(tmp_path)
    assert verdicts(root, tmp_path / "none")["toolu_9"] == ("lost", None, None)
    spool(tmp_path / "home", *HEARD)
    found = verdicts(root, tmp_path / "home")
    assert found["toolu_9"] == ("ok", 30, "stated")
    assert found["toolu_1"] == ("error", 700, "stated")


def test_evidence_names_the_spool_and_its_line(tmp_path: Path) -> None:
    root = logs_in(tmp_path)
    path = spool(tmp_path / "home", *HEARD)
    (call,) = json.loads(answer("calls --json --verdict ok --tool Bash", [root], tmp_path / "home"))["calls"]
    assert call["evidence"][-1] == {"path": str(path), "line": 5}
    assert json.loads(path.read_bytes().splitlines()[4])["payload"]["tool_use_id"] == "toolu_9"


def test_the_index_answers_the_same(tmp_path: Path) -> None:
    root = logs_in(tmp_path)
    home = tmp_path / "home"
    spool(home, *HEARD)
    index([root], home)
    assert agree(root, home, copied(home, tmp_path / "without"))


def test_what_is_heard_later_is_in_the_next_answer(tmp_path: Path) -> None:
    root = logs_in(tmp_path)
    home = tmp_path / "home"
    index([root], home)
    assert verdicts(root, home)["toolu_9"][0] == "lost"
    spool(home, *HEARD)
    assert verdicts(root, home)["toolu_9"] == ("ok", 30, "stated")
    assert agree(root, home, copied(home, tmp_path / "without"))


@pytest.fixture
def made(tmp_path: Path) -> tuple[Path, Path]:
    """A root with two sessions, and a home that knows both and has a spool."""
    root = logs_in(tmp_path)
    logs_in(tmp_path, TWO)
    home = tmp_path / "home"
    spool(home, *HEARD, of(told("Stop"), TWO))
    index([root], home)
    answer("calls --json", [root], home)
    return root, home


def due(home: Path) -> set[str]:
    with reading(Home(home)) as database:
        assert database is not None
        return {session for _, session in unsettled(database.db)}


def test_only_sessions_with_new_lines_are_put_together_again(made: tuple[Path, Path]) -> None:
    _, home = made
    assert due(home) == set()
    spool(home, of(told("Stop"), TWO), of(told("Stop"), "of nobody"))
    with writing(Home(home)) as database:
        take_note(database)
    assert due(home) == {TWO}


def test_a_rename_and_a_compression_move_the_evidence(made: tuple[Path, Path], tmp_path: Path) -> None:
    root, home = made
    path = home / "spool/hooks.jsonl"
    with path.open("ab") as stream:
        stream.write(spool_line(told("Stop", session_id="pad", message="x" * (17 << 20))))
    with writing(Home(home)) as database:
        tidy(database, now=NOW)
    assert due(home) == {ONE, TWO}
    assert agree(root, home, copied(home, tmp_path / "without"))
    assert "hooks-20261116T101500Z-1.jsonl" in answer("calls --json", [root], home)
    spool(home, of(told("SessionEnd")))
    (rotated, _) = files_in(home / "spool")
    os.utime(rotated, (NOW.timestamp(), NOW.timestamp()))
    with writing(Home(home)) as database:
        tidy(database, now=NOW + timedelta(days=2))
    assert [one.name for one in files_in(home / "spool")] == [f"{rotated.name}.zst", "hooks.jsonl"]
    assert verdicts(root, home)["toolu_9"] == ("ok", 30, "stated")
    assert "hooks-20261116T101500Z-1.jsonl.zst" in answer("calls --json", [root], home)
    assert agree(root, home, copied(home, tmp_path / "without"))


def test_a_rebuilt_index_hears_the_same(made: tuple[Path, Path]) -> None:
    root, home = made
    before = answer("calls --json", [root], home)
    answer("rebuild", [root], home)
    assert answer("calls --json", [root], home) == before


def test_where_nothing_was_told_nothing_is_written(made: tuple[Path, Path]) -> None:
    _, home = made
    with writing(Home(home)) as database:
        before = database.db.total_changes
        take_note(database)
        tidy(database, now=NOW)
        assert database.db.total_changes == before
        spool(home, of(told("Stop")))
        take_note(database)
        assert database.db.total_changes > before


def test_a_line_that_merely_mentions_a_session_is_not_about_it(tmp_path: Path) -> None:
    root = logs_in(tmp_path)
    forged = {"hook_event_name": "PostToolUse", "tool_use_id": "toolu_9", "tool_name": "Bash"}
    spool(
        tmp_path / "home",
        {**forged, "session_id": TWO, "tool_input": {"session_id": ONE}},
        {**forged, "tool_response": {"session_id": ONE}},
        {**forged, "session_id": [ONE]},
    )
    assert verdicts(root, tmp_path / "home")["toolu_9"][0] == "lost"


def test_paths_in_a_payload_are_never_opened(tmp_path: Path) -> None:
    """Whoever opened the pipe would wait for ever."""
    root = logs_in(tmp_path)
    trap = tmp_path / "trap.jsonl"
    os.mkfifo(trap)
    paths = {"transcript_path": str(trap), "agent_transcript_path": str(trap), "cwd": str(trap)}
    spool(tmp_path / "home", *({**one, **paths} for one in HEARD))
    index([root], tmp_path / "home")
    assert verdicts(root, tmp_path / "home")["toolu_9"][0] == "ok"


def test_broken_lines_and_garbage_spoil_nothing(tmp_path: Path) -> None:
    root = logs_in(tmp_path)
    path = spool(tmp_path / "home", HEARD[0])
    with path.open("ab") as stream:
        stream.write(b'{"v":1,"at":1,"garbage":"x","n_bytes":1}\n\xff\xfe\0\n\n{"v":1,"at":1,"payl\n[]\n')
        stream.write(f'{{"v":1,"at":1,"payload":{{"session_id":"{ONE}"}}}}\n'.encode())
    spool(tmp_path / "home", *HEARD[3:])
    assert verdicts(root, tmp_path / "home")["toolu_9"] == ("ok", 30, "stated")


def test_codex_calls_are_joined_by_the_thread_that_is_named(tmp_path: Path) -> None:
    thread = "01a00000-0000-7000-8000-000000000004"
    lines = [
        {"timestamp": "2026-11-15T10:00:00Z", "type": "session_meta", "payload": {"id": thread, "cwd": "/w"}},
        {
            "timestamp": "2026-11-15T10:00:02Z",
            "type": "response_item",
            "payload": {
                "type": "function_call",
                "name": "exec_command",
                "arguments": "{}",
                "call_id": "call_1",
            },
        },
    ]
    path = tmp_path / f".codex/sessions/2026/11/15/rollout-2026-11-15T10-00-00-{thread}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    path = tmp_path / "home/spool/hooks.jsonl"
    path.parent.mkdir(parents=True)
    heard = (of(before("call_1"), thread), of(after("call_1"), thread))
    path.write_bytes(b"".join(spool_line(one, agent="codex") for one in heard))
    (call,) = json.loads(answer("calls --json", [tmp_path / ".codex"], tmp_path / "home"))["calls"]
    assert [(hook["event"], hook["outcome"], hook["line"]) for hook in call["hooks"]] == [
        ("PreToolUse", "began", 1),
        ("PostToolUse", "told", 2),
    ]
    assert call["verdict"] == "lost"  # Codex tells that it came back, not how


def test_reading_a_log_takes_a_spool_along_where_one_is_given(tmp_path: Path) -> None:
    path = Log().prompt("Go.").answer("m", tool("toolu_9", "Bash", command="x")).write_in(tmp_path)
    spool(tmp_path / "home", *HEARD)
    assert [call.verdict for call in tracklog.read(path).calls] == ["lost"]
    assert [call.verdict for call in tracklog.read(path, home=tmp_path / "home").calls] == ["ok"]


def test_a_file_that_is_renamed_while_we_look_is_found_under_its_new_name(tmp_path: Path) -> None:
    from tracklog.agents.discovery import find_all
    from tracklog.reading.session_files import group

    root = logs_in(tmp_path)
    (files,) = group(find_all(roots_at(root)))
    path = spool(tmp_path / "home", *HEARD)
    ours = SpoolReader(tmp_path / "home")
    assert len(ours.heard(files)) == len(HEARD)
    path.rename(path.with_name("hooks-20261116T101500Z-1.jsonl"))
    assert len(ours.heard(files)) == len(HEARD)


def test_a_file_of_the_spool_reads_as_any_log(tmp_path: Path) -> None:
    path = spool(tmp_path / "home", HEARD[0], {"hook_event_name": "Stop", "mood": "calm"}, {"x": 1})
    with path.open("ab") as stream:
        stream.write(b"wreck\n")
    assert [(piece.reading, piece.record.kind) for piece in tracklog.read_records(path)] == [
        ("read", "spool/hook/PreToolUse"),
        ("read", "spool/hook/Stop"),
        ("read", "spool/hook"),
        ("broken", "broken"),
    ]
    assert "payload.mood" in answer("doctor --json", [path.parent], tmp_path / "other")
    assert json.loads(answer("sessions --json", [path.parent], tmp_path / "other"))["sessions"] == []
