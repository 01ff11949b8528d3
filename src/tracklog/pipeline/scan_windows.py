r"""Cuts a stream into windows that can be searched one by one, so that nothing at a border is missed.

Rules of this room
  1. Each byte belongs to one window. What begins there is that window's to find; it sees enough behind its end to find it
     whole, and enough before its beginning to know what it is.
  2. A line of JSON stands for itself: where one begins, neither is needed.
  3. A run of base64 that is cut goes on in the next window with a whole group of its letters: else it could not be read.
  4. Memory is bounded by WINDOW, whatever the lines are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tracklog.model.secret_blocks import LONGEST_BLOCK

WINDOW = 1 << 20
BEFORE = 1 << 12  # bytes before its own that a window sees
_BEHIND = LONGEST_BLOCK + (1 << 13)  # and behind them
_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-"
_GROUP = 4  # letters of base64


class Window(NamedTuple):
    """Some bytes, and which of them are its own."""

    data: bytes
    begin: int
    end: int


def windows(chunks: Iterable[bytes], *, before: int = 0) -> Iterator[Window]:
    """The windows of a stream, in order; its first `before` bytes are only to be seen."""
    cutting = _Cutting(before)
    for chunk in chunks:
        cutting.held += chunk
        while len(cutting.held) >= WINDOW:
            yield cutting.next()
    yield Window(bytes(cutting.held), cutting.begin, len(cutting.held))


class _Cutting:
    def __init__(self, begin: int) -> None:
        self.held = bytearray()
        self.begin = begin
        self._run = 0  # where the run of base64 began that `held` begins with; it may have been before

    def next(self) -> Window:
        data = bytes(self.held[:WINDOW])
        line = data.rfind(b"\n{", WINDOW // 2) + 1
        if line > self.begin:
            window = Window(data[:line], self.begin, line)
            self._go_on(data, line, line)
        else:
            end = WINDOW - _BEHIND
            window = Window(data, self.begin, end)
            self._go_on(data, self._whole_group(data, end - BEFORE), end)
        return window

    def _go_on(self, data: bytes, at: int, begin: int) -> None:
        self._run = self._start_of_run(data, at) - at
        del self.held[:at]
        self.begin = begin - at

    def _whole_group(self, data: bytes, at: int) -> int:
        return at - (at - self._start_of_run(data, at)) % _GROUP

    def _start_of_run(self, data: bytes, at: int) -> int:
        """Where the run began in whose midst `at` stands; the letter of an escape is not part of it."""
        start = len(data[:at].rstrip(_LETTERS))
        if start == 0:
            return self._run
        return start + (start < at and data[start - 1 : start] == b"\\")
