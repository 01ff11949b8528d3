"""Read the files of a session into a Session: read, translate, fold, assemble.

Payloads of our own hook are read from the spool and added.

Rules
  1. Each log is folded by itself. The main thread's logs, where there are several (a session that moved, a copy in
     another root, a Codex thread that was rolled back), are folded into one, the oldest first, each record once.
  2. A file that cannot be read to its end gives its readable part, and a problem that says so.
  3. The spool is searched once for many sessions, and only its lines about a session are decoded for it.
  4. A line of the spool belongs to the session that its payload names; a mention of another session has no meaning.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tracklog.agents.discovery import find_at
from tracklog.agents.hooks.events import heard
from tracklog.agents.hooks.records import READER, HookInput, Spooled, TurnNotice
from tracklog.agents.registry import identified, lines_of, pieces_of, translator_of
from tracklog.agents.roots import claude_homes
from tracklog.agents.supported import support_for
from tracklog.clock import moment_ms
from tracklog.errors import UserError
from tracklog.home import Home
from tracklog.liveness.hook_signs import HookSigns
from tracklog.liveness.log_signs import LogSigns
from tracklog.liveness.sessions import KnownOf, SessionLives, Signs, packed
from tracklog.model.assemble.session import assemble
from tracklog.model.events import (
    HistoryInherited,
    HistoryRolledBack,
    HookRan,
    LogEvent,
    Place,
    SessionDescribed,
    StrangeSeen,
)
from tracklog.model.fold.log import FileFold
from tracklog.model.ids import MAIN, NodeId, SessionId
from tracklog.model.session import Session
from tracklog.model.states import Sign
from tracklog.reading.family import Kinship, OnRefused
from tracklog.reading.neighbours import neighbours_of
from tracklog.reading.session_files import SessionFiles, thread_of
from tracklog.sources.files import NotReadable, chunks
from tracklog.sources.gc_pause import no_collecting
from tracklog.sources.lines import Line
from tracklog.sources.log_file import THREAD_KINDS, FileKind, LogFile, Skipped
from tracklog.sources.spool import (
    Spots,
    files_in,
    is_packed,
    lines_at,
    lines_in,
    lines_met,
    sessions_said,
    spool_of,
    spots_in,
)

_MOST_HELD = 64 << 20


class SpoolReader:
    """Reads the spool of a home, one session after the other."""

    def __init__(self, home: Path) -> None:
        self._folder = spool_of(home)
        self._spots: dict[Path, Spots] = {}
        self._said: dict[Path, frozenset[str] | None] = {}
        self._held: tuple[Path, bytes] | None = (
            None  # contents of the last compressed file: the next session's lines are probably in it
        )

    def heard(self, session: SessionFiles) -> list[HookRan]:
        """What our hook received about a session, in order."""
        ids = {session.id, *(file.session for file in session.files if file.session)}
        return list(heard(self._told(ids)))

    def sign(self, session: SessionFiles) -> Sign | None:
        """The newest sign of a session's state that our hook received."""
        signs = HookSigns()
        for spooled, _ in self._told({session.id}):
            if isinstance(spooled.payload, HookInput):
                signs.add(spooled.payload, spooled.at_ms)
            elif isinstance(spooled.payload, TurnNotice):
                signs.turn_completed(spooled.at_ms)
        return signs.sign

    def _told(self, ids: Collection[str]) -> list[tuple[Spooled, Place]]:
        for _ in range(2):  # a file may be renamed meanwhile: then try once more
            try:
                return list(self._spooled(ids))
            except NotReadable:
                self._spots.clear()
        return []

    def _spooled(self, ids: Collection[str]) -> Iterator[tuple[Spooled, Place]]:
        for path in files_in(self._folder):
            for line in self._lines(path, ids):
                for piece in READER.read([line]):
                    if isinstance(piece.record, Spooled) and piece.record.session in ids:
                        yield piece.record, Place(str(path), piece.line)

    def _lines(self, path: Path, ids: Collection[str]) -> Iterator[Line]:
        if not self._may_hold(path, ids):
            return iter(())
        if path not in self._spots:
            self._spots[path] = spots_in(path)
        found = sorted({spot for id in ids for spot in self._spots[path].get(id, ())})
        if not found or not is_packed(path):
            return lines_at(path, found)
        if found[-1].offset > _MOST_HELD:
            return lines_met(path, found)
        if self._held is None or self._held[0] != path:
            self._held = path, b"".join(chunks(path))
        return lines_in(self._held[1], found)

    def _may_hold(self, path: Path, ids: Collection[str]) -> bool:
        if not is_packed(path):
            return True
        if path not in self._said:
            self._said[path] = sessions_said(path)
        said = self._said[path]
        return said is None or not said.isdisjoint(ids)


