"""Codex as a child: the arguments of `codex exec --json`, and the reader of its stream.

Rules
  1. Only documented ways: `exec`, `exec resume`, `exec fork`, with the prompt on stdin (`-`).
  2. The thread's id is known when its first event comes, not before.
(docs/run.md#codex)
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tracklog.agents.base import AgentClient, ClientStream
from tracklog.agents.roots import codex_home, codex_homes
from tracklog.model.run_request import RunRequest, session_in
from tracklog.sources.log_file import Root

if TYPE_CHECKING:
    from tracklog.agents.risks import Risk
    from tracklog.model.usage import UsageRow

BYPASS = "bypassPermissions"
_OF_A_PARENT = ("CODEX_THREAD_ID", "CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED")


class CodexClient(AgentClient):
    """Codex in its headless mode, `codex exec --json`."""

    program = "codex"
    project_folder = ".codex"
    missing = (
        "max_turns",
        "allowed_tools",
        "disallowed_tools",
        "append_system_prompt",
        "name",
        "session",
        "ask_here_s",
    )

    def arguments(
        self,
        request: RunRequest,
        *,
        session: str | None,  # noqa: ARG002 - Codex names a new thread itself
        settings: Path | None,  # noqa: ARG002 - there is no such option
        schema: Path | None,
    ) -> list[str]:
        """All arguments of the client. `resume` and `fork` are commands below `exec`, and take no folder."""
        given = ["exec", "--json", "--skip-git-repo-check", "--color", "never"]
        if request.model is not None:
            given += ["--model", request.model]
        if request.permission_mode == BYPASS:
            given.append("--dangerously-bypass-approvals-and-sandbox")
        elif request.permission_mode is not None:
            given += ["--sandbox", request.permission_mode]
        for folder in request.add_dirs:
            given += ["--add-dir", os.fspath(folder)]
        if schema is not None:
            given += ["--output-schema", str(schema)]
        if not request.persists:
            given.append("--ephemeral")
        given += request.client_arguments
        if request.resume is not None:
            given += ["fork" if request.is_fork else "resume", request.resume]
        return [*given, "-"]

    def interactive_arguments(self, session: str) -> list[str]:
        return ["resume", session]

    def environment(self, env: Mapping[str, str]) -> dict[str, str]:
        return {name: value for name, value in env.items() if name not in _OF_A_PARENT}

    def schema_file(self, request: RunRequest) -> bytes | None:
        return json.dumps(request.json_schema).encode() if request.json_schema is not None else None

    def stream(self) -> ClientStream:
        return CodexStream()

    def usage_document(self, row: UsageRow) -> dict[str, Any]:
        """Tokens in the words of `turn.completed`: there cached input is a part of the input."""
        tokens = row.tokens
        return {
            "input_tokens": tokens.prompt,
            "cached_input_tokens": tokens.cache_read,
            "output_tokens": tokens.output,
            "reasoning_output_tokens": tokens.reasoning,
        }

    def log_roots(self, env: Mapping[str, str]) -> list[Root]:
        return [Root(home, "codex", "sessions") for home in codex_homes(env)]

    def risks(self, cwd: Path, env: Mapping[str, str]) -> Iterable[Risk]:
        from tracklog.agents.codex.risks import codex_risks  # asked for once, when a run starts

        return codex_risks(cwd, codex_home(env))


class CodexStream(ClientStream):
    """Reads the stream of one `codex exec`."""

    def __init__(self) -> None:
        self.session: str | None = None
        self.model: str | None = None  # Codex does not say it here
        self.text: str | None = None
        self.error: str | None = None
        self.result: Mapping[str, Any] | None = None  # Codex prints none
        self.usage: Mapping[str, Any] | None = None
        self.requests: dict[str, tuple[str | None, Mapping[str, Any]]] = {}  # nor these
        self.n_turns = 0
        self._is_over = False

    @property
    def is_finished(self) -> bool:
        """Whether the last turn that began is over."""
        return self._is_over

    @property
    def answer(self) -> str | None:
        """The last message of a turn that is over."""
        return self.text if self._is_over else None

    def add(self, document: Mapping[str, Any]) -> str:
        """Read one line."""
        kind = document.get("type")
        if kind == "thread.started":
            self.session = session_in(document.get("thread_id")) or self.session
        elif kind == "turn.started":
            self.n_turns += 1
            self._is_over = False
        elif kind == "item.completed":
            self._note_item(document.get("item"))
        elif kind == "turn.completed":
            usage = document.get("usage")
            self.usage = dict(usage) if isinstance(usage, dict) else None
            self.error, self._is_over = None, True
        elif kind in ("turn.failed", "error"):
            self.error = _message_of(document) or self.error or str(kind)
            self._is_over = kind == "turn.failed" or self._is_over
        return str(kind)

    def _note_item(self, item: object) -> None:
        if not isinstance(item, dict) or item.get("type") != "agent_message":
            return
        text = item.get("text")
        self.text = text if isinstance(text, str) else self.text


def _message_of(document: Mapping[str, Any]) -> str | None:
    told = document.get("message")
    if not isinstance(told, str) and isinstance(error := document.get("error"), dict):
        told = error.get("message")
    return told if isinstance(told, str) and told else None
