"""What the ledger is made of: entries, what is hidden, and the sums over them. Plain values only."""

from typing import Literal, get_args

import msgspec
from msgspec import field

from tracklog.model.events import Place
from tracklog.model.tokens import STANDARD, Terms, Tokens

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


class Row(msgspec.Struct, kw_only=True):
    """What a group of requests came to. Money is in pico-dollars; it is rounded where it is shown."""

    key: str
    requests: int = 0
    tokens: Tokens = field(default_factory=Tokens)
    cost_pico_usd: int = 0  # of those that have a price
    unpriced_requests: int = 0
    partial_requests: int = 0
    missing_requests: int = 0  # seen without usage, and awaited
    awaited_requests: int = 0  # sent, but no line tells of the answer: these are not among `requests`
    most_output: int = 0  # upper bound of tokens.output
    most_cost_pico_usd: int = 0  # upper bound of cost_pico_usd
    uncached_cost_pico_usd: int = 0  # what the same requests would have cost without a cache
    stated_pico_usd: int = 0  # as the logs say
    stated_requests: int = 0  # of how many requests they say it
    inherited_requests: int = 0  # copies that this session holds of another's requests; counted there
    first_at: str | None = None
    last_at: str | None = None
    models: list[str] = field(default_factory=list)


class Report(msgspec.Struct, kw_only=True):
    """An answer to what was spent."""

    group: Group
    rows: list[Row]
    total: Row
    hidden: list[Hidden] = field(default_factory=list)
    unpriced_models: dict[str, int] = field(default_factory=dict)  # how many requests each made
    untimed_requests: int = 0  # that say no time, and are left out where one was asked for
    uncertain: list[Entry] = field(default_factory=list)  # the partial and missing ones, if asked for
