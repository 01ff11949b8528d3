"""Sessions as rows: what goes in comes back, and nothing more is kept than lists need."""

from __future__ import annotations

import json
import sqlite3
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.contracts.logs import FILES, some_log
from tests.contracts.stories import stories
from tests.model.lines import Line, log
from tests.views.cli.command import ONE, rollout_in, transcript_in, write
from tests.views.cli.written import Log, tool, working_day
from tracklog.agents.discovery import find_all, roots_at
from tracklog.model.session import Session
from tracklog.model.session_rules import facts_of
from tracklog.reading.session_files import SessionFiles, group
from tracklog.reading.session_reader import read_session
from tracklog.sessions.call_inputs import fill_inputs
from tracklog.sessions.rows import rows_of
from tracklog.sessions.tables_calls import LONGEST_DID, FoundCall, ask_calls
from tracklog.sessions.tables_lists import KnownSession, known_sessions, listed_sessions
from tracklog.sessions.tables_write import put_session
from tracklog.sources.log_file import LogFile
from tracklog.store.migrate import migrate
from tracklog.store.values import SessionRows
from tracklog.views.documents.sessions import call_row
from tracklog.views.text.calls import LONGEST, answers_words, what_it_did
from tracklog.views.text.printing import short

often = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
files = pytest.mark.parametrize("path", FILES, ids=lambda path: "/".join(path.parts[-3:]))


class Indexed(NamedTuple):
    """A session that was read, and what the index gives back of it."""

    session: Session
    rows: SessionRows
    known: KnownSession
    calls: list[FoundCall]
    facts: dict[str, Any]


def only_session(folder: Path) -> SessionFiles:
    (found,) = group(find_all(roots_at(folder)))
    return found


def indexed(session: SessionFiles) -> Indexed:
    """Puts a session into an index and takes it out again, with the inputs of its calls."""
    db = sqlite3.connect(":memory:", isolation_level=None)
    migrate(db)
    logs = dict(enumerate(session.files, 1))
    for number, file in logs.items():
        values = (number, str(file.path), str(file.root), file.agent, str(file.kind), session.id)
        db.execute(
            "insert into log_files (id, path, root, agent, kind, session, state, device, inode, size, mtime_ns, "
            "ctime_ns) values (?, ?, ?, ?, ?, ?, 'here', 1, 1, 1, 1, 1)",
            [value.encode("utf-8", "surrogatepass") if isinstance(value, str) and not value.isprintable() else value
             for value in values],
        )  # fmt: skip
    made = read_session(session)
    rows = rows_of(made, {str(file.path): number for number, file in logs.items()})
    sent = msgspec.msgpack.decode(msgspec.msgpack.encode(rows), type=SessionRows)
    put_session(db, sent, only_here=False)
    (known,) = known_sessions(db)
    calls = list(ask_calls(db, known))
    fill_inputs(calls, logs.get, lambda _file, _lines: {})
    (listed,) = listed_sessions(db, [known.row])
    return Indexed(made, rows, known, calls, listed.facts if known.is_listed else {})


def agrees(one: Indexed) -> None:
    """The documents of the calls and of the session are those of the session itself."""
    documents = [json.dumps(call_row(found.call)) for found in one.calls]
    assert documents == [json.dumps(call_row(call)) for call in one.session.calls_by_thread]
    for found, call in zip(one.calls, one.session.calls_by_thread, strict=True):
        assert answers_words(found.call) == answers_words(call)
        if found.did is not None:
            assert short(found.did, LONGEST) == what_it_did(call, cwd=one.session.cwd)
    if one.known.is_listed:
        facts = {"id": one.session.id, "agent": one.session.agent, **facts_of(one.session)}
        assert json.dumps(one.facts) == json.dumps(facts)
    described = [one.known.started_at, one.known.last_at, one.known.cwd, one.known.cwds, one.known.models]
    made = one.session
    assert described == [made.started_at, made.last_at, made.cwd, made.cwds, made.models]


@files
def test_what_real_clients_wrote_comes_back(path: Path, tmp_path: Path) -> None:
    place = rollout_in(tmp_path) if "codex" in path.parts else transcript_in(tmp_path)
    write(place, path.read_bytes())
    home = tmp_path / (".codex" if "codex" in path.parts else ".claude")
    agrees(indexed(only_session(home)))


@often
@given(lines=stories(max_steps=25))
def test_whatever_a_client_may_write_comes_back(lines: list[Line]) -> None:
    with tempfile.TemporaryDirectory() as name:
        first = {"type": "user", "sessionId": ONE, "uuid": "u0", "message": {"role": "user", "content": "go"}}
        write(transcript_in(Path(name)), log([first, *lines]))
        agrees(indexed(only_session(Path(name) / ".claude")))


