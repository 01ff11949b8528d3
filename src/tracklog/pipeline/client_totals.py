"""The totals that late clients of Claude Code write into a log at the end of each of their processes (`cost-state`).

Rules of this room
  1. They are cumulative over processes: the last one counts. A process that was killed wrote none, so what it did is in
     no totals; how long the others lived tells when it worked.
  2. A fork, and what an earlier client did, is not told apart here: `model.hidden` does.
"""

from __future__ import annotations

from tracklog.model.ledger import Totals
from tracklog.model.moments import NO_TIME, moment_ms
from tracklog.pipeline.claude_figures import pico, sum_of
from tracklog.records.claude_code import spending
from tracklog.records.claude_code.spending import CostState

LOOKED_AT = 1 << 15  # bytes before the totals in which a time is looked for
_STAMP = b'"timestamp":"'


class RunningTotals:
    """Follows the totals of one log."""

    def __init__(self) -> None:
        self._last: tuple[int, CostState] | None = None
        self._apart: list[tuple[int, int]] = []
        self._ended = 0  # when the last process did that wrote totals
        self._lived = 0.0  # how long all of them did

    def see(self, offset: int, raw: bytes, *, end: int) -> None:
        """Takes in a line with totals; `end` is the last time that stands before it."""
        state = spending.read_cost_state(raw)
        if state is None:
            return
        self._last = (offset, state)
        if end == NO_TIME or state.total_duration is None:
            return
        began = end - int(min(max(state.total_duration - self._lived, 0), end))
        if began > self._ended:
            self._apart.append((self._ended, began))
        self._ended, self._lived = end, state.total_duration

    def last(self) -> Totals | None:
        """The totals as they last stood, and the times of which they tell nothing."""
        if self._last is None:
            return None
        offset, state = self._last
        models: dict[str, tuple[tuple[int, ...], int | None]] = {}
        for name, used in (state.model_usage or {}).items():
            figures = (
                used.input_tokens,
                used.output_tokens,
                used.thinking_tokens,
                used.cache_creation_input_tokens,
                used.cache_creation_ephemeral_5m_input_tokens,
                used.cache_creation_ephemeral_1h_input_tokens,
                used.cache_read_input_tokens,
                used.web_search_requests,
            )
            models[name] = (tuple(map(sum_of, figures)), pico(used.cost_usd))
        return Totals(offset, pico(state.total_cost_usd), models, self._apart)


def last_time_in(head: bytes) -> int:
    """The last time that stands in some bytes of a log."""
    at = head.rfind(_STAMP)
    text = head[at + len(_STAMP) : at + 64].partition(b'"')[0] if at >= 0 else b""
    return moment_ms(text.decode(errors="replace"))
