"""Claude Code as a child: its arguments, the settings laid over its own, and the reader of its stream.

Rules
  1. Only documented ways: `-p`, `--output-format stream-json`, `--settings`, `--session-id`, `--resume`, `--fork-session`.
  2. The prompt is not among the arguments: it goes to stdin.
  3. The client's own result object is kept as it came.
(docs/run.md#claude-code)
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tracklog.agents.base import AgentClient, ClientStream
from tracklog.agents.roots import claude_home, claude_homes
from tracklog.model.run_request import RunRequest, session_in
from tracklog.sources.log_file import Root

if TYPE_CHECKING:
    from tracklog.agents.risks import Risk
    from tracklog.model.usage import UsageRow

_SYNTHETIC = "<synthetic>"  # words of the client itself
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


class ClaudeCodeClient(AgentClient):
    """Claude Code in its headless mode, `claude -p`."""

    program = "claude"
    project_folder = ".claude"
    takes_session_id = True
    reporting_hooks = ("Stop", "SubagentStop", "SessionEnd")
    permission_event = "PermissionRequest"

    def arguments(
        self,
        request: RunRequest,
        *,
        session: str | None,
        settings: Path | None,
        schema: Path | None,  # noqa: ARG002 - it goes into an argument
    ) -> list[str]:
        """All arguments of the client; the user's own come last and win."""
        given: list[str] = ["-p", "--output-format", "stream-json", "--verbose"]
        if request.resume is not None:
            given += ["--resume", request.resume, *(["--fork-session"] if request.is_fork else [])]
        if session is not None and (request.resume is None or request.is_fork):
            given += ["--session-id", session]
        for name, value in (
            ("--settings", settings),
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
                given += [name, *(os.fspath(value) for value in values)]
        if not request.persists:
            given.append("--no-session-persistence")
        return [*given, *request.client_arguments]

    def interactive_arguments(self, session: str) -> list[str]:
        return ["--resume", session]

    def environment(self, env: Mapping[str, str]) -> dict[str, str]:
        """Without what another Claude Code left in it: the child's entrypoint is its own."""
        return {name: value for name, value in env.items() if name not in _OF_A_PARENT}

    def settings(self, hooks: Mapping[str, Sequence[Mapping[str, Any]]]) -> bytes | None:
        """The settings laid over the user's own, which stay in force."""
        return json.dumps(
            {"hooks": {event: [{"hooks": list(ours)}] for event, ours in hooks.items()}}
        ).encode()

    def stream(self) -> ClientStream:
        return ClaudeCodeStream()

    def is_full_model_name(self, model: str) -> bool:
        return "-" in model  # `opus` is short, `claude-opus-4-5` is not

    def usage_document(self, row: UsageRow) -> dict[str, Any]:
        """Tokens in the words of Claude Code's result."""
        tokens = row.tokens
        return {
            "input_tokens": tokens.input,
            "cache_creation_input_tokens": tokens.cache_write,
            "cache_read_input_tokens": tokens.cache_read,
            "output_tokens": tokens.output,
            "server_tool_use": {"web_search_requests": tokens.web_searches},
        }

    def log_of(self, session: str, cwd: Path, env: Mapping[str, str]) -> Path | None:
        from tracklog.agents.claude_code.places import transcript_path  # slow to load: not before the start

        return transcript_path(session, cwd, env=env)

    def logs_beside(self, log: Path) -> list[Path]:
        return [Path(at, name) for at, _, names in os.walk(log.with_suffix("")) for name in sorted(names)]

    def log_roots(self, env: Mapping[str, str]) -> list[Root]:
        return [Root(home, "claude") for home in claude_homes(env)]

    def log_folders(self, cwd: Path, env: Mapping[str, str]) -> list[Path] | None:
        from tracklog.agents.claude_code.places import project_dirs_for, resolved  # slow to load

        return [folder for home in claude_homes(env) for folder in project_dirs_for(home, resolved(cwd))]

    def risks(self, cwd: Path, env: Mapping[str, str]) -> Iterable[Risk]:
        from tracklog.agents.claude_code.risks import claude_code_risks  # asked for once, when a run starts

        return claude_code_risks(cwd, claude_home(env))


def _bound(name: str, value: str) -> list[str]:
    """An option with its value; a value with a dash in front (a list in a prompt) must not look like an option."""
    return [f"{name}={value}"] if value.startswith("-") else [name, value]


def _as_json(schema: Mapping[str, Any] | None) -> str | None:
    return None if schema is None else json.dumps(schema, separators=(",", ":"))


class ClaudeCodeStream(ClientStream):
    """Reads the stream of one `claude -p`."""

    def __init__(self) -> None:
        self.session: str | None = None
        self.model: str | None = None
        self.text: str | None = None
        self.error: str | None = None
        self.result: Mapping[str, Any] | None = None
        self.usage: Mapping[str, Any] | None = None  # part of the result
        self.requests: dict[str, tuple[str | None, Mapping[str, Any]]] = {}  # by message

    @property
    def is_finished(self) -> bool:
        """Whether the result has come."""
        return self.result is not None

    @property
    def answer(self) -> str | None:
        """The text of the result. The log holds no text of an error or a structured answer."""
        if self.result is None or self.result.get("is_error") or "structured_output" in self.result:
            return None
        text = self.result.get("result")
        return text if isinstance(text, str) and text else None

    def add(self, document: Mapping[str, Any]) -> str:
        """Read one line; the last result counts, as background work may wake a session again."""
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
