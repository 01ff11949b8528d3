"""The name Claude Code gives the folder of a project: the working directory, made safe.

Rules of this room
  1. Everything is counted in UTF-16 units, as JavaScript does: an emoji is two of them, so it becomes two dashes.
  2. A slug is lossy. There is no way back from it to a directory, and nothing here tries.
(docs/formats/claude_code.md#slug)
"""

from __future__ import annotations

import struct
import unicodedata
from pathlib import Path

from tracklog.sources.listing import list_folder

CUT = 200  # units kept of a long path
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_KEPT = frozenset(map(ord, _DIGITS + _DIGITS[10:].upper()))


def slug(cwd: str) -> str:
    """The folder name for an absolute working directory whose links are already resolved."""
    units = _utf16_units(unicodedata.normalize("NFC", cwd))
    dashed = _dashed(units)
    return dashed if len(dashed) <= CUT else f"{dashed[:CUT]}-{_base36(abs(_hash31(units)))}"


def project_dirs_for(root: Path, cwd: str) -> list[Path]:
    """The existing project folders that may belong to the directory, the exact one first.

    Claude Code built with Bun may hash long paths in another way, so there any tail is accepted.
    """
    exact = slug(cwd)
    projects = root / "projects"
    names = list_folder(projects, may_be_link=True).folders
    fitting = [name for name in names if name == exact or _same_long_path(name, exact)]
    return [projects / name for name in sorted(fitting, key=lambda name: (name != exact, name))]


def _same_long_path(name: str, exact: str) -> bool:
    return len(exact) > CUT and name.startswith(exact[: CUT + 1])


def _utf16_units(text: str) -> tuple[int, ...]:
    encoded = text.encode("utf-16-le", "surrogatepass")
    return struct.unpack(f"<{len(encoded) // 2}H", encoded)


def _dashed(units: tuple[int, ...]) -> str:
    return "".join(chr(unit) if unit in _KEPT else "-" for unit in units)


def _hash31(units: tuple[int, ...]) -> int:
    """JavaScript's `(h << 5) - h + unit | 0`: a signed 32-bit number."""
    total = 0
    for unit in units:
        total = (31 * total + unit) & 0xFFFFFFFF
    return total - (1 << 32) if total >= 1 << 31 else total


def _base36(number: int) -> str:
    digits = ""
    while number or not digits:
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
    return digits
