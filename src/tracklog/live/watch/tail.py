"""Follow growing logs: new bytes become lines, pieces and events, each once.

`Tail` follows one log, `FollowedLogs` all logs of a watch.

Rules
  1. Of what was written before, only the end is read: it shows the present state.
  2. A line is given when it is complete; half a line waits. A last line that is a whole record is given at once: a
     client that was killed may have written it without its newline.
  3. A log that was cut, rewritten or replaced is read from its beginning; the change is reported, and only lines
     that were not there before are given. If the old file was put aside under another name in its folder, its rest
     comes first.
  4. A very long log is rewritten bit by bit: while no remembered line is found in it, it may be half written.
     After a bounded wait it counts as another log.
  5. No file stays open: five thousand logs take no file handle.
  6. A log that goes on is continued where it was, also if it was forgotten meanwhile, or moved to another folder.
  7. A log that appears during a watch is new from its first line on; a huge one is history.
  8. Memory does not grow with the length of a watch: only the last lines of a log that is quiet for a minute are
     remembered, and only the size of one that is quiet for half an hour.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from tracklog.agents.registry import reader_for, translator_of
from tracklog.live.watch.follow import (
    Appended,
    Follower,
    LineMarks,
    Restarted,
    found_beside,
    goes_on_at,
)
from tracklog.model.events import LogEvent
from tracklog.model.records import Piece
from tracklog.sources.files import NotReadable, chunks
from tracklog.sources.lines import Cutter, Line
from tracklog.sources.log_file import LogFile
from tracklog.sources.tail.identity import IdentityTracker, is_gone

READ_BEFORE = 512 << 10  # bytes of the end that are read at first: the last turns
PATIENCE_S = 2.0  # with a log in which no remembered line is found
_AT_ONCE = 256 << 10
_CLOSES = ord("}")


Place = tuple[int, int]  # device and inode of a file


class TailChunk(NamedTuple):
    """A piece of a log, and its events."""

    piece: Piece
    events: list[LogEvent]


class LogReplaced(NamedTuple):
    """The log no longer holds what was read."""

    why: str


class Tail:
    """One log. `before` gives the pieces of its end at the first look, `more` what was written since."""

    def __init__(
        self,
        file: LogFile,
        *,
        known_to: int | None = None,
        clock: Callable[[], float] = time.monotonic,
        places: dict[Place, list[Tail]] | None = None,
    ) -> None:
        """`known_to` is the number of bytes that are not new; None: all that are there now. The tail adds itself to `places`."""
        self.file = file
        self._stood_in = file.path.parent
        self._clock = clock
        self._began_at = file.size if known_to is None else min(known_to, file.size)
        start, n_lines = _start_of_the_end(file, self._began_at)
        self._places = {} if places is None else places
        self._follower = Follower(file.path, start, limit=_AT_ONCE, on_place=self._add_place)
        self._cutter = Cutter(offset=start, number=n_lines + 1)
        self._reader = reader_for(file)
        self._translator = translator_of(file)
        self._marks = LineMarks(file, start)
        self._early: tuple[int, bytes] | None = None  # the last line that came before its newline
        self._old_from = 0  # when read again: from this offset on, old lines show the present state
        self._began_again_at = 0.0
        self._is_put_aside = False  # what was here before is now a file in the same folder

    @property
    def is_undecided(self) -> bool:
        """Whether it must be read again soon, though nothing changes."""
        return self._marks.is_lost

    @property
    def offset(self) -> int:
        """The offset up to which it was read."""
        return self._follower.offset

    def move_to(self, file: LogFile) -> None:
        """Follow the log at its new path."""
        self._stood_in, self.file = self.file.path.parent, file
        self._follower.path = file.path

    def _add_place(self, device: int, inode: int) -> None:
        """Note where a file is that this log is or was."""
        tails = self._places.setdefault((device, inode), [])
        if self not in tails:
            tails.append(self)

    def offset_in(self, file: LogFile) -> int | None:
        """How far a file was read that was this log and has another name now; None if it was never this log."""
        follower, place = self._follower, (file.device, file.inode)
        known = (follower.identity if follower.is_of(*place) else None, follower.left)
        ours = (one for one in known if one is not None and one.is_at(*place))
        return next((one.offset for one in ours if goes_on_at(one, file.path)), None)

    def rest(self) -> None:
        """Remember less of a log that was quiet for a while."""
        self._marks.shrink(self.offset)

    def before(self) -> Iterator[TailChunk]:
        """The pieces of the log's end at the first look; once."""
        while (left := self._began_at - self.offset) > 0:
            match self._follower.ask(left):
                case Appended(_, data) if data:
                    for line in self._cutter.feed(data):
                        self._marks.remember(line)
                        yield from self._read(line)
                case Restarted():
                    self._marks = LineMarks(self.file)
                    self._cutter, self._translator = Cutter(), translator_of(self.file)
                case _:
                    break
        self._began_at = 0
        yield from self._unended()

    def more(self) -> Iterator[TailChunk | LogReplaced | None]:
        """What was written since the last call; None whenever much was read, new or not."""
        while True:
            match self._follower.ask():
                case Appended(_, data) if len(data) == _AT_ONCE:
                    yield from self._lines(data)
                    yield None
                case Appended(_, data):
                    yield from self._lines(data)
                    yield from self._unended()
                    if not self._is_another():
                        return
                    self._marks.give_up()
                    self._read_from_the_beginning()
                case Restarted(why):
                    self._is_put_aside = False
                    if why == "replaced":
                        yield from self._rest()
                    self._begin_again()
                    yield LogReplaced(why)
                case _:
                    return

    def _rest(self) -> Iterator[TailChunk]:
        """The unread rest of a file that was put aside."""
        left = self._follower.left
        folders = dict.fromkeys((self.file.path.parent, self._stood_in))
        places = (found_beside(left, folder) for folder in folders if left is not None)
        aside = next(filter(None, places), None)
        self._is_put_aside = aside is not None
        if left is None or aside is None:
            return
        try:
            tracker = IdentityTracker.at(aside, left.offset)
            for data in chunks(aside, left.offset):
                yield from self._lines(data)
                tracker.add(data)
                self._follower.left = left = left.read_to(tracker)
        except NotReadable:
            pass  # it vanished meanwhile; what was read of it was given

    def _begin_again(self) -> None:
        self._marks.begin_again(0 if self._is_put_aside else _size_of(self.file.path))
        self._began_again_at = self._clock()
        self._note_beginning()

    def _is_another(self) -> bool:
        """Whether a log that was read again to its end without a known line is another one."""
        if not self._marks.is_lost:
            return False
        is_other = self._is_put_aside and not self._marks.begins_alike
        return is_other or self._clock() - self._began_again_at >= PATIENCE_S

    def _read_from_the_beginning(self) -> None:
        left = self._follower.left
        self._follower = Follower(self.file.path, limit=_AT_ONCE, on_place=self._add_place)
        self._follower.left = left
        self._note_beginning()

    def _note_beginning(self) -> None:
        self._cutter = Cutter()
        self._translator = translator_of(self.file)
        self._old_from = max(_size_of(self.file.path) - READ_BEFORE, 0)

    def _lines(self, data: bytes) -> Iterator[TailChunk]:
        for line in self._cutter.feed(data):
            if (line.offset, line.raw) == self._early:
                self._marks.is_new(line)
            elif self._marks.is_new(line):
                yield from self._read(line)
            elif line.offset >= self._old_from and not self._marks.is_lost:
                self._translate(line)

    def _unended(self) -> Iterator[TailChunk]:
        """The last line, if it is a whole record that only lacks its newline; given once."""
        if self._cutter.held_end != _CLOSES or self._marks.is_lost:
            return
        line = self._cutter.peek()
        if line is None or (line.offset, line.raw) == self._early or not _is_whole(line.raw):
            return
        self._early = (line.offset, line.raw)
        yield from self._read(line)

    def _translate(self, line: Line) -> None:
        for piece in self._reader.read([line]):
            self._translator.translate(piece)

    def _read(self, line: Line) -> Iterator[TailChunk]:
        for piece in self._reader.read([line]):
            yield TailChunk(piece, self._translator.translate(piece))


