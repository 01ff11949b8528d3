"""Chance, ids and time for made logs.

Rules of this room
  1. One seed, one stream: only `random()` and `getrandbits()` are drawn, whose streams are the same in every Python,
     and no logarithms or powers, whose last bit differs between machines.
  2. Every session has dice of its own, so a change in one story leaves the others alone.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from datetime import date, timedelta
from functools import cache
from random import Random
from typing import TypeVar

T = TypeVar("T")

_ALNUM_ONLY = str.maketrans("+/", "Zz")
_START_MS = 1_754_291_100_000  # a Monday morning in August 2025
_DAY_MS = 86_400_000


class Dice:
    """A seeded source of numbers, picks and ids."""

    def __init__(self, seed: str) -> None:
        self._random = Random(seed)
        self._draw = self._random.random  # looked up once: it is called for every pick

    def chance(self, share: float) -> bool:
        return self._draw() < share

    def between(self, least: int, most: int) -> int:
        return least + int(self._draw() * (most - least + 1))

    def tailed(self, least: int, most: int) -> int:
        """Mostly near `least`, now and then near `most`: half the draws are below twice the least."""
        return min(most, int(least / (1.0 - self._draw())))

    def pick(self, options: Sequence[T]) -> T:
        return options[int(self._draw() * len(options))]

    def picks(self, options: Sequence[T], count: int) -> list[T]:
        draw, size = self._draw, len(options)
        return [options[int(draw() * size)] for _ in range(count)]

    def weighted(self, options: Sequence[T], weights: Sequence[int]) -> T:
        return self._random.choices(options, weights)[0]

    def hex(self, digits: int) -> str:
        return f"{self._random.getrandbits(4 * digits):0{digits}x}"

    def alnum(self, length: int) -> str:
        return self.base64(length)[:length].translate(_ALNUM_ONLY)

    def uuid4(self) -> str:
        h = self.hex(32)
        return f"{h[:8]}-{h[8:12]}-4{h[13:16]}-{'89ab'[int(h[16], 16) & 3]}{h[17:20]}-{h[20:]}"

    def uuid7(self, at: Clock) -> str:
        """Time-ordered, as Codex names threads and turns."""
        h = self.hex(20)
        stamp = f"{at.epoch_ms:012x}"
        return f"{stamp[:8]}-{stamp[8:]}-7{h[1:4]}-{'89ab'[int(h[4], 16) & 3]}{h[5:8]}-{h[8:]}"

    def base64(self, n_bytes: int) -> str:
        """Bytes that do not compress, as signatures, ciphertext and pictures are."""
        return b64encode(self._random.randbytes(n_bytes)).decode("ascii")


class Clock:
    """A session's time: it only goes forward."""

    def __init__(self, dice: Dice, *, day: int) -> None:
        self._dice = dice
        self.epoch_ms = _START_MS + day * _DAY_MS + dice.between(0, _DAY_MS // 2)

    def stamp(self) -> str:
        days, ms = divmod(self.epoch_ms, _DAY_MS)
        seconds, ms = divmod(ms, 1_000)
        return f"{_date(days)}T{seconds // 3_600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{ms:03}Z"

    def tick(self, least_ms: int = 3, most_ms: int = 900) -> str:
        """Lets some time pass and says what time it is."""
        self.epoch_ms += self._dice.between(least_ms, most_ms)
        return self.stamp()


@cache
def _date(days: int) -> str:
    return (date(1970, 1, 1) + timedelta(days)).isoformat()
