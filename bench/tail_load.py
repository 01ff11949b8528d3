"""Writes logs as many agents at once do: in torn pieces, and now and then renamed, moved, cut or rewritten.

Rules of this room
  1. Every line tells exactly one event that carries its mark; when its last byte was written is noted.
  2. What was cut away before anybody could have read it may be missing; everything else must be told once.
"""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

_SEEN_WITHIN_S = 2.0  # a line that stood so long was there to be read
_WORDS = 'the lögs 増える and nobody — is told twice; \\n "quoted" 🚀 of what stands there '
_TEXT = _WORDS * 1500


@dataclass
class Log:
    """One log that grows."""

    path: Path
    agent: str
    session: str
    thread: str | None = None
    torn: list[bytes] = field(default_factory=list)  # the rest of a line that was begun
    torn_mark: str = ""
    last: list[tuple[str, int]] = field(
        default_factory=list
    )  # the last lines: their marks, and where they begin


class Load:
    """Some logs below a folder that grow together."""

    def __init__(self, top: Path, *, n_logs: int, seed: int = 1) -> None:
        self.claude, self.codex = top / "claude", top / "codex"
        (self.claude / "projects").mkdir(parents=True)
        (self.codex / "sessions").mkdir(parents=True)
        (self.codex / "archived_sessions").mkdir()
        self._dice = random.Random(seed)
        self._n = self._n_sessions = 0
        self.written: dict[str, int] = {}  # by mark: when it was whole, in monotonic nanoseconds
        self.cut: dict[str, int] = {}  # by mark: when it was cut away
        self.n_bytes = 0
        self.acts: dict[str, int] = {}
        self.logs = [self._new_log(("claude", "claude", "agent", "codex")[n % 4]) for n in range(n_logs)]

    def run(self, seconds: float, *, bytes_per_s: float, act_every_s: float = 0.7) -> None:
        """Writes for so long, evenly."""
        began = time.monotonic()
        next_act = act_every_s
        while (now := time.monotonic() - began) < seconds:
            while self.n_bytes < now * bytes_per_s:
                self.step()
            if now >= next_act:
                next_act += act_every_s
                self.act()
            time.sleep(0.005)
        self.finish()

    def step(self) -> None:
        """A line, or a piece of one, in one of the logs."""
        log = self._dice.choice(self.logs)
        if not log.torn:
            self._begin_line(log)
        self._write_piece(log)

    def act(self) -> None:
        """Something that happens to logs beside growing."""
        acts: list[Callable[[Log], None]] = [
            self._rename,
            self._cut,
            self._rewrite_aside,
            self._rewrite_in_place,
            self._retire,
            self._move,
        ]
        act = self._dice.choice(acts)
        name = act.__name__.strip("_")
        self.acts[name] = self.acts.get(name, 0) + 1
        act(self._dice.choice(self.logs))

    def finish(self) -> None:
        """Ends all lines that were begun."""
        for log in self.logs:
            while log.torn:
                self._write_piece(log)

    def may_be_missing(self) -> set[str]:
        """The marks of lines that were cut away too soon."""
        soon = _SEEN_WITHIN_S * 1e9
        return {mark for mark, at in self.cut.items() if at - self.written[mark] < soon}

    # How logs grow:

    def _begin_line(self, log: Log) -> None:
        self._n += 1
        mark = f"m{self._n}"
        data = _line(log, mark, self._dice)
        n_cuts = self._dice.choice((0, 0, 0, 1, 1, 2))
        cuts = sorted(self._dice.randrange(1, len(data)) for _ in range(n_cuts))
        pieces = [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]
        log.torn, log.torn_mark = [piece for piece in pieces if piece], mark
        log.last = [*log.last, (mark, log.path.stat().st_size)][-5:]

    def _write_piece(self, log: Log) -> None:
        piece = log.torn.pop(0)
        _append(log.path, piece)
        self.n_bytes += len(piece)
        if not log.torn:
            self.written[log.torn_mark] = time.monotonic_ns()

    def _new_log(self, kind: str) -> Log:
        self._n_sessions += 1
        session = str(UUID(int=0x4000_8000_0000_0000_0000 + self._n_sessions + (self._n_sessions << 96)))
        if kind == "codex":
            path = self.codex / "sessions" / "2026" / "11" / f"{self._n_sessions % 28 + 1:02}"
            log = Log(path / f"rollout-2026-11-16T10-00-00-{session}.jsonl", "codex", session)
        else:
            project = self.claude / "projects" / f"-srv-app{self._n_sessions % 7}"
            log = Log(project / f"{session}.jsonl", "claude", session)
            if kind == "agent":
                log.thread = f"a{self._n_sessions:07x}"
                log.path = project / session / "subagents" / f"agent-{log.thread}.jsonl"
        log.path.parent.mkdir(parents=True, exist_ok=True)
        _append(log.path, _head(log))
        return log

    # What happens to them:

    def _retire(self, log: Log) -> None:
        """It is written no more, and another session or subagent begins."""
        while log.torn:
            self._write_piece(log)
        self.logs[self.logs.index(log)] = self._new_log(self._dice.choice(("claude", "agent", "codex")))

    def _rename(self, log: Log) -> None:
        """It is put aside with all that was not read yet, and begun anew."""
        while log.torn:
            self._write_piece(log)
        log.path.rename(log.path.with_name(f"{log.path.name}.{self._n}"))
        log.last = []
        _append(log.path, _head(log))

    def _move(self, log: Log) -> None:
        """It goes on in another folder, as archived rollouts do, or sessions that change their project."""
        if log.agent == "codex":
            to = self.codex / "archived_sessions" / log.path.name
        elif log.thread is None:
            to = self.claude / "projects" / f"-srv-moved{self._n % 3}" / log.path.name
        else:
            return
        to.parent.mkdir(exist_ok=True)
        if not to.exists():
            log.path = log.path.rename(to)

    def _cut(self, log: Log) -> None:
        """Its last lines are taken back, as after a stream that broke."""
        if not log.last:
            return
        at = self._dice.randrange(len(log.last))
        now = time.monotonic_ns()
        for mark, _ in log.last[at:]:
            if mark in self.written:
                self.cut[mark] = now
        os.truncate(log.path, log.last[at][1])
        log.torn, log.last = [], log.last[:at]

    def _rewrite_aside(self, log: Log) -> None:
        aside = log.path.with_name(".aside")
        aside.write_bytes(self._edited(log))
        aside.replace(log.path)

    def _rewrite_in_place(self, log: Log) -> None:
        content = self._edited(log)
        middle = len(content) // 2
        with log.path.open("wb", buffering=0) as stream:
            stream.write(content[:middle])
            time.sleep(0.002)
            stream.write(content[middle:])

    def _edited(self, log: Log) -> bytes:
        """Its contents without one of its older lines, which stood there long enough."""
        lines = log.path.read_bytes().split(b"\n")
        log.last = []
        if len(lines) > 400:
            del lines[self._dice.randrange(1, len(lines) // 4)]
        return b"\n".join(lines)


def _append(path: Path, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(descriptor, data)
    finally:
        os.close(descriptor)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _head(log: Log) -> bytes:
    """What makes a log known as one of its session."""
    if log.agent == "codex":
        meta = {"id": log.session, "timestamp": _now(), "cwd": "/srv/app", "cli_version": "0.166.0"}
        return _json({"timestamp": _now(), "type": "session_meta", "payload": meta})
    return _json({"type": "mode", "mode": "normal", "sessionId": log.session})


def _line(log: Log, mark: str, dice: random.Random) -> bytes:
    low, high = dice.choice(((300, 3_000),) * 14 + ((3_000, 12_000),) * 5 + ((12_000, 60_000),))
    begin = dice.randrange(1_000)
    text = _TEXT[begin : begin + dice.randrange(low, high)]
    if log.agent == "codex":
        output = {"type": "function_call_output", "call_id": mark, "output": text}
        return _json({"timestamp": _now(), "type": "response_item", "payload": output})
    return _json(_claude_line(log, mark, text, dice.choice(("prompt", "reply", "result"))))


def _claude_line(log: Log, mark: str, text: str, kind: str) -> dict[str, object]:
    line: dict[str, object] = {
        "uuid": f"u-{mark}",
        "parentUuid": None,
        "sessionId": log.session,
        "timestamp": _now(),
        "cwd": "/srv/app",
        "version": "2.1.325",
        **({"isSidechain": True, "agentId": log.thread} if log.thread else {}),
    }
    if kind == "prompt":
        return line | {"type": "user", "message": {"role": "user", "content": f"{mark} {text}"}}
    if kind == "result":
        block = {"type": "tool_result", "tool_use_id": mark, "content": text}
        return line | {"type": "user", "message": {"role": "user", "content": [block]}}
    message = {
        "id": f"msg_{mark}",
        "role": "assistant",
        "model": "claude-opus-4-5",
        "content": [{"type": "text", "text": f"{mark} {text}"}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 10, "output_tokens": 5},
    }
    return line | {"type": "assistant", "message": message}


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode() + b"\n"
