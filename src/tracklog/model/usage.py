"""Values of the ledger: requests with their tokens, unlogged spending, and the sums over them.

The fields of Tokens mean the same for all agents. `input` is uncached input alone. `output` is all billed output;
`reasoning` is a part of it. `cache_write` is all that was written to the cache; its two parts need not add up to
it, because some APIs do not say how long a write is kept.
"""

from __future__ import annotations

import struct
from typing import Literal, NamedTuple, get_args

import msgspec
from msgspec import field

from tracklog.model.events import Place


class Tokens(msgspec.Struct, frozen=True, gc=False):
    """Tokens of one request, or of many."""

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
Certainty = Literal["final", "partial", "missing"]
CountRule = Literal["ours", "last-chunk", "first-chunk", "every-line", "time-and-usage"]
Group = Literal[
    "daily",
    "weekly",
    "monthly",
    "session",
    "model",
    "project",
    "agent",
    "thread",
    "tool",
    "entrypoint",
    "blocks",
]
COUNT_RULES: tuple[CountRule, ...] = get_args(CountRule)
GROUPS: tuple[Group, ...] = get_args(Group)


class Beside(msgspec.Struct, frozen=True, gc=False):
    """A sampling inside a request that its own figures do not hold: an advisor's, or a compaction's."""

    what: Literal["advisor", "compaction"]
    model: str | None
    tokens: Tokens


class Entry(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One request to an API, from all records of it in all files."""

    key: str  # the message's id, or a name of ours where the log gives none; no other request has it
    id: str  # what its session calls it, where the key says that
    agent: str
    session: str  # that wrote it first
    thread: str
    place: Place  # the record whose figures count
    at: str | None  # when it was first written down
    model: str | None
    tokens: Tokens
    certainty: Certainty
    terms: Terms = STANDARD
    cwd: str | None = None
    entrypoint: str | None = None
    tools: tuple[str, ...] = ()
    beside: tuple[Beside, ...] = ()
    stated_pico_usd: int | None = None  # what the record itself says that it cost
    inherited_by: tuple[str, ...] = ()  # sessions that hold a copy


class Hidden(msgspec.Struct, frozen=True, kw_only=True):
    """Spending that no record of a transcript holds, but that a log reveals."""

    session: str
    agent: str
    what: str
    model: str | None
    tokens: Tokens
    cost_pico_usd: int | None
    place: Place | None = None
    at: str | None = None


class UsageRow(msgspec.Struct, kw_only=True):
    """The sums of a group of requests. Money is in pico-dollars; it is rounded where it is shown."""

    key: str
    requests: int = 0
    tokens: Tokens = field(default_factory=Tokens)
    cost_pico_usd: int = 0  # of those that have a price
    unpriced_requests: int = 0
    partial_requests: int = 0
    missing_requests: int = 0  # seen without usage, and awaited
    awaited_requests: int = 0  # sent, but no line has the answer: these are not among `requests`
    most_output: int = 0  # upper bound of tokens.output
    most_cost_pico_usd: int = 0  # upper bound of cost_pico_usd
    uncached_cost_pico_usd: int = 0  # what the same requests would have cost without a cache
    stated_pico_usd: int = 0  # as the logs say
    stated_requests: int = 0  # of how many requests they say it
    inherited_requests: int = 0  # copies that this session holds of another's requests; counted there
    first_at: str | None = None
    last_at: str | None = None
    models: list[str] = field(default_factory=list)


class UsageReport(msgspec.Struct, kw_only=True):
    """An answer to what was spent."""

    group: Group
    rows: list[UsageRow]
    total: UsageRow
    hidden: list[Hidden] = field(default_factory=list)
    unpriced_models: dict[str, int] = field(default_factory=dict)  # how many requests each made
    untimed_requests: int = 0  # that say no time, and are left out where one was asked for
    uncertain: list[Entry] = field(default_factory=list)  # the partial and missing ones, if asked for


NO_USAGE = -1
LARGEST = 2**31 - 1  # tokens of one request: none comes near, and a row stays small


class Source(NamedTuple):
    """A log, and whose work it holds. Sources are numbered in the order of their paths."""

    path: str
    agent: str
    session: str
    thread: str
    is_main: bool = True


class Sight(NamedTuple):
    """A request as the ledger knows it: the record whose figures count, and the record that was first.

    `model`, `terms`, `thread` and `entrypoint` are numbers in the names of their file's block; 0 is none.
    """

    output: int  # NO_USAGE where no record has any
    at: int  # milliseconds, or NO_TIME
    file: int
    offset: int
    input: int
    cache_write: int
    cache_write_5m: int
    cache_write_1h: int
    cache_read: int
    reasoning: int
    web_searches: int
    model: int
    terms: int
    is_told: bool  # by a mirror in another's log
    first_at: int
    first_file: int
    first_offset: int
    first_is_told: bool
    first_is_copy: bool  # the record says so itself
    first_is_beside: bool  # not in the log of a main thread
    thread: int
    entrypoint: int
    has_ended: bool  # a record has the reason why the model stopped

    @property
    def tokens(self) -> Tokens:
        """What it used; nothing where no record says so."""
        return Tokens(
            self.input,
            max(self.output, 0),
            self.reasoning,
            self.cache_write,
            self.cache_write_5m,
            self.cache_write_1h,
            self.cache_read,
            self.web_searches,
        )


ROW_FORMAT = "<iqiqiiiiiiiii?qiq???ii?"  # a character for each field of a sight
_ROW = struct.Struct(ROW_FORMAT)
pack = _ROW.pack


class Aside(msgspec.Struct, array_like=True):
    """Fields that only few requests have."""

    tools: list[str] = []
    beside: list[tuple[str, str | None, tuple[int, ...]]] = []  # what, model, figures in the order of Tokens
    stated_pico_usd: int | None = None


class Loose(msgspec.Struct, array_like=True):
    """A request whose id may name another one, too."""

    id: str
    marks: list[str]
    row: bytes
    aside: Aside | None = None


class ClientTotals(msgspec.Struct, array_like=True):
    """The client's own sums over a session, as they were last written to a file."""

    offset: int
    cost_pico_usd: int | None
    models: dict[str, tuple[tuple[int, ...], int | None]]  # figures in the order of Tokens, and the cost
    apart: list[tuple[int, int]] = []  # from when till when something worked that is not in them


class Awaited(msgspec.Struct, array_like=True):
    """A turn whose answer has not come, or was cut off before a line of it was written."""

    offset: int
    at: int
    model: int


class UsageBlock(msgspec.Struct, array_like=True):
    """The requests of one file."""

    file: int
    names: list[str] = []
    cwd: str | None = None
    keys: list[bytes] = []
    rows: bytes = b""
    asides: dict[int, Aside] = {}  # by the number of the row
    loose: list[Loose] = []
    totals: ClientTotals | None = None
    awaited: Awaited | None = None
    problem: str | None = None
    is_transient: bool = (
        False  # the problem: then a log says nothing, and this must not be kept as what it says
    )


PICO_IN_MICRO = 1_000_000


def micro(pico: int | None) -> int | None:
    """Micro-dollars, as documents and queries have them."""
    return None if pico is None else rounded(pico, PICO_IN_MICRO)


def rounded(n: int, unit: int) -> int:
    """Half to even, in integers: as in a bank, no direction is preferred."""
    whole, rest = divmod(n, unit)
    return whole + (2 * rest > unit or (2 * rest == unit and whole % 2 == 1))
