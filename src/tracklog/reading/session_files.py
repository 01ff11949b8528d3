"""Group files into sessions, and tell which session and thread a log belongs to.

Rules
  1. Where the path states the session, no file is opened. Otherwise only the first lines of a file are read.
  2. Files of no known agent, and files about many sessions, belong to no session.
  3. `LogNames` gives the same answers as `group`, for one log at a time. An empty log does not show its session yet: it
     is looked at again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import partial

from tracklog.agents.base import HeadOf, SessionFiles
from tracklog.agents.headers import head_of
from tracklog.agents.registry import identified
from tracklog.agents.supported import SUPPORTED, support_for
from tracklog.model.ids import MAIN, ThreadId
from tracklog.sources.log_file import THREAD_KINDS, FileKind, LogFile, Skipped

__all__ = ["HeadOf", "LogNames", "Name", "SessionFiles", "ThreadName", "group", "thread_of"]

_OF_SESSIONS = THREAD_KINDS | {
    FileKind.META,
    FileKind.JOURNAL,
    FileKind.WORKFLOW,
    FileKind.TITLE,
    FileKind.TOOL_RESULT,
    FileKind.OTHER,
}


def group(found: Iterable[LogFile | Skipped], *, head_of: HeadOf = head_of) -> list[SessionFiles]:
    """Groups files into sessions, the newest first. `head_of` may know heads that were read before."""
    files: dict[str, list[LogFile]] = defaultdict(list)
    for one in found:
        if isinstance(one, LogFile) and one.kind in _OF_SESSIONS:
            known = _with_agent(one)
            files[known.agent or ""].append(known)
    sessions = [
        session
        for agent, support in SUPPORTED.items()
        if agent in files
        for session in support.logs.sessions_in(files[agent], head_of)
    ]
    return sorted(sessions, key=lambda session: (-session.changed_ns, session.id))


def _with_agent(file: LogFile) -> LogFile:
    """Identifies the agent of a file in a plain folder; output files never name it, but only some agents have any."""
    if file.agent is None and file.kind is FileKind.TOOL_RESULT and file.session:
        agents = (one.name for one in SUPPORTED.values() if one.logs.has_output_files)
        return file._replace(agent=next(agents, None))
    return identified(file)


def thread_of(file: LogFile) -> ThreadId:
    """The thread whose work a log holds, by its name."""
    return support_for(file.agent).logs.thread_of(file)


Name = tuple[str, str]  # agent and session
ThreadName = tuple[str, str, str]  # agent, session and thread


class LogNames:
    """Caches the session and thread of each log. `known` are all existing logs, by path."""

    def __init__(self, known: Mapping[str, LogFile]) -> None:
        self._known = known
        self._names: dict[str, tuple[Name, str]] = {}
        self._parents: dict[Name, Name] = {}  # the session of each thread that has an id of its own

    def of(self, file: LogFile) -> tuple[Name, str]:
        """The session and the thread of a log."""
        path = str(file.path)
        known = self._names.get(path)
        if known is None:
            known = self._read(file)
            if file.size:
                self._names[path] = known
        return known

    def session_beside(self, file: LogFile) -> Name | None:
        """The session that a file belongs to; of several named in its head, one with a transcript."""
        agent = file.agent or ""
        session = support_for(agent).logs.session_of(file, partial(self._has_transcript, file))
        return (agent, session) if session else None

    def by_id(self, session: str, agent: str) -> Name:
        """The session that a hook names, which may name the thread of a subagent instead."""
        return self._parents.get((agent, session), (agent, session))

    def forget(self, path: str) -> None:
        """Drops a log from the cache."""
        self._names.pop(path, None)

    def _read(self, file: LogFile) -> tuple[Name, str]:
        agent = file.agent or ""
        owner = support_for(agent).logs.owner_of(file, partial(self._has_transcript, file))
        if not owner.above:
            return (agent, owner.session), owner.thread
        name = self.by_id(owner.above, agent)
        self._parents[agent, owner.session] = name
        return name, MAIN if name[1] == owner.session else owner.thread

    def _has_transcript(self, beside: LogFile, session: str) -> bool:
        transcript = self._known.get(str(beside.path.with_name(f"{session}.jsonl")))
        return transcript is not None and transcript.size > 0
