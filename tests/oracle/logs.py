"""Writers of the logs that try a ledger: what a client would write, and what it should never have written.

Rules of this room
  1. Nothing here is random and nothing reads a clock: the same case is the same bytes on every machine.
  2. A writer knows the shape of a line, never what it ought to count for: that stands in the case, by hand.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from zlib import crc32

Json = dict[str, Any]
Files = dict[str, bytes]

OPUS = "claude-opus-4-5-20251101"
SONNET = "claude-sonnet-4-5-20250929"
HAIKU = "claude-haiku-4-5-20251001"
CODEX = "gpt-5.1-codex"
NOON = "2026-03-04T12:00:00.000Z"
DAY = "2026-03-04"


def session_id(n: int) -> str:
    """The id of a Claude session."""
    return f"0000000{n % 10}-0000-4000-8000-{n:012d}"


def message_id(n: int) -> str:
    """An id in the shape that Anthropic's API gives."""
    return f"msg_01{n:022d}"


def request_id(n: int) -> str:
    """What the API's header calls the same request."""
    return f"req_01{n:022d}"


def thread_id(n: int) -> str:
    """The id of a Codex thread: a later n is a later time, as in every UUIDv7."""
    return f"019cb8{n:02x}-0000-7000-8000-{n:012d}"


def turn_id(thread: int, n: int) -> str:
    """The id of a turn, later than its thread and earlier than the next thread."""
    return f"019cb8{thread:02x}-{n:04x}-7000-9000-{n:012d}"


def dumps(record: Json, *, blanks: bool = False) -> bytes:
    """One line without its end; with blanks as other writers than the clients put them."""
    separators = (", ", ": ") if blanks else (",", ":")
    return json.dumps(record, separators=separators, ensure_ascii=False).encode()


def later(at: str, *, seconds: float) -> str:
    """A time in the form of the logs, so many seconds on."""
    moment = datetime.fromisoformat(at) + timedelta(seconds=seconds)
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def usage(
    input: int = 0, output: int = 0, *, write: int = 0, w5m: int | None = None, w1h: int = 0, read: int = 0
) -> Json:
    """A usage object of Anthropic's API; all writes are five-minute ones if nothing else is said."""
    five = write - w1h if w5m is None else w5m
    return {
        "input_tokens": input,
        "cache_creation_input_tokens": write,
        "cache_read_input_tokens": read,
        "cache_creation": {"ephemeral_5m_input_tokens": five, "ephemeral_1h_input_tokens": w1h},
        "output_tokens": output,
        "service_tier": "standard",
    }


def text(words: str = "Fine.") -> Json:
    """A block of text."""
    return {"type": "text", "text": words}


def tool_use(call: str, input: Json | None = None, *, name: str = "Bash") -> Json:
    """A block that calls a tool."""
    return {"type": "tool_use", "id": call, "name": name, "input": input or {"command": "ls"}}


class ClaudeLog:
    """One transcript of Claude Code; its clock goes one second per record."""

    def __init__(
        self, session: str, *, at: str = NOON, sidechain: bool = False, agent: str | None = None
    ) -> None:
        self.session = session
        self.records: list[Json | bytes] = []
        self._at = at
        self._n = 0
        self._parent: str | None = None
        self._salt = crc32(f"{session}/{agent}".encode())
        self._always: Json = {"isSidechain": sidechain, "sessionId": session}
        if agent:
            self._always["agentId"] = agent

    def prompt(self, words: str = "Please go on.", **over: Any) -> Json:
        """A person's words."""
        return self.add({"type": "user", "message": {"role": "user", "content": words}}, **over)

    def result(self, call: str, **over: Any) -> Json:
        """What a tool gave back."""
        block = {"type": "tool_result", "tool_use_id": call, "content": "done"}
        return self.add({"type": "user", "message": {"role": "user", "content": [block]}}, **over)

    def reply(
        self,
        id: str | None,
        used: Json | None,
        *,
        model: str = OPUS,
        stop: str | None = "end_turn",
        request: str | None = None,
        content: Iterable[Json] = (),
        **over: Any,
    ) -> Json:
        """One chunk of an answer; without `used` the answer says nothing of its tokens."""
        message: Json = {"id": id, "type": "message", "role": "assistant", "model": model}
        message |= {"content": list(content) or [text()], "stop_reason": stop, "stop_sequence": None}
        if used is not None:
            message["usage"] = used
        named = {"requestId": request} if request else {}
        return self.add({"type": "assistant", "message": message} | named, **over)

    def progress(self, inner: Json, *, agent: str = "a1") -> Json:
        """What a subagent wrote, as its parent's log repeats it."""
        kept = ("type", "uuid", "timestamp", "requestId", "message")
        message = {key: inner[key] for key in kept if key in inner}
        data = {"type": "agent_progress", "agentId": agent, "prompt": "look", "message": message}
        return self.add({"type": "progress", "data": data, "toolUseID": "agent_msg_1"})

    def note(self, record: Json) -> Json:
        """A record that is no part of the conversation: it has no uuid and no time."""
        whole = record | {"sessionId": self.session}
        self.records.append(whole)
        return whole

    def add(self, record: Json, **over: Any) -> Json:
        """A record of the conversation, in its envelope."""
        self._n += 1
        uuid = f"{self._salt:08x}-0000-4000-9000-{self._n:012d}"
        envelope: Json = {"parentUuid": self._parent, "userType": "external", "cwd": "/home/dev/project"}
        envelope |= {"version": "2.1.197", "gitBranch": "main", "entrypoint": "cli"}
        whole = envelope | self._always | record
        whole |= {"uuid": uuid, "timestamp": later(self._at, seconds=self._n)} | over
        self._parent = whole["uuid"]
        self.records.append(whole)
        return whole

    def copy(self, records: Iterable[Json | bytes], **over: Any) -> None:
        """Others' records under this session's name, as forks and resumes write them."""
        for record in records:
            assert not isinstance(record, bytes)
            copied = record | {"sessionId": self.session} | over
            self.records.append({key: value for key, value in copied.items() if value is not ...})

    def bytes(self, *, blanks: bool = False, end: bytes = b"\n") -> bytes:
        """The file."""
        lines = (r if isinstance(r, bytes) else dumps(r, blanks=blanks) for r in self.records)
        return b"".join(line + end for line in lines)


