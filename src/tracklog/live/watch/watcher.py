"""Watch running sessions: combine logs, registry, hooks and processes into numbered events.

Rules
  1. What exists when the watch begins sets the first states; only later changes are reported.
  2. All sources go through the same readers, translators and folds as batch reading. A log that cannot be read is reported
     once, and the others are watched further.
  3. A state is reported when it changes. A wait for the person is reported when it has lasted a second.
  4. `wait` returns after a fifth of a second at most, and an idle watch costs next to nothing. Sessions that ended a day
     ago are forgotten.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from itertools import chain, islice
from pathlib import Path

from tracklog.agents.discovery import resolve_session
from tracklog.agents.hooks.records import READER as SPOOL_READER
from tracklog.agents.hooks.records import HookInput, Spooled, TurnNotice
from tracklog.agents.supported import SUPPORTED, support_for
from tracklog.clock import nearest_moment_text
from tracklog.errors import UserError
from tracklog.home import Home
from tracklog.live.journal import LiveEvent, WatchSnapshot, key_of, reported_state
from tracklog.live.watch.events import EventQueue, summary_of
from tracklog.live.watch.files import RelatedLogs, WatchedFiles
from tracklog.live.watch.processes import WatchedProcesses
from tracklog.live.watch.session import WatchedSession
from tracklog.live.watch.states import StateChanges, WatchedSessions
from tracklog.live.watch.tail import FollowedLogs, LogReplaced, Tail, TailChunk
from tracklog.model.events import SessionDescribed
from tracklog.model.ids import MAIN
from tracklog.reading.session_files import LogNames, Name, SessionFiles, ThreadName, thread_of
from tracklog.reading.session_reader import told_by
from tracklog.sources.log_file import MAIN_KINDS, FileKind, LogFile, Root, is_compressed
from tracklog.sources.spool import SpoolTail, lines_seen

_FOLLOWED = MAIN_KINDS | {FileKind.SUBAGENT}
_RECENT_S = 24 * 3600  # logs that changed since then are read when watching begins:
_MOST_RECENT = 200  # the newest of them, and those of all living processes
_WINDOW = re.compile(
    rb'"model_context_window":(\d{4,9})'
)  # where logs say it, they do in many of their lines
_AT_ONCE_S = 0.05  # how long one log is read before the next has its turn
_MOST_AT_ONCE = 500  # events that are held before they are returned
_FIRST_LINES = 50  # one of them names the working folder of a session


class Watch:
    """All sessions below some roots, as they are and as they change."""

    def __init__(
        self,
        roots: Sequence[Root],
        *,
        spool: Path | None = None,
        before: WatchSnapshot | None = None,
        now_ms: Callable[[], int] | None = None,
    ) -> None:
        """`before` is how far an earlier watch got: what was written since is reported, too."""
        self._before = before
        self._roots = list(roots)
        self._now_ms = now_ms or (lambda: time.time_ns() // 1_000_000)
        self._files = WatchedFiles(roots, beside=[spool] if spool is not None else [])
        self._spool = SpoolTail(spool) if spool is not None else None
        self._followed = FollowedLogs(before.sizes if before is not None else None)
        self._names = LogNames(self._files.known)
        self._related = RelatedLogs(self._files)
        self._logs: dict[Name, set[str]] = {}  # the paths of each session's logs
        self._unread: dict[
            Tail, Iterator[TailChunk | LogReplaced | None]
        ] = {}  # logs that were not read to their end in a round, whatever their path is now
        self._grown: dict[
            ThreadName, set[int]
        ] = {}  # the numbers of the lines that the last call of `wait` read
        self._is_beginning = True
        self._events = EventQueue(self._now_ms, is_quiet=before is None)
        self._sessions = WatchedSessions()
        self._processes = WatchedProcesses(
            self._sessions, roots, home=Home(spool.parent) if spool is not None else None, now_ms=self._now_ms
        )
        self._states = StateChanges(self._sessions, self._events, before=before, now_ms=self._now_ms)
        self.n_changes = 0  # of files, seen so far

    @property
    def sessions(self) -> dict[Name, WatchedSession]:
        """All sessions that are watched, by name."""
        return self._sessions.by_name

    @property
    def why_without_hints(self) -> str | None:
        """Why changes are found by polling only, if so."""
        return self._files.why_without_hints

    def begin(self) -> None:
        """Look at everything once; first states are not reported."""
        found = self._files.begin()
        self._followed.begin(found)
        for agent in SUPPORTED:
            self._processes.add_logs(agent, (file.path for file in found if file.agent == agent))
        for file in found:
            is_named = file.kind in _FOLLOWED and support_for(file.agent).logs.path_names_session
            if is_named and file.agent and file.session:
                self._logs.setdefault((file.agent, file.session), set()).add(str(file.path))
        for file in self._to_begin_with(found):
            self._read_changed(file)
        for file in found:  # they name the calls that requested subagents
            if file.kind is FileKind.META and (file.agent, file.session) in self.sessions:
                self._read_changed(file)
        self._read_hooks()
        self._processes.step()
        with self._quietly():
            self._states.settle_first()
        self._events.is_quiet = False
        self._states.report_changes_since()
        self._is_beginning = False

    def _to_begin_with(self, found: Sequence[LogFile]) -> list[LogFile]:
        """The logs that changed lately, those with news, and those of all living processes, however old."""
        logs = sorted((file for file in found if file.kind in _FOLLOWED), key=lambda file: -file.mtime_ns)
        recent_ns = time.time_ns() - _RECENT_S * 10**9
        agents = {file.agent for file in logs}
        opened = {one: self._processes.open_sessions(one) for one in agents if one is not None}
        chosen = [
            file
            for n, file in enumerate(logs)
            if (n < _MOST_RECENT and file.mtime_ns >= recent_ns)
            or self._has_news(file)
            or (file.agent in opened and opened[file.agent].has(file.session, file.path))
        ]
        return chosen[::-1]

    @contextmanager
    def _quietly(self) -> Iterator[None]:
        """Report nothing while the block runs."""
        before = self._events.is_quiet, self._is_beginning
        self._events.is_quiet = self._is_beginning = True
        try:
            yield
        finally:
            self._events.is_quiet, self._is_beginning = before

    def _has_news(self, file: LogFile) -> bool:
        return self._before is not None and self._before.sizes.get(str(file.path)) != file.size

    def session_named(self, text: str) -> Name | None:
        """The session with this name: an id, the start of one, a file, or @last. Raises UserError for several."""
        if text == "@last":
            newest_first = list(reversed(self.sessions))
            return max(newest_first, key=lambda name: self.sessions[name].latest.last_ms, default=None)
        if not text:
            raise UserError("which session? its name is empty")
        alike = [name for name in self.sessions if name[1].lower().startswith(text.lower())]
        if len(alike) == 1:
            return alike[0]
        logs = [file for file in self._files.known.values() if file.kind in _FOLLOWED]
        files = resolve_session(text, logs)
        if not files:
            return None
        with self._quietly():
            self._read_changed(files[0])
            self._states.settle(self.sessions)
        return self._names.of(files[0])[0]

    def would_hold(self, agent: str, path: str) -> bool:
        """Whether a log of this agent at this path is below our roots. Compares the path, and never opens it."""
        return any(root.agent in (None, agent) and path.startswith(f"{root.path}/") for root in self._roots)

    def has_seen(self, path: str) -> bool:
        """Whether there is a log at this path, watched or too old to be."""
        return path in self._files.known

    def watches_home(self, agent: str, homes: Sequence[Path]) -> bool:
        """Whether one of these homes of an agent is watched completely."""
        return any(root.agent in (None, agent) and root.path in homes for root in self._roots)

    def logs_of(self, session: WatchedSession) -> list[LogFile]:
        """The logs of all threads of a session, as last seen."""
        paths = self._logs.get((session.agent, session.id), ())
        return [file for path in sorted(paths) if (file := self._files.known.get(path)) is not None]

    def related_to(self, session: SessionFiles) -> list[SessionFiles]:
        """The sessions whose requests may be in its logs, too: those of its folder, or those that its log names."""
        return self._related.related_to(session)

    def snapshot(self, n: int) -> WatchSnapshot:
        """How far everything was reported, for the next watch; `n` is the number of the last event."""
        sizes = self._followed.offsets(self._files.known)
        states = {key_of(*name): reported_state(session.state) for name, session in self.sessions.items()}
        return WatchSnapshot(n, sizes, self._spool.told() if self._spool is not None else "", states)

    def wait(self, timeout_s: float = 0.2) -> list[LiveEvent]:
        """The events since the last call, at the latest when the time is over. The journal numbers them."""
        self._grown = {}
        changed = {str(file.path): file for file in self._files.wait(0.0 if self._unread else timeout_s)}
        asked_again = (*self._unread, *self._followed.undecided())
        unread = {str(tail.file.path): tail.file for tail in asked_again}
        self.n_changes += len(changed)
        for file in (unread | changed).values():
            self._read_changed(file)
        if self._files.beside_is_due:
            self._read_hooks()
        self._processes.step()
        self._states.settle(self._sessions.due(self._now_ms()))
        if self._followed.sweep(self._files.known):
            self._forget_past()
        return self._events.take()

    def grown(self) -> dict[ThreadName, int]:
        """The threads whose logs grew by the last call of `wait`, and by how many lines of any kind."""
        return {thread: len(lines) for thread, lines in self._grown.items()}

    def close(self) -> None:
        """Stop watching."""
        self._files.close()

    # Readers, one for each source:

    def _read_changed(self, file: LogFile) -> None:
        if file.kind is FileKind.REGISTRY:
            self._processes.refresh_soon(file.agent)
        elif file.kind in _FOLLOWED and file.agent is not None and not is_compressed(file.path):
            if file.size >= 0:
                self._read_log(file)
        elif file.kind is FileKind.META and file.size >= 0:
            self._read_meta(file)

    def _read_log(self, file: LogFile) -> None:
        path = str(file.path)
        known = self._followed.changed(file)
        if known in self._unread and len(self._events) >= _MOST_AT_ONCE:
            return  # it is the first in the next round
        tail = known or self._followed.follow(file)
        if tail is None:
            return
        name, thread = self._names.of(file)
        session = self._sessions.open(name)
        self._logs.setdefault(name, set()).add(path)
        is_new = session.begin_thread(thread, path)
        if is_new:
            self._processes.add_logs(file.agent, [file.path])
        if is_new or session.alive.life == "gone":
            self._processes.expect_client(name[0])
        for chunk in tail.before():
            self._add_events(session, thread, chunk, written_ms=file.mtime_ns // 1_000_000)
        steps = self._unread.pop(tail, None) or tail.more()
        if is_new and self._is_news(file):
            first = list(islice(steps, _FIRST_LINES))
            self._note_folder(session, first)
            steps = chain(first, steps)
            what = "session_seen" if thread == MAIN else "thread_seen"
            self._events.add(what, session, thread=thread, path=path)
        until = time.monotonic() + _AT_ONCE_S
        for step in steps:
            if isinstance(step, LogReplaced):
                self._events.add("log_replaced", session, thread=thread, path=path, data={"why": step.why})
            elif step is not None:
                self._add_line(session, thread, step, path)
            is_enough = time.monotonic() > until or len(self._events) >= _MOST_AT_ONCE
            if is_enough and not self._is_beginning:
                self._unread[tail] = steps  # other logs have their turn, and followers get what there is
                break

    def _note_folder(self, session: WatchedSession, steps: Sequence[TailChunk | LogReplaced | None]) -> None:
        """Note the working folder of a new session before its first event."""
        events = (event for step in steps if isinstance(step, TailChunk) for event in step.events)
        cwds = (event.cwd for event in events if isinstance(event, SessionDescribed) and event.cwd)
        session.latest.cwd = session.latest.cwd or next(cwds, None)

    def _is_news(self, file: LogFile) -> bool:
        return not self._is_beginning or (
            self._before is not None and str(file.path) not in self._before.sizes
        )

    def _add_line(self, session: WatchedSession, thread: str, chunk: TailChunk, path: str) -> None:
        self._grown.setdefault((session.agent, session.id, thread), set()).add(chunk.piece.line)
        before = set(session.pending)
        self._add_events(session, thread, chunk)
        for event in chunk.events:
            summary = summary_of(event)
            if summary is not None:
                what, data = summary
                self._events.add(
                    what,
                    session,
                    at=event.at,
                    thread=event.thread or thread,
                    line=chunk.piece.line,
                    path=path,
                    data=data,
                )
        for lost in session.take_lost():
            self._events.add(
                "thread_lost", session, thread=lost.thread, data={"call": lost.call, "name": lost.name}
            )
        for call in session.pending.keys() - before:
            pending = session.pending[call]
            self._events.add(
                "thread_pending", session, thread=thread, data={"call": call, "name": pending.name}
            )

    def _add_events(
        self, session: WatchedSession, thread: str, chunk: TailChunk, *, written_ms: int | None = None
    ) -> None:
        session.add_events(thread, chunk.events, now_ms=self._now_ms(), written_ms=written_ms)
        if thread == MAIN and (said := _WINDOW.search(chunk.piece.raw)):
            session.latest.window = int(said[1])

    def _read_meta(self, file: LogFile) -> None:
        """Read the file beside a subagent's log: it names the call that requested the subagent."""
        if (name := self._names.session_beside(file)) is not None:
            for _, events in told_by(file):
                self._sessions.open(name).add_events(thread_of(file), events, now_ms=self._now_ms())

    def _forget_past(self) -> None:
        for session in self._sessions.forget_past(self._now_ms()):
            for path in session.paths.values():
                self._names.forget(path)

    def _read_hooks(self) -> None:
        if self._spool is None:
            return
        known_lines = (
            lines_seen(self._before.spool) if self._before is not None and self._is_beginning else {}
        )
        for path, line in self._spool.ask():
            is_old = bool(known_lines) and line.number <= known_lines.get(_inode_of(path), 0)
            with self._quietly() if is_old else nullcontext():
                for piece in SPOOL_READER.read([line]):
                    if isinstance(piece.record, Spooled) and piece.record.session:
                        self._add_hook(piece.record, piece.record.session, str(path), piece.line)

    def _add_hook(self, spooled: Spooled, session_id: str, path: str, line: int) -> None:
        agent = spooled.agent or self._agent_of(session_id)
        name, payload = self._names.by_id(session_id, agent), spooled.payload
        if not self._is_below_roots(name, payload):
            return
        session = self._sessions.open(name)
        thread: str = MAIN
        if isinstance(payload, HookInput):
            thread = payload.agent_id or MAIN
            session.hooks.add(payload, min(spooled.at_ms, self._now_ms()))
            session.latest.cwd = session.latest.cwd or payload.cwd
            data = {"hook": payload.hook_event_name, "tool": payload.tool_name, "call": payload.tool_use_id}
        elif isinstance(payload, TurnNotice):
            session.hooks.turn_completed(min(spooled.at_ms, self._now_ms()))
            data = {"hook": f"notify {payload.type}"}
        else:
            return
        known = {key: value for key, value in data.items() if value is not None}
        at = nearest_moment_text(spooled.at_ms)
        self._events.add("hook_called", session, at=at, thread=thread, path=path, line=line, data=known)

    def _agent_of(self, session_id: str) -> str:
        """The agent of the watched session with this id; for an unknown one, the agent that tracklog knew first."""
        known = (agent for agent in SUPPORTED if (agent, session_id) in self.sessions)
        return next(known, next(iter(SUPPORTED)))

    def _is_below_roots(self, name: Name, payload: object) -> bool:
        """Whether a hook call belongs to a session below our roots. Compares paths of payloads, and never opens them."""
        if name in self._logs or name in self.sessions:
            return True
        path = payload.transcript_path if isinstance(payload, HookInput) else None
        return path is not None and self.would_hold(name[0], path)


def _inode_of(path: Path) -> int:
    try:
        return os.stat(path).st_ino
    except OSError:
        return 0
