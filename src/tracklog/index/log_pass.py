"""One pass over a log: bytes to the archive, texts to the index, events to the caller that folds them.

Rules
  1. The result comes in parts, each complete in itself: it has the texts, the bytes in the archive and the
     position that belong together. An interrupted pass continues after its last part.
  2. The position is the start of the last line without a newline. That line is read all the same; its texts are
     made again when the log has grown.
  3. Reading on from a position gives the same as reading all at once: the translator's state is restored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from tracklog.agents.registry import NOT_RECORDS, ONE_DOCUMENT, lines_of, reader_for, translator_of
from tracklog.agents.translator_state import packed, unpack
from tracklog.archive.files import Appender, Missing
from tracklog.archive.locate import archive_name
from tracklog.model.events import LogEvent
from tracklog.model.records import Broken, Piece, Record, Unknown
from tracklog.reading.family import OnRefused
from tracklog.reading.session_reader import Told, not_readable
from tracklog.reading.tool_outputs import OutputFiles
from tracklog.search.texts import texts_of
from tracklog.sources.files import NotReadable, can_be_opened, chunks
from tracklog.sources.lines import Cutter, Line
from tracklog.sources.log_file import MAIN_KINDS, FileKind, LogFile
from tracklog.sources.tail.identity import IdentityTracker, bytes_at
from tracklog.store.catalogue import UNREAD
from tracklog.store.file_stamps import OUT_OF_REACH
from tracklog.store.text import worded
from tracklog.store.values import Archived, FileRead, KnownFile, WordedText

Emit = Callable[[FileRead], None]
PART_BYTES = 8 << 20
_BEHIND_ALL = 1 << 62
_SEARCHED = MAIN_KINDS | {FileKind.SUBAGENT}
_COLUMN: dict[type[Record], int] = {Unknown: 1, Broken: 2}  # of the counts; what was read has the first


class Archiving:
    """Where the bytes of a log go."""

    def __init__(self, folder: Path, file: LogFile, known: KnownFile, at: Archived | None) -> None:
        self._folder = folder
        self._name = archive_name(known.path, known.root, agent=file.agent, generation=known.generation)
        self._about = {
            "path": known.path,
            "root": known.root,
            "agent": file.agent,
            "kind": str(file.kind),
            "session": file.session,
            "generation": known.generation,
            "mtime_ns": file.mtime_ns,
        }
        self.at = at
        self._appender = self._opened()

    @property
    def contents_bytes(self) -> int:
        """How much of the log is there already."""
        return self.at.contents_bytes if self.at is not None else 0

    def _opened(self) -> Appender:
        try:
            return Appender(self._folder, self._name, at=self.at, about=self._about)
        except Missing:  # its archive file was deleted: archive all of the log again
            self.at = None
            return Appender(self._folder, self._name, at=None, about=self._about)

    def write(self, chunk: bytes) -> None:
        """The next bytes."""
        self._appender.write(chunk)

    def end_part(self, *, is_last: bool) -> Archived:
        """End this part and return what was written so far; unless it is the last, writing continues after it."""
        self.at = self._appender.end(is_last=is_last)
        return self.at

    def go_on(self) -> None:
        """Open the file again, at the end of the last part."""
        self._appender = Appender(self._folder, self._name, at=self.at, about=self._about)

    def close(self) -> None:
        """Discard a part that was not ended."""
        self._appender.close()


class LogReading:
    """Read a log from the last position, or from its beginning if the caller needs all events."""

    def __init__(
        self,
        file: LogFile,
        known: KnownFile,
        *,
        emit: Emit,
        archiving: Archiving | None,
        archive: Path | None = None,
        on_refused: OnRefused | None = None,
    ) -> None:
        self._on_refused = on_refused
        self._file = file._replace(fallback=None)  # the archive has only what was read before
        self._known = known
        self._emit = emit
        self._archiving = archiving
        self._counts = [known.pieces_read, known.pieces_unknown, known.pieces_broken, known.recovered]
        self._texts: list[WordedText] = []
        self._n_told = 0
        self._line = 0  # the last one that was read
        self._starts_at = self._new_from = known.position
        self._translator = translator_of(file)
        self._outputs = OutputFiles(file, archive)
        self._is_translated = file.agent is not None and file.kind in _SEARCHED
        self._problem: str | None = None
        self._is_transient = False  # why it could not be read, so it is tried again

    def read_events(self, *, from_beginning: bool) -> Told:
        """Yield each piece with its events; parts are emitted in between, the last one at the end."""
        try:
            if self._file.kind in NOT_RECORDS:
                self._pass_on()
            elif self._file.kind in ONE_DOCUMENT:
                yield from self._document()
            else:
                yield from self._lines(from_beginning=from_beginning)
        finally:
            if self._archiving is not None:
                self._archiving.close()

    def read(self) -> None:
        """Read what is new, only for the index and the archive."""
        for _ in self.read_events(from_beginning=False):
            pass

    def _lines(self, *, from_beginning: bool) -> Told:
        known = self._known
        archived = self._archiving.contents_bytes if self._archiving else known.contents_bytes
        goes_on = not from_beginning and archived >= known.position and unpack(known.memory, self._translator)
        start = known.position if goes_on else 0
        try:
            marker = IdentityTracker.at(self._file, start) if start else IdentityTracker()
            if known.position < known.contents_bytes and known.size >= 0:
                self._uncount_last_line()
        except NotReadable as error:
            self._refuse(error)
            yield b"", [not_readable(self._file, known.lines + 1, error.why)]
            self._tell_that_it_is_out_of_reach()
            return
        cutter = Cutter(offset=start, number=known.lines + 1 if goes_on else 1)
        memory = known.memory
        self._line = known.lines if goes_on else 0
        offset = start
        try:
            for chunk in chunks(self._file, start):
                self._archive(chunk, offset, archived)
                marker.add(chunk)
                offset += len(chunk)
                yield from self._pieces(cutter.feed(chunk))
                is_behind = offset >= max(known.contents_bytes, archived)
                if is_behind and offset - self._n_told - start >= PART_BYTES:
                    memory = packed(self._translator)
                    self._tell(offset, cutter.open_since, cutter.n_cut, marker, memory, is_last=False)
                    self._n_told = offset - start
        except NotReadable as error:
            self._refuse(error)
        position, n_ended = cutter.open_since, cutter.n_cut
        memory = packed(self._translator)
        yield from self._pieces(cutter.end())
        if self._problem is not None:
            yield b"", [not_readable(self._file, self._line + 1, self._problem)]
        if self._problem is not None and offset < known.contents_bytes:
            self._tell_that_it_is_out_of_reach()
        else:
            self._tell(offset, position, n_ended, marker, memory, is_last=True)

    def _tell_that_it_is_out_of_reach(self) -> None:
        """Keep what the index has of a log that cannot be read as far as before."""
        known = self._known
        self._emit(
            FileRead(
                file=known.id,
                starts_at=_BEHIND_ALL,
                contents_bytes=known.contents_bytes,
                position=known.position,
                lines=known.lines,
                head=known.head or b"",
                tail=known.tail or b"",
                counts=(known.pieces_read, known.pieces_unknown, known.pieces_broken, known.recovered),
                memory=known.memory,
                texts=[],
                archived=None,
                problem=self._problem,
                stamp=self._stamp(),
            )
        )

    def _refuse(self, error: NotReadable) -> None:
        self._problem, self._is_transient = error.why, error.is_transient
        if self._on_refused is not None:
            self._on_refused(self._file, error)

    def _stamp(self) -> tuple[int, int, int, int, int]:
        file = self._file
        is_closed = self._is_transient and file.stored is not None and not can_be_opened(file)
        size = UNREAD if is_closed else file.size
        ctime_ns = OUT_OF_REACH if self._is_transient else file.ctime_ns
        return (*file.stamp._replace(size=size, ctime_ns=ctime_ns), file.device)

    def _document(self) -> Told:
        """Read a file that is one JSON document, or looks like one: it never grows, it is rewritten."""
        marker = IdentityTracker()
        self._counts, self._starts_at, self._new_from = [0, 0, 0, 0], 0, 0
        archived = self._archiving.contents_bytes if self._archiving else 0
        try:
            yield from self._pieces(lines_of(self._file, self._watched(marker, archived)))
        except NotReadable as error:
            self._refuse(error)
            yield b"", [not_readable(self._file, 1, error.why)]
        self._tell(marker.offset, marker.offset, self._line, marker, None, is_last=True)

    def _pass_on(self) -> None:
        """Plain output of tools: bytes and nothing else."""
        marker = IdentityTracker()
        archived = self._archiving.contents_bytes if self._archiving else 0
        try:
            for _ in self._watched(marker, archived):
                pass
        except NotReadable as error:
            self._refuse(error)
        self._tell(marker.offset, marker.offset, 0, marker, None, is_last=True)

    def _watched(self, marker: IdentityTracker, archived: int) -> Iterator[bytes]:
        for chunk in chunks(self._file):
            self._archive(chunk, marker.offset, archived)
            marker.add(chunk)
            yield chunk

    def _archive(self, chunk: bytes, offset: int, archived: int) -> None:
        if self._archiving is not None and offset + len(chunk) > archived:
            self._archiving.write(chunk[max(archived - offset, 0) :])

    def _pieces(self, lines: Iterator[Line]) -> Told:
        counts, from_offset = self._counts, self._new_from
        translate = self._translator.translate if self._file.agent is not None else _silent
        for piece in reader_for(self._file).read(lines):
            events = translate(piece)
            if piece.offset >= from_offset:
                _count(counts, piece, 1)
                if events and self._is_translated:
                    self._texts += map(worded, texts_of(piece, self._outputs.all_filled(events)))
            self._line = piece.line
            yield piece.raw, events

    def _uncount_last_line(self) -> None:
        """Of a last line that was not ended then: it is counted again."""
        known = self._known
        raw = bytes_at(self._file, known.position, known.contents_bytes - known.position)
        for piece in reader_for(self._file).read([Line(known.lines + 1, known.position, len(raw), raw)]):
            _count(self._counts, piece, -1)

    def _tell(
        self,
        offset: int,
        position: int,
        lines: int,
        marker: IdentityTracker,
        memory: bytes | None,
        *,
        is_last: bool,
    ) -> None:
        archived = self._archiving.end_part(is_last=is_last) if self._archiving else None
        texts, self._texts = self._texts, []
        stamp = self._stamp() if is_last else None
        counts = tuple(self._counts)
        self._emit(
            FileRead(
                file=self._known.id,
                starts_at=self._starts_at,
                contents_bytes=offset,
                position=position,
                lines=lines,
                head=marker.head,
                tail=marker.tail,
                counts=(counts[0], counts[1], counts[2], counts[3]),
                memory=memory,
                texts=texts,
                archived=archived,
                problem=self._problem,
                stamp=stamp,
            )
        )
        self._starts_at = position
        if not is_last and self._archiving is not None:
            self._archiving.go_on()


def _count(counts: list[int], piece: Piece, by: int) -> None:
    counts[_COLUMN.get(type(piece.record), 0)] += by
    counts[3] += by * piece.recovered


def _silent(_: Piece) -> list[LogEvent]:
    """The events of a log of an unknown agent: none."""
    return []
