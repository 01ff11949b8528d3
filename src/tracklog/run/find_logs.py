"""Find the logs of one child without a search of everything: by their path, or by the id of its thread.

Rules
  1. The path of some clients' logs is known before they exist. Others are searched for, among the files that changed since
     the child was started.
  2. A log that does not exist yet is None, never an error.
  3. `newest_session` is what `run --continue` goes on with. The client's own `--continue` skips headless sessions; ours does
     not, as `run` makes those.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from tracklog.agents.discovery import find_all, find_one
from tracklog.agents.headers import head_of
from tracklog.agents.roots import default_roots
from tracklog.agents.supported import support_for
from tracklog.model.run_request import Agent
from tracklog.reading.session_files import SessionFiles, group
from tracklog.sources.log_file import FileKind, LogFile, Root

_EARLIER_NS = 5_000_000_000  # file systems keep times more coarsely than clocks do


class ChildLogs:
    """Finds the logs of a child."""

    def __init__(self, agent: Agent, cwd: Path, env: Mapping[str, str], *, since_ns: int) -> None:
        self._client = support_for(agent).client
        self._cwd = cwd
        self._env = env
        self._since_ns = since_ns - _EARLIER_NS

    def path_of(self, session: str) -> Path | None:
        """The path that the main log of a session has, or will have."""
        if (path := self._client.log_of(session, self._cwd, self._env)) is not None:
            return path
        found = self.files_of(session)
        return found.mains[0].path if found is not None and found.mains else None

    def files_of(self, session: str) -> SessionFiles | None:
        """All files of a session that this run may have written to."""
        main = self._client.log_of(session, self._cwd, self._env)
        found = self._searched(session) if main is None else self._known(main)
        return next((one for one in group(found) if one.id.lower() == session.lower()), None)

    def changed_ns(self, session: str) -> int:
        """When one of its files last grew; 0 if there is none."""
        files = self.files_of(session)
        return files.changed_ns if files is not None else 0

    def _known(self, main: Path) -> list[LogFile]:
        roots = default_roots(self._env)
        found = (find_one(str(path), roots) for path in (main, *self._client.logs_beside(main)))
        return [file for file in found if file is not None]

    def _searched(self, session: str) -> list[LogFile]:
        found = (file for file in find_all(self._client.log_roots(self._env)) if isinstance(file, LogFile))
        return [file for file in found if file.mtime_ns >= self._since_ns or file.session == session]


def newest_session(agent: Agent, cwd: Path, env: Mapping[str, str] | None = None) -> str | None:
    """The id of the newest session of a folder; None if it has none."""
    env = os.environ if env is None else env
    client = support_for(agent).client
    folders = client.log_folders(cwd, env)
    if folders is None:
        wanted = os.path.realpath(cwd)
        logs = (log for log in _transcripts(client.log_roots(env)) if _is_of_folder(log, wanted))
    else:
        logs = (
            log for log in _transcripts([Root(one, None) for one in folders]) if log.path.parent in folders
        )
    return next((log.session for log in logs if log.session is not None), None)


def _is_of_folder(log: LogFile, wanted: str) -> bool:
    """Whether it is the log of a session, not of a subagent, that worked in this folder."""
    head = head_of(log)
    if head.cwd is None or "\0" in head.cwd or head.parent:
        return False
    return os.path.realpath(head.cwd) == wanted


def _transcripts(roots: list[Root]) -> list[LogFile]:
    found = (file for file in find_all(roots) if isinstance(file, LogFile))
    logs = [file for file in found if file.kind is FileKind.TRANSCRIPT and file.size]
    return sorted(logs, key=lambda file: -file.mtime_ns)
