"""Texts that were found, read again from their lines.

Rules of this room
  1. Of a log only the line of the text is read, at its source, or in the archive where that is gone or cannot be read.
     What such a line alone does not tell (Codex holds a prompt back until it knows whose it is) is found by reading the
     log from its beginning, once.
  2. A text that is no longer where it was is None; whoever asked leaves it out and says so.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path

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
_Place = tuple[int, int]  # offset, n


class FoundTexts:
    """Reads texts of the logs that are given; `archive` is the folder of the archive."""

    def __init__(self, logs: Iterable[FoundLog], archive: Path, hits: Collection[Hit] = ()) -> None:
        self._logs = {log.id: log for log in logs}
        self._archive = archive
        self._hits = hits  # all that may be asked for: a log that must be read whole is read once for them
        self._whole: dict[int, dict[_Place, str]] = {}

    def text(self, hit: Hit, fits: Fits) -> str | None:
        """The text of a hit; `fits` says whether it can be the one that was meant."""
        log = self._logs.get(hit.file)
        for place in () if log is None else _places_of(log):
            try:
                return self._text_in(place, hit, fits)
            except NotReadable:
                continue
        return None

    def _text_in(self, log: FoundLog, hit: Hit, fits: Fits) -> str | None:
        found = self._at_its_line(log, hit)
        if (found is None or not fits(found)) and log.agent == "codex":
            return self._from_the_beginning(log, hit) or found
        return found

    def _at_its_line(self, log: FoundLog, hit: Hit) -> str | None:
        file = self._file(log)
        translator = translator_of(file)
        for piece in reader_for(file).read(self._line(log, file, hit)):
            texts = texts_of(piece, translator.translate(piece)) if piece.offset == hit.offset else []
            for text in texts:
                if text.n == hit.n and text.role == ROLES.get(hit.role):
                    return text.text
        return None

    def _line(self, log: FoundLog, file: LogFile, hit: Hit) -> Iterator[Line]:
        if file.kind in ONE_DOCUMENT:
            yield from lines_of(file)
            return
        cutter = Cutter(offset=hit.offset, number=hit.line)
        for chunk in self._bytes(log, file, hit.offset):
            for line in cutter.feed(chunk):
                yield line
                return
        yield from cutter.end()

    def _bytes(self, log: FoundLog, file: LogFile, start: int) -> Iterator[bytes]:
        if log.archived is None:
            return chunks(file, start, size=_FIRST_LOOK)
        return contents(self._archive, log.archived, log.archived.frames, start, _FIRST_LOOK)

    def _from_the_beginning(self, log: FoundLog, hit: Hit) -> str | None:
        if log.id not in self._whole:
            wanted = {(one.offset, one.n) for one in (*self._hits, hit) if one.file == log.id}
            self._whole[log.id] = self._read_whole(self._file(log), wanted)
        return self._whole[log.id].get((hit.offset, hit.n))

    def _read_whole(self, file: LogFile, wanted: set[_Place]) -> dict[_Place, str]:
        translator, found = translator_of(file), {}
        for piece in pieces_of(file):
            for text in texts_of(piece, translator.translate(piece)):
                if (text.offset, text.n) in wanted:
                    found[text.offset, text.n] = text.text
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
