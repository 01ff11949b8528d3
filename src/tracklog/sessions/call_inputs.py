"""Read the inputs of calls again from their lines in the logs.

Rules
  1. Of each log only the wanted lines are decoded, each by itself. A call that such a line alone does not give (Codex
     names some by what it wrote before) is found by reading the log from its beginning.
  2. If the line no longer exists, the call has no input.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache

from tracklog.agents.registry import ONE_DOCUMENT, lines_of, reader_for, translator_of
from tracklog.archive import tables
from tracklog.archive.locate import known_log
from tracklog.model.events import LogEvent, ToolCalled
from tracklog.model.session import Call
from tracklog.reading.session_reader import events_of
from tracklog.sessions.tables_calls import FoundCall
from tracklog.sources.files import NotReadable
from tracklog.sources.line_at import line_at
from tracklog.sources.lines import Line
from tracklog.sources.log_file import LogFile, is_compressed
from tracklog.store import catalogue
from tracklog.store.database import Database

LogOf = Callable[[int], LogFile | None]
OffsetsOf = Callable[[int, Sequence[int]], Mapping[int, int]]
Wanted = dict[int, list[Call]]  # by line, in the order of the session
_WORTH_A_SEEK = 1 << 18  # bytes that can be read in the time of finding and opening one place


def logs_by_number(database: Database) -> LogOf:
    """Returns a lookup of logs by their numbers in the index, at their source or in the archive."""

    @cache
    def all_logs() -> dict[int, LogFile]:
        archived, folder = tables.archived(database.db), database.home.archive
        rows = catalogue.all_files(database.db)
        return {row.id: known_log(row, archived.get(row.id), folder) for row in rows}

    return lambda number: all_logs().get(number)


def fill_inputs(found: Iterable[FoundCall], log_of: LogOf, offsets_of: OffsetsOf) -> None:
    """Fills in the inputs of calls."""
    by_file: dict[int, Wanted] = {}
    for one in found:
        if one.file is not None and one.line is not None:
            by_file.setdefault(one.file, defaultdict(list))[one.line].append(one.call)
    for number, wanted in by_file.items():
        log = log_of(number)
        if log is not None:
            _fill(log, wanted, lambda lines, number=number: offsets_of(number, lines))  # type: ignore[misc]


def _fill(log: LogFile, wanted: Wanted, offsets: Callable[[Sequence[int]], Mapping[int, int]]) -> None:
    try:
        for line in _lines(log, wanted, offsets):
            translator = translator_of(log)
            events = [
                event for piece in reader_for(log).read([line]) for event in translator.translate(piece)
            ]
            _take(wanted, events, line.number)
    except NotReadable:
        pass  # calls not reached have no input; reading the log reports why
    if wanted:
        _fill_from_beginning(log, wanted)


def _fill_from_beginning(log: LogFile, wanted: Wanted) -> None:
    called: dict[int, list[LogEvent]] = defaultdict(list)
    for events in events_of(log):
        for event in events:
            if isinstance(event, ToolCalled) and event.place.line in wanted:
                called[event.place.line].append(event)
    for number, events in called.items():
        _take(wanted, events, number)


def _take(wanted: Wanted, events: Iterable[LogEvent], number: int) -> None:
    """Copies inputs from a line's events to its calls; calls that match no event stay in `wanted`."""
    waiting = wanted[number]
    for event in events:
        if not isinstance(event, ToolCalled):
            continue
        call = next((call for call in waiting if _is_made_by(event, call)), None)
        if call is not None:
            call.input = event.input.copy()
            waiting.remove(call)
    if not waiting:
        del wanted[number]


def _is_made_by(event: ToolCalled, call: Call) -> bool:
    """Whether an event made a call, whose id includes its line if it had none or a used one (model/fold/thread.py)."""
    if event.call and event.call == call.id:
        return True
    return call.id.startswith(f"{event.call or event.place.path}:{event.place.line}:")


def _lines(
    log: LogFile, wanted: Wanted, offsets: Callable[[Sequence[int]], Mapping[int, int]]
) -> Iterator[Line]:
    """The wanted lines, by seeking each or by reading through the log, whichever is faster."""
    numbers = sorted(wanted)
    if log.kind not in ONE_DOCUMENT and not _is_packed(log) and len(numbers) * _WORTH_A_SEEK < log.size:
        known = offsets(numbers)
        if len(known) == len(numbers):
            read = (line_at(log, known[number], number) for number in numbers)
            yield from (line for line in read if line is not None)
            return
    last = numbers[-1]
    for line in lines_of(log):
        if line.number in wanted:
            yield line
        if line.number >= last:
            return


def _is_packed(log: LogFile) -> bool:
    return is_compressed(log.stored or log.path)
