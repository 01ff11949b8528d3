"""Damage or size does not hide who wrote a loose file: what can be recovered is, the rest is broken, not unknown."""

from __future__ import annotations

from pathlib import Path

import pytest

from tracklog.agents.registry import read_records
from tracklog.sources.lines import KEPT_BYTES

U = b'{"type":"user","parentUuid":null,"uuid":"u","sessionId":"s","message":{"role":"user","content":"hi"}}'
A = b'{"type":"assistant","parentUuid":"u","uuid":"a","sessionId":"s","message":{"role":"assistant","content":[]}}'
META = b'{"timestamp":"2026-01-01T00:00:00.000Z","type":"session_meta","payload":{"id":"t","cwd":"/a","base_instructions":{"text":"%b"}}}'
SAID = b'{"timestamp":"2026-01-01T00:00:01.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[]}}'
ITEM = b'{"type":"message","role":"user","content":[{"type":"input_text","text":"x"}]}'
CALL = b'{"type":"function_call","id":"fc_1","name":"shell","arguments":"{}","call_id":"c"}'


def readings(path: Path, log: bytes) -> list[str]:
    path.write_bytes(log)
    return [f"{piece.reading} {piece.record.kind}" for piece in read_records(path)]


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        (U + A, ["read user", "read assistant"]),
        (U[:60] + A, ["broken broken", "read assistant"]),
        (bytes(9) + U, ["broken broken", "read user"]),
        (bytes(1_000_000) + U + b"\n" + A, ["broken broken", "read user", "read assistant"]),
        (U.replace(b"hi", b"x" * 1_500_000) + b"\n" + A, ["read user", "read assistant"]),
        (META % (b"x" * 1_200_000) + b"\n" + SAID, ["read session_meta", "read response_item/message"]),
        (b"[" * 2**20 + b"\n" + U, ["broken broken", "read user"]),
        (b"\n" * 60 + U, ["read blank"] * 60 + ["read user"]),
        (U[:60], ["broken broken"]),
        (b"not json", ["broken broken"]),
        (bytes(100_000), ["broken broken"]),
        (U + b'{"type":"brand-new","x":1}' + A, ["read user", "unknown brand-new", "read assistant"]),
        (
            ITEM + CALL + b"\n" + SAID,
            ["read bare/message", "read bare/function_call", "read response_item/message"],
        ),
        (b"[" * 1_000_000 + U, ["broken broken", "read user"]),
    ],
)
def test_damage_does_not_hide_the_writer(log: bytes, expected: list[str], tmp_path: Path) -> None:
    assert readings(tmp_path / "loose.jsonl", log) == expected


def test_a_record_behind_a_line_kept_by_reference_is_read(tmp_path: Path) -> None:
    log = b'{"type":"user","sessionId":"s","message":{"content":"' + b"x" * KEPT_BYTES + b'"}}\n' + A
    assert readings(tmp_path / "loose.jsonl", log) == ["unknown user", "read assistant"]


def test_a_part_of_a_cut_off_record_is_not_taken_for_a_record(tmp_path: Path) -> None:
    cut = b'{"type":"progress","sessionId":"s","data":{"type":"agent_progress","message":{"type":"assistant","message":{"content":[]}}'
    assert readings(tmp_path / "a.jsonl", U + b"\n" + cut) == ["read user", "broken broken"]


def test_a_record_behind_a_deep_one_is_not_swallowed(tmp_path: Path) -> None:
    deep = b'{"type":"user","sessionId":"s","deep":' + b"[" * 5000 + b"]" * 5000 + b"}"
    assert readings(tmp_path / "a.jsonl", deep + A) == ["unknown user", "read assistant"]


def test_objects_a_million_deep_are_unknown_with_their_id(tmp_path: Path) -> None:
    deep = b'{"type":"user","uuid":"d","sessionId":"s","deep":' + b'{"a":' * 600_000 + b"1" + b"}" * 600_001
    path = tmp_path / "a.jsonl"
    path.write_bytes(deep)
    (piece,) = read_records(path)
    assert (piece.reading, piece.record.kind, piece.record.ident) == ("unknown", "user", "d")


def test_a_line_made_to_be_a_million_pieces_is_a_thousand_and_a_rest(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(U + b"\n" + b"x\0" * 1_000_000 + b"\n" + A)
    pieces = list(read_records(path))
    assert len(pieces) <= 1_010
    assert sum(piece.length for piece in pieces if piece.line == 2) == 2_000_000
    assert pieces[-1].record.ident == "a"


def test_the_session_is_what_the_records_say_not_the_name(tmp_path: Path) -> None:
    from tests.agents.test_reading import found

    path = tmp_path / "3f2a0c1e-0000-4000-8000-000000000001.jsonl"
    path.write_bytes(U)
    assert found(path).session == "s"


def test_an_empty_path_is_the_users_mistake() -> None:
    from tracklog.errors import UserError

    with pytest.raises(UserError, match="the path is empty"):
        read_records("")


def test_a_log_under_the_name_of_a_document_is_read_as_a_log(tmp_path: Path) -> None:
    assert readings(tmp_path / "a.json", U) == ["read user"]
    assert readings(tmp_path / "b.json", U + b"\n" + A) == ["read user", "read assistant"]


def test_a_cut_off_document_is_one_broken_line(tmp_path: Path) -> None:
    path = tmp_path / "sessions" / "rollout-2025-05-01-s.json"
    path.parent.mkdir()
    assert readings(path, b'{\n "session": {"id": "s"},\n "items": [\n') == ["broken broken"]
