"""The cutter: only a newline separates, any feeding gives the same lines, nothing is lost."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracklog.sources.lines import HEAD_BYTES, KEPT_BYTES, NUL_RUN, Cutter, Line, cut, whole

SOME_BYTES = st.lists(
    st.sampled_from([b"\n", b"\r", b"\0", b"a", b"\xe2\x80\xa8", b"\x85", b"{}", b"\xff"]), max_size=60
).map(b"".join)


def joined(lines: Iterable[Line]) -> bytes:
    return b"".join(bytes(line.nuls) + line.raw + (b"\n" if line.ended else b"") for line in lines)


def in_pieces(data: bytes, size: int, *, kept_bytes: int = KEPT_BYTES) -> list[Line]:
    cutter = Cutter(kept_bytes=kept_bytes)
    lines = [line for at in range(0, len(data), size) for line in cutter.feed(data[at : at + size])]
    return [*lines, *cutter.end()]


@pytest.mark.parametrize(
    ("data", "raws"),
    [
        (b"", []),
        (b"a", [b"a"]),
        (b"a\n", [b"a"]),
        (b"\n", [b""]),
        (b"a\n\nb", [b"a", b"", b"b"]),
        (b"a\r\nb", [b"a\r", b"b"]),
        ("a\u2028b\u2029c\x85d\n".encode(), ["a\u2028b\u2029c\x85d".encode()]),
        (b"\0\0{}\n", [b"\0\0{}"]),
    ],
)
def test_only_a_newline_separates_lines(data: bytes, raws: list[bytes]) -> None:
    assert [line.raw for line in cut([data])] == raws


def test_a_line_knows_its_number_its_offset_and_whether_it_ended() -> None:
    assert list(cut([b"ab\n\ncd"])) == [
        Line(1, 0, 2, b"ab"),
        Line(2, 3, 0, b""),
        Line(3, 4, 2, b"cd", 0, False),
    ]


@given(SOME_BYTES)
def test_lines_and_their_newlines_are_the_input(data: bytes) -> None:
    assert joined(cut([data])) == data


@given(SOME_BYTES, st.integers(1, 7))
def test_cut_in_pieces_equals_cut_whole(data: bytes, size: int) -> None:
    assert in_pieces(data, size) == list(cut([data]))


@given(SOME_BYTES, st.integers(1, 7), st.integers(1, 6))
def test_lines_over_the_limit_are_the_same_in_pieces(data: bytes, size: int, kept_bytes: int) -> None:
    assert in_pieces(data, size, kept_bytes=kept_bytes) == in_pieces(
        data, len(data) or 1, kept_bytes=kept_bytes
    )


@given(SOME_BYTES, st.integers(0, 60))
def test_cutting_goes_on_where_the_open_line_starts(data: bytes, stop: int) -> None:
    first = Cutter()
    early = list(first.feed(data[:stop]))
    second = Cutter(offset=first.open_since, number=len(early) + 1)
    late = [*second.feed(data[first.open_since :]), *second.end()]
    assert early + late == list(cut([data]))


def test_of_a_line_over_the_limit_only_the_head_is_kept() -> None:
    long = b"x" * (KEPT_BYTES + 1)
    first, second = cut([long[:1000], long[1000:], b"\nnext\n"])
    assert first == Line(1, 0, len(long), long[:HEAD_BYTES])
    assert not first.whole
    assert second == Line(2, len(long) + 1, 4, b"next")


def test_a_line_at_the_limit_is_kept_whole() -> None:
    (line,) = cut([b"x" * KEPT_BYTES])
    assert line.whole
    assert len(line.raw) == KEPT_BYTES


def test_a_long_run_of_nul_bytes_is_counted_and_the_record_behind_it_kept() -> None:
    data = bytes(NUL_RUN + 5) + b'{"a":1}\n'
    assert list(cut([data])) == [Line(1, 0, NUL_RUN + 12, b'{"a":1}', NUL_RUN + 5)]
    assert in_pieces(data, 1000) == list(cut([data]))
    assert joined(cut([data])) == data


def test_nothing_but_a_long_run_of_nul_bytes_is_a_line_without_kept_bytes() -> None:
    (line,) = cut([bytes(NUL_RUN), bytes(NUL_RUN)])
    assert line == Line(1, 0, 2 * NUL_RUN, b"", 2 * NUL_RUN, False)


def test_a_document_is_one_line_with_its_newlines() -> None:
    assert whole([b'{\n"a": ', b"1\n}\n"]) == Line(1, 0, 11, b'{\n"a": 1\n}\n', 0, False)


def test_a_document_over_the_limit_is_kept_by_reference() -> None:
    line = whole([b"x" * KEPT_BYTES, b"y"])
    assert (line.length, len(line.raw), line.whole) == (KEPT_BYTES + 1, HEAD_BYTES, False)
