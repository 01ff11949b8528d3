"""The contract that an agent fulfils: what the rest of tracklog asks of Claude Code and of Codex.

Rules
  1. Outside `agents/`, no code imports one agent's package or compares an agent's name. What differs between agents is an
     attribute or a method of a topic below (`support_for(agent).logs`, …), named after the difference, not after an agent.
  2. Loading this module, `supported` and an agent's `support` is cheap: the properties of `AgentSupport` import what they need.
  3. The base class of each topic answers for an agent that we do not know: one that has nothing special.
"""

# ruff: noqa: ARG002 - the answer for an agent that we do not know depends on nothing

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from tracklog.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from tracklog.agents.hooks.places import Documents, HookEntry, HookFile, Level, Machine
    from tracklog.agents.risks import Risk
    from tracklog.model.events import Event, Place
    from tracklog.model.ids import NodeId
    from tracklog.model.records import Piece
    from tracklog.model.run_request import RunRequest
    from tracklog.model.usage import UsageRow
    from tracklog.sources.log_file import Agent, Root


class Translator(Protocol):
    """Makes events of an agent's records."""

    def translate(self, piece: Piece) -> list[Event]: ...


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


class LogContents:
    """What of a session's logs is not in the session: which record stands where, and what was attached."""

    def __init__(
        self, nodes: dict[Place, NodeId] | None = None, attached: list[Attached] | None = None
    ) -> None:
        self.nodes = {} if nodes is None else nodes
        self.attached = [] if attached is None else attached

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LogContents) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment] # it grows


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


class AgentUsage:
    """How the usage of an agent's requests is scanned, and what its figures mean."""


class AgentProcesses:
    """How an agent's running clients are recognised, and which session each of them has open."""


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


class AgentSupport:
    """What tracklog knows of an agent, by topic. A topic is loaded when it is first asked for."""

    name: Agent | None = None  # as logs, options and rows spell it
    label = "an agent that tracklog does not know"  # for people
    # Newest release whose logs this build reads without an unknown kind or key. The lab plays every scenario with
    # exactly this one; `make update-pins` raises it.
    verified_release = ""

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
