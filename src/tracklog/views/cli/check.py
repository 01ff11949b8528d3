"""What a check of `tracklog doctor` found."""

from __future__ import annotations

from typing import Literal, NamedTuple


class Check(NamedTuple):
    """One thing that was looked at."""

    name: str
    state: Literal["ok", "warn", "fail"]
    evidence: str
    advice: str = ""
