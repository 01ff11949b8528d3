"""The contract that an agent fulfils: what the rest of tracklog asks of Claude Code and of Codex.

Rules
  1. Outside `agents/`, no code imports one agent's package or compares an agent's name. What differs between agents is an
     attribute or a method of a topic below (`support_for(agent).logs`, …), named after the difference, not after an agent.
  2. Loading this module, `supported` and an agent's `support` is cheap: the properties of `AgentSupport` import what they need.
  3. The base class of each topic answers for an agent that we do not know: one that has nothing special.
It is one long module because it is read as one list: all that a new agent has to answer.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from tracklog.errors import UserError
from tracklog.model.ids import MAIN, ThreadId
from tracklog.sources.log_file import MAIN_KINDS, THREAD_KINDS, Agent, LogFile

if TYPE_CHECKING:
    from pathlib import PurePosixPath

    from tracklog.agents.hooks.places import Documents, HookEntry, HookFile, Level, Machine
    from tracklog.agents.risks import Risk
    from tracklog.model.events import LogEvent, Place
    from tracklog.model.ids import NodeId
    from tracklog.model.lineage.copies import Own
    from tracklog.model.lineage.trace import Trace
    from tracklog.model.records import Piece, Record
    from tracklog.model.run_request import RunRequest
    from tracklog.model.states import Doing, Sign
    from tracklog.model.usage import CountRule, Source, UsageBlock, UsageRow
    from tracklog.sources.log_file import Root
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


class Head(NamedTuple):
    """Whose log it is, and where it comes from, as its first lines say."""

    session: str | None = None  # where each thread has an id of its own: the thread
    parent: str | None = None  # the thread above a subagent
    root: str | None = None  # the thread above all
    sources: tuple[str, ...] = ()  # whose history it holds or refers to
    named: tuple[str, ...] = ()  # all the sessions that the first lines name
    is_review: bool = False
    cwd: str | None = None
    began_at: str | None = None


HeadOf = Callable[[LogFile], Head]


class SessionFiles(NamedTuple):
    """All files of one session: main transcripts first, then those of subagents, then what lies beside them."""

    id: str
    agent: Agent
    files: tuple[LogFile, ...]
    sources: tuple[str, ...] = ()  # the sessions that its files say they come from, where a head was read

    @property
    def mains(self) -> list[LogFile]:
        """The transcripts of the main thread, as far as names and heads tell."""
        mains = [file for file in self.files if file.kind in MAIN_KINDS]
        return [file for file in mains if (file.session or self.id).lower() == self.id.lower()] or mains

    @property
    def is_only_here(self) -> bool:
        """Whether its transcripts (if it has none, its other threads) are only in our archive."""
        threads = [file for file in self.files if file.kind in THREAD_KINDS]
        logs = [file for file in threads if file.kind in MAIN_KINDS] or threads
        return bool(logs) and all(file.stored is not None for file in logs)

    @property
    def changed_ns(self) -> int:
        """When one of its threads last grew."""
        return max((file.mtime_ns for file in self.files if file.kind in THREAD_KINDS), default=0)


class LogOwner(NamedTuple):
    """The session and the thread of a log, as its place and its head say."""

    session: str
    thread: ThreadId
    above: str | None = (
        None  # the thread above, of whose session it is; where each thread has an id of its own
    )


class SharedIds(NamedTuple):
    """The ids at the beginning and the end of a log by which another log that holds the same lines is found."""

    begins: tuple[bytes, ...] = ()  # the first ids
    holds: frozenset[bytes] = frozenset()  # all ids in the head
    named: frozenset[str] = frozenset()  # sessions from which lines came, or in which they go on
    hinted: frozenset[str] = frozenset()  # sessions that may be others of the same process


class OutputRead(NamedTuple):
    """The beginning of an output file, and whether that is all of it."""

    data: bytes
    is_whole: bool


class Retention(NamedTuple):
    """For how long a client keeps logs, and which file says so; None: the client's own default."""

    days: int
    said_by: Path | None = None
    why_paused: str | None = None  # why recent clients delete nothing at present


class ClientStream(Protocol):
    """Reads what a headless client prints on stdout, one JSON document at a time."""

    session: str | None
    model: str | None
    text: str | None  # the last text of the main thread
    error: str | None
    result: Mapping[str, Any] | None  # the client's own result object, if it prints one
    usage: Mapping[str, Any] | None  # in the client's words, if it prints it apart from `result`
    requests: dict[str, tuple[str | None, Mapping[str, Any]]]  # by id: model and usage, if it prints them

    @property
    def is_finished(self) -> bool:
        """Whether the client has reported how it ended."""

    @property
    def answer(self) -> str | None:
        """The final text of a client that has finished; its log holds it too, or will in a moment."""

    def add(self, document: Mapping[str, Any]) -> str:
        """Read one document; returns what kind it is."""


