"""Windows hold every byte once, and enough around it; their borders hide nothing."""

from __future__ import annotations

import base64
import random
from collections.abc import Iterator

import pytest

from tracklog.secrets.find import BEFORE, WINDOW, ScanWindow, windows
from tracklog.secrets.key_blocks import LONGEST_BLOCK


def pieces(data: bytes, size: int) -> Iterator[bytes]:
    return (data[at : at + size] for at in range(0, len(data), size))


def plain(n: int) -> bytes:
    return random.Random(n).randbytes(n).replace(b"\n{", b"..")


def own(window: ScanWindow) -> bytes:
    return window.data[window.begin : window.end]


LINES = b"".join(b'{"a":"%d"}\n' % n for n in range(200_000))


@pytest.mark.parametrize(
    "data", [b"", b"short", plain(WINDOW), plain(3 * WINDOW + 17), LINES, b"\n{" * WINDOW]
)
@pytest.mark.parametrize("size", [4096, WINDOW, 5 * WINDOW])
def test_every_byte_belongs_to_one_window(data: bytes, size: int) -> None:
    found = list(windows(pieces(data, size)))
    assert b"".join(map(own, found)) == data
    assert all(len(window.data) <= WINDOW for window in found[:-1])
    assert len(found[-1].data) < WINDOW


def test_lines_of_json_are_cut_between_two_of_them() -> None:
    for window in windows([LINES]):
        assert (window.begin, window.end) == (0, len(window.data))
        assert (window.data[:1], window.data[-1:]) == (b"{", b"\n")


def test_other_bytes_are_seen_with_what_stands_before_and_behind() -> None:
    data = plain(4 * WINDOW)
    first, *middle, _ = windows([data])
    for window in (first, *middle):
        assert len(window.data) - window.end > LONGEST_BLOCK
    assert all(BEFORE <= window.begin < BEFORE + 4 for window in middle)


@pytest.mark.parametrize("before", [b"", b".", b"..", b"...", b"....", b"a line\\n"])
def test_a_run_of_base64_goes_on_with_a_whole_group(before: bytes) -> None:
    text = b"".join(b"line %d of a long text. " % n for n in range(200_000))
    data = (
        before + b"=" + base64.b64encode(text)
        if not before.endswith(b"n")
        else before + base64.b64encode(text)
    )
    found = list(windows(pieces(data, 100_000)))
    assert len(found) > 4
    for window in found[1:]:
        assert base64.b64decode(window.data[:4096].rstrip(b"=")) in text


def test_the_first_bytes_may_be_only_for_seeing() -> None:
    (window,) = windows([b"seen before, own"], before=5)
    assert own(window) == b"before, own"
