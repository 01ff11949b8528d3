"""The contract that an agent fulfils: what the rest of tracklog asks of Claude Code and of Codex.

Rules
  1. Outside `agents/`, no code imports one agent's package or compares an agent's name. What differs between agents is an
     attribute or a method of a topic below (`support_for(agent).logs`, …), named after the difference, not after an agent.
  2. Loading this module, `supported` and an agent's `support` is cheap: the properties of `AgentSupport` import what they need.
  3. The base class of each topic answers for an agent that we do not know: one that has nothing special.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from pathlib import Path, PurePosixPath

    from tracklog.model.events import LogEvent, Place
    from tracklog.model.ids import NodeId
    from tracklog.model.lineage.copies import Own
    from tracklog.model.records import Piece
    from tracklog.model.states import Doing, Sign
    from tracklog.model.usage import CountRule, Source, UsageBlock
    from tracklog.sources.log_file import Agent, LogFile
    from tracklog.sources.process_start import Alive


class Translator(Protocol):
    """Makes events of an agent's records."""

    def translate(self, piece: Piece) -> list[LogEvent]: ...


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


class SessionFacts(NamedTuple):
    """What is known of a session that bears on its process."""

    id: str
    paths: Sequence[str] = ()  # of its logs; where clients hold logs open, those of its main thread
    last_ms: int = 0  # the newest moment that its logs name
    does: Callable[[], Doing | None] = lambda: None  # by the newest line of its log
    cwd: str | None = None  # the last folder that it worked in
    entrypoint: str | None = None


class RegisteredSession(NamedTuple):
    """A session that a client has registered, and what the client says that it does."""

    id: str
    alive: Alive
    sign: Sign
    pid: int
    started_ms: int | None
    cwd: str | None
    file: str  # that says so: `sessions/4410.json`


class OpenSessions(NamedTuple):
    """What living clients have open: sessions that they name, or logs."""

    ids: AbstractSet[str] = frozenset()
    logs: AbstractSet[str] = frozenset()  # real paths

    def has(self, session: str | None, log: Path) -> bool:
        """Whether a session is among them, or its log."""
        return session in self.ids or (bool(self.logs) and os.path.realpath(log) in self.logs)


Programs = Callable[[], Mapping[int, bytes] | None]


class ProcessView:
    """The running clients of one agent, as they were at the last look. This one sees none.

    Nothing is read before it is asked for, and then once for each look.
    """

    def add_homes(self, homes: Iterable[Path]) -> None:
        """Look for clients in these homes, too."""

    def add_logs(self, logs: Iterable[Path]) -> None:
        """Look for clients in the homes of these logs, too."""

    def refresh(self, now_ms: int) -> None:
        """Look again: from here on, answers are of this moment."""

    def registered(self) -> Mapping[str, RegisteredSession]:
        """The sessions that clients have registered, now or at an earlier look, by id."""
        return {}

    def registration_of(self, session: SessionFacts) -> RegisteredSession | None:
        """What is registered of one session, in the homes that could name it."""
        return None

    def alive(self, session: SessionFacts) -> Alive:
        """Whether the process of a session lives that no client has registered."""
        from tracklog.sources.process_start import UNKNOWN_PROCESS  # not for those who only load the contract

        return UNKNOWN_PROCESS

    def open_sessions(self) -> OpenSessions:
        """What all living clients have open."""
        return OpenSessions()

    def writer_of(self, session: str) -> int | None:
        """The process that certainly lives and has this session of one of the homes open."""
        return None


class AgentProcesses:
    """How an agent's running clients are recognised, and which session each of them has open."""

    program = ""  # the name of a client's process
    registry_folder: str | None = None  # of a home: there each client writes which session it has
    holds_logs_open = False  # each client holds the logs of its sessions open for as long as it lives
    names_log_late = False  # where the log of a new session will be is known only once it is there
    asks_permissions_here = False  # tracklog's own hook can put a client's permission requests to the person

    def view(self, homes: Iterable[Path] = (), *, programs: Programs | None = None) -> ProcessView:
        """A view of the clients in these homes; `programs` gives the names of all processes, where they are known."""
        return ProcessView()

    def opened_by(self, pids: Sequence[int], *, homes: Iterable[Path]) -> Mapping[int, OpenSessions]:
        """What each of these processes has open, as far as it is a client. Loads little where none is."""
        return {}


class AgentClient:
    """An agent's headless client: program, arguments, stream, and what a folder makes it run."""


class AgentHooks:
    """An agent's hooks, and the settings files that name them."""


class AgentReplay:
    """How recorded sessions of an agent are played again."""

    threads_have_own_ids = False  # a subagent's log is named by an id of its own, not by that of the session
    stops_with_last_answer = (
        False  # the hook Stop comes with the last answer; else where the log ends the turn
    )
    asks_only_to_leave_sandbox = (
        False  # a person is asked for calls outside of the sandbox, and for no others
    )

    def leaves_sandbox(self, tool_input: bytes) -> bool:
        """Whether a call is to run outside of the sandbox, for which a person is asked."""
        return False

    def place_of(self, file: LogFile, session: str, *, is_main: bool, cwd: str) -> PurePosixPath:
        """Where in its home a client writes a file of a session while it runs, wherever it was put later."""
        raise NotImplementedError  # only sessions of a known agent are replayed


class AgentSupport:
    """What tracklog knows of an agent, by topic. A topic is loaded when it is first asked for."""

    name: Agent | None = None  # as logs, options and rows spell it
    label = "an agent that tracklog does not know"  # for people
    path_names_session = False  # a log's path says to which session it belongs; else only its first lines do
    log_names_sources = (
        False  # a log names those whose lines it repeats; else any of its folder may share lines
    )

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
