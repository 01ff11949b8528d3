"""Extract the searchable texts of a log's events, and read a found text again from its line.

Rules
  1. A text is plain: of a tool's input the keys and values, without the JSON around them, so that a newline is one;
     of coloured output the words, without escapes for the terminal (`[31mError` is the word `Error`).
  2. Text that another indexed file holds is left out here; so is a title that only repeats the last prompt.
  3. Of a longer text the first MOST_LETTERS count. No content of a log makes this fail.
  4. It runs for every line of every log, so it looks into an event only once it knows that it has a text.
  5. To show a hit, only its line is read, at its source, or in the archive where the source is gone or unreadable.
     A text that such a line alone does not give (Codex holds a prompt back until it knows whose it is) is found by
     reading the log from its beginning, once.
  6. A text that is no longer at its place is None; the caller leaves it out and says so.
  7. A line may hold thousands of texts, each requested by itself: the lines read last are cached, within a limit.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

import msgspec

from tracklog.agents.registry import ONE_DOCUMENT, lines_of, pieces_of, reader_for, translator_of
from tracklog.agents.supported import support_for
from tracklog.archive.files import contents
from tracklog.clock import NO_TIME, moment_ms
from tracklog.model.events import (
    CommandPrinted,
    CommandRun,
    ContextCompacted,
    HookRan,
    LogEvent,
    ModelReplied,
    PromptGiven,
    RequestFailed,
    SessionTitled,
    TextInjected,
    TextSource,
    ToolCalled,
    ToolReturned,
)
from tracklog.model.ids import CallId
from tracklog.model.records import Piece, opened
from tracklog.reading.tool_outputs import OutputFiles, without_escapes
from tracklog.search.tables import FoundLog, Hit
from tracklog.sources.files import NotReadable
from tracklog.sources.line_at import FIRST_LOOK, first_line, line_at
from tracklog.sources.lines import Line
from tracklog.sources.log_file import FileKind, LogFile
from tracklog.store.text import ROLES
from tracklog.store.values import SearchableText

MOST_LETTERS = 1_000_000
_decode = msgspec.json.Decoder().decode
_MOST_DEEP = 50
Said = tuple[int, str, str | None, str | None]  # role, text, name, call
_PROMPT, _ANSWER, _THINKING = ROLES["prompt"], ROLES["answer"], ROLES["thinking"]
_INPUT, _RESULT, _CONTEXT = ROLES["input"], ROLES["result"], ROLES["context"]
_TITLE, _SUMMARY = ROLES["title"], ROLES["summary"]


def texts_of(piece: Piece, events: Sequence[LogEvent]) -> list[SearchableText]:
    """The searchable texts of one piece of a log, in the order of its events.

    Pass events with their output files filled in (reading/tool_outputs.py): of a result the fullest text counts.
    """
    texts: list[SearchableText] = []
    for event in events:
        said_by = _SAID_BY.get(type(event))
        if said_by is None or event.is_copy or (type(event) is CommandRun and _is_prompted(events)):
            continue
        for role, text, name, call in said_by(event):
            if text and not text.isspace():
                at_ms = _moment_or_none(event.at)
                if len(text) > MOST_LETTERS:
                    text = text[:MOST_LETTERS]
                text = without_escapes(text)
                texts.append(
                    SearchableText(event.place.line, piece.offset, len(texts), role, at_ms, name, call, text)
                )
    return texts


def _moment_or_none(text: str | None) -> int | None:
    at_ms = moment_ms(text)
    return None if at_ms == NO_TIME else at_ms


def _prompt(event: PromptGiven) -> list[Said]:
    return [(_PROMPT, event.text, None, None)]


def _command(event: CommandRun) -> list[Said]:
    line = f"{event.name} {event.arguments}" if event.kind == "slash" else f"!{event.name}"
    return [(_PROMPT, line.rstrip(), None, None)]


def _is_prompted(events: Sequence[LogEvent]) -> bool:
    """Whether the same record also yields the command as a prompt."""
    return any(type(event) is PromptGiven for event in events)


def _reply(event: ModelReplied) -> list[Said]:
    said: list[Said] = [(_THINKING, event.thinking, event.model, None)] if event.thinking else []
    if event.text:
        said.append((_ANSWER, event.text, event.model, None))
    return said


def _input(event: ToolCalled) -> list[Said]:
    return [(_INPUT, plain(event.input), event.name, event.call)]


def _result(event: ToolReturned) -> list[Said]:
    said: list[Said] = [(_RESULT, event.fullest_text, None, event.call)]
    if event.feedback and event.feedback not in event.text:
        said.append((_PROMPT, event.feedback, None, event.call))
    return said


def _injected(event: TextInjected) -> list[Said]:
    return [(_SUMMARY if event.why == "summary" else _CONTEXT, event.text, None, None)]


def _spoken(event: CommandPrinted | HookRan | RequestFailed) -> list[Said]:
    return [(_CONTEXT, event.text, None, None)]


def _title(event: SessionTitled) -> list[Said]:
    return [] if event.source == "last_prompt" else [(_TITLE, event.title, None, None)]


def _compacted(event: ContextCompacted) -> list[Said]:
    return [(_SUMMARY, event.summary, None, None)]


_SAID_BY = cast(
    dict[type[LogEvent], Callable[[LogEvent], list[Said]]],
    {
        PromptGiven: _prompt,
        CommandRun: _command,
        CommandPrinted: _spoken,
        ModelReplied: _reply,
        ToolCalled: _input,
        ToolReturned: _result,
        TextInjected: _injected,
        HookRan: _spoken,
        RequestFailed: _spoken,
        SessionTitled: _title,
        ContextCompacted: _compacted,
    },
)


def plain(raw: msgspec.Raw) -> str:
    """A tool's input as plain text: a line for each value, after its key."""
    if not raw:
        return ""
    try:
        value = _decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        value = opened(raw)
    if value is None:
        return bytes(raw).decode("utf-8", "replace")
    lines: list[str] = []
    _put_lines(lines, value, key="", depth=0)
    return "\n".join(lines)


