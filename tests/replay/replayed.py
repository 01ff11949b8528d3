"""Recordings for tests of replays, and a clock that moves when it is waited for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tracklog.agents.discovery import find_at
from tracklog.reading.session_files import SessionFiles, group
from tracklog.replay.plan import ReplayStep
from tracklog.replay.play import replay

NOW_MS = 1_900_000_000_000
SESSION = "5e550000-0000-4000-8000-000000000001"
PROJECT = Path(".claude/projects/-home-dev-project")
REFUSED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the "
    "new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to proceed."
)
BY_PERSON = {"decision": "accept", "source": "user_temporary", "grantScope": "once", "reasonCode": "unknown"}


class HandClock:
    """Nobody sleeps: waiting moves the time on."""

    def __init__(self, now_ms: int = NOW_MS) -> None:
        self.now = now_ms
        self.n_waited = 0

    def now_ms(self) -> int:
        return self.now

    def wait_until(self, moment_ms: int) -> None:
        self.n_waited += moment_ms > self.now
        self.now = max(self.now, moment_ms)


def recorded_at(home: Path) -> list[SessionFiles]:
    """The sessions that stand in a home, by id."""
    return sorted(group(find_at(home)), key=lambda session: session.id)


def played(
    sessions: list[SessionFiles], target: Path, *, clock: HandClock | None = None, **how: Any
) -> Iterator[ReplayStep]:
    """A replay without sleep, on a machine without agents."""
    env = {"HOME": str(target.parent / "nobody")}
    return replay(sessions, target, clock=clock or HandClock(), env=env, **how)


class Transcript:
    """Writes a transcript of Claude Code, line by line; `at` are milliseconds after noon."""

    def __init__(self, session: str = SESSION) -> None:
        self.session = session
        self.lines: list[dict[str, Any]] = []

    def prompt(self, text: str, at: int) -> None:
        self._add(at, type="user", message={"role": "user", "content": text})

    def call(self, name: str, at: int, **arguments: Any) -> str:
        call = f"toolu_{len(self.lines)}"
        block = {"type": "tool_use", "id": call, "name": name, "input": arguments}
        self._answer(at, [block], "tool_use")
        return call

    def result(self, call: str, text: str, at: int, **more: Any) -> None:
        block = {"type": "tool_result", "tool_use_id": call, "content": text}
        content = [block | {"is_error": more.pop("is_error", False)}]
        self._add(at, type="user", message={"role": "user", "content": content}, **more)

    def says(self, text: str, at: int, stop_reason: str = "end_turn") -> None:
        self._answer(at, [{"type": "text", "text": text}], stop_reason)

    def interrupted(self, at: int, **more: Any) -> None:
        text = "[Request interrupted by user for tool use]"
        message = {"role": "user", "content": [{"type": "text", "text": text}]}
        self._add(at, type="user", message=message, **more)

    def write(self, top: Path) -> list[SessionFiles]:
        """Puts it into a home below `top`."""
        path = top / PROJECT / f"{self.session}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = (json.dumps(line, ensure_ascii=False, separators=(",", ":")) for line in self.lines)
        path.write_text("".join(f"{line}\n" for line in lines))
        return recorded_at(top / ".claude")

    def _answer(self, at: int, content: list[Any], stop_reason: str) -> None:
        id = f"msg_{len(self.lines)}"
        usage = {"input_tokens": 3, "output_tokens": 5}
        message = {"id": id, "role": "assistant", "model": "claude-sonnet-4-5", "content": content}
        self._add(at, type="assistant", message=message | {"stop_reason": stop_reason, "usage": usage})

    def _add(self, at: int, **line: Any) -> None:
        seconds, ms = divmod(at, 1000)
        minutes, seconds = divmod(seconds, 60)
        common = {
            "parentUuid": f"uuid-{len(self.lines) - 1}" if self.lines else None,
            "uuid": f"uuid-{len(self.lines)}",
            "isSidechain": False,
            "sessionId": self.session,
            "cwd": "/home/dev/project",
            "version": "2.1.325",
            "entrypoint": "cli",
            "timestamp": f"2026-03-01T12:{minutes:02}:{seconds:02}.{ms:03}Z",
        }
        self.lines.append({**line, **common})


def with_permission() -> Transcript:
    """A turn with a call that a person allowed."""
    made = Transcript()
    made.prompt("please list", 0)
    call = made.call("Bash", 500, command="ls")
    made.result(call, "a.txt", 3000, toolUseResult={"stdout": "a.txt"}, permissionDecision=BY_PERSON)
    made.says("Done: ä.", 3400)
    return made
