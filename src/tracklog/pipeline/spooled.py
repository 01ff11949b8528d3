"""What our own hook was told of a session, found in the spool; and what is new there, for the index.

Rules of this room
  1. The spool is looked through once for many sessions, and only its lines about a session are decoded for it.
  2. A line counts for the session that its payload names; that it mentions another one means nothing.
  3. A session whose lines are new, or stand in another file now, is put together again when it is asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import datetime
from pathlib import Path

from tracklog.live.hook_signs import HookSigns
from tracklog.live.signs import Sign
from tracklog.model.events import HookRan, Place
from tracklog.model.translate.hooks import heard
from tracklog.pipeline.sessions import SessionFiles
from tracklog.pipeline.stillness import SPOOL_SEEN
from tracklog.records.claude_code.hooks import HookInput
from tracklog.records.spool import READER, Spooled, TurnNotice
from tracklog.sources.files import NotReadable, chunks
from tracklog.sources.lines import Line
from tracklog.sources.spool import (
    SpoolTail,
    Spots,
    files_in,
    is_packed,
    lines_at,
    lines_in,
    lines_met,
    sessions_in,
    sessions_said,
    spool_of,
    spots_in,
)
from tracklog.sources.spool_rotation import compress, old_files, rotate
from tracklog.store.catalogue import sessions_with
from tracklog.store.database import Database
from tracklog.store.session_rows import mark_unsettled
from tracklog.store.settings import put_setting, setting

_MOST_HELD = 64 << 20


class Spool:
    """The spool of a home, asked for one session after the other."""

    def __init__(self, home: Path) -> None:
        self._folder = spool_of(home)
        self._spots: dict[Path, Spots] = {}
        self._said: dict[Path, frozenset[str] | None] = {}
        self._held: tuple[Path, bytes] | None = (
            None  # what the last compressed file holds: its neighbours come next
        )

    def heard(self, session: SessionFiles) -> list[HookRan]:
        """What our hook was told of a session, in the order in which it was told."""
        ids = {session.id, *(file.session for file in session.files if file.session)}
        return list(heard(self._told(ids)))

    def sign(self, session: SessionFiles) -> Sign | None:
        """What our hook was last told that a session does."""
        signs = HookSigns()
        for spooled, _ in self._told({session.id}):
            if isinstance(spooled.payload, HookInput):
                signs.see(spooled.payload, spooled.at_ms)
            elif isinstance(spooled.payload, TurnNotice):
                signs.turn_completed(spooled.at_ms)
        return signs.sign

    def _told(self, ids: Collection[str]) -> list[tuple[Spooled, Place]]:
        for _ in range(2):  # files are renamed under our hands: then once more
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


def take_note(database: Database) -> None:
    """Marks the sessions about which something new was told since this was last asked."""
    before = setting(database.db, SPOOL_SEEN) or ""
    tail = SpoolTail(spool_of(database.home.path), before)
    sessions = {id for new in tail.ask() for id in sessions_in(new.line.raw)}
    _write_down(database, sessions, tail, before)


def tidy(database: Database, *, now: datetime) -> None:
    """Renames and compresses what is due: evidence stands elsewhere then, and its sessions are marked."""
    folder = spool_of(database.home.path)
    before = setting(database.db, SPOOL_SEEN) or ""
    tail = SpoolTail(folder, before)
    moved = [rotate(folder, now=now), *(compress(path) for path in list(old_files(folder, now=now)))]
    sessions = {id for path in moved if path is not None for id in spots_in(path)}
    sessions |= {id for new in tail.ask() for id in sessions_in(new.line.raw)}
    _write_down(database, sessions, tail, before)


def _write_down(database: Database, sessions: set[str], tail: SpoolTail, before: str) -> None:
    if not sessions and tail.told() == before:
        return
    with database.transaction() as db:
        mark_unsettled(db, sessions_with(db, sessions))
        put_setting(db, SPOOL_SEEN, tail.told())
