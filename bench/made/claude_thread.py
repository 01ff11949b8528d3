"""The records of one Claude Code thread: envelope, chain of uuids, chunks of a message, usage.

Rules of this room
  1. Every conversation record hangs on the one before it; a tool result hangs on the record that made the call.
  2. One API message is one chunk per content block, all with the same message id and request id.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from bench.made.claude_eras import Era
from bench.made.claude_tools import Json, Workplace
from bench.made.claude_usage import (
    BYTES_PER_TOKEN,
    Meter,
    n_characters_of,
    starting_usage,
    usage_of,
    with_output,
)
from bench.made.dice import Clock, Dice
from bench.made.tally import LogFile, Spent, Tally, add_up
from bench.made.words import Words


@dataclass
class Session:
    """What all records of a session share."""

    dice: Dice
    words: Words
    era: Era
    clock: Clock
    folder: Path  # projects/
    cwd: str
    tally: Tally
    id: str = ""
    version: str = ""
    model: str = ""
    requests: int = 0
    sums: dict[str, int] = field(default_factory=dict)  # of all requests, subagents included
    agent_bytes: int = 0

    def __post_init__(self) -> None:
        self.id = self.dice.uuid4()
        self.version, self.model = self.dice.pick(self.era.versions), self.dice.pick(self.era.models)
        self.folder = self.folder / re.sub(r"[^A-Za-z0-9]", "-", self.cwd)
        self.started_ms, self.last_spent = self.clock.epoch_ms, Spent(0, 0, 0)
        self.place = Workplace(self.dice, self.words, self.era, cwd=self.cwd)
        self.prompt_id, self.last_prompt, self.title = self.dice.uuid4(), "", self.words.title(self.dice)
        self.cache_for_an_hour = self.dice.chance(0.5)

    def count(self, spent: Spent) -> None:
        self.requests, self.last_spent = self.requests + 1, spent
        add_up(self.sums, spent)

    def envelope(self) -> Json:
        late = {"entrypoint": "cli"} if self.era.envelope_last else {}
        return {
            "userType": "external",
            **late,
            "cwd": self.cwd,
            "sessionId": self.id,
            "version": self.version,
            "gitBranch": "main",
        }


class Thread:
    """A line of work in one file: the main one, or a subagent's."""

    def __init__(self, session: Session, log: LogFile, *, agent: str | None = None) -> None:
        self.session, self.log, self.agent = session, log, agent
        self.meter = Meter(session.dice)
        self.tail: str | None = None
        self.mirror: Callable[[Json], None] | None = None  # a copy of each record into the parent's progress
        self.unsent: list[Json] = []  # content that the next request will carry
        self.tools_used: list[str] = []
        self.inbox: list[str] = []  # answers of agents that work in the background
        named = {"agentId": agent} if agent and session.era.subagents != "inline" else {}
        last = session.era.envelope_last
        self._front: Json = named if last else {**session.envelope(), **named}
        self._back: Json = session.envelope() if last else {}

    def add(self, kind: str, body: Json, *, extra: Json | None = None, parent: str | None = None) -> str:
        """Writes a conversation record and makes it the end of the chain."""
        session = self.session
        uuid = session.dice.uuid4()
        links = {"parentUuid": parent or self.tail, "isSidechain": self.agent is not None}
        stamps = {"type": kind, "uuid": uuid, "timestamp": session.clock.tick()}
        record = {**links, **self._front, **body, **stamps, **(extra or {}), **self._back}
        self.log.add(record, kind)
        self.tail = uuid
        if self.mirror:
            self.mirror(record)
        return uuid

    def note(self, kind: str, body: Json) -> None:
        """Writes a metadata line, off the chain."""
        self.log.add({"type": kind, **body, "sessionId": self.session.id}, kind)

    def say(self, content: str | list[Json], **extra: object) -> str:
        """Writes a user record and counts what the model will read of it."""
        self.meter.feed(n_characters_of(content))
        if self.session.era.request_metadata:
            self.unsent += [{"type": "text", "text": content}] if isinstance(content, str) else content
        parent = extra.pop("parent", None)
        head = {"promptId": self.session.prompt_id} if self.session.era.envelope_last else {}
        body = {**head, "message": {"role": "user", "content": content}}
        return self.add("user", body, extra=extra, parent=parent if isinstance(parent, str) else None)

    def system(self, subtype: str, **fields: object) -> str:
        return self.add("system", {"subtype": subtype}, extra=fields)

    def attach(self, kind: str, **fields: object) -> str:
        return self.add("attachment", {"attachment": {"type": kind, **fields}})

    def reply(self, blocks: list[Json], stop_reason: str) -> Reply:
        return Reply(self, blocks, stop_reason)


