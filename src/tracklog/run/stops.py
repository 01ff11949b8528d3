"""That we ended a run, and why."""

from __future__ import annotations

from typing import Literal, NamedTuple

Stopped = Literal["timeout", "budget", "cancelled"]


class Stop(NamedTuple):
    """That we ended a run, and why."""

    by: Stopped
    words: str
