"""Lines of a spool as our hook writes them, and what agents tell it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

START_MS = 1_794_823_200_000  # 2026-11-16T10:00:00Z, the minute of tests/model/lines.py a day later
SESSION = "s1"


def told(event: str, **more: Any) -> dict[str, Any]:
    """A payload."""
    return {"session_id": SESSION, "hook_event_name": event, **more}


def before(call: str, tool: str = "Bash", input: Any = None, **more: Any) -> dict[str, Any]:
    """That a call is about to run."""
    return told("PreToolUse", tool_name=tool, tool_input=input or {"command": "x"}, tool_use_id=call, **more)


def after(call: str, tool: str = "Bash", **more: Any) -> dict[str, Any]:
    """That it came back well."""
    return told("PostToolUse", tool_name=tool, tool_input={"command": "x"}, tool_use_id=call, **more)


def failed(call: str, error: str, tool: str = "Bash", **more: Any) -> dict[str, Any]:
    """That it failed."""
    return told("PostToolUseFailure", tool_name=tool, tool_use_id=call, error=error, **more)


def asked(tool: str = "Bash", input: Any = None, **more: Any) -> dict[str, Any]:
    """That somebody is asked; it names no call."""
    return told("PermissionRequest", tool_name=tool, tool_input=input or {"command": "x"}, **more)


def spool_line(payload: dict[str, Any], at_ms: int = START_MS, **more: Any) -> bytes:
    """The line that our hook makes of a payload."""
    line = {"v": 1, "at": at_ms, "agent": "claude", "pid": 7, "ppid": 6, **more, "payload": payload}
    return json.dumps(line, separators=(",", ":")).encode() + b"\n"


def spool(home: Path, *payloads: dict[str, Any], at_ms: int = START_MS, name: str = "hooks.jsonl") -> Path:
    """A spool with these payloads behind what is there, a second apart."""
    path = home / "spool" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as stream:
        stream.write(b"".join(spool_line(one, at_ms + 1000 * n) for n, one in enumerate(payloads)))
    return path
