"""Words for numbers, sizes and paths, in the sentences that use cases and views write.

Text from a log, a file name or an argument is not made safe here: that is up to what prints it.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from tracklog.home import StrPath, tilde

_UNITS = ("bytes", "kB", "MB", "GB", "TB")


def for_the_shell(path: StrPath) -> str:
    """The path quoted for the shell."""
    text = tilde(path)
    return f"~/{shlex.quote(text[2:])}" if text.startswith("~/") else shlex.quote(text)


def roots_for_the_shell(roots: Iterable[StrPath]) -> str:
    """The folders as `--root` options, quoted for the shell."""
    return "".join(f" --root {for_the_shell(root)}" for root in roots)


def size(n_bytes: int) -> str:
    """A number of bytes for people: `532 bytes`, `3.4 MB`."""
    value, step = float(n_bytes), 0
    while value >= 999.95 and step < len(_UNITS) - 1:
        value, step = value / 1000, step + 1
    return f"{value:.1f} {_UNITS[step]}" if step else f"{n_bytes} bytes"


def count(n: int, noun: str) -> str:
    """A number with its noun: `1 file`, `2,310 lines`."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def percent(part: int, of: int) -> str:
    """A share, rounded down: 100 % only if nothing is missing, and 0 % only if there is nothing."""
    if part == of or not part:
        return "100 %" if part == of else "0 %"
    hundredths = part * 10_000 // of
    return f"{hundredths / 100:.2f} %" if hundredths else "< 0.01 %"
