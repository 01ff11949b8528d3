"""The contract that an agent fulfils: what the rest of tracklog asks of Claude Code and of Codex.

Rules
  1. Outside `agents/`, no code imports one agent's package or compares an agent's name. What differs between agents is an
     attribute or a method of a topic below (`support_for(agent).logs`, …), named after the difference, not after an agent.
  2. Loading this module, `supported` and an agent's `support` is cheap: the properties of `AgentSupport` import what they need.
  3. The base class of each topic answers for an agent that we do not know: one that has nothing special.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from tracklog.model.events import Event, Place
    from tracklog.model.ids import NodeId
    from tracklog.model.records import Piece
    from tracklog.sources.log_file import Agent


class Translator(Protocol):
    """Makes events of an agent's records."""

    def translate(self, piece: Piece) -> list[Event]: ...


class RunningClient(NamedTuple):
    """A running client."""

    pid: int
    started_ms: int
    cwd: str | None  # None: we may not look


@dataclass(frozen=True, slots=True)
class Attached:
    """Context that the client added by itself, as far as the model got to see it."""

    place: Place
    what: str
    name: str
    n_bytes: int


@dataclass(slots=True)
class LogContents:
    """What of a session's logs is not in the session: which record stands where, and what was attached."""

    nodes: dict[Place, NodeId] = field(default_factory=dict)
    attached: list[Attached] = field(default_factory=list)


class AgentLogs:
    """Where an agent's logs are, which of them form a session, and what differs in reading them."""


class AgentUsage:
    """How the usage of an agent's requests is scanned, and what its figures mean."""


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