class AgentLogs:
    """Where an agent's logs are, which of them form a session, and what differs in reading them."""

    has_id_per_thread = False  # the id that a log states is that of its thread, not of its session
    has_output_files = False  # long output of tools is in separate files
    has_subagent_files = False  # subagents write logs of their own, which may name their session only inside
    path_names_session = False  # a log's path says to which session it belongs; else only its first lines do
    says_copies = False  # a log that holds the history of another session says so, and names it
    tells_reasoning = True  # a log tells reasoning from the rest of the output
    translator_has_state = False  # what a line means depends on others, before it or behind it

    def sessions_in(self, files: Sequence[LogFile], head_of: HeadOf) -> Iterable[SessionFiles]:
        """The sessions to which these logs of the agent belong."""
        return ()

    def owner_of(self, file: LogFile, has_transcript: Callable[[str], bool]) -> LogOwner:
        """The owner of a log. `has_transcript` says whether a session has a transcript in the same folder."""
        return LogOwner(file.session or file.path.stem, self.thread_of(file))

    def session_of(self, file: LogFile, has_transcript: Callable[[str], bool]) -> str | None:
        """The session to which a file belongs, if that can be told."""
        return file.session

    def thread_of(self, file: LogFile) -> ThreadId:
        """The thread whose work a log holds, by the log's name."""
        return MAIN if file.kind in MAIN_KINDS else ThreadId(file.path.parent.name)

    def homes_of(self, logs: Iterable[Path]) -> list[Path]:
        """The homes that contain these logs, by their paths alone."""
        return []

    def folder_around(self, file: LogFile) -> Path:
        """The folder of the rest of a log's session, and of the sessions that may share its history."""
        return file.path.parent

    def elsewhere(self, file: LogFile) -> Iterator[LogFile]:
        """The logs of the same session outside of that folder."""
        return iter(())

    def project_of(self, file: LogFile) -> str | Path:
        """What the sessions have in common that may share history with that of a log: a folder, or its name."""
        return file.path.parent

    def project_folders(self, home: Path, cwd: str | os.PathLike[str]) -> list[Path]:
        """The folders in a home that hold the sessions of a working directory."""
        return []

    def transcript_path(
        self,
        session: str,
        cwd: str | os.PathLike[str],
        *,
        root: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
    ) -> Path | None:
        """Where a session is or will be written; None if only a search tells."""
        return None

    def shared_ids(self, file: LogFile) -> SharedIds:
        """What a log shows at its ends of those that share its history. Raises NotReadable."""
        return SharedIds()

    def ids_inside(self, file: LogFile) -> Iterable[bytes]:
        """All ids in a log by which a copy of its lines is found. Raises NotReadable."""
        return ()

    @property
    def look_at(self) -> Callable[[Trace, Piece], None]:
        """Adds what a line shows of descent to the trace of its log."""
        return lambda trace, piece: None  # noqa: ARG005

    @property
    def version_of(self) -> Callable[[Record], str | None]:
        """The client's version, if a record names it."""
        return lambda record: None  # noqa: ARG005

    def side_folder(self, log: LogFile) -> Path | None:
        """The folder of a log's session in which its client puts further files."""
        return None

    def output_path(self, log: LogFile, name: str) -> Path | None:
        """Where an output file of this name belongs for the session of a log; None where no such place is known."""
        return None

    def read_output(self, path: Path, most: int) -> OutputRead | None:
        """The first bytes of the file at a path that `output_path` made; None if there is none that may be read."""
        return None

    def retention(self, home: Path, *, projects: Iterable[Path] = ()) -> Retention | None:
        """For how long the logs in a home are kept; None: the client deletes none. `projects`: where it is started."""
        return None


