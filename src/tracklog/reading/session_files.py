"""Which files make one session.

Rules of this room
  1. Where a path states the session, no file is opened. Else only the first lines of a file are read.
  2. The same session id in several folders or roots is one session; `/clear` gives a new id, so a new session.
  3. A Codex session is its root thread and all threads below it, also where the root's own file is gone.
  4. A rollout that stands twice (archived, compressed) is read once: the longer one.
  5. Files of nobody we know, and files about many sessions, belong to no session.

Whose a log is: its session and its thread, told from its place and its head alone.

Rules of this room
  1. The answer is that of `sessions.group`, for one log at a time.
  2. A log that is still empty has not said yet whose it is: it is asked again.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from tracklog.agents.codex.lineage import with_reviewed
from tracklog.agents.codex.places import rollout_name
from tracklog.agents.headers import Head, head_of
from tracklog.agents.registry import identified
from tracklog.model.ids import MAIN, ThreadId
from tracklog.sources.files import NotReadable, chunks
from tracklog.sources.log_file import MAIN_KINDS, Agent, FileKind, LogFile, Skipped

_ORDER = {
    FileKind.TRANSCRIPT: 0,
    FileKind.DOCUMENT: 0,
    FileKind.SUBAGENT: 1,
    FileKind.META: 2,
    FileKind.JOURNAL: 3,
    FileKind.WORKFLOW: 4,
    FileKind.TITLE: 5,
    FileKind.TOOL_RESULT: 6,
    FileKind.OTHER: 7,
}
_THREADS = MAIN_KINDS | {FileKind.SUBAGENT}
HeadOf = Callable[[LogFile], Head]
_AGENT_FILE = re.compile(r"agent-(.+?)(?:\.meta)?\.jsonl?(?:\.zst)?")


class SessionFiles(NamedTuple):
    """All files of one session: main transcripts first, then those of subagents, then what lies beside them."""

    id: str
    agent: Agent
    files: tuple[LogFile, ...]
    sources: tuple[str, ...] = ()  # the sessions that its files say they come from, where a head was read

    @property
    def mains(self) -> list[LogFile]:
        """The transcripts of the main thread, as far as names and heads tell."""
        mains = [file for file in self.files if file.kind in MAIN_KINDS]
        return [file for file in mains if (file.session or self.id).lower() == self.id.lower()] or mains

    @property
    def is_only_here(self) -> bool:
        """Whether its transcripts stand nowhere but in our archive; without any, its other threads."""
        threads = [file for file in self.files if file.kind in _THREADS]
        logs = [file for file in threads if file.kind in MAIN_KINDS] or threads
        return bool(logs) and all(file.stored is not None for file in logs)

    @property
    def changed_ns(self) -> int:
        """When one of its threads last grew."""
        return max((file.mtime_ns for file in self.files if file.kind in _THREADS), default=0)


def group(found: Iterable[LogFile | Skipped], *, head_of: HeadOf = head_of) -> list[SessionFiles]:
    """The sessions to which the files belong, the newest first. `head_of` may know heads that were read before."""
    known = [_with_agent(file) for file in found if isinstance(file, LogFile) and file.kind in _ORDER]
    claude = _claude_sessions([file for file in known if file.agent == "claude"], head_of)
    codex = _codex_sessions(
        [file for file in known if file.agent == "codex" and file.kind in MAIN_KINDS], head_of
    )
    return sorted([*claude, *codex], key=lambda session: (-session.changed_ns, session.id))


def _with_agent(file: LogFile) -> LogFile:
    """Files of plain folders are asked whose they are; spilled output never says."""
    if file.agent is None and file.kind is FileKind.TOOL_RESULT and file.session:
        return file._replace(agent="claude")
    return identified(file)


def _claude_sessions(files: list[LogFile], head_of: HeadOf) -> Iterator[SessionFiles]:
    transcripts = {
        (file.path.parent, file.session) for file in files if file.kind in MAIN_KINDS and file.size
    }
    settled = [
        _with_session(file, transcripts, head_of) for file in files if file.session or file.kind in _THREADS
    ]
    nameless = [file for file in files if not file.session and file.kind not in _THREADS]
    if nameless:
        by_place = _sessions_by_place(settled)
        settled += [_beside(file, by_place) for file in nameless]
    members: dict[str, list[LogFile]] = defaultdict(list)
    for file in settled:
        if file.session:
            members[file.session.lower()].append(file)
    for ours in members.values():
        ours.sort(key=lambda file: (_ORDER[file.kind], str(file.path)))
        if any(
            file.kind in _THREADS and file.size for file in ours
        ):  # a stub is none, nor what a deleted one left
            yield SessionFiles(ours[0].session or "", "claude", tuple(ours))


def _with_session(file: LogFile, transcripts: set[tuple[Path, str | None]], head_of: HeadOf) -> LogFile:
    """A subagent of 2.0.x at a resume first names a session that never comes to be: one with a transcript counts."""
    if file.session:
        return file
    head = head_of(file)
    real = (name for name in head.named if (file.path.parent, name) in transcripts)
    return file._replace(session=next(real, head.session))


def _sessions_by_place(files: list[LogFile]) -> dict[Path, str]:
    """The session of each subagent's file, by its path without suffixes, and by its folder."""
    agents = [file for file in files if file.kind is FileKind.SUBAGENT and file.session]
    by_folder = {file.path.parent: file.session or "" for file in agents}
    return by_folder | {_stem(file.path): file.session or "" for file in agents}


