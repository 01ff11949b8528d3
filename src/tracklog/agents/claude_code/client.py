"""Claude Code as a child: its arguments, the settings laid over its own, and what its stream says.

Rules of this room
  1. Only documented ways: `-p`, `--output-format stream-json`, `--settings`, `--session-id`, `--resume`, `--fork-session`.
  2. The prompt is not among the arguments: it goes to stdin.
  3. The client's own result object is kept as it came.
(docs/run.md#claude-code)
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tracklog.model.run_request import RunRequest, session_in

PROGRAM = "claude"
_SYNTHETIC = "<synthetic>"  # words of the client itself
HOOKED = ("Stop", "SubagentStop", "SessionEnd")
ASKS = "PermissionRequest"
_OF_A_PARENT = (  # what 2.1.325 gives to all that its own tools start
    "AI_AGENT",
    "CLAUDECODE",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_EXECPATH",
    "CLAUDE_CODE_MESSAGING_SOCKET",
    "CLAUDE_CODE_MESSAGING_TOKEN",
    "CLAUDE_CODE_SESSION_ATTENDED",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_SSE_PORT",
    "CLAUDE_EFFORT",
    "CLAUDE_PID",
)


def arguments(request: RunRequest, *, session: str | None, overlay: Path | None) -> list[str]:
    """All arguments of the client; what its user gave comes last and counts."""
    given: list[str] = ["-p", "--output-format", "stream-json", "--verbose"]
    if request.resume is not None:
        given += ["--resume", request.resume, *(["--fork-session"] if request.is_fork else [])]
    if session is not None and (request.resume is None or request.is_fork):
        given += ["--session-id", session]
    for name, value in (
        ("--settings", overlay),
        ("--model", request.model),
        ("--permission-mode", request.permission_mode),
        ("--name", request.name),
        ("--append-system-prompt", request.append_system_prompt),
        ("--max-turns", request.max_turns),
        ("--json-schema", _as_json(request.json_schema)),
    ):
        if value is not None:
            given += _bound(name, str(value))
    for name, values in (
        ("--allowedTools", request.allowed_tools),
        ("--disallowedTools", request.disallowed_tools),
        ("--add-dir", request.add_dirs),
    ):
        if values:
            given += [name, *map(str, values)]
    if not request.persists:
        given.append("--no-session-persistence")
    return [*given, *request.client_arguments]


def _bound(name: str, value: str) -> list[str]:
    """An option with its value; a value with a dash in front (a list in a prompt) must not look like an option."""
    return [f"{name}={value}"] if value.startswith("-") else [name, value]


def interactive_arguments(session: str) -> list[str]:
    """How a person goes on with a session in the terminal."""
    return ["--resume", session]


def environment(env: Mapping[str, str]) -> dict[str, str]:
    """The caller's environment, without what another Claude Code left in it: the child's entrypoint is its own."""
    return {name: value for name, value in env.items() if name not in _OF_A_PARENT}


def overlay(handlers: Mapping[str, Sequence[Mapping[str, Any]]]) -> bytes:
    """The settings for one run: hooks by event. Those of the user stay in force beside them."""
    return json.dumps(
        {"hooks": {event: [{"hooks": list(ours)}] for event, ours in handlers.items()}}
    ).encode()


def _as_json(schema: Mapping[str, Any] | None) -> str | None:
    return None if schema is None else json.dumps(schema, separators=(",", ":"))


class ClaudeSense:
    """What the stream of one `claude -p` has told."""

    def __init__(self) -> None:
        self.session: str | None = None
        self.model: str | None = None
        self.text: str | None = None
        self.error: str | None = None
        self.result: dict[str, Any] | None = None
        self.requests: dict[str, tuple[str | None, Mapping[str, Any]]] = {}  # model and usage, by message

    @property
    def is_finished(self) -> bool:
        """Whether the result has come."""
        return self.result is not None

    def take(self, document: Mapping[str, Any]) -> str:
        """Takes in a line; the last result counts, as a session may be woken again by its background."""
        kind, subtype = document.get("type"), document.get("subtype")
        self.session = session_in(document.get("session_id")) or self.session
        if kind == "system" and subtype == "init" and isinstance(model := document.get("model"), str):
            self.model = model
        elif kind == "assistant":
            self._note_message(document.get("message"), is_main=document.get("parent_tool_use_id") is None)
        elif kind == "result":
            self.result = dict(document)
            self.error = _error_of(document)
        return f"{kind}/{subtype}" if isinstance(subtype, str) else str(kind)

    def _note_message(self, message: object, *, is_main: bool) -> None:
        if not isinstance(message, dict):
            return
        id, model, usage = (message.get(name) for name in ("id", "model", "usage"))
        if isinstance(id, str) and isinstance(usage, dict) and model != _SYNTHETIC:
            self.requests[id] = (model if isinstance(model, str) else None, usage)
        if is_main:
            self.text = _text_of(message) or self.text


def _text_of(message: object) -> str | None:
    """The last block of text, which is what the client gives as the result."""
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    texts = [block.get("text") for block in blocks if isinstance(block, dict) and block.get("type") == "text"]
    return next((text for text in reversed(texts) if isinstance(text, str) and text.strip()), None)


def _error_of(result: Mapping[str, Any]) -> str | None:
    if not result.get("is_error"):
        return None
    errors = result.get("errors")
    told = [one for one in errors if isinstance(one, str)] if isinstance(errors, list) else []
    text = result.get("result")
    return "; ".join(told) or (text if isinstance(text, str) and text else None) or str(result.get("subtype"))
