"""Find the files that a query means."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from tracklog.agents.discovery import find_all, resolve_session, roots_at
from tracklog.agents.roots import default_roots
from tracklog.app.talk import QUIET, Talk
from tracklog.errors import NotThere, UserError, why_failed
from tracklog.home import Home, tracklog_home
from tracklog.sources.log_file import FileKind, LogFile, Root, Skipped


class ResolvedLogs(NamedTuple):
    """The logs, what was left alone, and where both were looked for."""

    files: list[LogFile]
    skipped: list[Skipped]
    roots: list[Root]

    @property
    def bytes(self) -> int:
        """How much there is to read."""
        return sum(file.size for file in self.files)

    def newest(self, most_bytes: int) -> ResolvedLogs:
        """The newest logs, as many as fit into a number of bytes; at least one."""
        chosen: list[LogFile] = []
        left = most_bytes
        for file in sorted(self.files, key=lambda file: -file.mtime_ns):
            if chosen and file.size > left:
                continue
            chosen.append(file)
            left -= file.size
        return self._replace(files=chosen)


def find_logs(
    given: Sequence[Path], *, agent: str | None = None, home: Path | None = None, talk: Talk = QUIET
) -> ResolvedLogs:
    """The given files and all logs in the given folders, or, if none is given, in the homes of the agents.

    With tracklog's home, also logs that are gone from there and are in its archive.
    """
    kept_in = None if home is None or not (home / "index.db").exists() else home
    for path in given:
        if kept_in is None or os.path.lexists(path):
            refuse_if_out_of_reach(path)
    roots = [root for path in given for root in roots_at(path)] if given else default_roots(os.environ)
    fitting = [root for root in roots if root.agent in (None, agent or root.agent)]
    found = _sorted_out(find_all(fitting), fitting, agent=agent)
    if kept_in is not None:
        found.files.extend(file for file in _kept(kept_in, found, talk) if agent in (None, file.agent))
        for path in given:  # one that is gone is fine as long as something of it is kept
            if not any(file.path.is_relative_to(path.absolute()) for file in found.files if file.stored):
                refuse_if_out_of_reach(path)
    return found


def found_at_source(
    given: Sequence[Path], *, agent: str | None, home: Path | None, talk: Talk = QUIET
) -> ResolvedLogs:
    """The logs at their source. A folder that is gone is fine if the archive has logs of it."""
    found = find_logs(given, agent=agent, home=tracklog_home(home), talk=talk)
    return found._replace(files=[file for file in found.files if file.stored is None])


def _kept(home: Path, found: ResolvedLogs, talk: Talk) -> list[LogFile]:
    # imported here because most answers need no index
    from tracklog.archive.locate import logs_beyond
    from tracklog.store.database import DamagedIndex, reading
    from tracklog.store.scope import scope_of

    try:
        with reading(Home(home)) as database:
            if database is None:
                return []
            scope = scope_of(root.path for root in found.roots)
            return logs_beyond(database, scope, [file.path for file in found.files])
    except DamagedIndex as damage:
        talk.say(f"tracklog: {damage}")
        return []


def session_named(text: str, found: ResolvedLogs) -> list[LogFile]:
    """The files of the one session a person means, the best first, each with its agent if it can be told."""
    matches = resolve_session(text, found.files)
    if not any((file.session or "").lower() == text.lower() for file in matches):
        matches = _named_inside(text, found.files) or matches
    matches = [_named(file) for file in matches]
    refuse_if_of_several(text, [file.agent for file in matches if file.size])
    return matches


def _named_inside(text: str, files: Sequence[LogFile]) -> list[LogFile]:
    """The same where only the lines of a log say of which session it is: a subagent's that lies beside transcripts."""
    is_last = text == "@last"
    if is_last and any(file.kind is FileKind.TRANSCRIPT and file.size for file in files):
        return []
    if os.sep in text or not (is_last or any(_is_loose(file) for file in files)):
        return []
    # both are slow to load
    from tracklog.agents.supported import SUPPORTED
    from tracklog.reading.session_files import group

    agents = [one.name for one in SUPPORTED.values() if one.logs.has_subagent_files]
    sessions = group(file for file in files if file.agent in agents)
    if is_last:
        return list(sessions[0].files[:1]) if sessions else []
    inside = {file.path: file for one in sessions for file in one.files}
    return resolve_session(text, [inside.get(file.path, file) for file in files])


def _is_loose(file: LogFile) -> bool:
    return file.kind is FileKind.SUBAGENT and file.session is None


def refuse_if_of_several(text: str, agents: Iterable[str | None]) -> None:
    """What is the name of a session of one agent and of another is never guessed."""
    whose = sorted({agent for agent in agents if agent})
    if len(whose) > 1:
        raise UserError(
            f"{text!r} is a session of {' and one of '.join(whose)}: choose with --agent, or name the file"
        )


def refuse_if_out_of_reach(path: Path) -> None:
    """Says that there is nothing to be found at a path that a person gave, and why."""
    try:
        if stat.S_ISDIR(os.stat(path).st_mode):
            os.scandir(path).close()
    except OSError as error:
        raise NotThere(f"cannot read {path}: {why_failed(error)}") from error


def _sorted_out(found: Iterable[LogFile | Skipped], roots: list[Root], *, agent: str | None) -> ResolvedLogs:
    files: list[LogFile] = []
    skipped: list[Skipped] = []
    for one in found:
        if isinstance(one, Skipped):
            skipped.append(one)
        else:
            files.append(_named(one))
    return ResolvedLogs([file for file in files if agent in (None, file.agent)], skipped, roots)


def _named(file: LogFile) -> LogFile:
    if file.agent is not None:
        return file
    # imported here because only logs outside of the agents' homes must be opened to know whose they are
    from tracklog.agents.registry import identified

    return identified(file)
