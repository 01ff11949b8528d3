"""How busy a session was in the last hour, as a small picture with words beside it."""

from __future__ import annotations

from typing import NamedTuple

from tracklog.pipeline.board_activity import SHOWN, Minutes

HEIGHT = 18
PITCH = 2  # units per minute
_FULL = 12  # lines in a minute that fill the picture, unless there were more
_LATELY = 10


class Spark(NamedTuple):
    """A picture: bars as one path, and what it says."""

    path: str
    unknown: int  # units at the left of which nothing is known
    width: int
    height: int
    words: str


def spark(minutes: Minutes, now_ms: int) -> Spark | None:
    """Lines per minute; None if nothing happened, or nothing is known."""
    lines = minutes.last(now_ms)
    known = [n for n in lines if n is not None]
    if not any(known):
        return None
    full = max(_FULL, *known)
    bars = [_bar(at, n / full) for at, n in enumerate(lines) if n]
    lately, hour = sum(known[-_LATELY:]), sum(known)
    span = f"{len(known)} minutes" if len(known) < SHOWN else "hour"
    words = f"{hour:,} lines in the last {span}, {lately:,} in the last {_LATELY} minutes"
    return Spark("".join(bars), (SHOWN - len(known)) * PITCH, SHOWN * PITCH, HEIGHT, words)


def _bar(at: int, share: float) -> str:
    """A bar whose height grows with the root: one line is seen beside thirty."""
    height = max(2, round(HEIGHT * share**0.5))
    return f"M{at * PITCH} {HEIGHT}v-{height}h1v{height}z"
