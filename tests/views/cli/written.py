"""Small logs written by hand, line by line, as Claude Code writes them."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.views.cli.command import ONE, transcript_in, write

BEGAN = datetime(2026, 3, 1, 17, 24, 42, tzinfo=UTC)
MODEL = "claude-opus-4-6"
PRICE = 30  # micro-dollars of one request: a token in for 5 $ a million, one out for 25 $


class Log:
    """A transcript that grows: each line hangs on the one before and comes a second later."""

    def __init__(self, session: str = ONE, *, cwd: str = "/home/dev/project", **more: Any) -> None:
        self.lines: list[dict[str, Any]] = []
        self.tip: str | None = None
        self._ids = (
            "u"
            if session == ONE and not more.get("isSidechain")
            else f"{session[:4]}{more.get('agentId', '')}"
        )
        self._always = {"sessionId": session, "cwd": cwd, "version": "2.1.100", "gitBranch": "main", **more}

    def prompt(self, text: str, **more: Any) -> Log:
        return self._line("user", {"message": {"role": "user", "content": text}, **more})

    def answer(self, id: str, *blocks: Any, stop: str | None = None, **more: Any) -> Log:
        """One request: one line for each block, as the client writes them; a text stands for a text block."""
        for n, given in enumerate(blocks):
            block = {"type": "text", "text": given} if isinstance(given, str) else given
            is_last = n == len(blocks) - 1
            message = {
                "id": id,
                "type": "message",
                "role": "assistant",
                "model": MODEL,
                "content": [block],
                "stop_reason": (stop or "end_turn") if is_last else None,
                "usage": {"input_tokens": 1, "output_tokens": 1},
            }
            self._line("assistant", {"message": message, "requestId": f"req_{id}", **more})
        return self

    def client(self, text: str, **more: Any) -> Log:
        """What the client writes in the model's place."""
        message = {"id": f"client-{len(self.lines)}", "role": "assistant", "model": "<synthetic>"}
        content = [{"type": "text", "text": text}]
        return self._line("assistant", {"message": {**message, "content": content}, **more})

    def result(self, call: str, text: str, *, is_error: bool = False, report: Any = None, **more: Any) -> Log:
        block: dict[str, Any] = {"type": "tool_result", "tool_use_id": call, "content": text}
        if is_error:
            block["is_error"] = True
        message = {"role": "user", "content": [block]}
        return self._line("user", {"message": message, "toolUseResult": report or text, **more})

    def note(self, line: dict[str, Any]) -> Log:
        """A line that hangs on nothing."""
        self.lines.append(line)
        return self

    def back_to(self, uuid: str) -> Log:
        """What comes next hangs on this line."""
        self.tip = uuid
        return self

    def at(self, n: int) -> str:
        """When the line with this number was written."""
        return f"{BEGAN + timedelta(seconds=n - 1):%Y-%m-%dT%H:%M:%S}.000Z"

    @property
    def content(self) -> bytes:
        return b"".join(json.dumps(line).encode() + b"\n" for line in self.lines)

    def write(self, path: Path) -> Path:
        return write(path, self.content)

    def write_in(self, home: Path) -> Path:
        """Writes it to where Claude Code would keep it."""
        return self.write(transcript_in(home, f"{self._always['sessionId']}.jsonl"))

    def _line(self, type: str, more: dict[str, Any]) -> Log:
        n = len(self.lines) + 1
        head = {"parentUuid": self.tip, "isSidechain": False, "userType": "external", **self._always}
        self.tip = f"{self._ids}-{n}"
        self.lines.append({**head, "type": type, "uuid": self.tip, "timestamp": self.at(n), **more})
        return self


def tool(id: str, name: str, **given: Any) -> dict[str, Any]:
    """A block in which the model calls a tool."""
    return {"type": "tool_use", "id": id, "name": name, "input": given}


def thought(text: str) -> dict[str, Any]:
    """A block in which the model thinks."""
    return {"type": "thinking", "thinking": text, "signature": "s"}


def working_day(session: str = ONE, **more: Any) -> Log:
    """Two turns: a call that goes well, one that fails, an answer; then a question and its answer."""
    log = Log(session, **more).prompt("Fix the test.")
    log.answer(
        "msg_1",
        thought("Let me see."),
        "I look at it first.",
        tool("toolu_1", "Bash", command="make test"),
        tool("toolu_2", "Read", file_path="/home/dev/project/src/app.py"),
        stop="tool_use",
    )
    log.result("toolu_1", "Exit code 2\nmake: *** [test] Error 2", is_error=True)
    log.result("toolu_2", "1\tcode")
    log.answer("msg_2", "Fixed.")
    return log.prompt("Why was it red?").answer("msg_3", "A typo.", "In `app.py`.")
