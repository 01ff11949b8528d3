"""Whether the process of a session lives, as whoever looked at processes says it."""

from __future__ import annotations

from typing import NamedTuple


class Life(NamedTuple):
    """Whether the process lives (None: nobody knows), what says so, and what the session does."""

    is_alive: bool | None = None
    why: str = ""  # `process 4410 lives`
    is_sure: bool = True  # False: no process was found that could be it
    state: str | None = None  # as the board says it; None: nobody looked
    evidence: tuple[str, ...] = ()
    since_ms: int | None = None
    word: str | None = None  # on what verdicts of open calls rest: `alive`, `gone`, `fresh`, `silent`


NOT_LOOKED = Life()
