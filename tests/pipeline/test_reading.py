"""From a file to its records: which reader is taken, and who wrote a file in no agent's home."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import zstandard

from tests.contracts.logs import DATA, FILES
from tracklog.errors import UserError
from tracklog.pipeline.reading import identified, lines_of, pieces_of, read_records, reader_for
from tracklog.records import claude_code, codex
from tracklog.records.detect import STRANGER
from tracklog.sources.files import NotReadable
from tracklog.sources.found import LogFile
from tracklog.sources.places import find_at


def found(path: Path) -> LogFile:
    (file,) = find_at(path)
    assert isinstance(file, LogFile)
    return identified(file)


def write(path: Path, *values: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(value) + "\n" for value in values), "utf-8")
    return path


def kinds(path: Path) -> list[tuple[str, str]]:
    return [(piece.reading, piece.record.kind) for piece in read_records(path)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: "/".join(path.parts[-3:]))
def test_a_loose_log_tells_its_agent_and_session_by_its_records(path: Path, tmp_path: Path) -> None:
    loose = tmp_path / "some-name.jsonl"
    loose.write_bytes(path.read_bytes())
    file = found(loose)
    assert file.agent == path.parts[-3]
    text = path.read_text("utf-8")
    says_its_session = '"sessionId"' in text or '"session_meta"' in text
    assert bool(file.session and file.session in text) == says_its_session


def test_a_log_of_an_unknown_agent_is_unknown_line_by_line(tmp_path: Path) -> None:
    path = write(
        tmp_path / "x.jsonl", {"type": "session", "id": "s"}, {"type": "message", "message": {"role": "user"}}
    )
    path.write_bytes(path.read_bytes() + b"plain words\n\n{torn")
    assert kinds(path) == [
        ("unknown", "session"),
        ("unknown", "message"),
        ("unknown", "text"),
        ("read", "blank"),
        ("unknown", "text"),
    ]


def test_a_document_is_one_line(tmp_path: Path) -> None:
    document = {"session": {"id": "s", "timestamp": "2025-05-01T00:00:00.000Z"}, "items": []}
    path = tmp_path / "rollout-2025-05-01-s.json"
    path.write_text(json.dumps(document, indent=2), "utf-8")
    assert kinds(path) == [("read", "document")]
    assert found(path).session == "s"


def test_a_strangers_document_over_many_lines_is_unknown_line_by_line(tmp_path: Path) -> None:
    path = tmp_path / "pretty.jsonl"
    path.write_text(json.dumps({"sessions": [1, 2]}, indent=1), "utf-8")
    assert {reading for reading, _ in kinds(path)} == {"unknown"}


def test_json_lines_under_the_name_of_a_document_are_lines(tmp_path: Path) -> None:
    path = write(tmp_path / "events.json", {"type": "a"}, {"type": "b"})
    assert kinds(path) == [("unknown", "a"), ("unknown", "b")]


def test_a_compressed_log_reads_as_its_contents(tmp_path: Path) -> None:
    plain = DATA / "codex" / "0.98.0" / "parallel_commands.jsonl"
    packed = tmp_path / "rollout.jsonl.zst"
    packed.write_bytes(zstandard.compress(plain.read_bytes()))
    assert [piece.raw for piece in read_records(packed)] == [piece.raw for piece in read_records(plain)]


def test_what_is_good_in_a_cut_compressed_log_comes_before_the_refusal(tmp_path: Path) -> None:
    lines = b"".join(
        b'{"type":"mode","mode":"normal","sessionId":"s","pad":"%d"}\n' % (n * 7919) for n in range(30_000)
    )
    packed = tmp_path / "a.jsonl.zst"
    packed.write_bytes(zstandard.compress(lines)[:-20])
    pieces = pieces_of(found(packed)._replace(agent="claude"))
    good: list[str] = []
    with pytest.raises(NotReadable, match="good bytes"):
        good.extend(piece.reading for piece in pieces)
    assert set(good) == {"read"}


def test_a_folder_is_no_log(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is a directory"):
        read_records(tmp_path)


def test_a_missing_file_is_the_users_mistake(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot read"):
        read_records(tmp_path / "nothing.jsonl")


def test_the_files_of_a_home_get_their_own_readers(tmp_path: Path) -> None:
    uuid = "3f2a0c1e-0000-4000-8000-000000000001"
    project = tmp_path / "projects" / "-home-dev-app"
    write(project / f"{uuid}.jsonl", {"type": "mode", "mode": "normal", "sessionId": uuid})
    write(project / uuid / "subagents" / "agent-a1.jsonl", {"type": "mode", "mode": "normal"})
    write(
        project / uuid / "subagents" / "agent-a1.meta.json", {"agentType": "Explore", "toolUseId": "toolu_1"}
    )
    write(project / uuid / "subagents" / "workflows" / "wf_1" / "journal.jsonl", {"type": "launched"})
    write(tmp_path / "sessions" / "4410.json", {"pid": 4410, "sessionId": uuid})
    write(tmp_path / "history.jsonl", {"display": "hi", "timestamp": 1, "project": "/a"})
    readers = {file.kind.value: reader_for(file) for file in find_at(tmp_path) if isinstance(file, LogFile)}
    assert readers == {
        "transcript": claude_code.READER,
        "subagent": claude_code.READER,
        "meta": claude_code.META_READER,
        "journal": claude_code.JOURNAL_READER,
        "registry": claude_code.REGISTRY_READER,
        "history": claude_code.HISTORY_READER,
    }
    for file in find_at(tmp_path):
        assert isinstance(file, LogFile)
        assert [piece.reading for piece in pieces_of(file)] == ["read"], file.path


def test_a_codex_home_gets_codex_readers(tmp_path: Path) -> None:
    name = "rollout-2026-02-27T10-00-00-019c0000-0000-7000-8000-000000000001"
    write(
        tmp_path / "sessions" / "2026" / "02" / "27" / f"{name}.jsonl",
        {"type": "session_meta", "payload": {"cwd": "/a"}},
    )
    write(tmp_path / "history.jsonl", {"session_id": "s", "ts": 1, "text": "hi"})
    write(
        tmp_path / "session_index.jsonl",
        {"id": "s", "thread_name": "n", "updated_at": "2026-02-27T10:00:00Z"},
    )
    readers = {file.kind.value: reader_for(file) for file in find_at(tmp_path) if isinstance(file, LogFile)}
    assert readers == {
        "transcript": codex.READER,
        "history": codex.HISTORY_READER,
        "session_index": codex.SESSION_INDEX_READER,
    }


def test_prompt_histories_are_known_wherever_they_lie(tmp_path: Path) -> None:
    claude = write(
        tmp_path / "a" / "history.jsonl", {"display": "hi", "timestamp": 1789398970793, "project": "/a"}
    )
    codexs = write(tmp_path / "b" / "history.jsonl", {"session_id": "s", "ts": 1789398970, "text": "hi"})
    assert [
        (p.reading, p.record.kind, p.record.at) for path in (claude, codexs) for p in read_records(path)
    ] == [
        ("read", "history", "2026-09-14T15:16:10.793Z"),
        ("read", "history", "2026-09-14T15:16:10.000Z"),
    ]


def test_an_empty_file_has_no_lines_and_no_known_writer(tmp_path: Path) -> None:
    path = tmp_path / "empty.jsonl"
    path.touch()
    assert (list(lines_of(found(path))), reader_for(found(path))) == ([], STRANGER)
