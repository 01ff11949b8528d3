"""Tokens, as all agents' counts are put: each field means the same for everybody.

`input` is uncached input alone. `output` is all billed output; `reasoning` is a part of it. `cache_write` is all that was
written to the cache; its two parts need not add up to it, because some APIs do not say how long a write is kept.
"""

import msgspec


class Tokens(msgspec.Struct, frozen=True, gc=False):
    """What a request, or many of them, used."""

    input: int = 0
    output: int = 0
    reasoning: int = 0
    cache_write: int = 0
    cache_write_5m: int = 0
    cache_write_1h: int = 0
    cache_read: int = 0
    web_searches: int = 0

    @property
    def prompt(self) -> int:
        """The size of what was sent: prices may depend on it."""
        return self.input + self.cache_write + self.cache_read


class Terms(msgspec.Struct, frozen=True, gc=False):
    """The conditions of a request that its price depends on, in the words of the log."""

    service_tier: str | None = None  # standard, batch, priority
    speed: str | None = None  # standard, fast
    geo: str | None = None  # where it was computed: us costs more


STANDARD = Terms()
