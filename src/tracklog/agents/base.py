"""The contract that an agent fulfils: what the rest of tracklog asks of Claude Code and of Codex.

Rules
  1. Outside `agents/`, no code imports one agent's package or compares an agent's name. What differs between agents is an
     attribute or a method of `AgentSupport`, named after the difference, not after an agent.
  2. Loading this module, `supported` and an agent's `support` is cheap: methods import what they need.
  3. `AgentSupport` itself stands for an agent that we do not know: its answers are those of one that has nothing special.
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


class AgentSupport:
    """What tracklog knows of an agent."""

    name: Agent | None = None  # as logs, options and rows spell it
    label = "an agent that tracklog does not know"  # for people
