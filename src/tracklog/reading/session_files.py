"""Which files make one session, and whose a log is.

Rules of this room
  1. Where a path states the session, no file is opened. Else only the first lines of a file are read.
  2. Files of nobody we know, and files about many sessions, belong to no session.
  3. `LogNames` answers as `group`, for one log at a time. A log that is still empty has not said yet whose it is: it is
     asked again.
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
    """The sessions to which the files belong, the newest first. `head_of` may know heads that were read before."""
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
    """Files of plain folders are asked whose they are; spilled output never says, but only some agents have any."""
    if file.agent is None and file.kind is FileKind.TOOL_RESULT and file.session:
        agents = (one.name for one in SUPPORTED.values() if one.logs.has_output_files)
        return file._replace(agent=next(agents, None))
    return identified(file)


def thread_of(file: LogFile) -> ThreadId:
    """Whose work a log holds, as its name tells."""
    return support_for(file.agent).logs.thread_of(file)


Name = tuple[str, str]  # agent and session
ThreadName = tuple[str, str, str]  # agent, session and thread


class LogNames:
    """Remembers whose logs are. `known` are all logs that there are, by path."""

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
        """The session to which a file belongs; of those that a head names, one with a transcript."""
        agent = file.agent or ""
        session = support_for(agent).logs.session_of(file, partial(self._has_transcript, file))
        return (agent, session) if session else None

    def by_id(self, session: str, agent: str) -> Name:
        """The session that a hook names; it may name the thread of a subagent."""
        return self._parents.get((agent, session), (agent, session))

    def forget(self, path: str) -> None:
        """Nobody is interested any more."""
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
