"""A home of Claude Code that lives: tests write lines, registry files and hook calls into it, as clients do."""

from __future__ import annotations

import json
import os
import subprocess
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tracklog.sources.log_file import Root

ONE = "11111111-aaaa-4aaa-8aaa-111111111111"
TWO = "22222222-bbbb-4bbb-8bbb-222222222222"


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def now_ms() -> int:
    return time.time_ns() // 1_000_000


class LiveHome:
    """Writes what a client would write."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.ours = path / "ours"
        (path / "projects" / "-p").mkdir(parents=True)
        (path / "sessions").mkdir()
        (self.ours / "spool").mkdir(parents=True)
        self._n = 0

    @property
    def roots(self) -> list[Root]:
        return [Root(self.path, "claude")]

    def log(self, session: str = ONE) -> Path:
        return self.path / "projects" / "-p" / f"{session}.jsonl"

    def line(self, session: str = ONE, **more: Any) -> None:
        self._n += 1
        line = {
            "uuid": f"u{self._n}",
            "parentUuid": f"u{self._n - 1}" if self._n > 1 else None,
            "sessionId": session,
            "timestamp": now(),
            "cwd": "/work/app",
            "version": "2.1.325",
            **more,
        }
        append(self.log(session), json.dumps(line).encode() + b"\n")

    def prompt(self, text: str, session: str = ONE) -> None:
        self.line(session, type="user", message={"role": "user", "content": text})

    def reply(self, *content: Any, stop: str | None = "end_turn", session: str = ONE) -> None:
        blocks = [{"type": "text", "text": one} if isinstance(one, str) else one for one in content]
        message = {
            "id": f"msg_{self._n}",
            "role": "assistant",
            "model": "claude-opus-4-5",
            "content": blocks,
            "stop_reason": stop,
            "usage": {"input_tokens": 10, "output_tokens": 5},
        }
        self.line(session, type="assistant", message=message)

    def call(self, call: str, name: str, session: str = ONE, **given: Any) -> None:
        self.reply(
            {"type": "tool_use", "id": call, "name": name, "input": given}, stop="tool_use", session=session
        )

    def result(self, call: str, text: str = "done", session: str = ONE) -> None:
        block = {"type": "tool_result", "tool_use_id": call, "content": text}
        self.line(session, type="user", message={"role": "user", "content": [block]})

    def register(self, pid: int, status: str | None, session: str = ONE, **more: Any) -> Path:
        path = self.path / "sessions" / f"{pid}.json"
        entry = {
            "pid": pid,
            "sessionId": session,
            "cwd": "/work/app",
            "startedAt": now_ms(),
            "procStart": start_ticks(pid),
            "statusUpdatedAt": now_ms(),
            **({"status": status} if status else {}),
            **more,
        }
        path.write_text(json.dumps(entry))
        return path

    def hook(self, event: str, session: str = ONE, **more: Any) -> None:
        payload = {
            "session_id": session,
            "hook_event_name": event,
            "cwd": "/work/app",
            "transcript_path": str(self.log(session)),
            **more,
        }
        line = {"v": 1, "at": now_ms(), "agent": "claude", "pid": 1, "ppid": 1, "payload": payload}
        append(self.ours / "spool" / "hooks.jsonl", json.dumps(line).encode() + b"\n")


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as stream:
        stream.write(data)


def start_ticks(pid: int) -> str | None:
    try:
        told = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    return told.rpartition(b")")[2].split()[19].decode()


def a_process() -> subprocess.Popen[bytes]:
    """A process that lives until it is killed."""
    return subprocess.Popen(["sleep", "60"], stdin=subprocess.DEVNULL, env={"PATH": os.defpath})