class Reply:
    """One API message, written chunk by chunk."""

    def __init__(self, thread: Thread, blocks: list[Json], stop_reason: str) -> None:
        session, era, dice = thread.session, thread.session.era, thread.session.dice
        self._thread, self._left, self._index, self._tail = thread, len(blocks), -1, thread.tail
        self._id, self._request = f"msg_01{dice.alnum(22)}", f"req_011C{dice.alnum(20)}"
        self._settled = era.settled_usage and (thread.agent is None or era.request_metadata)
        self._last_is_final = not dice.chance(0.05 if era.settled_usage else 0.25)
        stated = era.settled_usage or dice.chance(0.1)
        finished = stated and (self._settled or self._last_is_final)
        self._stop_reason = stop_reason if stated else None
        self._spent, self._start = self._spend(blocks), dice.between(1, 8)
        self._ref = _note_request(thread) if era.request_metadata else ""
        on_disk = (
            self._spent if self._settled or self._last_is_final else with_output(self._spent, self._start)
        )
        session.tally.request(on_disk, finished=finished)
        session.count(on_disk)

    def _spend(self, blocks: Iterable[Json]) -> Spent:
        thread = self._thread
        thinking = sum(len(b["signature"]) // 6 for b in blocks if b["type"] == "thinking")
        output = 8 + thinking + n_characters_of(blocks) // BYTES_PER_TOKEN
        for_an_hour = thread.session.cache_for_an_hour and thread.agent is None
        stated = thinking if "output_tokens_details" in thread.session.era.usage else 0
        return thread.meter.spend(output, thinking=stated, for_an_hour=for_an_hour)

    def chunk(self, block: Json) -> str:
        """Writes the next content block; returns its uuid."""
        session = self._thread.session
        self._index += 1
        self._left -= 1
        final = self._settled or (self._left == 0 and self._last_is_final)
        usage = (
            usage_of(session.era, self._spent)
            if final
            else starting_usage(session.era, with_output(self._spent, self._start))
        )
        message: Json = {
            "model": session.model,
            "id": self._id,
            "type": "message",
            "role": "assistant",
            "content": [block],
        }
        message |= {"stop_reason": self._stop_reason if final else None, "stop_sequence": None}
        message |= {"usage": usage, "stop_details": None} if session.era.async_agents else {"usage": usage}
        body = {"message": message, **self._late_fields(block), "requestId": self._request}
        self._tail = self._thread.add("assistant", body, parent=self._tail)
        return self._tail

    def _late_fields(self, block: Json) -> Json:
        era = self._thread.session.era
        fields: Json = {}
        if era.async_agents:
            fields |= {"apiBlockIndex": self._index, "effort": "high"}
        if era.request_metadata:
            fields |= {
                "requestRef": self._ref,
                "requestedModel": self._thread.session.model,
                "promptCacheRequested": "5m",
                "madeBy": "model",
            }
            fields |= (
                {"thinkingDurationMs": 900, "thinkingDisplay": "omitted"}
                if block["type"] == "thinking"
                else {}
            )
        if self._thread.agent and era.async_agents:
            fields["attributionAgent"] = "general-purpose"
        return fields


def _note_request(thread: Thread) -> str:
    """2.1.3xx writes down each API request: its new content as blobs, then the request that names them."""
    session, dice = thread.session, thread.session.dice
    ref, agent = dice.uuid4(), {"agentId": thread.agent} if thread.agent else {}
    tail = [dice.hex(64)]
    if thread.unsent and dice.chance(0.4):
        thread.note(
            "api-request-blob",
            {**agent, "hash": tail[0], "message": {"role": "user", "content": thread.unsent}},
        )
    thread.unsent = []
    params = {
        "model": session.model,
        "betas": ["interleaved-thinking-2025-05-14"],
        "max_tokens": 128_000,
        "thinking": {"type": "adaptive"},
    }
    kept = {
        "params": params,
        "keep": 0,
        "tail": tail,
        "cacheControl": [{"path": ["system", 0], "value": {"type": "ephemeral"}}],
    }
    about = {
        **agent,
        "id": ref,
        "timestamp": session.clock.stamp(),
        "version": session.version,
        "querySource": "repl_main_thread",
    }
    thread.note("api-request", {**about, "shapeHash": dice.hex(64), **kept, "requestDigest": dice.hex(64)})
    return ref
