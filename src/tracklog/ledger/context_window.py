"""Model the prompt of a thread: when each part entered, its size, and the cost of reading it again.

The API says how large each prompt was, not what it was made of. Two prompts of one line differ by the answer between
them and by what came in since: so the growth is the measured size of what came in, shared by bytes.

Rules
  1. The parts of a prompt add up to the prompt, to the token; what they cost adds up to what the prompt cost.
  2. A prompt is cached from its beginning: first what was read from the cache, then what was written to it (for an
     hour before for five minutes: the API asks for this order), then what was neither. A part is charged by its position.
  3. If growth shows nothing, the size of a part is estimated from its bytes and marked as an estimate.
  4. A request costs as much work as parts changed their place in the cache, not as there are parts.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise

import msgspec

from tracklog.model.usage import Tokens

_LEAST_BYTES = 2  # of text in a token: hex digits, the densest text there is
_USUAL_BYTES = 4
_MOST_BYTES = (
    8  # growth below this says that something else left the prompt at the same time: older thoughts, mostly
)


class PromptRates(msgspec.Struct, frozen=True):
    """Cost of a token of a prompt in one request, in pico-dollars."""

    input: int
    cache_read: int
    cache_write_5m: int
    cache_write_1h: int


class PricedUsage(msgspec.Struct, frozen=True):
    """Usage of a request, and its prices; without any it is measured, but costs nothing here."""

    tokens: Tokens
    is_final: bool = True
    rates: PromptRates | None = None


@dataclass(slots=True, eq=False)
class Load:
    """Something that prompts were made of, and what that came to."""

    n_bytes: int = 0
    tokens: int = 0  # when it came in
    is_measured: bool = False
    n_reads: int = 0
    n_unpriced_reads: int = 0
    read_tokens: int = 0
    first_pico_usd: int = 0
    again_pico_usd: int = 0  # of all reads but the first

    def read(self, tokens: int, pico_usd: int, *, is_priced: bool) -> None:
        """Another request read it."""
        if self.n_reads:
            self.again_pico_usd += pico_usd
        else:
            self.first_pico_usd = pico_usd
        self.n_reads += 1
        self.n_unpriced_reads += not is_priced
        self.read_tokens += tokens


@dataclass(slots=True)
class _Reads:
    """How often the cached beginning was read, and the cost of a token of it in sum."""

    n: int = 0
    n_unpriced: int = 0
    pico_usd: int = 0


@dataclass(slots=True)
class _Part:
    load: Load
    tokens: int
    since: _Reads = field(
        default_factory=_Reads
    )  # while it is in the cached beginning: the reads before that


class PromptWindow:
    """The prompt of one line of work, as it grows from request to request."""

    def __init__(self, beginning: Load, unseen: Load) -> None:
        self._beginning = beginning  # what no log holds: instructions and tools
        self._unseen = unseen  # growth that nothing in the log explains
        self._parts: list[_Part] = [_Part(beginning, 0)]
        self._ends: list[int] = [0]  # where each part ends
        self._n_cached = 0  # parts whose reads are only counted in `_reads`
        self._reads = _Reads()
        self._fresh: list[Load] = []  # came in since the last request
        self._last: PricedUsage | None = None
        self._reply: Load | None = None

    def enter(self, load: Load) -> None:
        """Add a part that entered the thread; the next request reads it."""
        self._fresh.append(load)

    def ask(self, spent: PricedUsage | None, reply: Load) -> None:
        """Add a request that was answered by `reply`; `spent` is None if its usage is unknown."""
        if spent is None or not spent.tokens.prompt:
            self._fresh.append(reply)
            return
        n_old = len(self._parts)
        self._grow(spent.tokens.prompt)
        self._charge(spent, n_old)
        self._last, self._reply = spent, reply

    def compact(self, is_kept: Callable[[Load], bool]) -> None:
        """Apply a compaction: only the parts that it kept are sent from now on."""
        self.settle()
        reply = [self._reply] if self._reply is not None else []
        self._fresh = [load for load in (*reply, *self._fresh) if is_kept(load)]
        kept = [part for part in self._parts[1:] if is_kept(part.load)]
        self._parts = [_Part(self._beginning, 0), *kept]
        self._ends = _ends_of(self._parts)
        self._last = self._reply = None

    def branch(self) -> PromptWindow:
        """An independent copy."""
        self.settle()
        other = PromptWindow(self._beginning, self._unseen)
        other._parts = [replace(part) for part in self._parts]
        other._ends, other._fresh = list(self._ends), list(self._fresh)
        other._last, other._reply = self._last, self._reply
        return other

    def settle(self) -> None:
        """Write the cost so far into all loads."""
        self._leave_cache(0)

    def _grow(self, prompt: int) -> None:
        """Size everything that entered, so that all parts together are the prompt."""
        fresh, self._fresh = self._fresh, []
        if self._last is None:
            self._add(fresh, [guess(load) for load in fresh])
        else:
            self._add_growth(self._last, fresh, prompt - self._last.tokens.prompt)
        if self._ends[-1] != prompt:
            self._fit(prompt)

    def _add_growth(self, last: PricedUsage, fresh: list[Load], growth: int) -> None:
        reply = self._reply or Load()
        said, sizes, is_measured = _sizes(last, reply, fresh, growth)
        self._add([reply, *fresh], [said, *sizes], is_measured=is_measured)
        unexplained = growth - said - sum(sizes)
        if unexplained > 0:
            self._add([self._unseen], [unexplained])

    def _add(self, loads: Sequence[Load], sizes: Iterable[int], *, is_measured: bool = False) -> None:
        for load, tokens in zip(loads, sizes, strict=True):
            load.tokens = tokens
            load.is_measured = is_measured
            self._parts.append(_Part(load, tokens))
            self._ends.append(self._ends[-1] + tokens)

    def _fit(self, prompt: int) -> None:
        """The beginning is what is left of a first prompt. Later, a prompt that shrank takes from all parts alike."""
        self.settle()
        beginning, *others = self._parts
        if self._last is None:
            beginning.tokens = max(prompt - sum(part.tokens for part in others), 0)
            beginning.load.tokens = max(beginning.load.tokens, beginning.tokens)
        beginning.tokens = min(beginning.tokens, prompt)
        sizes = [part.tokens for part in others]
        for part, tokens in zip(
            others, shared(min(prompt - beginning.tokens, sum(sizes)), sizes), strict=True
        ):
            part.tokens = tokens
            if not part.load.n_reads:
                part.load.tokens = tokens
        self._ends = _ends_of(self._parts)

    def _charge(self, spent: PricedUsage, n_old: int) -> None:
        """Charge the parts of a prompt: those read from the cache as a whole by a counter, the others one by one."""
        n_cached = min(bisect_right(self._ends, spent.tokens.cache_read), n_old if self._reads_before else 0)
        self._leave_cache(n_cached)
        for part in self._parts[self._n_cached : n_cached]:
            part.since = replace(self._reads)
        self._n_cached = n_cached
        self._reads.n += 1
        self._reads.n_unpriced += spent.rates is None
        self._reads.pico_usd += spent.rates.cache_read if spent.rates else 0
        zones = _zones(spent)
        start = self._ends[n_cached - 1] if n_cached else 0
        for part in self._parts[n_cached:]:
            cost = _cost(zones, start, start + part.tokens)
            part.load.read(part.tokens, cost, is_priced=spent.rates is not None)
            start += part.tokens

    @property
    def _reads_before(self) -> bool:
        return self._parts[0].load.n_reads > 0

    def _leave_cache(self, n_left: int) -> None:
        """Charge the parts behind the first few with their reads, and with being sent again."""
        for part in self._parts[n_left : self._n_cached]:
            n = self._reads.n - part.since.n
            part.load.n_reads += n
            part.load.n_unpriced_reads += self._reads.n_unpriced - part.since.n_unpriced
            part.load.read_tokens += part.tokens * n
            part.load.again_pico_usd += part.tokens * (self._reads.pico_usd - part.since.pico_usd)
        self._n_cached = min(self._n_cached, n_left)


def guess(load: Load) -> int:
    """Estimate the tokens of so many bytes."""
    return -(-load.n_bytes // _USUAL_BYTES)


def _sizes(last: PricedUsage, reply: Load, fresh: Sequence[Load], growth: int) -> tuple[int, list[int], bool]:
    """The size of the last answer and of all that came in behind it, and whether it is measured."""
    weights = [load.n_bytes for load in fresh]
    room = growth - last.tokens.output
    if last.is_final and _is_likely(room, sum(weights)):
        return last.tokens.output, _shares_of_growth(room, weights), True
    if not last.is_final and _is_likely(growth, reply.n_bytes + sum(weights)):
        said, *sizes = _shares_of_growth(
            growth, [reply.n_bytes, *weights]
        )  # how long the answer was is not known
        return said, sizes, False
    guesses = [guess(load) for load in fresh]
    sizes = shared(min(growth, sum(guesses)), guesses) if growth > 0 else guesses
    return max(growth - sum(sizes), 0), sizes, False


def _is_likely(tokens: int, n_bytes: int) -> bool:
    return tokens > 0 and n_bytes <= tokens * _MOST_BYTES


def _shares_of_growth(tokens: int, weights: Sequence[int]) -> list[int]:
    return shared(min(tokens, sum(weights) // _LEAST_BYTES), weights)


def shared(total: int, weights: Sequence[int]) -> list[int]:
    """A whole number, divided by weights into whole numbers that add up to it; nothing, if nothing has a weight."""
    whole = sum(weights)
    if not whole:
        return [0] * len(weights)
    steps = [0, *(total * so_far // whole for so_far in accumulate(weights))]
    return [after - before for before, after in pairwise(steps)]


def _ends_of(parts: Iterable[_Part]) -> list[int]:
    return list(accumulate(part.tokens for part in parts))


def _zones(spent: PricedUsage) -> list[tuple[int, int]]:
    """Where each part of a prompt ends that had its own price, and that price."""
    tokens, rates = spent.tokens, spent.rates or PromptRates(0, 0, 0, 0)
    for_an_hour = min(tokens.cache_write_1h, tokens.cache_write)
    written = tokens.cache_read + tokens.cache_write
    return [
        (tokens.cache_read, rates.cache_read),
        (tokens.cache_read + for_an_hour, rates.cache_write_1h),
        (written, rates.cache_write_5m),
        (tokens.prompt, rates.input),
    ]


def _cost(zones: Sequence[tuple[int, int]], start: int, end: int) -> int:
    cost = 0
    for zone_end, rate in zones:
        inside = min(end, zone_end) - start
        if inside > 0:
            cost += inside * rate
            start += inside
    return cost
