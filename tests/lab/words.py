"""The words a scenario is written in: what the model answers, and what the person does.

Nothing here knows the wire: the two servers render these words, each in its own protocol.
In any string `{{cwd}}`, `{{home}}`, `{{session}}`, `{{python}}` and `{{lab}}` are holes that the run fills;
`{{task}}`, `{{agent}}` and `{{plan}}` in a reply are the last background task, subagent and plan file that the
request speaks of.
"""

from __future__ import annotations

import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]

MAIN = "main"


@dataclass(frozen=True)
class Say:
    """The model says a text."""

    text: str


@dataclass(frozen=True)
class Think:
    """The model thinks."""

    text: str


@dataclass(frozen=True)
class Call:
    """The model calls a tool: the first of `names` that the client offers, else the first."""

    names: tuple[str, ...]
    args: Json
    raw: str | None = None  # the input exactly as it is to be streamed, for input that is no JSON
    space: str = ""  # Codex: the namespace of the tool, e.g. of an MCP server


@dataclass(frozen=True)
class Freeform:
    """The model calls a tool whose input is plain text (Codex: apply_patch, exec)."""

    names: tuple[str, ...]
    input: str


@dataclass(frozen=True)
class IfOffered:
    """The first of these calls whose tool the client offers; if none is, nothing is called."""

    calls: tuple[Call | Freeform, ...]


@dataclass(frozen=True)
class Wire:
    """A block of the protocol itself, sent as it stands."""

    json: Json


Settled = Say | Think | Call | Freeform | Wire
Block = Settled | IfOffered


def call(name: str, /, *others: str, **args: Any) -> Call:
    """A tool call: `call("Agent", "Task", prompt=…)` uses whichever name the client knows."""
    return Call((name, *others), args)


def if_offered(*calls: Call | Freeform) -> IfOffered:
    """The first of these calls that the client can make, if any."""
    return IfOffered(calls)


@dataclass(frozen=True)
class Reply:
    """One answer of the model, with the accidents that may happen to it."""

    blocks: tuple[Block, ...] = ()
    delay_s: float = 0.0  # before the first byte
    status: int = 200  # 500, 529, …: an API error in place of an answer
    error: str = "Overloaded"
    cut_after: int | None = None  # the connection breaks after this many blocks
    hold_after: int | None = None  # the stream stands still after this many blocks, until the client is gone
    stop_reason: str | None = None  # Anthropic: in place of `tool_use` or `end_turn`
    usage: Json = field(default_factory=dict)  # further usage fields, or other values
    first_usage: Json = field(default_factory=dict)  # Anthropic: what the stream's beginning says otherwise
    message_id: str | None = None  # Anthropic: in place of one like the real ones, as gateways make them
    names_request: bool = True  # Anthropic: gateways may leave out the header `request-id`
    linger_s: float = 0.0  # Anthropic: between the last block and the end of the stream


def reply(*blocks: Block, **accidents: Any) -> Reply:
    """An answer made of blocks."""
    return Reply(tuple(blocks), **accidents)


CLOSING = reply(Say("All done. Final answer: 42."))


@dataclass(frozen=True)
class Interrupt:
    """A signal to the client: once a file appears in its directory, else once the stream is held."""

    signal: signal.Signals
    when_file: str | None = None


@dataclass(frozen=True)
class Step:
    """One start of the client."""

    prompt: str
    args: tuple[str, ...] = ()
    command: tuple[str, ...] = ()  # Codex: `("resume", "{{session}}")` in place of a new session
    bare: bool = False  # Codex: the command alone, without `exec`
    messages: tuple[Json, ...] = ()  # Claude Code: sent as `--input-format stream-json`
    interrupt: Interrupt | None = None
    timeout_s: float = 90.0


@dataclass(frozen=True)
class Typed:
    """The person types a text and Enter."""

    text: str


@dataclass(frozen=True)
class Pressed:
    """The person presses keys, by tmux's names."""

    keys: tuple[str, ...]


@dataclass(frozen=True)
class Seen:
    """The person waits until the screen shows this pattern."""

    pattern: str


@dataclass(frozen=True)
class Answered:
    """The person waits for a dialog that shows this pattern and presses keys until it is gone."""

    pattern: str
    keys: tuple[str, ...]


@dataclass(frozen=True)
class FileSeen:
    """The person waits until this file stands in the project."""

    name: str


Act = Typed | Pressed | Seen | Answered | FileSeen


@dataclass(frozen=True)
class Sitting:
    """One start of the client in a terminal, with a person before it."""

    acts: tuple[Act, ...]
    args: tuple[str, ...] = ()


@dataclass(frozen=True)
class Scenario:
    """A small story: the files, what the person does, what the model answers."""

    name: str
    steps: tuple[Step | Sitting, ...]
    threads: Mapping[str, Sequence[Reply]]
    files: Mapping[str, str | bytes] = field(default_factory=dict)
    settings: Json = field(default_factory=dict)  # Claude Code: settings.json
    config: str = ""  # Codex: further lines of config.toml
    git: bool = False  # the project is a git repository
    mcp: bool = False  # with the MCP server of `mcp_server.py`, under the name `lab`
    env: Mapping[str, str] = field(default_factory=dict)
    model: str | None = None
    skip_permissions: bool = True
    since: str = "0"  # the first version that can play it
    ends: tuple[int, ...] = (0,)  # exit codes that are right for the last step

    @property
    def in_terminal(self) -> bool:
        """Whether somebody sits before a screen: slower, and dependent on what the screen says."""
        return any(isinstance(step, Sitting) for step in self.steps)
