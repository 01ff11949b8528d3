"""Texts that were found, read again from their lines.

Rules of this room
  1. Of a log only the line of the text is read, at its source, or in the archive where that is gone or cannot be read.
     What such a line alone does not tell (Codex holds a prompt back until it knows whose it is) is found by reading the
     log from its beginning, once.
  2. A text that is no longer where it was is None; whoever asked leaves it out and says so.
  3. A line may hold thousands of texts, and each is asked for by itself: what was read last is remembered, as much of it
     as a line may hold and a little more.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from tracklog.model.events import TextSource, ToolReturned
from tracklog.model.ids import CallId
from tracklog.pipeline.full_results import OutputFiles
from tracklog.pipeline.reading import ONE_DOCUMENT, lines_of, pieces_of, reader_for
from tracklog.pipeline.story import translator_of
from tracklog.pipeline.texts import texts_of
from tracklog.sources.files import NotReadable, chunks
from tracklog.sources.found import Agent, FileKind, LogFile
from tracklog.sources.lines import Cutter, Line
from tracklog.store.archive import contents
from tracklog.store.found_logs import FoundLog
from tracklog.store.search import Hit
from tracklog.store.texts import ROLES

Fits = Callable[[str], bool]
_FIRST_LOOK = 1 << 14
_LINES_KEPT = 16
_LETTERS_KEPT = 4_000_000  # of all lines but the last one
_Place = tuple[int, int]  # offset, n
_RESULT = ROLES["result"]
_Start = tuple[int, bool, int]  # log, whether in the archive, offset


class FoundText(NamedTuple):
    """A text, and where it comes from: of a tool's long output the log may hold only a part."""

    text: str
    source: TextSource = "result"


_Said = dict[tuple[int, int, int], FoundText]  # by offset, n and role


class FoundTexts:
    """Reads texts of the logs that are given; `archive` is the folder of the archive."""

    def __init__(self, logs: Iterable[FoundLog], archive: Path, hits: Collection[Hit] = ()) -> None:
        self._logs = {log.id: log for log in logs}
        self._archive = archive
        self._hits = hits  # all that may be asked for: a log that must be read whole is read once for them
        self._whole: dict[int, dict[_Place, FoundText]] = {}
        self._offsets: dict[tuple[int, int], int] | None = None  # of the first hit of each line
        self._read = _LinesRead()

    def text(self, hit: Hit, fits: Fits) -> str | None:
        """The text of a hit; `fits` says whether it can be the one that was meant."""
        found = self.found(hit, fits)
        return None if found is None else found.text

    def found(self, hit: Hit, fits: Fits) -> FoundText | None:
        """The same with its source."""
        log = self._logs.get(hit.file)
        for place in () if log is None else _places_of(log):
            try:
                return self._text_in(place, hit, fits)
            except NotReadable:
                continue
        return None

    def _text_in(self, log: FoundLog, hit: Hit, fits: Fits) -> FoundText | None:
        found = self._at_its_line(log, hit)
        if (found is None or not fits(found.text)) and log.agent == "codex":
            return self._from_the_beginning(log, hit) or found
        return found

    def _at_its_line(self, log: FoundLog, hit: Hit) -> FoundText | None:
        file = self._file(log)
        start = 0 if file.kind in ONE_DOCUMENT else self._first_offset(hit)
        key = (log.id, log.archived is not None, start)
        said = self._read.get(key)
        if said is None:
            said = self._said_in(file, self._line(log, file, start, hit.line))
            self._read.keep(key, said)
        return said.get((hit.offset, hit.n, ROLES.get(hit.role, -1)))

    def _said_in(self, file: LogFile, line: Iterator[Line]) -> _Said:
        translator, outputs, said = translator_of(file), OutputFiles(file, self._archive), _Said()
        for piece in reader_for(file).read(line):
            events = outputs.all_filled(translator.translate(piece))
            sources = {event.call: event.text_source for event in events if isinstance(event, ToolReturned)}
            for text in texts_of(piece, events):
                source = sources.get(CallId(text.call)) if text.role == _RESULT and text.call else None
                said[text.offset, text.n, text.role] = FoundText(text.text, source or "result")
        return said

    def _first_offset(self, hit: Hit) -> int:
        """Of a line in which several records stand, from where on all that may be asked for is read at once."""
        if self._offsets is None:
            self._offsets = {}
            for one in self._hits:
                first = self._offsets.setdefault((one.file, one.line), one.offset)
                self._offsets[one.file, one.line] = min(first, one.offset)
        return min(self._offsets.get((hit.file, hit.line), hit.offset), hit.offset)

    def _line(self, log: FoundLog, file: LogFile, start: int, number: int) -> Iterator[Line]:
        if file.kind in ONE_DOCUMENT:
            yield from lines_of(file)
            return
        cutter = Cutter(offset=start, number=number)
        for chunk in self._bytes(log, file, start):
            for line in cutter.feed(chunk):
                yield line
                return
        yield from cutter.end()

    def _bytes(self, log: FoundLog, file: LogFile, start: int) -> Iterator[bytes]:
        if log.archived is None:
            return chunks(file, start, size=_FIRST_LOOK)
        return contents(self._archive, log.archived, log.archived.frames, start, _FIRST_LOOK)

    def _from_the_beginning(self, log: FoundLog, hit: Hit) -> FoundText | None:
        if log.id not in self._whole:
            wanted = {(one.offset, one.n) for one in (*self._hits, hit) if one.file == log.id}
            self._whole[log.id] = self._read_whole(self._file(log), wanted)
        return self._whole[log.id].get((hit.offset, hit.n))

    def _read_whole(self, file: LogFile, wanted: set[_Place]) -> dict[_Place, FoundText]:
        translator, found = translator_of(file), dict[_Place, FoundText]()
        for piece in pieces_of(file):
            for text in texts_of(piece, translator.translate(piece)):
                if (text.offset, text.n) in wanted:
                    found[text.offset, text.n] = FoundText(text.text)
            if len(found) == len(wanted):
                break
        return found

    def _file(self, log: FoundLog) -> LogFile:
        agent: Agent | None = "codex" if log.agent == "codex" else "claude" if log.agent == "claude" else None
        stored = self._archive / log.archived.name if log.archived is not None else None
        path, root = Path(log.path), Path(log.root)
        return LogFile(agent, FileKind(log.kind), path, root, log.session, 0, 0, 0, 0, stored=stored)


def _places_of(log: FoundLog) -> Iterator[FoundLog]:
    """The log as it is read at its source, then as it is read in the archive, as far as it is there."""
    if log.is_here:
        yield log._replace(archived=None)
    if log.archived is not None:
        yield log


class _LinesRead:
    """What was said in the lines that were read last."""

    def __init__(self) -> None:
        self._said: dict[_Start, _Said] = {}
        self._letters: dict[_Start, int] = {}

    def get(self, start: _Start) -> _Said | None:
        return self._said.get(start)

    def keep(self, start: _Start, said: _Said) -> None:
        """Remembers a line, and forgets the oldest ones where they are too many or too long."""
        while self._said and (len(self._said) >= _LINES_KEPT or sum(self._letters.values()) > _LETTERS_KEPT):
            oldest = next(iter(self._said))
            del self._said[oldest], self._letters[oldest]
        self._said[start] = said
        self._letters[start] = sum(len(one.text) for one in said.values())
