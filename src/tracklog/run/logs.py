"""The logs of one child, found without a search of everything: by the path it will have, or by its thread's id.

Rules of this room
  1. Claude Code's transcript has its place before it exists. Codex names its rollout after the thread, and a child
     has changed since it was started: older files are not looked into.
  2. What is not there yet is None, never an error.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from tracklog.pipeline.sessions import SessionFiles, group
from tracklog.run.wishes import Agent
from tracklog.sources.claude_code import transcript_path
from tracklog.sources.found import LogFile, Root
from tracklog.sources.homes import codex_homes, default_roots
from tracklog.sources.places import find_all, find_one

_EARLIER_NS = 5_000_000_000  # file systems keep times more coarsely than clocks do


class ChildLogs:
    """Where the logs of a child are."""

    def __init__(self, agent: Agent, cwd: Path, env: Mapping[str, str], *, since_ns: int) -> None:
        self._agent = agent
        self._cwd = cwd
        self._env = env
        self._since_ns = since_ns - _EARLIER_NS

    def path_of(self, session: str) -> Path | None:
        """The main log of a session: where it is, or will be."""
        if self._agent == "claude":
            return transcript_path(session, self._cwd, env=self._env)
        found = self.files_of(session)
        return found.mains[0].path if found is not None and found.mains else None

    def files_of(self, session: str) -> SessionFiles | None:
        """All files of a session that this run may have written to."""
        found = self._claude_files(session) if self._agent == "claude" else self._codex_files(session)
        grouped = group(found)
        return next((one for one in grouped if one.id.lower() == session.lower()), None)

    def changed_ns(self, session: str) -> int:
        """When one of its files last grew; 0 if there is none."""
        files = self.files_of(session)
        return files.changed_ns if files is not None else 0

    def _claude_files(self, session: str) -> list[LogFile]:
        main = transcript_path(session, self._cwd, env=self._env)
        roots = default_roots(self._env)
        beside = (Path(at, name) for at, _, names in os.walk(main.with_suffix("")) for name in sorted(names))
        found = (find_one(str(path), roots) for path in (main, *beside))
        return [file for file in found if file is not None]

    def _codex_files(self, session: str) -> list[LogFile]:
        roots = [Root(home, "codex", "sessions") for home in codex_homes(self._env)]
        found = (file for file in find_all(roots) if isinstance(file, LogFile))
        return [file for file in found if file.mtime_ns >= self._since_ns or file.session == session]
