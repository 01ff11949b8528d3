"""The longest common lines of two texts, found in bounded time.

Myers' greedy way (An O(ND) Difference Algorithm and Its Variations, 1986): its work grows with the number of
differences, so texts that are alike are quick however long, and those that are not are given up at a bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

MOST_DIFFERENCES = 400

Match = tuple[int, int]  # places in the old and in the new sequence


class DiffStep(NamedTuple):
    """The removed and added ranges before an item that stayed (None at the end)."""

    old_from: int
    old_to: int
    new_from: int
    new_to: int
    same: int | None


def matches(old: Sequence[str], new: Sequence[str], most_differences: int) -> list[Match]:
    """Pairs of equal items, in order; only those at both ends if too much differs."""
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    inner = _myers(old[head : len(old) - tail], new[head : len(new) - tail], most_differences)
    return [
        *((n, n) for n in range(head)),
        *((head + one, head + other) for one, other in inner),
        *((len(old) - n, len(new) - n) for n in range(tail, 0, -1)),
    ]


def steps(matched: Sequence[Match], n_old: int, n_new: int) -> Iterator[DiffStep]:
    """The steps from the old sequence to the new one."""
    old, new = 0, 0
    for one, other in matched:
        yield DiffStep(old, one, new, other, one)
        old, new = one + 1, other + 1
    yield DiffStep(old, n_old, new, n_new, None)


def _common(old: Sequence[str], new: Sequence[str]) -> int:
    return next(
        (n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new))
    )


def _myers(old: Sequence[str], new: Sequence[str], most: int) -> list[Match]:
    if not old or not new:
        return []
    furthest, rounds = {1: 0}, []
    for n_differences in range(min(most, len(old) + len(new)) + 1):
        rounds.append(dict(furthest))
        for diagonal in range(-n_differences, n_differences + 1, 2):
            x, _ = _start(furthest, diagonal, n_differences)
            while x < len(old) and x - diagonal < len(new) and old[x] == new[x - diagonal]:
                x += 1
            furthest[diagonal] = x
            if x == len(old) and x - diagonal == len(new):
                return _walked_back(rounds, len(old), len(new))
    return []


def _start(furthest: dict[int, int], diagonal: int, n_differences: int) -> tuple[int, bool]:
    """The furthest start on a diagonal with one more difference, and whether that is an addition, not a removal."""
    down, right = furthest.get(diagonal + 1, -1), furthest.get(diagonal - 1, -1) + 1
    is_down = diagonal == -n_differences or (diagonal != n_differences and right <= down)
    return (down, True) if is_down else (right, False)


def _walked_back(rounds: Sequence[dict[int, int]], x: int, y: int) -> list[Match]:
    found: list[Match] = []
    for n_differences in range(len(rounds) - 1, -1, -1):
        diagonal = x - y
        start, is_down = _start(rounds[n_differences], diagonal, n_differences)
        found += ((x - n, y - n) for n in range(1, x - start + 1))
        x, y = (start, start - diagonal - 1) if is_down else (start - 1, start - diagonal)
    return found[::-1]
