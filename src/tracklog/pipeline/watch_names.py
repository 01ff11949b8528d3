"""Whose a log is: its session and its thread, told from its place and its head alone.

Rules of this room
  1. The answer is that of `sessions.group`, for one log at a time.
  2. A log that is still empty has not said yet whose it is: it is asked again.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tracklog.model.ids import MAIN
from tracklog.pipeline.heads import head_of
from tracklog.pipeline.sessions import thread_of
from tracklog.sources.found import LogFile

Name = tuple[str, str]  # agent and session
ThreadName = tuple[str, str, str]  # agent, session and thread


class LogNames:
    """Remembers whose logs are. `known` are all logs that there are, by path."""

    def __init__(self, known: Mapping[str, LogFile]) -> None:
        self._known = known
        self._names: dict[str, tuple[Name, str]] = {}
        self._parents: dict[str, Name] = {}  # the session of each Codex thread

    def of(self, file: LogFile) -> tuple[Name, str]:
        """The session and the thread of a log."""
        path = str(file.path)
        known = self._names.get(path)
        if known is None:
            known = self._codex(file) if file.agent == "codex" else self._claude(file)
            if file.size:
                self._names[path] = known
        return known

    def session_beside(self, file: LogFile) -> Name | None:
        """The session of Claude Code to which a file belongs; of those that a head names, one with a transcript."""
        if file.session:
            return "claude", file.session
        head = head_of(file)
        session = next((name for name in head.named if self._has_transcript(name, file.path)), head.session)
        return ("claude", session) if session else None

    def by_id(self, session: str, agent: str) -> Name:
        """The session that a hook names; Codex' subagents name their own thread."""
        return self._parents.get(session, (agent, session)) if agent == "codex" else (agent, session)

    def forget(self, path: str) -> None:
        """Nobody is interested any more."""
        self._names.pop(path, None)

    def _claude(self, file: LogFile) -> tuple[Name, str]:
        return self.session_beside(file) or ("claude", file.path.stem), thread_of(file)

    def _has_transcript(self, session: str, beside: Path) -> bool:
        transcript = self._known.get(str(beside.with_name(f"{session}.jsonl")))
        return transcript is not None and transcript.size > 0

    def _codex(self, file: LogFile) -> tuple[Name, str]:
        head = head_of(file)
        thread = head.session or file.session or file.path.stem
        above = head.root or head.parent
        name = self._parents.get(above, ("codex", above)) if above else ("codex", thread)
        self._parents[thread] = name
        return name, MAIN if name[1] == thread else thread
