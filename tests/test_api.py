from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import tracklog


def test_importing_the_package_loads_nothing_else() -> None:
    code = "import json, sys; before = set(sys.modules); import tracklog; print(json.dumps([*{*sys.modules} - before]))"
    source = str(Path(tracklog.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": source}, capture_output=True, check=True, timeout=60
    )
    loaded = {name.partition(".")[0] for name in json.loads(done.stdout)}
    assert loaded & {"msgspec", "click", "rich", "zstandard", "platformdirs", "json"} == set()
    assert [name for name in json.loads(done.stdout) if name.startswith("tracklog.")] == []


@pytest.mark.parametrize("name", [name for name in tracklog.__all__ if name != "__version__"])
def test_every_public_name_is_there_and_documented(name: str) -> None:
    assert getattr(tracklog, name).__doc__
    assert name in dir(tracklog)


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'tracklog' has no attribute 'nonsense'"):
        tracklog.nonsense  # noqa: B018


def test_read_records_yields_every_piece_of_a_log(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(b'{"type":"summary","summary":"Words","leafUuid":"x"}\nnot json')
    pieces = list(tracklog.read_records(log))
    assert [(piece.line, piece.offset, piece.reading, piece.record.kind) for piece in pieces] == [
        (1, 0, "read", "summary"),
        (2, 52, "broken", "broken"),
    ]
    assert isinstance(pieces[1].record, tracklog.Broken)
    assert b"\n".join(piece.raw for piece in pieces) == log.read_bytes()


def test_read_gives_the_session_that_a_log_belongs_to(tmp_path: Path) -> None:
    said = {"message": {"role": "user", "content": "hi"}, "type": "user", "uuid": "u-1", "parentUuid": None}
    line = {**said, "sessionId": "s-1", "cwd": "/home/dev/app", "timestamp": "2026-03-01T17:24:42.000Z"}
    log = tmp_path / "log.jsonl"
    log.write_text(json.dumps(line) + "\n")
    session = tracklog.read(log)
    assert isinstance(session, tracklog.Session)
    assert (session.id, session.title, [turn.prompt for turn in session.turns]) == ("s-1", "hi", ["hi"])
    with pytest.raises(tracklog.UserError, match="does not exist"):
        tracklog.read(tmp_path / "absent.jsonl")


def test_what_cannot_be_read_is_a_user_error(tmp_path: Path) -> None:
    with pytest.raises(tracklog.UserError, match="does not exist"):
        tracklog.read_records(tmp_path / "absent.jsonl")
    with pytest.raises(tracklog.UserError, match="is a directory"):
        tracklog.read_records(tmp_path)


def test_transcript_path_says_where_a_session_will_be_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    monkeypatch.delenv("CLAUDE_CODE_PROJECT_DIR_NAME", raising=False)
    session = "11111111-aaaa-4aaa-8aaa-111111111111"
    assert tracklog.transcript_path(session, "/") == tmp_path / "projects" / "-" / f"{session}.jsonl"


def test_what_no_record_names_is_told_by_path(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(b'{"type":"summary","summary":"Words","leafUuid":"x","mood":{"tone":"calm"}}\n')
    assert [tracklog.extra_of(piece) for piece in tracklog.read_records(log)] == [{"mood": {"tone": "calm"}}]


@pytest.mark.parametrize(("old", "new"), [("Wish", "RunRequest"), ("Heard", "RunEvent")])
def test_an_old_name_of_the_api_of_runs_still_works_and_warns(old: str, new: str) -> None:
    from tracklog import run

    with pytest.warns(DeprecationWarning, match=f"tracklog.run.{new}"):
        assert getattr(run, old) is getattr(run, new)


def test_a_function_stays_one_after_the_package_of_its_name_was_imported() -> None:
    import tracklog.search.find
    import tracklog.sessions.rows
    import tracklog.sql.ask

    assert callable(tracklog.sessions)
    assert callable(tracklog.sql)
    assert callable(tracklog.search)
