"""Whether the process of a session lives, as whoever looked at processes says it."""

from __future__ import annotations

from typing import NamedTuple

REGISTERS_MS = 10_000  # a client writes lines before it registers


class Life(NamedTuple):
    """Whether the process lives (None: nobody knows), what says so, and what the session does."""

    is_alive: bool | None = None
    why: str = ""  # `process 4410 lives`
    is_sure: bool = True  # False: no process was found that could be it
    state: str | None = None  # as the board says it; None: nobody looked
    evidence: tuple[str, ...] = ()
    since_ms: int | None = None
    began_ms: int | None = None  # when the process did, at the latest
    word: str | None = None  # on what verdicts of open calls rest: `alive`, `gone`, `fresh`, `silent`

    def at_call(self, called_ms: int) -> Life:
        """The same for a call: a process that began after it never made it."""
        if self.is_alive and self.began_ms is not None and 0 <= called_ms < self.began_ms - REGISTERS_MS:
            return self._replace(
                is_alive=False, why="it was made before the process that now has the session"
            )
        return self


NOT_LOOKED = Life()
