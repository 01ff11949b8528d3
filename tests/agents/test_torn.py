"""Torn lines as they are found in the wild: good records are taken out, wrecks are kept."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from tracklog.agents.claude_code import records
from tracklog.sources.lines import Line, cut

Rows = list[tuple[str, str | None, bytes, bool]]


def record(uuid: str, text: str = "hi", **more: Any) -> bytes:
    """A user record as Claude Code writes it."""
    message = {"role": "user", "content": [{"type": "text", "text": text}]}
    value = {"parentUuid": None, "sessionId": "s-1", "type": "user", "message": message, "uuid": uuid, **more}
    return json.dumps(value, separators=(",", ":")).encode()


A, B, C = record("a"), record("b"), record("c")
PROGRESS = json.dumps(
    {
        "parentUuid": "x",
        "data": {
            "type": "agent_progress",
            "message": {
                "type": "assistant",
                "uuid": "inner",
                "message": {"role": "assistant", "content": []},
            },
        },
        "type": "progress",
        "uuid": "outer",
        "sessionId": "s-1",
    },
    separators=(",", ":"),
).encode()


def rows(raw: bytes) -> Rows:
    """Reading, id, bytes and `recovered` of each piece; the offsets are checked on the way."""
    pieces = list(records.READER.read([Line(7, 100, len(raw), raw)]))
    for piece in pieces:
        assert piece.line == 7
        assert raw[piece.offset - 100 : piece.offset - 100 + piece.length] == piece.raw
    return [(piece.reading, piece.record.ident, piece.raw, piece.recovered) for piece in pieces]


@pytest.mark.parametrize("cut_at", [1, 10, 60, 100, len(A) - 1])
def test_a_record_cut_off_with_the_next_one_spliced_on_gives_the_wreck_and_the_record(cut_at: int) -> None:
    assert rows(A[:cut_at] + B) == [("broken", None, A[:cut_at], False), ("read", "b", B, True)]


def test_two_records_without_the_newline_between_them_are_both_read() -> None:
    assert rows(A + B) == [("read", "a", A, True), ("read", "b", B, True)]
    assert rows(A + B + C) == [("read", "a", A, True), ("read", "b", B, True), ("read", "c", C, True)]


def test_a_wreck_between_two_records_is_kept_apart() -> None:
    assert rows(A + B[:50] + C) == [
        ("read", "a", A, True),
        ("broken", None, B[:50], False),
        ("read", "c", C, True),
    ]


def test_nul_bytes_before_a_record_are_a_wreck_of_their_own() -> None:
    assert rows(bytes(9) + A) == [("broken", None, bytes(9), False), ("read", "a", A, True)]
    assert rows(A[:50] + bytes(9) + B) == [
        ("broken", None, A[:50], False),
        ("broken", None, bytes(9), False),
        ("read", "b", B, True),
    ]


def test_a_cut_off_tail_is_broken_and_its_parts_are_no_records() -> None:
    behind_the_block = A.index(b"}]") + 1
    assert rows(A[:behind_the_block]) == [("broken", None, A[:behind_the_block], False)]


def test_a_message_inside_the_wreck_of_a_progress_record_is_not_taken_for_a_record() -> None:
    wreck = PROGRESS[: PROGRESS.index(b',"type":"progress"') + 9]
    assert rows(wreck + B) == [("broken", None, wreck, False), ("read", "b", B, True)]


def test_a_record_of_unknown_type_behind_a_wreck_is_recovered_too() -> None:
    strange = b'{"type":"hologram","sessionId":"s-1","uuid":"h"}'
    assert rows(A[:50] + strange) == [("broken", None, A[:50], False), ("unknown", "h", strange, True)]


def test_a_bare_record_is_recovered_at_the_edges_of_its_line() -> None:
    bare = b'{"type":"user","message":{"role":"user","content":"x"},"uuid":"u"}'
    assert rows(A[:70] + bare) == [("broken", None, A[:70], False), ("read", "u", bare, True)]
    assert rows(bare + A[:70]) == [("read", "u", bare, True), ("broken", None, A[:70], False)]


def test_garbage_behind_a_record_is_broken() -> None:
    assert rows(A + b"garbage") == [("read", "a", A, True), ("broken", None, b"garbage", False)]


@pytest.mark.parametrize("raw", [b"\xef\xbb\xbf" + A, A + b"\r", b"  " + A + b"\t"])
def test_byte_order_mark_carriage_return_and_blanks_are_no_damage(raw: bytes) -> None:
    assert rows(raw) == [("read", "a", raw, False)]


def test_invalid_utf8_inside_a_string_is_read_and_said() -> None:
    raw = A.replace(b"hi", b"h\xff\xfei")
    (piece,) = records.READER.read([Line(1, 0, len(raw), raw)])
    assert (piece.reading, piece.recovered, piece.why) == (
        "read",
        True,
        f"invalid UTF-8 at byte {raw.index(0xFF)}",
    )
    assert piece.record.message.content[0].text == "h\ufffd\ufffdi"  # type: ignore[attr-defined]


def test_lone_surrogates_are_read_and_can_be_encoded() -> None:
    raw = A.replace(b"hi", rb"h\ud83di \ud83d\ude00")
    (piece,) = records.READER.read([Line(1, 0, len(raw), raw)])
    assert (piece.reading, piece.recovered) == ("read", False)
    assert piece.record.message.content[0].text == "h\ufffdi 😀"  # type: ignore[attr-defined]


def test_raw_control_characters_inside_a_string_are_read_and_said() -> None:
    raw = A.replace(b"hi", b"h\0\x01i")
    (piece,) = records.READER.read([Line(1, 0, len(raw), raw)])
    assert (piece.reading, piece.recovered, piece.why) == ("read", True, "control characters inside a string")


def test_a_file_with_every_kind_of_torn_line_gives_back_all_good_records() -> None:
    torn = [A, A[:80] + B, A + B, bytes(70_000) + C, b"\xef\xbb\xbf" + A, A + b"\r", b"", A[:40]]
    pieces = list(records.READER.read(cut([b"\n".join(torn)])))
    read = [
        piece.record.ident for piece in pieces if piece.reading == "read" and piece.record.kind != "blank"
    ]
    assert read == ["a", "b", "a", "b", "c", "a", "a"]
    assert [piece.why for piece in pieces if piece.reading == "broken"][1:2] == ["70000 NUL bytes"]


@pytest.mark.parametrize(
    "hostile",
    [
        b'{"' * 200_000,
        b'{"a":' * 200_000,
        b'{"type":"user","sessionId":"' + b'\\"{' * 200_000,
        b'{"a":{"b":1},' * 100_000,
        b"[" * 1_000_000,
        b'{"a":' + b"[" * 500_000,
    ],
)
def test_a_line_made_to_be_searched_for_ever_is_answered_soon(hostile: bytes) -> None:
    start = time.monotonic()
    readings = {piece.reading for piece in records.READER.read([Line(1, 0, len(hostile), hostile)])}
    assert readings == {"broken"}
    assert time.monotonic() - start < 20  # seconds where a search without bounds takes hours
