"""Five-hour blocks, as the plans of some agents count them, and how fast the running one burns.

Rules
  1. A block begins at the full hour (UTC) in which its first request was made, and lasts five hours.
  2. The first request behind its end begins the next one. Five silent hours always lie behind an end, so silence needs
     no rule of its own; hours without a request belong to no block.
  3. A rate is measured from the first request until now: a silence inside a block makes it smaller.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from tracklog.agents.supported import SUPPORTED
from tracklog.model.usage import UsageRow

_HOUR_MS = 3_600_000
_MINUTE_MS = 60_000
BLOCK_MS = 5 * _HOUR_MS
_LEAST_MS = _MINUTE_MS  # below a minute a rate says nothing
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Burn(NamedTuple):
    """How fast a block is used up, and its projected total."""

    ends_at: datetime
    left_ms: int
    tokens_per_minute: int
    cost_pico_usd_per_hour: int
    projected_tokens: int
    projected_cost_pico_usd: int


def agents_in_blocks() -> list[str]:
    """The agents whose plans count in blocks, each for itself."""
    return [name for name, agent in SUPPORTED.items() if agent.usage.counts_in_blocks]


def block_starts(times_ms: Sequence[int]) -> list[int]:
    """The start of the block of each request; the times are in order."""
    starts: list[int] = []
    start = None
    for time_ms in times_ms:
        if start is None or time_ms >= start + BLOCK_MS:
            start = time_ms - time_ms % _HOUR_MS
        starts.append(start)
    return starts


def block_end(start: datetime) -> datetime:
    """The end of a block, whether it is used up or not."""
    return start + timedelta(milliseconds=BLOCK_MS)


def burn(row: UsageRow, now: datetime) -> Burn | None:
    """How fast the block of this row burns; None if it is not running. Its key, or else its first request, dates it."""
    first = _moment(row.first_at)
    start = _moment(row.key) or (first and first.replace(minute=0, second=0, microsecond=0))
    if start is None or not start <= now < block_end(start):
        return None
    left_ms = _ms(block_end(start)) - _ms(now)
    elapsed_ms = max(_ms(now) - _ms(first or start), _LEAST_MS)
    n_tokens = row.tokens.prompt + row.tokens.output
    return Burn(
        ends_at=block_end(start),
        left_ms=left_ms,
        tokens_per_minute=n_tokens * _MINUTE_MS // elapsed_ms,
        cost_pico_usd_per_hour=row.cost_pico_usd * _HOUR_MS // elapsed_ms,
        projected_tokens=n_tokens + n_tokens * left_ms // elapsed_ms,
        projected_cost_pico_usd=row.cost_pico_usd + row.cost_pico_usd * left_ms // elapsed_ms,
    )


def _moment(at: str | None) -> datetime | None:
    try:
        moment = datetime.fromisoformat(at or "")
    except ValueError:
        return None
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def _ms(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(milliseconds=1)