def _put_lines(lines: list[str], value: Any, *, key: str, depth: int) -> None:
    if isinstance(value, str):
        lines.append(f"{key}: {value}" if key else value)
    elif depth > _MOST_DEEP:
        lines.append(key)
    elif isinstance(value, dict):
        if key:
            lines.append(f"{key}:")
        for name, one in value.items():
            if type(one) is str and name:
                lines.append(f"{name}: {one}")
            else:
                _put_lines(lines, one, key=name, depth=depth + 1)
    elif isinstance(value, list):
        for one in value:
            _put_lines(lines, one, key=key, depth=depth + 1)
    elif value is not None:
        lines.append(f"{key}: {value}")


Fits = Callable[[str], bool]
_LINES_KEPT = 16
_LETTERS_KEPT = 4_000_000  # of all lines but the last one
_Place = tuple[int, int]  # offset, n
_RESULT_ROLE = ROLES["result"]
_Start = tuple[int, bool, int]  # log, whether in the archive, offset


class FoundText(NamedTuple):
    """A text and its source: of a tool's long output the log may hold only a part."""

    text: str
    source: TextSource = "result"


_Said = dict[tuple[int, int, int], FoundText]  # by offset, n and role


class FoundTexts:
    """Reads the texts of hits from their logs; `archive` is the folder of the archive."""

    def __init__(self, logs: Iterable[FoundLog], archive: Path, hits: Collection[Hit] = ()) -> None:
        self._logs = {log.id: log for log in logs}
        self._archive = archive
        self._hits = hits  # all that may be asked for: a log that must be read whole is read once for them
        self._whole: dict[int, dict[_Place, FoundText]] = {}
        self._offsets: dict[tuple[int, int], int] | None = None  # of the first hit of each line
        self._read = _LinesRead()

    def text(self, hit: Hit, fits: Fits) -> str | None:
        """The text of a hit; `fits` checks that it is the one that was found."""
        found = self.found(hit, fits)
        return None if found is None else found.text

    def found(self, hit: Hit, fits: Fits) -> FoundText | None:
        """The text of a hit, with its source."""
        log = self._logs.get(hit.file)
        for place in () if log is None else _places_of(log):
            try:
                return self._text_in(place, hit, fits)
            except NotReadable:
                continue
        return None

    def _text_in(self, log: FoundLog, hit: Hit, fits: Fits) -> FoundText | None:
        found = self._at_its_line(log, hit)
        has_state = support_for(log.agent).logs.translator_has_state
        if has_state and (found is None or not fits(found.text)):
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

    def _said_in(self, file: LogFile, line: Iterable[Line]) -> _Said:
        translator, outputs, said = translator_of(file), OutputFiles(file, self._archive), _Said()
        for piece in reader_for(file).read(line):
            events = outputs.all_filled(translator.translate(piece))
            sources = {event.call: event.text_source for event in events if isinstance(event, ToolReturned)}
            for text in texts_of(piece, events):
                source = sources.get(CallId(text.call)) if text.role == _RESULT_ROLE and text.call else None
                said[text.offset, text.n, text.role] = FoundText(text.text, source or "result")
        return said

    def _first_offset(self, hit: Hit) -> int:
        """Offset of the first hit in a line of several records, from which all its hits are read at once."""
        if self._offsets is None:
            self._offsets = {}
            for one in self._hits:
                first = self._offsets.setdefault((one.file, one.line), one.offset)
                self._offsets[one.file, one.line] = min(first, one.offset)
        return min(self._offsets.get((hit.file, hit.line), hit.offset), hit.offset)

    def _line(self, log: FoundLog, file: LogFile, start: int, number: int) -> Iterable[Line]:
        if file.kind in ONE_DOCUMENT:
            return lines_of(file)
        if log.archived is None:
            line = line_at(file, start, number)
        else:
            stored = contents(self._archive, log.archived, log.archived.frames, start, FIRST_LOOK)
            line = first_line(stored, start, number)
        return () if line is None else (line,)

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
        agent = support_for(log.agent).name
        stored = self._archive / log.archived.name if log.archived is not None else None
        path, root = Path(log.path), Path(log.root)
        return LogFile(agent, FileKind(log.kind), path, root, log.session, 0, 0, 0, 0, stored=stored)


def _places_of(log: FoundLog) -> Iterator[FoundLog]:
    """The log at its source, then in the archive, where these exist."""
    if log.is_here:
        yield log._replace(archived=None)
    if log.archived is not None:
        yield log


class _LinesRead:
    """A cache of the texts of the lines read last."""

    def __init__(self) -> None:
        self._said: dict[_Start, _Said] = {}
        self._letters: dict[_Start, int] = {}

    def get(self, start: _Start) -> _Said | None:
        return self._said.get(start)

    def keep(self, start: _Start, said: _Said) -> None:
        """Adds a line, and drops the oldest ones if there are too many or they are too long."""
        while self._said and (len(self._said) >= _LINES_KEPT or sum(self._letters.values()) > _LETTERS_KEPT):
            oldest = next(iter(self._said))
            del self._said[oldest], self._letters[oldest]
        self._said[start] = said
        self._letters[start] = sum(len(one.text) for one in said.values())
