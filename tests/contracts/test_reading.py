"""The contracts of reading, which every agent keeps: bytes come back, read is total, pieces of feeding do not matter."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.contracts.logs import FILES, READERS, lines_of, some_log
from tests.soak import examples
from tracklog.model.records import Piece, Record
from tracklog.sources.lines import Cutter, Line, cut

agents = pytest.mark.parametrize("agent", READERS)
often = settings(
    max_examples=examples(50),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def cut_by(data: bytes, size: int) -> list[Line]:
    cutter = Cutter()
    lines = [line for at in range(0, len(data), size) for line in cutter.feed(data[at : at + size])]
    return [*lines, *cutter.end()]


def uncovered(line: Line, pieces: list[Piece]) -> bytes:
    """The bytes of a line that stand in none of its pieces."""
    left = bytearray(bytes(line.nuls) + line.raw)
    for piece in reversed(pieces):
        start = piece.offset - line.offset
        del left[start : start + piece.length]
    return bytes(left)


@agents
@often
@given(data=st.data())
def test_bytes_come_back(agent: str, data: st.DataObject) -> None:
    log = data.draw(some_log(agent))
    lines = list(cut([log]))
    assert b"".join(bytes(line.nuls) + line.raw + b"\n" * line.ended for line in lines) == log
    for line in lines:
        pieces = list(READERS[agent].read([line]))
        for piece in pieces:
            assert log[piece.offset : piece.offset + piece.length] == piece.raw or line.nuls
        assert uncovered(line, pieces).strip(b" \t\r\xef\xbb\xbf") == b""


@agents
@often
@given(data=st.data())
def test_read_is_total(agent: str, data: st.DataObject) -> None:
    for line in cut([data.draw(some_log(agent))]):
        pieces = list(READERS[agent].read([line]))
        assert pieces
        for piece in pieces:
            assert isinstance(piece.record, Record)
            assert piece.reading in ("read", "unknown", "broken")
            assert piece.record.kind
            assert isinstance(READERS[agent].drift().strays(piece), list)


@agents
@given(log=st.binary(max_size=300))
def test_read_is_total_for_any_bytes(agent: str, log: bytes) -> None:
    for piece in READERS[agent].read(cut([log])):
        assert isinstance(piece.record, Record)
        str(piece.why).encode()


@agents
@often
@given(data=st.data(), size=st.integers(1, 40))
def test_read_in_pieces_equals_read_whole(agent: str, data: st.DataObject, size: int) -> None:
    log = data.draw(some_log(agent))
    assert list(READERS[agent].read(cut_by(log, size))) == list(READERS[agent].read(cut([log])))


@pytest.mark.parametrize("path", FILES, ids=lambda path: "/".join(path.parts[-3:]))
def test_what_real_clients_wrote_is_read_byte_by_byte_and_whole(path) -> None:  # type: ignore[no-untyped-def]
    log = path.read_bytes()
    reader = READERS[path.parts[-3]]
    whole = list(reader.read(cut([log])))
    drift = reader.drift()
    assert {piece.reading for piece in whole} == {"read"}
    assert [stray for piece in whole for stray in drift.strays(piece)] == []
    assert list(reader.read(cut_by(log, 1))) == whole


@pytest.mark.parametrize("agent", ["claude", "codex"])
@often
@given(data=st.data())
def test_a_good_record_behind_damage_is_found_again(agent: str, data: st.DataObject) -> None:
    """A whole line spliced on to the start of another one is read as it reads alone."""
    lines = [line for line in lines_of(agent) if b'"sessionId"' in line or b'"payload"' in line]
    first, second = data.draw(st.sampled_from(lines)), data.draw(st.sampled_from(lines))
    wreck = first[: data.draw(st.integers(1, len(first) - 1))]
    alone = READERS[agent].read_bytes(second)
    pieces = list(READERS[agent].read(cut([wreck + second])))
    assert pieces[-1].record == alone
    assert pieces[-1].raw == second