@often
@given(data=st.data())
@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_a_damaged_log_comes_back(agent: str, data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as name:
        write(Path(name) / "log.jsonl", data.draw(some_log(agent)))
        for session in group(find_all(roots_at(Path(name)))):
            agrees(indexed(session))


def test_a_folder_whose_name_is_no_text_comes_back(tmp_path: Path) -> None:
    working_day(cwd="/srv/日本").write(tmp_path / "b\udcff" / "log.jsonl")
    one = indexed(only_session(tmp_path))
    agrees(one)
    assert one.facts["path"] == str(tmp_path / "b\udcff" / "log.jsonl")


def test_each_part_has_its_row_and_its_line(tmp_path: Path) -> None:
    working_day().write_in(tmp_path)
    rows = indexed(only_session(tmp_path / ".claude")).rows
    assert [row[:3] for row in rows.threads] == [(0, "main", None)]
    assert [(row[1], row[5:9]) for row in rows.turns] == [(1, (1, 1, 2, 2)), (2, (1, 9, 1, 0))]
    assert [(row[1], row[5:]) for row in rows.prompts] == [
        (1, (1, 1, "Fix the test.")),
        (2, (1, 9, "Why was it red?")),
    ]
    assert [(row[1], row[10:13]) for row in rows.requests] == [
        ("msg_1", (1, 2, 5)),
        ("msg_2", (1, 8, 8)),
        ("msg_3", (1, 10, 11)),
    ]
    assert [(row[1], row[7], row[8], row[21:24]) for row in rows.calls] == [
        ("toolu_1", "Bash", "error", (1, 4, "make test")),
        ("toolu_2", "Read", "ok", (1, 5, "src/app.py")),
    ]


def test_what_is_long_is_cut_and_told_to_be(tmp_path: Path) -> None:
    log = Log().prompt("p" * 1000)
    log.answer(
        "msg_1", tool("t1", "Bash", command="x" * 159), tool("t2", "Bash", command="x" * 160)
    ).write_in(tmp_path)
    one = indexed(only_session(tmp_path / ".claude"))
    assert one.rows.prompts[0][-1] == "p" * 300
    assert [row[23] for row in one.rows.calls] == ["x" * 159, "x" * (LONGEST_DID - 1) + "…"]
    assert [found.did for found in one.calls] == ["x" * 159, None]
    agrees(one)


def test_numbers_that_no_column_holds_come_back(tmp_path: Path) -> None:
    log = (
        Log().prompt("Go.").answer("msg_1", tool("t1", "Bash", command="x"), tool("t2", "Agent", prompt="y"))
    )
    log.result("t1", "no", is_error=True, report={"exitCode": 10**30, "durationMs": 7})
    log.result("t2", "yes", report={"totalDurationMs": 10**30, "totalTokens": 10**20, "totalToolUseCount": 1})
    log.write_in(tmp_path)
    agrees(indexed(only_session(tmp_path / ".claude")))


def test_of_many_lines_that_are_not_understood_some_are_kept_and_all_are_counted(tmp_path: Path) -> None:
    write(transcript_in(tmp_path), working_day().content + b'{"type":"new"}\n' * 1500)
    one = indexed(only_session(tmp_path / ".claude"))
    assert (len(one.rows.problems), one.known.not_understood) == (1000, 1500)


def test_a_log_without_a_number_is_named(tmp_path: Path) -> None:
    working_day().write_in(tmp_path)
    session = read_session(only_session(tmp_path / ".claude"))
    rows = rows_of(session, {})
    assert {row[21] for row in rows.calls} == {None}
    db = sqlite3.connect(":memory:", isolation_level=None)
    migrate(db)
    put_session(db, rows, only_here=False)
    found = list(ask_calls(db, known_sessions(db)[0]))
    assert [one.call.evidence for one in found] == [call.evidence for call in session.calls_by_thread]


def test_an_input_is_found_by_its_line_in_a_long_log(tmp_path: Path) -> None:
    log = Log().prompt("x" * 3_000_000).answer("msg_1", tool("t1", "Bash", command="make"))
    path = log.write_in(tmp_path)
    files = only_session(tmp_path / ".claude")
    found = [FoundCall(call, 1, 2, None) for call in read_session(files).calls]
    asked: list[tuple[int, list[int]]] = []

    def offsets(file: int, lines: Any) -> dict[int, int]:
        asked.append((file, list(lines)))
        return {2: path.read_bytes().index(b"\n") + 1}

    for one in found:
        one.call.input = msgspec.Raw()
    fill_inputs(found, {1: files.files[0]}.get, offsets)
    assert (asked, found[0].call.arguments) == ([(1, [2])], {"command": "make"})


def test_a_log_that_is_gone_leaves_its_calls_without_input(tmp_path: Path) -> None:
    path = working_day().write_in(tmp_path)
    files = only_session(tmp_path / ".claude")
    found = [FoundCall(call, 1, 4, None) for call in read_session(files).calls[:1]]
    found[0].call.input = msgspec.Raw()
    path.unlink()
    logs: dict[int, LogFile] = {1: files.files[0]}
    fill_inputs(found, logs.get, lambda _file, _lines: {})
    assert found[0].call.arguments is None
