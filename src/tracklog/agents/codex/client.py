"""Codex as a child: the arguments of `codex exec --json`, and what its stream says.

Rules of this room
  1. Only documented ways: `exec`, `exec resume`, `exec fork`, with the prompt on stdin (`-`).
  2. The thread's id is known when its first event comes, not before.
(docs/run.md#codex)
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tracklog.model.run_request import RunRequest, session_in

PROGRAM = "codex"
SANDBOXES = ("read-only", "workspace-write", "danger-full-access")
BYPASS = "bypassPermissions"
_OF_A_PARENT = ("CODEX_THREAD_ID", "CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED")


def arguments(request: RunRequest, *, schema: Path | None) -> list[str]:
    """All arguments of the client. `resume` and `fork` are commands below `exec`, and take no folder."""
    given = ["exec", "--json", "--skip-git-repo-check", "--color", "never"]
    if request.model is not None:
        given += ["--model", request.model]
    if request.permission_mode == BYPASS:
        given.append("--dangerously-bypass-approvals-and-sandbox")
    elif request.permission_mode is not None:
        given += ["--sandbox", request.permission_mode]
    for folder in request.add_dirs:
        given += ["--add-dir", str(folder)]
    if schema is not None:
        given += ["--output-schema", str(schema)]
    if not request.persists:
        given.append("--ephemeral")
    given += request.client_arguments
    if request.resume is not None:
        given += ["fork" if request.is_fork else "resume", request.resume]
    return [*given, "-"]


def interactive_arguments(session: str) -> list[str]:
    """How a person goes on with a session in the terminal."""
    return ["resume", session]


def environment(env: Mapping[str, str]) -> dict[str, str]:
    """The caller's environment, without what another Codex left in it."""
    return {name: value for name, value in env.items() if name not in _OF_A_PARENT}


class CodexSense:
    """What the stream of one `codex exec` has told."""

    def __init__(self) -> None:
        self.session: str | None = None
        self.model: str | None = None  # Codex does not say it here
        self.text: str | None = None
        self.error: str | None = None
        self.usage: dict[str, Any] | None = None
        self.n_turns = 0
        self._is_over = False

    @property
    def is_finished(self) -> bool:
        """Whether the last turn that began is over."""
        return self._is_over

    def take(self, document: Mapping[str, Any]) -> str:
        """Takes in a line."""
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
