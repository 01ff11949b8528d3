"""How letters look in a terminal: what its escapes say about colours and weights (ECMA-48, SGR)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

COLOURS = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")

_WEIGHTS = {1: "t-bold", 2: "t-dim", 3: "t-italic", 4: "t-under", 7: "t-inverse", 9: "t-struck"}
_ENDS = {21: {1}, 22: {1, 2}, 23: {3}, 24: {4}, 27: {7}, 29: {9}}
_FAINT = 40  # a colour whose parts differ by less than this is a grey


class Look(NamedTuple):
    """The names of the colours of letters and of what is behind them, and their weights."""

    colour: str = ""
    ground: str = ""
    weights: frozenset[int] = frozenset()

    @property
    def classes(self) -> str:
        """As classes of HTML."""
        names = [f"t-{self.colour}" if self.colour else "", f"t-on-{self.ground}" if self.ground else ""]
        return " ".join(filter(None, [*names, *(_WEIGHTS[one] for one in sorted(self.weights))]))


PLAIN = Look()


def all_classes() -> list[str]:
    """Every class that a look can have."""
    grounds = [f"t-on-{name}" for name in COLOURS]
    return [*(f"t-{name}" for name in COLOURS), *grounds, *_WEIGHTS.values()]


def changed(look: Look, codes: str) -> Look:
    """The look after an escape with these codes; what is no code changes nothing."""
    rest = iter(codes.split(";"))
    for part in rest:
        first, *finer = part.split(":")
        code = int(first) if first else 0
        if code in (38, 48):
            name = _finer(finer) if finer else _colour_ahead(rest)
            look = look._replace(colour=name) if code == 38 else look._replace(ground=name)
        elif code == 4 and finer[:1] == ["0"]:
            look = _without(look, {4})
        else:
            look = _by_code(look, code)
    return look


def _by_code(look: Look, code: int) -> Look:
    if code == 0:
        return PLAIN
    if code in _WEIGHTS:
        return look._replace(weights=look.weights | {code})
    if code in _ENDS:
        return _without(look, _ENDS[code])
    if 30 <= code <= 37 or 90 <= code <= 97:
        return look._replace(colour=COLOURS[code % 10])
    if 40 <= code <= 47 or 100 <= code <= 107:
        return look._replace(ground=COLOURS[code % 10])
    return look._replace(colour="") if code == 39 else look._replace(ground="") if code == 49 else look


def _without(look: Look, weights: set[int]) -> Look:
    return look._replace(weights=look.weights - weights)


def _colour_ahead(rest: Iterator[str]) -> str:
    """`5;n` or `2;r;g;b`, which come behind the code for a colour of its own."""
    way = next(rest, "")
    return _named([way, *(next(rest, "") for _ in range({"5": 1, "2": 3}.get(way, 0)))])


def _finer(parts: list[str]) -> str:
    """`5:n`, `2:r:g:b` or `2::r:g:b`."""
    return _named([parts[0], *parts[-3:]] if parts[0] == "2" else parts)


def _named(parts: list[str]) -> str:
    numbers = [int(part) if part.isdecimal() else 0 for part in parts]
    if numbers[0] == 5 and len(numbers) > 1:
        return _of_table(numbers[1])
    return _nearest(*numbers[1:4]) if numbers[0] == 2 and len(numbers) >= 4 else ""


def _of_table(n: int) -> str:
    if n < 16:
        return COLOURS[n % 8]
    if n >= 232:
        return ""  # greys: the colour of text
    cube = n - 16
    return _nearest(*(part * 51 for part in (cube // 36, cube // 6 % 6, cube % 6)))


def _nearest(red: int, green: int, blue: int) -> str:
    """The name of the colour that is most like it; none for greys."""
    parts = (red, green, blue)
    if max(parts) - min(parts) < _FAINT:
        return ""
    middle = (max(parts) + min(parts)) / 2
    return COLOURS[sum(bit for bit, part in zip((1, 2, 4), parts, strict=True) if part > middle)]