class AgentUsage:
    """How the usage of an agent's requests is scanned, and what its figures mean."""

    counts_in_blocks = False  # its plans have limits for blocks of hours
    counts_name_requests = True  # a count says which request it is of
    shares_usage_in_family = False  # logs repeat counts of other sessions, and only their heads say so

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
    """An agent's headless client: program, arguments, stream, and what a folder makes it run.

    The base class refuses to run anything: of an agent that we do not know there is no program to start.
    """

    program = ""  # as it is called on PATH
    project_folder = ""  # the folder in a project that holds settings
    missing: Sequence[str] = ()  # fields of RunRequest that the client has no equivalent for
    takes_session_id = False  # whether a new session's id can be chosen before the start
    reporting_hooks: Sequence[
        str
    ] = ()  # events of hooks given to one run that report to us; empty: it takes none
    permission_event: str | None = None  # of the hook that can answer a permission request

    def arguments(
        self, request: RunRequest, *, session: str | None, settings: Path | None, schema: Path | None
    ) -> list[str]:
        """All arguments of the client for this request. The prompt is none of them: it goes to stdin."""
        raise _not_supported()

    def interactive_arguments(self, session: str) -> list[str]:
        """The arguments with which a person goes on with a session in the terminal."""
        raise _not_supported()

    def environment(self, env: Mapping[str, str]) -> dict[str, str]:
        """The caller's environment, without what another session of this client left in it."""
        return dict(env)

    def settings(self, hooks: Mapping[str, Sequence[Mapping[str, Any]]]) -> bytes | None:
        """A settings file for one run with these hooks, by event; None if the client takes none."""
        return None

    def schema_file(self, request: RunRequest) -> bytes | None:
        """The JSON schema of the answer, if the client wants it in a file."""
        return None

    def stream(self) -> ClientStream:
        """A new reader of the client's stdout."""
        raise _not_supported()

    def is_full_model_name(self, model: str) -> bool:
        """Whether this names one model. A short name means what the client makes of it."""
        return True

    def usage_document(self, row: UsageRow) -> dict[str, Any]:
        """Tokens in the words of this client's stream."""
        raise _not_supported()

    def log_of(self, session: str, cwd: Path, env: Mapping[str, str]) -> Path | None:
        """Where a session's main log is or will be; None if only a search finds it."""
        return None

    def logs_beside(self, log: Path) -> list[Path]:
        """The further files of a session whose main log is known by `log_of`."""
        return []

    def log_roots(self, env: Mapping[str, str]) -> list[Root]:
        """Where the client writes new logs."""
        return []

    def log_folders(self, cwd: Path, env: Mapping[str, str]) -> list[Path] | None:
        """The folders that hold the main logs of this working folder; None if any folder may."""
        return None

    def risks(self, cwd: Path, env: Mapping[str, str]) -> Iterable[Risk]:
        """What files of this folder, which are not the user's own, would make the client run, or steer it by."""
        raise _not_supported()


class AgentHooks:
    """An agent's hooks, and the settings files that name them.

    The base class has no settings files, so nothing is installed and nothing is listed.
    """

    event_sets: Mapping[str, Sequence[str]] = {}  # default, oldest (what old releases know), all
    blocking_events: Sequence[str] = ()  # the client waits for the answer of such a hook: never ours
    timeouts_s: Mapping[str, int] = {}  # of events whose hooks may not ask for as long as ours do
    note_after_install: str | None = None  # what its user has to do before our hooks run

    def home(self, env: Mapping[str, str]) -> Path | None:
        """The folder of the user's own settings, whether it exists or not."""
        return None

    def file_for(self, machine: Machine, level: Level) -> HookFile | None:
        """The file into which our hooks go; None if the agent does not have this level."""
        return None

    def level_of(self, path: Path) -> Level | None:
        """The level of a settings file in some project, by its name; None if it is not this agent's."""
        return None

    def suitable_events(self, machine: Machine) -> tuple[str, str | None]:
        """The set of events that the installed release takes; and this release, if it is too old for all of ours."""
        return "default", None

    def installed(self, machine: Machine, documents: Documents) -> Iterator[HookEntry]:
        """Every hook on every level, in the order in which they fire, and why one does not."""
        return iter(())

    def notify_file(self, machine: Machine, level: Level) -> HookFile | None:
        """The file that names a program to run after every turn, which is no hook; None if there is no such setting."""
        return None

    def is_notify_free(self, text: str | None) -> bool:
        """Whether that file names no program, or ours."""
        raise _not_supported()

    def has_notify(self, text: str | None, words: Sequence[str]) -> bool:
        """Whether it names exactly this program."""
        raise _not_supported()

    def with_notify(self, text: str | None, words: Sequence[str]) -> str:
        """The text of the file with this program, which it must not name yet."""
        raise _not_supported()

    def without_notify(self, text: str) -> str:
        """The text of the file without our program."""
        raise _not_supported()


def _not_supported() -> UserError:
    return UserError("tracklog does not support this agent: `tracklog run --help` names those that it does")


class AgentReplay:
    """How recorded sessions of an agent are played again."""

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
    resume_words: tuple[str, ...] = ()  # the command that goes on with a session, without its id
    # Newest release whose logs this build reads without an unknown kind or key. The lab plays every scenario with
    # exactly this one; `make update-pins` raises it.
    verified_release = ""

    def load(self) -> None:
        """Load what reads logs of this agent, whichever topic it is in."""
        _ = self.logs.look_at, self.logs.version_of, self.usage.scan

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
