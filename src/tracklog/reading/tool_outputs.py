"""Find the fullest text of a tool's result: its output file, the log's own copy, or the preview.

Rules
  1. Where the client put long output into a separate file, the model saw a preview of it. The line often holds more
     (`toolUseResult`), and the file all of it: the longest of them is shown and searched, with its source.
  2. A file that is gone is read from the archive, which keeps it like any other log.
  3. At most MOST_BYTES of a file are read.
  4. A result is read again at each request: megabytes of output are not cached for a page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from tracklog.agents.base import OutputRead
from tracklog.agents.supported import support_for
from tracklog.archive.locate import archive_name
from tracklog.model.assemble.values import own_side_file
from tracklog.model.events import LogEvent, TextSource, ToolReturned
from tracklog.model.session import Call, CallResult
from tracklog.sources.files import NotReadable, chunks
from tracklog.sources.log_file import FileKind, LogFile

MOST_BYTES = 8 << 20
_MOST_GENERATIONS = 20
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])")


class FullText(NamedTuple):
    """The fullest text of a result, and its source."""

    text: str
    source: TextSource
    is_whole: bool = True  # False: there was more than is kept or read

    @property
    def plain(self) -> str:
        """The text without escape sequences for a terminal."""
        return without_escapes(self.text)


class OutputFiles:
    """Reads the output files of one log; `archive` is the folder of the archive, if there is one."""

    def __init__(self, log: LogFile, archive: Path | None = None) -> None:
        self._log = log
        self._archive = archive

    def of_result(self, result: ToolReturned | CallResult) -> FullText:
        """The fullest text of a result in this log."""
        is_preview = result.text_source != "result"
        name = own_side_file(result.side_file) if isinstance(result, ToolReturned) else result.side_file
        found = self._found(name) if name is not None else None
        if found is not None:
            output = found[0].data.decode("utf-8", "replace")
            if len(output) >= len(result.full_text or ("" if is_preview else result.text)):
                return FullText(output, found[1], found[0].is_whole)
        return FullText(result.full_text or result.text, result.text_source, not is_preview)

    def filled(self, event: LogEvent) -> LogEvent:
        """The event; if it is a result, with its fullest text."""
        if type(event) is not ToolReturned or not _has_more(event):
            return event
        full = self.of_result(event)
        return msgspec.structs.replace(
            event, full_text=full.text, text_source=full.source, is_text_whole=full.is_whole
        )

    def all_filled(self, events: Sequence[LogEvent]) -> Sequence[LogEvent]:
        """The events with results filled in; the same list if no result has more text elsewhere."""
        is_any = any(type(event) is ToolReturned and _has_more(event) for event in events)
        return list(map(self.filled, events)) if is_any else events

    def _found(self, name: str) -> tuple[OutputRead, TextSource] | None:
        logs = support_for(self._log.agent).logs
        path = logs.output_path(self._log, name)
        if path is None:
            return None
        here = logs.read_output(path, MOST_BYTES)
        if here is not None:
            return here, "file"
        for stored in self._in_archive(path):
            kept = _read_archived(
                self._log._replace(path=path, kind=FileKind.TOOL_RESULT, stored=stored, fallback=None)
            )
            if kept is not None:
                return kept, "archive"
        return None

    def _in_archive(self, path: Path) -> Iterable[Path]:
        """Files of the archive that may hold an output file, the newest generation first."""
        if self._archive is None:
            return []
        found: list[Path] = []
        for generation in range(1, _MOST_GENERATIONS):
            names = (
                archive_name(str(path), str(self._log.root), agent=agent, generation=generation)
                for agent in (self._log.agent, None)
            )
            there = [place for name in names if (place := self._archive / name).is_file()]
            if not there:
                break
            found += there
        return reversed(found)


def without_escapes(text: str) -> str:
    """A text without escape sequences for a terminal."""
    return _ESCAPES.sub("", text) if "\x1b" in text else text


class CallOutputs:
    """Reads the outputs of a session's calls, one by one; `archive` is the folder of the archive."""

    def __init__(self, files: Iterable[LogFile], archive: Path) -> None:
        self._files: Mapping[str, LogFile] = {str(file.path): file for file in files}
        self._archive = archive

    def of(self, call: Call) -> FullText | None:
        """The fullest text of the result that counts; None where nothing came back."""
        result = call.result
        if result is None:
            return None
        file = self._files.get(result.place.path)
        if file is None:
            is_preview = result.text_source != "result"
            return FullText(result.full_text or result.text, result.text_source, not is_preview)
        return OutputFiles(file, self._archive).of_result(result)


def _has_more(result: ToolReturned) -> bool:
    return result.is_preview or result.side_file is not None


def _read_archived(log: LogFile) -> OutputRead | None:
    """An output file from the archive (`log.stored`); of a damaged one the part before the damage."""
    held = bytearray()
    try:
        for piece in chunks(log):
            held += piece
            if len(held) > MOST_BYTES:
                return OutputRead(bytes(held[:MOST_BYTES]), False)
    except NotReadable:
        return OutputRead(bytes(held), False) if held else None
    return OutputRead(bytes(held), True)