def _is_whole(raw: bytes) -> bool:
    try:
        msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, ValueError):
        return False
    return True


def _start_of_the_end(file: LogFile, end: int) -> tuple[int, int]:
    """The offset of the last turns before `end`, and the number of lines before them."""
    wanted, offset, n_lines = end - READ_BEFORE, 0, 0
    if wanted <= 0:
        return 0, 0
    start = 0
    try:
        for chunk in chunks(file):
            if offset + len(chunk) <= wanted:
                n_lines += chunk.count(b"\n")
                last = chunk.rfind(b"\n")
                start = offset + last + 1 if last >= 0 else start
                offset += len(chunk)
                continue
            before = chunk[: wanted - offset]
            last = before.rfind(b"\n")
            return (offset + last + 1, n_lines + before.count(b"\n")) if last >= 0 else (start, n_lines)
    except NotReadable:
        return 0, 0
    return start, n_lines


def _size_of(path: Path) -> int:
    try:
        return os.stat(path, follow_symlinks=False).st_size
    except OSError:
        return 0


LONGEST = 64 << 20  # bytes of a log that appears at once; a longer one is history
_SWEEP_S = 600.0
_REST_S = 60.0
_QUIET_S = 1800.0


class FollowedLogs:
    """Tails of logs, by path; `sizes` is how far an earlier watch reported them, if there was one."""

    def __init__(
        self, sizes: Mapping[str, int] | None = None, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock = clock
        self._is_first = sizes is None
        self._left_at = dict(sizes or {})  # how far the logs were read that are not followed now
        self._tails: dict[str, Tail] = {}
        self._places: dict[
            Place, list[Tail]
        ] = {}  # which tail a file is or was, also of some that were forgotten
        self._named: dict[
            str, dict[str, None]
        ] = {}  # the paths of all logs by name, also of some that were forgotten
        self._changed_at: dict[str, float] = {}
        self._swept_at = self._rested_at = clock()
        self._note_names(self._left_at)

    def begin(self, found: Iterable[LogFile]) -> None:
        """Without an earlier watch, note the present size of each log as already reported."""
        if self._is_first:
            self._left_at = {str(file.path): file.size for file in found}
            self._note_names(self._left_at)

    def _note_names(self, paths: Iterable[str]) -> None:
        for path in paths:
            self._named.setdefault(path.rpartition("/")[2], {})[path] = None

    def changed(self, file: LogFile) -> Tail | None:
        """The tail of a log that has changed; None if it is not followed yet."""
        path = str(file.path)
        tail = self._tails.get(path)
        if tail is not None:
            self._changed_at[path] = self._clock()
        return tail

    def follow(self, file: LogFile) -> Tail | None:
        """Follow a log from its known offset; None if it vanished meanwhile: it is followed elsewhere."""
        path = str(file.path)
        if is_gone(path):
            return None
        tail = self._moved_here(file)
        if tail is None:
            offset = self._known_offset(file)
            offset = 0 if offset is None and file.size <= LONGEST else offset
            tail = Tail(file, known_to=offset, clock=self._clock, places=self._places)
        self._left_at.pop(path, None)
        self._tails[path] = tail
        self._note_names([path])
        self._changed_at[path] = self._clock()
        return tail

    def undecided(self) -> list[Tail]:
        """The logs that must be read again soon, though nothing changes in them."""
        return [tail for tail in self._tails.values() if tail.is_undecided]

    def offsets(self, known: Mapping[str, LogFile]) -> dict[str, int]:
        """How far each log was read; the size of those that were not read."""
        left_at = {path: self._left_at.get(path, file.size) for path, file in known.items()}
        return left_at | {path: tail.offset for path, tail in self._tails.items()}

    def sweep(self, known: Collection[str]) -> bool:
        """Forget logs that are quiet or gone, every ten minutes; return whether it did so."""
        now = self._clock()
        if now - self._rested_at >= _REST_S:
            self._rested_at = now
            self._rest_the_quiet(now)
        if now - self._swept_at < _SWEEP_S:
            return False
        self._swept_at = now
        for path, changed_at in list(self._changed_at.items()):
            if now - changed_at >= _QUIET_S:
                self._forget(path)
        self._left_at = {path: offset for path, offset in self._left_at.items() if path in known}
        self._forget_places()
        return True

    def _forget_places(self) -> None:
        """Drop names and places of logs that are neither followed nor known any more."""
        self._named = {}
        self._note_names([*self._left_at, *self._tails])
        followed = set(map(id, self._tails.values()))
        for place, tails in list(self._places.items()):
            tails[:] = [tail for tail in tails if id(tail) in followed]
            if not tails:
                del self._places[place]

    def _rest_the_quiet(self, now: float) -> None:
        for path, changed_at in self._changed_at.items():
            if now - changed_at >= _REST_S:
                self._tails[path].rest()

    def _forget(self, path: str) -> None:
        del self._changed_at[path]
        self._left_at[path] = self._tails.pop(path).offset

    def _moved_here(self, file: LogFile) -> Tail | None:
        """The tail of a log that was at another path, where it no longer is."""
        alike = [str(tail.file.path) for tail in self._tails_of(file) if tail.offset_in(file) is not None]
        for path in (*alike, *self._named.get(file.path.name, ())):
            if path in self._tails and is_gone(path):
                tail = self._tails.pop(path)
                del self._changed_at[path]
                tail.move_to(file)
                return tail
        return None

    def _tails_of(self, file: LogFile) -> list[Tail]:
        """The followed logs that are or were this file, if it still holds what they were."""
        tails = self._places.get((file.device, file.inode), ())
        return [tail for tail in tails if self._tails.get(str(tail.file.path)) is tail]

    def _known_offset(self, file: LogFile) -> int | None:
        """How far an unfollowed log was read, here or at its earlier path; None if it is new."""
        put_aside = (tail.offset_in(file) for tail in self._tails_of(file))
        offset = next((offset for offset in put_aside if offset is not None), None)
        if offset is None:
            offset = self._left_at.get(str(file.path))
        named = self._named.get(file.path.name, ())
        moved = (path for path in named if path in self._left_at and is_gone(path))
        return next((self._left_at[path] for path in moved), None) if offset is None else offset
