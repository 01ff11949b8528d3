"""The search for lines: what it finds is what cutting every line and looking at it would find."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracklog.sources import needles as sources_needles
from tracklog.sources.lines import KEPT_BYTES, cut
from tracklog.sources.needles import LinesWith

NEEDLE = b'"ab"'
OTHER = b"b-a-b"
ALIKE = b"a-a-b"  # has much in common with the other
SPLINTERS = [
    NEEDLE,
    OTHER,
    ALIKE,
    b"\n",
    b'"',
    b"a",
    b"b",
    b"-",
    b"\0",
    b"\r",
    b"\xff",
    b'"ab',
    b'ab"',
    b"b-a",
    b"{}",
]
SOME_BYTES = st.lists(st.sampled_from(SPLINTERS), max_size=60).map(b"".join) | st.binary(max_size=80)
SIZES = st.lists(st.integers(1, 12), min_size=1, max_size=8)


def in_pieces(data: bytes, sizes: list[int]) -> list[bytes]:
    """The same bytes in pieces of these sizes, again and again."""
    pieces, at, n = [], 0, 0
    while at < len(data):
        size = sizes[n % len(sizes)]
        pieces.append(data[at : at + size])
        at, n = at + size, n + 1
    return pieces


def found_by_cutting(data: bytes, *needles: bytes) -> list[tuple[int, bytes]]:
    words = needles or (NEEDLE,)
    return [(line.offset, line.raw) for line in cut([data]) if any(word in line.raw for word in words)]


def end_of_last(data: bytes, found: list[tuple[int, bytes]]) -> int:
    """Where the byte behind the last line that was found, and behind its newline, stands."""
    return min(found[-1][0] + len(found[-1][1]) + 1, len(data)) if found else 0


@given(SOME_BYTES, SIZES)
def test_the_lines_are_those_that_cutting_gives_in_whatever_pieces_they_come(
    data: bytes, sizes: list[int]
) -> None:
    assert list(LinesWith(in_pieces(data, sizes), NEEDLE)) == found_by_cutting(data)


@given(SOME_BYTES)
def test_a_file_in_one_piece_gives_the_same_lines(data: bytes) -> None:
    assert list(LinesWith([data], NEEDLE)) == found_by_cutting(data)


@given(
    st.binary(max_size=200), st.binary(min_size=1, max_size=3).filter(lambda word: b"\n" not in word), SIZES
)
def test_any_bytes_may_be_looked_for(data: bytes, needle: bytes, sizes: list[int]) -> None:
    assert list(LinesWith(in_pieces(data, sizes), needle)) == found_by_cutting(data, needle)


@given(SOME_BYTES, SIZES)
def test_what_follows_the_last_of_them_is_kept_while_it_fits_into_the_last_piece(
    data: bytes, sizes: list[int]
) -> None:
    pieces = in_pieces(data, sizes)
    lines = LinesWith(pieces, NEEDLE)
    start = end_of_last(data, list(lines))
    last = pieces[-1] if pieces else b""
    rest = data[start:]
    assert (lines.behind_from, lines.behind) == (start, rest if len(rest) <= len(last) else None)


@given(SOME_BYTES, SIZES)
def test_lines_with_one_of_two_words_come_in_their_order_and_once(data: bytes, sizes: list[int]) -> None:
    assert list(LinesWith(in_pieces(data, sizes), NEEDLE, OTHER)) == found_by_cutting(data, NEEDLE, OTHER)
    assert list(LinesWith([data], OTHER, NEEDLE)) == found_by_cutting(data, NEEDLE, OTHER)


@given(SOME_BYTES, SIZES)
def test_words_that_have_much_in_common_are_told_apart(data: bytes, sizes: list[int]) -> None:
    found = found_by_cutting(data, NEEDLE, OTHER, ALIKE)
    assert list(LinesWith(in_pieces(data, sizes), NEEDLE, OTHER, ALIKE)) == found
    assert list(LinesWith([data], NEEDLE, ALIKE, OTHER)) == found
    assert list(LinesWith([data], NEEDLE, ALIKE)) == found_by_cutting(data, NEEDLE, ALIKE)


def test_lines_that_are_gone_over_one_by_one_are_copies() -> None:
    buffer = bytearray(b'1 "ab"\n2 "ab"\n')

    def source() -> Iterator[memoryview]:
        yield memoryview(buffer)
        buffer[:] = bytes(len(buffer))

    assert list(LinesWith(source(), NEEDLE)) == [(0, b'1 "ab"'), (7, b'2 "ab"')]


@given(SOME_BYTES, SIZES)
def test_a_batch_is_what_a_piece_completes(data: bytes, sizes: list[int]) -> None:
    pieces = in_pieces(data, sizes)
    ends = [0, *itertools.accumulate(map(len, pieces))]
    lines, batches = LinesWith(pieces, NEEDLE, OTHER), []
    for batch in lines.batches():
        assert lines.chunk == data[lines.chunk_from : lines.chunk_from + len(lines.chunk)]
        assert lines.chunk_from in ends
        batches.append(batch)
    assert [hit for batch in batches for hit in batch] == found_by_cutting(data, NEEDLE, OTHER)
    assert all(batches)


def test_empty_pieces_mean_nothing() -> None:
    lines = LinesWith([b"", b'x"a', b"", b'b"y\n', b""], NEEDLE)
    assert list(lines) == [(0, b'x"ab"y')]
    assert lines.behind == b""


@given(SOME_BYTES, SIZES, st.integers(1, 12))
def test_lines_over_the_limit_are_left_out_and_no_others(data: bytes, sizes: list[int], limit: int) -> None:
    short = [size for size in sizes if size <= limit] or [1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources_needles, "KEPT_BYTES", limit)
        found = list(LinesWith(in_pieces(data, short), NEEDLE))
    assert found == [(offset, raw) for offset, raw in found_by_cutting(data) if len(raw) <= limit]


def _long_line(length: int) -> Iterator[bytes]:
    yield NEEDLE
    for _ in range(length // (1 << 20)):
        yield b"x" * (1 << 20)
    yield b'\n{"ab"}\n'


def test_a_line_that_is_too_long_is_passed_over_and_never_held() -> None:
    lines = LinesWith(_long_line(KEPT_BYTES), NEEDLE)
    assert list(lines) == [(KEPT_BYTES + len(NEEDLE) + 1, b'{"ab"}')]


def test_a_line_at_the_limit_is_found_whole() -> None:
    pieces = [b"x" * (1 << 20)] * (KEPT_BYTES // (1 << 20) - 1) + [b"x" * ((1 << 20) - 4), NEEDLE, b"\n"]
    [(offset, raw)] = LinesWith(pieces, NEEDLE)
    assert (offset, len(raw), raw[-4:]) == (0, KEPT_BYTES, NEEDLE)


def test_a_damaged_source_gives_the_lines_before_the_damage() -> None:
    def source() -> Iterator[bytes]:
        yield b'1 "ab"\n2 "a'
        raise OSError("gone")

    found = []
    lines = iter(LinesWith(source(), NEEDLE))
    found.append(next(lines))
    with pytest.raises(OSError, match="gone"):
        next(lines)
    assert found == [(0, b'1 "ab"')]
