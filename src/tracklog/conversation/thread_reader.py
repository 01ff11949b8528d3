"""What a page shows of some lines of a thread: one row for each thing that a line tells (conversation/rows.py).

Rules of this room
  1. Every line has at least one row. One that tells nothing to a reader is `quiet`, and says what kind of record it is;
     unknown and broken lines are rows like any other.
  2. What is read is what is asked for. Codex says some things once and means them later: its logs are read on from the
     nearest place that is remembered.
  3. What is kept of long lines has its bounds (`Room`): beyond them a line is known by its head alone, as an endless one
     is, and its row says that it is too long.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import RLock

from msgspec import Raw

from tracklog.agents.base import Translator
from tracklog.agents.registry import reader_for, translator_of
from tracklog.agents.translator_state import packed, unpack
from tracklog.conversation.branches import Sides
from tracklog.conversation.lines import LineAt, Room, ThreadLines
from tracklog.conversation.rows import EventRow, Kind, put_rows, quiet_row
from tracklog.model.events import LogEvent
from tracklog.model.records import Piece, Unknown
from tracklog.reading.tool_outputs import OutputFiles
from tracklog.sessions.tables_session import OutlinedBranch
from tracklog.sources.lines import HEAD_BYTES, KEPT_BYTES
from tracklog.sources.log_file import FileKind

_REMEMBERED_EACH = 100  # lines
_SAID_LATER = 60  # lines behind a thing in which it may still be told
_AT_ONCE = 500
_NO_ROOM = "too long to be read with so many long lines around it: its raw line is all there"


class ThreadReading:
    """Reads the lines of a thread into events and rows."""

    def __init__(self, lines: ThreadLines, *, archive: Path | None = None) -> None:
        self.lines = lines
        self._archive = archive
        self._may_hold_asides = any(file.kind is not FileKind.SUBAGENT for file in lines.files)
        self._generation = lines.generation
        self._memories: dict[int, bytes] = {}  # what its translator knew before a line
        self._sides = Sides(())
        self._lock = RLock()

    def rows(self, first: int, last: int, *, cwd: str | None = None) -> list[EventRow]:
        """The rows of the lines from one number to another."""
        room = Room()
        made: dict[int, list[EventRow]] = {}
        quiet: dict[int, EventRow] = {}
        for seq, piece, events in self._read(first, last, room):
            if first <= seq <= last and seq not in made:
                made[seq], quiet[seq] = [], quiet_row(seq, piece)
            for event in events:
                at = seq - piece.line + event.place.line
                if at in made:
                    n_before = len(made[at])
                    put_rows(made[at], at, self.filled(seq, event), cwd)
                    room.keep(sum(map(_size, made[at][n_before:])) if _is_long(piece, event) else 0)
        for seq, rows in made.items():
            if any(row.kind == "prompt" for row in rows):  # a command that is told as a prompt, too
                rows[:] = [row for row in rows if row.kind != "command"]
            if not rows:
                rows.append(quiet[seq])
            for row in rows:
                row.at = row.at or quiet[seq].at
                row.is_aside = row.is_aside and self._may_hold_asides
        return [row for rows in made.values() for row in rows]

    def told(self, first: int, last: int) -> list[tuple[int, LogEvent]]:
        """What some lines tell, each event with the number of its line."""
        room = Room()
        told: list[tuple[int, LogEvent]] = []
        for seq, piece, events in self._read(first, last, room):
            for event in events:
                at = seq - piece.line + event.place.line
                if first <= at <= last:
                    told.append((at, event))
                    room.keep(_size(_let_go(event)) if _is_long(piece, event) else 0)
        return told

    def filled(self, seq: int, event: LogEvent) -> LogEvent:
        """An event of a line; a result with the fullest text there is. Not for events that are kept: it may be long."""
        place = self.lines.place_of(seq)
        return event if place is None else OutputFiles(place[0], self._archive).filled(event)

    def sides(self, branches: Sequence[OutlinedBranch]) -> Sides:
        """Which of its lines stand on branches that were left; what was found before is gone on with."""
        with self._lock:
            self._forget_if_rewritten()
            fresh = Sides(branches)
            if fresh.branches != self._sides.branches:
                self._sides = fresh
            while self._sides.branches and self._sides.n < self.lines.n:
                last = min(self._sides.n + _AT_ONCE, self.lines.n)
                self._sides.take(self.told(self._sides.n + 1, last), last)
            return self._sides

    def _forget_if_rewritten(self) -> None:
        if self._generation != self.lines.generation:
            self._memories, self._sides = {}, Sides(())
            self._generation = self.lines.generation

    def _read(self, first: int, last: int, room: Room) -> Iterator[tuple[int, Piece, list[LogEvent]]]:
        with self._lock:
            self._forget_if_rewritten()
            memories = self._memories  # of this generation, whatever another thread finds out meanwhile
        translators: dict[str, Translator] = {}
        for seq, file, line in self._lines(first, last, translators, memories, room):
            path = str(file.path)
            if path not in translators:
                translators[path] = translator_of(file)
            translator = translators[path]
            is_remembered = seq % _REMEMBERED_EACH == 1 and file.agent == "codex"
            if is_remembered and seq not in memories and not room.is_short:
                memories[seq] = packed(translator) or b""
            for piece in reader_for(file).read([line]):
                if line.length <= KEPT_BYTES and not line.whole and isinstance(piece.record, Unknown):
                    piece.record.why = _NO_ROOM
                yield seq, piece, translator.translate(piece)

    def _lines(
        self,
        first: int,
        last: int,
        translators: dict[str, Translator],
        memories: dict[int, bytes],
        room: Room,
    ) -> Iterator[LineAt]:
        start = first
        at = self.lines.place_of(first)
        if at is not None and at[0].agent == "codex":
            file, number = at
            begins = first - number + 1
            known = [seq for seq in list(memories) if begins < seq <= first]
            start = max(known, default=begins)
            last += _SAID_LATER
            if start > begins:
                translator = translator_of(file)
                unpack(memories[start], translator)
                translators[str(file.path)] = translator
        for some in range(start, first, _AT_ONCE):  # of these nothing is kept
            yield from self.lines.between(some, min(some + _AT_ONCE, first) - 1)
        for some in range(first, last + 1, _AT_ONCE):
            yield from self.lines.between(some, min(some + _AT_ONCE - 1, last), room=room)


def _is_long(piece: Piece, event: LogEvent) -> bool:
    """Whether what an event holds may come from a long line: this one, or one before it that it tells of."""
    return piece.length > HEAD_BYTES or event.place.line != piece.line


def _let_go(event: LogEvent) -> LogEvent:
    """The event without its hold on the line that it was read from, of which its parts may be views."""
    for name in event.__struct_fields__:
        if isinstance(value := getattr(event, name), Raw):
            setattr(event, name, value.copy())
    return event


def _size(one: LogEvent | EventRow) -> int:
    """Letters and bytes that it holds."""
    values = (getattr(one, name) for name in one.__struct_fields__)
    return sum(
        len(memoryview(value)) if isinstance(value, Raw) else len(value)
        for value in values
        if isinstance(value, str | Raw)
    )


def all_of_row(
    reading: ThreadReading, seq: int, n: int, *, call: str | None = None
) -> tuple[Kind, str] | None:
    """The kind and the whole text of a row of a line: of the one with this number, or of a call's result."""
    rows: list[EventRow] = []
    for at, event in reading.told(seq, seq):
        if at == seq:
            put_rows(rows, seq, reading.filled(seq, event), None, most=None)
    wanted = [
        row for row in rows if (row.n == n if call is None else row.kind == "result" and row.call == call)
    ]
    return (wanted[0].kind, wanted[0].text) if wanted else None