OnBytes = Callable[[int], None]
Told = Iterator[tuple[bytes, list[LogEvent]]]  # of each piece of a log: its bytes and its events
Tell = Callable[[LogFile], Told]
_NEWEST = 2_000  # pieces of a log that show the current state
_FOLDED = THREAD_KINDS | {FileKind.META, FileKind.JOURNAL}


class FoundSession(NamedTuple):
    """The files of a session, and those of the sessions that may share history with it."""

    files: SessionFiles
    kin: Kinship

    def read(self, home: Home | None) -> Session:
        """Read it, with what the hook received if `home` is tracklog's own, and a look at its process."""
        spool = SpoolReader(home.path) if home is not None else None
        lives = SessionLives(home, homes=claude_homes(os.environ))
        return read_session(self.files, self.kin, now=datetime.now(UTC), spool=spool, lives=lives)


def session_at(path: str | os.PathLike[str], roots: Sequence[Path] = ()) -> FoundSession:
    """The session that a log belongs to: its files in the folder around the log, or below `roots`."""
    file = _one_file(path)
    near = neighbours_of(file, roots=roots)
    session = near.session_with(file)
    if session is None:
        raise UserError(f"{os.fspath(path)} is no log of a session of Claude Code or Codex")
    return FoundSession(session, Kinship([session, *near.relatives.of(session)]))


def read_session(
    session: SessionFiles,
    kin: Kinship | None = None,
    *,
    is_alive: bool | None = None,
    lives: SessionLives | None = None,
    now: datetime | None = None,
    on_bytes: OnBytes | None = None,
    with_text: bool = True,
    tell: Tell | None = None,
    spool: SpoolReader | None = None,
) -> Session:
    """Reads a session from its files; `kin` are it and those that may share history with it.

    Without text, texts and results are kept only as far as lists of calls need them. `tell` replaces `told_by`.
    `spool` has what our own hook received. `lives` looks at processes; without it, `is_alive` says whether one runs.
    """
    newest: deque[list[LogEvent]] | None = deque(maxlen=_NEWEST) if lives is not None else None
    told = tell or partial(told_by, on_bytes=on_bytes)
    with no_collecting():
        folds = list(folds_of(session, told, with_text=with_text, newest=newest))
    kin = kin or Kinship([session])
    shares = len(kin.sessions) > 1 or any(HistoryInherited in fold.facts for fold in folds)
    known = _known_of(session, folds, newest or (), spool) if lives is not None else None
    made = assemble(
        folds,
        session=SessionId(session.id),
        agent=session.agent,
        is_alive=is_alive,
        life=lives.life_of(known) if lives is not None and known is not None else None,
        now=now,
        descent=kin.descent(session.id) if shares else None,
        heard=spool.heard(session) if spool is not None else (),
        with_text=with_text,
    )
    if known is not None:
        made.signs = packed(known.signs)
    return made


def _known_of(
    session: SessionFiles,
    folds: Sequence[FileFold],
    newest: Iterable[list[LogEvent]],
    spool: SpoolReader | None,
) -> KnownOf:
    """What the logs and the spool show about the process of a session."""
    log = LogSigns()
    for events in newest:
        log.add(events)
    mains = {str(file.path) for file in session.mains}
    keeps_main_open = support_for(session.agent).processes.holds_logs_open
    facts = (
        event for fold in folds if mains & set(fold.paths) for event in fold.facts.get(SessionDescribed, ())
    )
    told = [event for event in facts if isinstance(event, SessionDescribed)]
    return KnownOf(
        agent=session.agent,
        id=session.id,
        paths=sorted(mains if keeps_main_open else (str(file.path) for file in session.files)),
        last_ms=max((moment_ms(fold.last_at) for fold in folds), default=0),
        signs=Signs(
            log=log.newest(),
            hook=spool.sign(session) if spool is not None else None,
            cwd=next((event.cwd for event in reversed(told) if event.cwd), None),
            entrypoint=next((event.entrypoint for event in reversed(told) if event.entrypoint), None),
        ),
    )


