"""A home with many small sessions, the same for the same number: what lists must stay quick over.

python -m tests.views.web.many_sessions DIR [SESSIONS] [CALLS]
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

NEWEST = datetime(2026, 3, 1, 17, 24, 42, tzinfo=UTC)
MODELS = ("claude-opus-4-6", "claude-sonnet-4-5-20250929", "claude-haiku-4-5-20251001", "model-x")
TOOLS = ("Bash", "Read", "Edit", "Write", "Grep", "Glob", "WebFetch", "mcp__tracker__search", "Task")
_WORDS = [
    "fix",
    "the",
    "walk",
    "order",
    "test",
    "index",
    "parser",
    "slow",
    "search",
    "broken",
    "window",
    "colour",
    "release",
    "note",
    "retry",
]
Line = dict[str, Any]


def write_many(home: Path, n_sessions: int, *, n_calls: int = 2, n_projects: int = 60) -> None:
    """Fills a home of Claude Code with sessions, each of them some minutes older than the one before."""
    for n in range(n_sessions):
        dice = random.Random(n)
        project = f"project-{min(int(dice.expovariate(0.08)), n_projects - 1)}"
        folder = home / "projects" / f"-work-{project}"
        folder.mkdir(parents=True, exist_ok=True)
        lines = _Session(n, dice, f"/work/{project}").lines(dice.randint(0, 2 * n_calls))
        (folder / f"{session_id(n)}.jsonl").write_bytes(
            b"".join(json.dumps(line).encode() + b"\n" for line in lines)
        )


def session_id(n: int) -> str:
    """The name of a session."""
    return f"{n:08x}-0000-4000-b000-{n:012x}"


class _Session:
    """One session, line by line."""

    def __init__(self, n: int, dice: random.Random, cwd: str) -> None:
        self._n = n
        self._dice = dice
        self._model = dice.choices(MODELS, (6, 3, 2, 1))[0]
        self._at = NEWEST - timedelta(minutes=26 * n)
        self._tip: str | None = None
        self._n_lines = 0
        self._always = {"sessionId": session_id(n), "cwd": cwd, "version": "2.1.100", "gitBranch": "main"}

    def lines(self, n_calls: int) -> Iterator[Line]:
        """A prompt, calls with their results, an answer."""
        yield self._line("user", {"role": "user", "content": " ".join(self._dice.choices(_WORDS, k=5))})
        for n in range(n_calls):
            yield from self._call(n)
        yield self._answer(n_calls, {"type": "text", "text": "Done."}, "end_turn")

    def _call(self, n: int) -> Iterator[Line]:
        id, name = f"toolu_{self._n}_{n}", self._dice.choices(TOOLS, (9, 8, 6, 3, 3, 2, 1, 1, 1))[0]
        given = {"command": f"make {self._dice.choice(_WORDS)}", "file_path": f"/work/{n}.py"}
        yield self._answer(n, {"type": "tool_use", "id": id, "name": name, "input": given}, "tool_use")
        block: Line = {"type": "tool_result", "tool_use_id": id, "content": "well"}
        if self._dice.random() < 0.08:
            block |= {"is_error": True, "content": "Exit code 1\nit failed"}
        if self._dice.random() < 0.98:
            yield self._line("user", {"role": "user", "content": [block]}, toolUseResult=block["content"])

    def _answer(self, n: int, block: Line, stop: str) -> Line:
        usage = {"input_tokens": self._dice.randint(1, 90), "output_tokens": self._dice.randint(1, 900)}
        head = {"id": f"msg_{self._n}_{n}", "type": "message", "role": "assistant", "model": self._model}
        message = {**head, "content": [block], "stop_reason": stop, "usage": usage}
        return self._line("assistant", message, requestId=f"req_{self._n}_{n}")

    def _line(self, type: str, message: Line, **more: Any) -> Line:
        self._n_lines += 1
        self._at += timedelta(milliseconds=self._dice.randint(40, 9_000))
        parent, self._tip = self._tip, f"{self._n:x}-{self._n_lines}"
        at = f"{self._at:%Y-%m-%dT%H:%M:%S}.{self._at.microsecond // 1000:03d}Z"
        head = {"parentUuid": parent, "isSidechain": False, "userType": "external", **self._always}
        return {**head, "type": type, "uuid": self._tip, "timestamp": at, "message": message, **more}


if __name__ == "__main__":
    write_many(
        Path(sys.argv[1]), *map(int, sys.argv[2:3] or ["20000"]), n_calls=int((sys.argv[3:] or ["2"])[0])
    )
