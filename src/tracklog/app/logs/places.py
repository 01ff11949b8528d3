"""Where logs are: the folders that hold them, and the file that a session is written to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tracklog.agents.discovery import places
from tracklog.agents.supported import SUPPORTED, support_for
from tracklog.app.scope.resolve import ResolvedLogs, find_logs, session_named
from tracklog.app.talk import QUIET, Talk
from tracklog.home import tracklog_home
from tracklog.sources.log_file import MAIN_KINDS, UUID, LogFile
from tracklog.sources.log_file import LogFolder as LogFolder
from tracklog.sources.log_file import Skipped as Skipped

_WHOLE_ID = re.compile(UUID)


class SessionPath(NamedTuple):
    """The file that a session is written to, or will be."""

    path: Path
    agent: str | None
    exists: bool


def log_folders(found: ResolvedLogs) -> list[LogFolder]:
    """How many files and bytes of each kind are in each place."""
    return places(found.files)


def session_path(
    session: str,
    roots: Sequence[Path],
    *,
    cwd: Path | None,
    agent: str | None,
    home: Path | None,
    talk: Talk = QUIET,
) -> SessionPath | None:
    """The file that a session is written to; with its working directory and whole id also one that is not there yet."""
    found = find_logs(roots, agent=agent)
    matches = _of_project(session_named(session, found), cwd)
    if not any(file.kind in MAIN_KINDS for file in matches):  # perhaps the archive has it
        found = find_logs(roots, agent=agent, home=tracklog_home(home), talk=talk)
        matches = _of_project(session_named(session, found), cwd)
    if matches:
        best = matches[0]
        return SessionPath(best.path.absolute(), best.agent, exists=best.stored is None)
    if cwd is not None and _WHOLE_ID.fullmatch(session):
        return _expected(session, cwd, found, agent)
    return None


def _of_project(matches: Sequence[LogFile], cwd: Path | None) -> list[LogFile]:
    """The logs of a session that is in several projects, those of the working directory first."""
    if cwd is None:
        return list(matches)
    homes = {(file.agent, file.root) for file in matches}
    own = {folder for agent, home in homes for folder in support_for(agent).logs.project_folders(home, cwd)}
    return sorted(matches, key=lambda file: (file.size == 0, file.path.parent not in own))


def _expected(session: str, cwd: Path, found: ResolvedLogs, agent: str | None) -> SessionPath | None:
    """Where a session will be written, and by which agent; in the first home that it may write to, or its usual one."""
    for one in SUPPORTED.values():
        if agent in (None, one.name):
            home = next((root.path for root in found.roots if root.agent in (None, one.name)), None)
            expected = one.logs.transcript_path(session, cwd, root=home)
            if expected is not None:
                return SessionPath(expected, one.name, exists=False)
    return None