def folds_of(
    session: SessionFiles,
    tell: Tell,
    *,
    with_text: bool = True,
    newest: deque[list[LogEvent]] | None = None,
) -> Iterator[FileFold]:
    """The folds of a session's files, the main thread's first; its last events go into `newest`."""
    mains = session.mains
    yield _main_fold(mains, tell, with_text=with_text, newest=newest)
    for file in session.files:
        if file not in mains and file.kind in _FOLDED and file.agent is not None:
            fold = FileFold(str(file.path), thread_of(file), with_text=with_text)
            for _, events in tell(file):
                fold.add(events)
            yield fold


def events_of(file: LogFile) -> Iterator[list[LogEvent]]:
    """The events of each piece of a log, in order."""
    return (events for _, events in told_by(file))


def told_by(file: LogFile, on_bytes: OnBytes | None = None, *, on_refused: OnRefused | None = None) -> Told:
    """The bytes and events of each piece of a log; a damaged log ends with an event that says so."""
    translator = translator_of(file)
    line = 0
    try:
        for piece in pieces_of(file):
            line = piece.line
            if on_bytes is not None:
                on_bytes(piece.length)
            yield piece.raw, translator.translate(piece)
    except NotReadable as error:
        if on_refused is not None:
            on_refused(file, error)
        yield b"", [not_readable(file, line + 1, error.why)]


def not_readable(file: LogFile, line: int, why: str) -> LogEvent:
    """The event for a log that cannot be read from this line on."""
    return StrangeSeen(place=Place(str(file.path), line), kind="not readable", problem=why)


def _main_fold(
    mains: list[LogFile],
    tell: Tell,
    *,
    with_text: bool,
    newest: deque[list[LogEvent]] | None,
) -> FileFold:
    if len(mains) > 1:
        return _in_one(mains, tell, with_text=with_text, newest=newest)
    fold = FileFold(str(mains[0].path) if mains else "", MAIN, with_text=with_text)
    for _, events in tell(mains[0]) if mains else ():
        fold.add(events)
        if newest is not None:
            newest.append(events)
    return fold


def _in_one(
    mains: list[LogFile],
    tell: Tell,
    *,
    with_text: bool,
    newest: deque[list[LogEvent]] | None,
) -> FileFold:
    """Folds several logs of one thread into one, the oldest first; repeated records are left out."""
    told = [(file, list(tell(file))) for file in mains]
    told.sort(key=lambda one: (_span([event for _, events in one[1] for event in events]), str(one[0].path)))
    fold = FileFold(str(told[0][0].path), MAIN, with_text=with_text)
    fold.paths = [str(file.path) for file, _ in told]
    seen: set[NodeId | bytes] = set()
    for n, (_, lines) in enumerate(told):
        if n:
            fold.add(_rolled_back([event for _, events in lines for event in events], told[n - 1][0]))
        new = [event for raw, events in lines for event in events if (event.node or raw) not in seen]
        fold.add(new)
        if newest is not None:
            newest.append(new)
        seen |= {event.node or raw for raw, events in lines for event in events}
    return fold


def _span(events: list[LogEvent]) -> tuple[str, str]:
    times = [event.at for event in events if event.at is not None]
    return min(times, default=""), max(times, default="")


def _rolled_back(events: list[LogEvent], before: LogFile) -> list[LogEvent]:
    """The rollback of an earlier rollout's rest, if a later one continues from its middle."""
    base = next((event for event in events if isinstance(event, HistoryInherited)), None)
    if base is None or base.base_offset is None:
        return []
    line = next((line.number for line in lines_of(before) if line.offset >= base.base_offset), None)
    if line is None:
        return []
    return [HistoryRolledBack(place=base.place, at=base.at, path=str(before.path), from_line=line)]


def _one_file(path: str | os.PathLike[str]) -> LogFile:
    if not os.fspath(path):
        raise UserError("which log? the path is empty")
    if os.path.isdir(path):
        raise UserError(f"{os.fspath(path)} is a directory: name one of the logs in it")
    found = next(find_at(Path(path)), None)
    if found is None or isinstance(found, Skipped):
        raise UserError(f"cannot read {os.fspath(path)}: {found.why if found else 'nothing there'}")
    return identified(found)