def claude(*logs: ClaudeLog, **subagents: ClaudeLog) -> Files:
    """Transcripts where Claude Code keeps them; subagents in the folder of the first log's session."""
    folder = ".claude/projects/-home-dev-project"
    files = {f"{folder}/{log.session}.jsonl": log.bytes() for log in logs}
    for agent, log in subagents.items():
        files[f"{folder}/{log.session}/subagents/agent-{agent}.jsonl"] = log.bytes()
    return files


def tokens(input: int, output: int, *, cached: int = 0, write: int = 0, reasoning: int = 0) -> Json:
    """A usage object of Codex: what was cached is a part of the input."""
    return {
        "input_tokens": input,
        "cached_input_tokens": cached,
        "cache_write_input_tokens": write,
        "output_tokens": output,
        "reasoning_output_tokens": reasoning,
        "total_tokens": input + output,
    }


def added(one: Mapping[str, int], other: Mapping[str, int]) -> Json:
    """The sum of two usage objects."""
    return {key: one.get(key, 0) + other.get(key, 0) for key in tokens(0, 0)}


class CodexLog:
    """One rollout of Codex, which keeps the running total as the client does; a line takes a second."""

    def __init__(self, thread: str, *, at: str = NOON, ordinals: bool = False, **meta: Any) -> None:
        self.thread = thread
        self.records: list[Json | bytes] = []
        self.total = tokens(0, 0)
        self._at = at
        self._n = 0
        self._ordinals = ordinals
        self.meta(thread, **meta)

    def meta(self, id: str, **more: Any) -> Json:
        """Who the file is, or, further down, whose history was copied into it."""
        known: Json = {"id": id, "timestamp": self._at, "cwd": "/home/dev/project", "source": "cli"}
        return self.add(
            "session_meta", known | {"originator": "codex_cli_rs", "cli_version": "0.98.0"} | more
        )

    def turn(self, turn: str | None = None, *, model: str = CODEX, words: str = "Please go on.") -> None:
        """A prompt, and with which model it will be answered."""
        named = {"turn_id": turn} if turn else {}
        if turn:
            self.event("task_started", **named)
        self.event("user_message", message=words)
        self.add("turn_context", {"cwd": "/home/dev/project", "model": model, "summary": "auto"} | named)

    def said(self, words: str = "Fine.") -> None:
        """A message of the model."""
        content = [{"type": "output_text", "text": words}]
        self.add("response_item", {"type": "message", "role": "assistant", "content": content})

    def counted(self, last: Json, *, response: str | None = None, turn: str = "") -> None:
        """A response, its record if it has an id, and the count that follows it."""
        self.said()
        if response:
            self.used(last, response=response, turn=turn)
        self.total = added(self.total, last)
        self.count(last=last, total=self.total)

    def count(self, **info: Json | None) -> None:
        """A count as it stands: `last` and `total` as given, or no figures at all."""
        names = {f"{name}_token_usage": value for name, value in info.items()}
        self.event("token_count", info=names | {"model_context_window": 272000} if names else None)

    def used(self, used: Json, *, response: str, turn: str) -> None:
        """The record that late clients write for each response."""
        payload = {"thread_id": self.thread, "turn_id": turn, "session_id": self.thread}
        self.add("token_usage_record", payload | {"response_id": response, "usage": used})

    def event(self, kind: str, **payload: Any) -> Json:
        """What the client tells."""
        return self.add("event_msg", {"type": kind} | payload)

    def add(self, kind: str, payload: Json) -> Json:
        """A line in its envelope."""
        self._n += 1
        ordinal = {"ordinal": self._n - 1} if self._ordinals else {}
        at = later(self._at, seconds=self._n)
        record = {"timestamp": at} | ordinal | {"type": kind, "payload": payload}
        self.records.append(record)
        return record

    def replay(self, other: CodexLog) -> None:
        """Another thread's lines, stamped anew in one burst, as a fork begins; its total goes on."""
        self._n += 1
        at = later(self._at, seconds=self._n)
        self.records += [r | {"timestamp": at} for r in other.records if not isinstance(r, bytes)]
        self.total = other.total

    def bytes(self, *, blanks: bool = False) -> bytes:
        """The file."""
        lines = (r if isinstance(r, bytes) else dumps(r, blanks=blanks) for r in self.records)
        return b"".join(line + b"\n" for line in lines)

    @property
    def path(self) -> str:
        """Where Codex keeps it."""
        stamp = self._at[:19].replace(":", "-")
        folder = f".codex/sessions/{self._at[:10].replace('-', '/')}"
        return f"{folder}/rollout-{stamp}-{self.thread}.jsonl"


def codex(*logs: CodexLog) -> Files:
    """Rollouts where Codex keeps them."""
    return {log.path: log.bytes() for log in logs}
