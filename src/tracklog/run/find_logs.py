"""The logs of one child, found without a search of everything: by the path it will have, or by its thread's id.

Rules of this room
  1. Claude Code's transcript has its place before it exists. Codex names its rollout after the thread, and a child
     has changed since it was started: older files are not looked into.
  2. What is not there yet is None, never an error.

The newest session of a folder: what `--continue` goes on with.

The client's own `--continue` passes over headless sessions; ours does not, as those are what `run` makes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from tracklog.agents.claude_code.places import project_dirs_for, resolved, transcript_path
from tracklog.agents.discovery import find_all, find_one
from tracklog.agents.headers import head_of
from tracklog.agents.roots import claude_homes, codex_homes, default_roots
from tracklog.model.run_request import Agent
from tracklog.reading.session_files import SessionFiles, group
from tracklog.sources.log_file import FileKind, LogFile, Root

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


def newest_session(agent: Agent, cwd: Path, env: Mapping[str, str] | None = None) -> str | None:
    """Its id; None if the folder has none."""
    env = os.environ if env is None else env
    found = _of_claude(cwd, env) if agent == "claude" else _of_codex(cwd, env)
    return next(found, None)


def _of_claude(cwd: Path, env: Mapping[str, str]) -> Iterator[str]:
    folders = [folder for home in claude_homes(env) for folder in project_dirs_for(home, resolved(cwd))]
    roots = [Root(folder, None) for folder in folders]
    logs = [file for file in _transcripts(roots) if file.path.parent in folders]
    yield from (file.session for file in logs if file.session is not None)


def _of_codex(cwd: Path, env: Mapping[str, str]) -> Iterator[str]:
    wanted = resolved(cwd)
    for file in _transcripts([Root(home, "codex", "sessions") for home in codex_homes(env)]):
        head = head_of(file)
        if (
            file.session is not None
            and head.cwd is not None
            and resolved(head.cwd) == wanted
            and not head.parent
        ):
            yield file.session


def _transcripts(roots: list[Root]) -> list[LogFile]:
    found = (file for file in find_all(roots) if isinstance(file, LogFile))
    logs = [file for file in found if file.kind is FileKind.TRANSCRIPT and file.size]
    return sorted(logs, key=lambda file: -file.mtime_ns)
