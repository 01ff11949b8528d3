"""The time of a replay: when something recorded is due again, and the times in lines told anew.

Rules of this room
  1. A recording that is played N times faster also tells of times that pass N times faster: a line's time is the moment
     at which it was due, so nothing in a replayed log lies in the future.
  2. Played at once, everything has just ended: its last line is of now, its pauses are those of the recording.
  3. A time is written over with as many bytes as it had; nothing else in a line changes.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from itertools import pairwise

from tracklog.model.moments import NO_TIME, moment_ms

_TIMESTAMP = re.compile(
    rb'("timestamp":\s?")(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?((?:Z|\+00:00)")'
)  # inside of a text its quotes would be escaped
_YEAR_10000 = 253_402_300_800_000


class Pace:
    """From moments of a recording to those of its replay, in milliseconds since 1970.

    `moments` are those at which something happened; where nothing did for longer than `longest_pause_ms`, the rest of
    the pause is left out. Without `speed` it all lies in the past, and its end is the start of the replay.
    """

    def __init__(
        self,
        moments: Iterable[int],
        *,
        starts_ms: int,
        speed: float | None = 1.0,
        longest_pause_ms: int | None = None,
    ) -> None:
        known = sorted(set(moments))
        self._first = known[0] if known else starts_ms
        self._pause_ends: list[int] = []
        self._left_out: list[int] = []  # up to the end of each pause, with it
        for before, after in pairwise(known):
            if longest_pause_ms is not None and after - before > longest_pause_ms:
                self._left_out.append(self._left_out_by(before) + after - before - longest_pause_ms)
                self._pause_ends.append(after)
        self._speed = speed or 1.0
        whole = self._elapsed(known[-1]) if known else 0
        self._starts = starts_ms if speed else starts_ms - whole

    def due_ms(self, recorded_ms: int) -> int:
        """When it is due in the replay."""
        return self._starts + round(self._elapsed(recorded_ms) / self._speed)

    def _elapsed(self, moment: int) -> int:
        n = bisect_right(self._pause_ends, moment)
        elapsed = moment - self._left_out_by(moment)
        if n < len(self._pause_ends):  # within a pause that is cut short, time stands still at its end
            elapsed = min(elapsed, self._pause_ends[n] - self._left_out[n])
        return elapsed - self._first

    def _left_out_by(self, moment: int) -> int:
        n = bisect_right(self._pause_ends, moment)
        return self._left_out[n - 1] if n else 0


def with_times(line: bytes, told_ms: Callable[[int], int]) -> bytes:
    """The line with the values of its `timestamp` keys told anew; it keeps its length."""

    def anew(match: re.Match[bytes]) -> bytes:
        key, moment, fraction, end = match.groups()
        recorded = moment_ms(f"{moment.decode()}.{(fraction or b'0').decode()[:3]}Z")
        told = NO_TIME if recorded == NO_TIME else told_ms(recorded)
        return bytes(key + _written(told, fraction) + end) if 0 <= told < _YEAR_10000 else match[0]

    return _TIMESTAMP.sub(anew, line)


def _written(moment: int, fraction: bytes | None) -> bytes:
    """A moment with as many digits behind the second as there were; those below a millisecond stay."""
    text = datetime.fromtimestamp(moment // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S").encode()
    if fraction is None:
        return text
    return text + b"." + (b"%03d" % (moment % 1000) + fraction[3:])[: len(fraction)]
