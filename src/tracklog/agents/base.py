"""The contract that an agent fulfils: what the rest of tracklog asks of Claude Code and of Codex.

Rules
  1. Outside `agents/`, no code imports one agent's package or compares an agent's name. What differs between agents is an
     attribute or a method of a topic below (`support_for(agent).logs`, …), named after the difference, not after an agent.
  2. Loading this module, `supported` and an agent's `support` is cheap: the properties of `AgentSupport` import what they need.
  3. The base class of each topic answers for an agent that we do not know: one that has nothing special.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from tracklog.model.events import LogEvent, Place
    from tracklog.model.ids import NodeId
    from tracklog.model.lineage.copies import Own
    from tracklog.model.records import Piece
    from tracklog.model.usage import CountRule, Source, UsageBlock
    from tracklog.sources.log_file import Agent, LogFile


class Translator(Protocol):
    """Makes events of an agent's records."""

    def translate(self, piece: Piece) -> list[LogEvent]: ...


class RunningClient(NamedTuple):
    """A running client."""

    pid: int
    started_ms: int
    cwd: str | None  # None: we may not look


class Attached(NamedTuple):
    """Context that the client added by itself, as far as the model got to see it."""

    place: Place
    what: str
    name: str
    n_bytes: int


class LogContents(NamedTuple):
    """Contents of a session's logs that the session itself leaves out: the place of each record, and attachments."""

    nodes: dict[Place, NodeId]
    attached: list[Attached]


class LogToScan(NamedTuple):
    """A log whose usage is scanned, and what the scan must know besides its bytes."""

    number: int  # of its source
    source: Source
    file: LogFile
    rule: CountRule = "ours"
    with_tools: bool = False
    is_newest: bool = True  # of the files of its thread: only this one may have a pending request
    own: Own | None = None  # which of its lines are copies of another thread's
    family: str | None = None  # a name for all sessions that may hold copies of one another


UsageScan = Callable[["LogToScan", memoryview | None], "UsageBlock"]  # the buffer serves many scans


class AgentLogs:
    """Where an agent's logs are, which of them form a session, and what differs in reading them."""


class AgentUsage:
    """How the usage of an agent's requests is scanned, and what its figures mean."""

    counts_in_blocks = False  # its plans have limits for blocks of hours
    counts_name_requests = True  # a count says which request it is of
    shares_usage_in_family = False  # logs repeat counts of other sessions, and only their heads say so
    main_thread_has_session_id = False

    @property
    def scan(self) -> UsageScan:
        """The function that reads the usage of one log from its bytes. Fetch it once for many logs."""
        raise NotImplementedError  # only logs of a known agent are scanned

    def may_repeat_usage(self, file: LogFile, buffer: memoryview) -> bool:
        """Whether the beginning of a log that is shared in a family speaks of another thread's history."""
        return False

    def first_folder(self, mains: Iterable[LogFile]) -> str | None:
        """The folder in which a session began, where the scan does not see it."""
        return None

    def request_id(self, key: str, session: str) -> str:
        """The public id of a request without a count, from its key in the ledger."""
        return key

    def context_window(self, largest_prompt: int) -> int | None:
        """The context window in tokens, where the log does not state it: a guess from the largest prompt."""
        return None

    def add_contents(self, file: LogFile, contents: LogContents, known: set[str]) -> None:
        """Add what a log holds besides the session. A record that is `known` from another log counts there."""


class AgentProcesses:
    """How an agent's running clients are recognised, and which session each of them has open."""


class AgentClient:
    """An agent's headless client: program, arguments, stream, and what a folder makes it run."""


class AgentHooks:
    """An agent's hooks, and the settings files that name them."""


class AgentReplay:
    """How recorded sessions of an agent are played again."""


class AgentSupport:
    """What tracklog knows of an agent, by topic. A topic is loaded when it is first asked for."""

    name: Agent | None = None  # as logs, options and rows spell it
    label = "an agent that tracklog does not know"  # for people

    @property
    def logs(self) -> AgentLogs:
        return AgentLogs()

    @property
    def usage(self) -> AgentUsage:
        return AgentUsage()

    @property
    def processes(self) -> AgentProcesses:
        return AgentProcesses()

    @property
    def client(self) -> AgentClient:
        return AgentClient()

    @property
    def hooks(self) -> AgentHooks:
        return AgentHooks()

    @property
    def replay(self) -> AgentReplay:
        return AgentReplay()
