"""Watch the limits of a child (time, silence, money), and end it step by step.

Rules
  1. Limits are checked between two lines of the client, at least every quarter of a second.
  2. Money is counted from the log, subagents included. No limit can be kept for a model without a price.
  3. First the client is interrupted, so that it writes down what it has; then it gets SIGTERM; then all of it is killed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from tracklog.model.run_request import Limits

if TYPE_CHECKING:
    from tracklog.run.log_facts import RunUsage


Stopped = Literal["timeout", "budget", "cancelled"]


class StopReason(NamedTuple):
    """Why we ended a run."""

    by: Stopped
    words: str


_COUNT_S = 0.5  # least time between two counts of the money
_SHARE = 10  # and at least this many times the duration of the last count
_WRITTEN_S = 0.4  # the log gets what the client printed a moment later
_IN_VAIN_S = 3.0  # after the kill, for the end to be reported
LINGER_S = 30.0  # for a client that printed its result and does not end


class LimitWatch:
    """Finds when a limit is passed."""

    def __init__(
        self, limits: Limits, *, spent: Callable[[], RunUsage | None], grown_ms: Callable[[], int]
    ) -> None:
        self._limits = limits
        self._spent = spent
        self._grown_ms = grown_ms  # when a log of the child last grew, in ms since 1970
        self._began = self._last_sign = time.monotonic()
        self._count_at = self._began
        self._has_news = False

    def sign(self) -> None:
        """Note that the client printed something."""
        self._last_sign = time.monotonic()
        self._has_news = True

    def passed(self) -> StopReason | None:
        """The limit that is passed, if any."""
        now, limits = time.monotonic(), self._limits
        if limits.timeout_s is not None and now - self._began >= limits.timeout_s:
            return StopReason("timeout", f"not done after {limits.timeout_s:g} s")
        if limits.idle_s is not None and self._silent_s(now) >= limits.idle_s:
            return StopReason("timeout", f"no sign of life for {limits.idle_s:g} s")
        return self._too_dear(now)

    def _silent_s(self, now: float) -> float:
        """How long the client was silent; looks at the logs only if that matters."""
        silent_s = now - self._last_sign
        if self._limits.idle_s is not None and silent_s >= self._limits.idle_s:
            grown_s = time.time() - self._grown_ms() / 1000
            if 0 <= grown_s < silent_s:
                self._last_sign = now - grown_s
                return grown_s
        return silent_s

    def _too_dear(self, now: float) -> StopReason | None:
        most = self._limits.max_cost_micro_usd
        if most is None or not self._has_news or now < self._count_at:
            return None
        self._has_news = now < self._last_sign + _WRITTEN_S  # then another count is worth it
        spent = self._spent()
        took_s = time.monotonic() - now
        self._count_at = now + max(_COUNT_S, took_s * _SHARE)
        if spent is None:
            return None
        if spent.total.unpriced_requests:
            models = ", ".join(model for model, row in spent.by_model.items() if row.unpriced_requests)
            return StopReason(
                "budget", f"{models or 'its model'} has no price, so that no limit of cost can be kept"
            )
        if spent.cost_micro_usd > most:
            return StopReason(
                "budget", f"it has cost ${spent.cost_micro_usd / 1e6:.4f}, more than ${most / 1e6:g}"
            )
        return None


class Endable(Protocol):
    """A client that can be ended."""

    def interrupt(self) -> None: ...
    def terminate(self) -> None: ...
    def kill(self) -> None: ...


class GentleEnd:
    """Ends a client, one step after the other."""

    def __init__(self, client: Endable, grace_s: float) -> None:
        self._steps = [client.interrupt, client.terminate, client.kill]
        self._grace_s = grace_s
        self._next_at: float | None = None

    @property
    def is_in_vain(self) -> bool:
        """Whether the last step was taken long ago."""
        return (
            self._next_at is not None and not self._steps and time.monotonic() >= self._next_at + _IN_VAIN_S
        )

    @property
    def has_begun(self) -> bool:
        """Whether the first step was taken."""
        return self._next_at is not None

    def begin(self) -> None:
        """Take the first step."""
        self._next_at = 0.0
        self.tick()

    def hurry(self) -> None:
        """Take the last step at once."""
        del self._steps[:-1]
        self.begin()

    def tick(self) -> None:
        """Take the next step when it is due."""
        now = time.monotonic()
        if self._next_at is not None and now >= self._next_at and self._steps:
            self._steps.pop(0)()
            self._next_at = now + self._grace_s
