"""Read the lines of a thread into events and rows (conversation/rows.py).

Rules
  1. Every line has at least one row. One with nothing to show is `quiet`, and names the kind of its record; unknown and
     broken lines are rows like any other.
  2. Only requested lines are read. Where the meaning of a line depends on others (Codex), reading starts at the nearest
     remembered state of the translator, and goes some lines further.
  3. What is kept of long lines is limited (`Room`): beyond the limit only the head of a line is read, as of an endless
     one, and its row says that it is too long.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import RLock

from msgspec import Raw

from tracklog.agents.base import Translator
from tracklog.agents.registry import reader_for, translator_of
from tracklog.agents.supported import support_for
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
_SAID_LATER = 60  # lines after one in which its event may still come
_AT_ONCE = 500
_NO_ROOM = "too long to be read with so many long lines around it: its raw line is all there"


class ThreadReading:
    """Reads the lines of a thread into events and rows."""

    def __init__(self, lines: ThreadLines, *, archive: Path | None = None) -> None:
        self.lines = lines
        self._archive = archive
        self._may_hold_asides = any(file.kind is not FileKind.SUBAGENT for file in lines.files)
        self._generation = lines.generation
        self._memories: dict[int, bytes] = {}  # the translator's state before a line
        self._sides = Sides(())
        self._lock = RLock()

    def rows(self, first: int, last: int, *, cwd: str | None = None) -> list[EventRow]:
        """The rows of the lines from `first` to `last`."""
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
            if any(row.kind == "prompt" for row in rows):  # a command that also comes as a prompt
                rows[:] = [row for row in rows if row.kind != "command"]
            if not rows:
                rows.append(quiet[seq])
            for row in rows:
                row.at = row.at or quiet[seq].at
                row.is_aside = row.is_aside and self._may_hold_asides
        return [row for rows in made.values() for row in rows]

    def events(self, first: int, last: int) -> list[tuple[int, LogEvent]]:
        """The events of the lines from `first` to `last`, each with the number of its line."""
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
        """An event; a result with its fullest text, which may be long: do not keep it."""
        place = self.lines.place_of(seq)
        return event if place is None else OutputFiles(place[0], self._archive).filled(event)

    def sides(self, branches: Sequence[OutlinedBranch]) -> Sides:
        """The branch of each line; continues from the last call."""
        with self._lock:
            self._forget_if_rewritten()
            fresh = Sides(branches)
            if fresh.branches != self._sides.branches:
                self._sides = fresh
            while self._sides.branches and self._sides.n < self.lines.n:
                last = min(self._sides.n + _AT_ONCE, self.lines.n)
                self._sides.add(self.events(self._sides.n + 1, last), last)
            return self._sides

    def _forget_if_rewritten(self) -> None:
        if self._generation != self.lines.generation:
            self._memories, self._sides = {}, Sides(())
            self._generation = self.lines.generation

    def _read(self, first: int, last: int, room: Room) -> Iterator[tuple[int, Piece, list[LogEvent]]]:
        with self._lock:
            self._forget_if_rewritten()
            memories = self._memories  # of this generation, even if another thread sees a new one meanwhile
        translators: dict[str, Translator] = {}
        for seq, file, line in self._lines(first, last, translators, memories, room):
            path = str(file.path)
            if path not in translators:
                translators[path] = translator_of(file)
            translator = translators[path]
            is_remembered = seq % _REMEMBERED_EACH == 1 and support_for(file.agent).logs.translator_has_state
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
        if at is not None and support_for(at[0].agent).logs.translator_has_state:
            file, number = at
            begins = first - number + 1
            known = [seq for seq in list(memories) if begins < seq <= first]
            start = max(known, default=begins)
            last += _SAID_LATER
            if start > begins:
                translator = translator_of(file)
                unpack(memories[start], translator)
                translators[str(file.path)] = translator
        for some in range(start, first, _AT_ONCE):  # nothing of these is kept
            yield from self.lines.between(some, min(some + _AT_ONCE, first) - 1)
        for some in range(first, last + 1, _AT_ONCE):
            yield from self.lines.between(some, min(some + _AT_ONCE - 1, last), room=room)


def _is_long(piece: Piece, event: LogEvent) -> bool:
    """Whether an event's values may come from a long line: this one, or an earlier one that it is about."""
    return piece.length > HEAD_BYTES or event.place.line != piece.line


def _let_go(event: LogEvent) -> LogEvent:
    """Copies the parts of an event that are views into its line, so that the line can be freed."""
    for name in event.__struct_fields__:
        if isinstance(value := getattr(event, name), Raw):
            setattr(event, name, value.copy())
    return event


def _size(one: LogEvent | EventRow) -> int:
    """Number of letters and bytes in it."""
    values = (getattr(one, name) for name in one.__struct_fields__)
    return sum(
        len(memoryview(value)) if isinstance(value, Raw) else len(value)
        for value in values
        if isinstance(value, str | Raw)
    )


def all_of_row(
    reading: ThreadReading, seq: int, n: int, *, call: str | None = None
) -> tuple[Kind, str] | None:
    """The kind and whole text of a row of a line: the one with number `n`, or that of a call's result."""
    rows: list[EventRow] = []
    for at, event in reading.events(seq, seq):
        if at == seq:
            put_rows(rows, seq, reading.filled(seq, event), None, most=None)
    wanted = [
        row for row in rows if (row.n == n if call is None else row.kind == "result" and row.call == call)
    ]
    return (wanted[0].kind, wanted[0].text) if wanted else None