def _beside(file: LogFile, by_place: dict[Path, str]) -> LogFile:
    """A file that names no session, with that of the subagent of the same name; a journal with that of its folder."""
    place = _stem(file.path) if file.kind is FileKind.META else file.path.parent
    return file._replace(session=by_place.get(place))


def _stem(path: Path) -> Path:
    return path.with_name(path.name.partition(".")[0])


def _codex_sessions(files: list[LogFile], head_of: HeadOf) -> Iterator[SessionFiles]:
    heads = [(file, head_of(file)) for file in _each_once(files)]
    heads = with_reviewed([(file, head) for file, head in heads if head.session or file.session])
    threads = {(head.session or file.session or "").lower(): head for file, head in heads}
    rollouts = {
        name.rollout.lower(): name.thread for file, _ in heads if (name := rollout_name(file.path.name))
    }
    members: dict[str, list[tuple[LogFile, Head]]] = defaultdict(list)
    for file, head in heads:
        root = _root_of(head.session or file.session or "", threads)
        members[root.lower()].append((file, head))
    for root, ours in members.items():
        yield _codex_session(root, ours, rollouts)


def _codex_session(root: str, ours: list[tuple[LogFile, Head]], rollouts: dict[str, str]) -> SessionFiles:
    def rank(member: tuple[LogFile, Head]) -> tuple[bool, str, str]:
        file, head = member
        return (head.session or file.session or "").lower() != root, file.path.name, str(file.path)

    ours.sort(key=rank)
    named = [rollouts.get(source.lower(), source) for _, head in ours for source in head.sources]
    sources = dict.fromkeys(source for source in named if source.lower() != root)
    files = tuple(file._replace(session=head.session or file.session) for file, head in ours)
    return SessionFiles(_as_written(root, ours), "codex", files, tuple(sources))


def _as_written(root: str, ours: list[tuple[LogFile, Head]]) -> str:
    names = [
        name for file, head in ours for name in (head.session, file.session, head.root, head.parent) if name
    ]
    return next((name for name in names if name.lower() == root), root)


def _root_of(thread: str, threads: dict[str, Head]) -> str:
    """The thread at the top, as far as heads tell; a parent whose file is gone is known by its name alone."""
    seen: set[str] = set()
    while thread.lower() not in seen:
        seen.add(thread.lower())
        head = threads.get(thread.lower())
        thread = (head and (head.root or head.parent)) or thread
    return thread


def _each_once(files: list[LogFile]) -> Iterator[LogFile]:
    copies: dict[str, list[LogFile]] = defaultdict(list)
    for file in files:
        copies[file.path.name.removesuffix(".zst")].append(file)
    for same in copies.values():
        if len(same) == 1 or not rollout_name(same[0].path.name):
            yield from same
        else:
            yield max(same, key=lambda file: (_length(file), str(file.path)))


def _length(file: LogFile) -> int:
    if file.stored is not None or file.path.suffix != ".zst":
        return file.size
    try:
        return sum(map(len, chunks(file)))
    except NotReadable:
        return 0


def thread_of(file: LogFile) -> ThreadId:
    """Whose work a log holds, as its name tells."""
    if file.agent == "codex":
        return ThreadId(file.session or file.path.stem)
    named = _AGENT_FILE.fullmatch(file.path.name)
    if named:
        return ThreadId(named[1])
    return MAIN if file.kind in MAIN_KINDS else ThreadId(file.path.parent.name)  # a journal is its workflow's


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
