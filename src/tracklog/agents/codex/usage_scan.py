"""Scan one log of Codex for requests, straight from its bytes (docs/accounting.md).

Rules
  1. A `token_usage_record` is one response, named by its id. The `token_count` behind it has the same figures.
  2. Without such records, a `token_count` is a response if the running total changed and its last step is not empty;
     the step is what it used, and only where there is none the difference of the totals.
  3. What a log copied from another thread is not counted, but its totals are gone on from.
  4. An answer without any count behind it is a request without usage.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from tracklog.agents.base import LogToScan
from tracklog.agents.codex.records import usage_lines
from tracklog.agents.codex.records.usage_lines import PayloadFields, SpendingLine, TokenFields
from tracklog.agents.pending_request import Waiting
from tracklog.clock import moment_ms
from tracklog.model.events import LogEvent, ModelReplied, Place, ToolCalled, TurnInterrupted
from tracklog.model.ids import RequestId
from tracklog.model.json_text import is_json
from tracklog.model.usage import LARGEST, NO_USAGE, Aside, Awaited, CountRule, Source, UsageBlock, pack
from tracklog.sources.files import NotReadable, buffer_of, chunks, chunks_in
from tracklog.sources.lines import Line, cut
from tracklog.sources.log_file import LogFile
from tracklog.sources.needles import LinesWith

if TYPE_CHECKING:
    from tracklog.model.lineage.copies import Own

# Lazy imports: readers take long to load, and only torn lines and odd logs need one.

CHUNK = 1 << 18
_BITS = LARGEST.bit_length()
_NOWHERE: tuple[int, RequestId, LogEvent] = (-1, RequestId(""), LogEvent(place=Place("", 0)))
_ITEM = b'"response_item"'


def scan(log: LogToScan, buffer: memoryview | None = None) -> UsageBlock:
    """Scan one file. The block of a damaged one holds what could be read, and why not more."""
    file, own = log.file, log.own
    buffer = buffer_of(CHUNK) if buffer is None else buffer
    reading = _Reading(log.number, log.source, log.rule, log.family or log.source.session)
    hits = LinesWith(chunks_in(buffer, file), usage_lines.NEEDLE, *usage_lines.CONTEXT_NEEDLES)
    problem, is_transient = None, False
    try:
        if own is not None and own.runs:
            for offset, raw, is_copy in _with_copies(file, own):
                reading.see(offset, raw, is_copy=is_copy)
        else:
            for batch in hits.batches():
                for offset, raw in batch:
                    reading.see(offset, raw)
        if log.rule == "ours" and log.is_newest:
            _look_behind(reading, hits, file, own)
        if log.with_tools:
            reading.tools = _tools(reading, file, own)
    except NotReadable as error:
        problem, is_transient = error.why, error.is_transient
    block = reading.block(problem)
    block.is_transient = is_transient
    return block


class _Context(NamedTuple):
    """The turn that a line belongs to, and the model that works in it."""

    model: str | None = None
    turn: str | None = None


class _Reading:
    """A file during the scan."""

    def __init__(self, number: int, source: Source, rule: CountRule, family: str) -> None:
        self.family = family
        self.number = number
        self.source = source
        self.rule: CountRule = rule
        self._is_beside = not source.is_main
        self.names: dict[str, int] = {"": 0}
        self.cwd: str | None = None
        self.entrypoint = ""
        self.context = _Context()
        self.rows: dict[str, bytes] = {}
        self.places: list[int] = []  # of the rows, in their order
        self.tools: dict[int, Aside] = {}
        self.awaited: Awaited | None = None
        self.was_aborted = False  # a turn was: its last answer may have no count
        self.first_offset: int | None = None  # of the first line with figures
        self.last_offset = self.last_end = 0
        self._line_end = 0
        self._total: TokenFields | None = None
        self._is_recorded = False  # there was a record of a response since the last count
        self._alike: dict[str, int] = {}  # how often a step came

    def see(self, offset: int, raw: Any, *, is_copy: bool = False) -> None:
        """Add a line that may have figures, or say who uses them: its bytes, or a view of them."""
        self._line_end = offset + len(raw) + 1
        try:
            line = usage_lines.decode_line(raw)
        except usage_lines.REFUSALS:
            for line in _read(bytes(raw)):
                if line.payload is not None:
                    self._see_line(offset, line, line.payload, is_copy=is_copy)
            return
        if line.payload is not None:
            self._see_line(offset, line, line.payload, is_copy=is_copy)

    def _see_line(self, offset: int, line: SpendingLine, payload: PayloadFields, *, is_copy: bool) -> None:
        if payload.type == "token_count":
            if payload.info is not None:
                self._see_count(offset, line, payload, is_copy=is_copy)
        elif line.type == "token_usage_record":
            self._see_record(offset, line, payload, is_copy=is_copy)
        elif payload.type == "turn_aborted":
            self.was_aborted = True
        else:
            self._see_setting(line, payload)

    def _see_setting(self, line: SpendingLine, payload: PayloadFields) -> None:
        if line.type == "turn_context" and payload.model:
            self.context = _Context(payload.model, payload.turn_id)
        elif payload.type == "thread_settings_applied" and payload.thread_settings:
            self.context = self.context._replace(model=payload.thread_settings.model or self.context.model)
        elif line.type == "session_meta" and self.cwd is None:
            self.cwd, self.entrypoint = payload.cwd, payload.originator or ""

    def _see_record(self, offset: int, line: SpendingLine, payload: PayloadFields, *, is_copy: bool) -> None:
        if payload.usage is None:
            return
        self._is_recorded = True
        self._pass(offset)
        if not is_copy and self.rule == "ours":
            key = payload.response_id or f"{payload.thread_id or self.source.session}:{offset}"
            self._add(key, offset, self._row(offset, line.timestamp, payload.usage, self.model))

    def _see_count(self, offset: int, line: SpendingLine, payload: PayloadFields, *, is_copy: bool) -> None:
        info = payload.info
        assert info is not None
        before, is_recorded = self._total, self._is_recorded
        last, total = info.last_token_usage, info.total_token_usage
        if self.rule != "ours":
            if last is not None and not is_copy:
                row = self._row(offset, line.timestamp, last, info.model or self.model)
                self._add(_key_by(self.rule, self, offset, line, last), offset, row)
            return
        self._total, self._is_recorded = total or before, False
        used = last if last is not None else _difference(total, before)
        self._pass(offset)
        if (total is not None and total == before) or used is None or is_copy or is_recorded:
            return
        if _is_spent(used):
            pair = f"{self._of_turn()}:{_text(total)}:{_text(last)}"
            n = self._alike[pair] = self._alike.get(pair, 0) + 1
            key = f"{pair}:{n}"
            self._add(key, offset, self._row(offset, line.timestamp, used, info.model or self.model))

    def _add(self, key: str, offset: int, row: bytes) -> None:
        if key not in self.rows:
            self.rows[key] = row
            self.places.append(offset)

    def _of_turn(self) -> str:
        """Before turns had ids, a copied count is known by its figures alone."""
        if self.context.turn is None:
            return self.family
        return f"{self.source.session}:{self.source.thread}:{self.context.turn}"

    def _pass(self, offset: int) -> None:
        self.last_offset, self.last_end = offset, self._line_end
        if self.first_offset is None:
            self.first_offset = offset

    @property
    def model(self) -> str | None:
        """The model in force."""
        return self.context.model

    def see_without_figures(self, offset: int, event: LogEvent, request: RequestId) -> None:
        """An answer that no count follows."""
        row = self._row(offset, event.at, None, self.model)
        self._add(f"{self.source.session}:{request}", offset, row)

    def wait(self, offset: int, event: LogEvent) -> None:
        """The last turn waits for its answer."""
        self.awaited = Awaited(offset, moment_ms(event.at), self._name(self.model))

    def _row(self, offset: int, at: str | None, usage: TokenFields | None, model: str | None) -> bytes:
        moment, number, names = moment_ms(at), self.number, self.names
        output = NO_USAGE if usage is None else _figure(usage.output_tokens)
        model, way_in = model or "", self.entrypoint
        of_model = names[model] if model in names else self._name(model)
        entrypoint = names[way_in] if way_in in names else self._name(way_in)
        spent = (output, moment, number, offset, *figures_of(usage), of_model, 0, False)
        return pack(*spent, moment, number, offset, False, False, self._is_beside, 0, entrypoint, True)

    def _name(self, text: str | None) -> int:
        return self.names.setdefault(text or "", len(self.names))

    def block(self, problem: str | None) -> UsageBlock:
        """The result of the scan, for the ledger."""
        return UsageBlock(
            file=self.number,
            names=list(self.names),
            cwd=self.cwd,
            keys=[key.encode() for key in self.rows],
            rows=b"".join(self.rows.values()),
            asides=self.tools,
            awaited=self.awaited,
            problem=problem,
        )


def figures_of(usage: TokenFields | None) -> tuple[int, ...]:
    """Input, cache writes (all, 5 minutes, 1 hour), cache reads, reasoning, searches."""
    if usage is None:
        return (0, 0, 0, 0, 0, 0, 0)
    input, output = usage.input_tokens or 0, usage.output_tokens or 0
    read, write = usage.cached_input_tokens or 0, usage.cache_write_input_tokens or 0
    reasoning = usage.reasoning_output_tokens or 0
    if (input | output | read | write | reasoning) >> _BITS:  # one is negative, or too large
        input, output, read, write, reasoning = map(_figure, (input, output, read, write, reasoning))
    uncached = input - read - write
    return (
        uncached if uncached > 0 else 0,
        write,
        0,
        0,
        read,
        reasoning if reasoning < output else output,
        0,
    )


def _figure(said: int | None) -> int:
    return said if said is not None and 0 <= said <= LARGEST else 0


def _is_spent(usage: TokenFields) -> bool:
    return bool(_figure(usage.input_tokens) or _figure(usage.output_tokens))


def _difference(total: TokenFields | None, before: TokenFields | None) -> TokenFields | None:
    """What a total grew by; all of it, if it restarted."""
    if total is None or before is None:
        return total
    pairs = [
        (getattr(total, name) or 0, getattr(before, name) or 0) for name in TokenFields.__struct_fields__
    ]
    if any(now < then for now, then in pairs):
        return total
    return TokenFields(*(now - then for now, then in pairs))


def _text(usage: TokenFields | None) -> str:
    if usage is None:
        return "-"
    return (
        f"{usage.input_tokens},{usage.cached_input_tokens},{usage.cache_write_input_tokens},{usage.output_tokens},"
        f"{usage.reasoning_output_tokens},{usage.total_tokens}"
    )


def _key_by(rule: CountRule, reading: _Reading, offset: int, line: SpendingLine, last: TokenFields) -> str:
    """By which other tools count; docs/accounting.md says why each fails."""
    if rule == "time-and-usage":
        return f"{line.timestamp}:{reading.model}:{_text(last)}"
    return f"{reading.number}:{offset}"


def _read(raw: bytes) -> list[SpendingLine]:
    """The records of a line: one, or of a torn line all that are whole."""
    try:
        line = usage_lines.read_line(raw)
    except (ValueError, RecursionError):
        return _out_of_a_torn_line(raw)
    return [] if line is None else [line]


def _out_of_a_torn_line(raw: bytes) -> list[SpendingLine]:
    from tracklog.agents.codex.records.reader import READER

    whole = [piece.raw for piece in READER.read([Line(1, 0, len(raw), raw)]) if piece.raw != raw]
    return [line for part in whole if is_json(part) for line in _read(part)]


def _with_copies(file: LogFile, own: Own) -> Iterator[tuple[int, bytes, bool]]:
    for line in cut(chunks(file)):
        if any(needle in line.raw for needle in (usage_lines.NEEDLE, *usage_lines.CONTEXT_NEEDLES)):
            yield line.offset, line.raw, own.is_copy(line.number)


def _look_behind(reading: _Reading, hits: LinesWith, file: LogFile, own: Own | None) -> None:
    """Answers that no count follows, at the end of the file or where a turn was stopped; and an answer that is due."""
    if not reading.was_aborted and (own is None or not own.runs):
        is_at_hand = hits.behind is not None and hits.behind_from == reading.last_end
        behind = [hits.behind or b""] if is_at_hand else chunks(file, reading.last_end)
        if reading.first_offset is not None and not any(LinesWith(behind, _ITEM)):
            return
    waiting, due = Waiting(), 0
    places = sorted(reading.places)
    uncounted: dict[RequestId, tuple[int, LogEvent]] = {}
    first = last = _NOWHERE
    for offset, event in _events(file, own):
        waiting.see(event)
        if waiting.since is event:
            due = offset
        if isinstance(event, (ModelReplied, ToolCalled)) and event.request and not _is_of_client(event):
            last = last if last[1] == event.request else (offset, event.request, event)
            first = last if first is _NOWHERE else first
            if offset > reading.last_offset:
                uncounted.setdefault(event.request, (offset, event))
        elif isinstance(event, TurnInterrupted) and not _stands_between(places, last[0], offset):
            uncounted.setdefault(last[1], (last[0], last[2]))
    if waiting.since is not None and due >= reading.last_offset:
        reading.wait(due, waiting.since)
    if not _comes_before(reading.first_offset, first[0]):  # until 0.50 a count comes before what it counts
        for request, (offset, event) in uncounted.items():
            reading.see_without_figures(offset, event, request)


def _tools(reading: _Reading, file: LogFile, own: Own | None) -> dict[int, Aside]:
    """The tools that each request called: those between its count and the one before, or until 0.50 the one behind."""
    called = [(offset, event.name) for offset, event in _events(file, own) if isinstance(event, ToolCalled)]
    by_place = sorted(range(len(reading.places)), key=reading.places.__getitem__)
    places = [reading.places[row] for row in by_place]
    comes_first = bool(called and places) and places[0] < called[0][0]
    found: dict[int, set[str]] = {}
    for offset, name in called if places else []:
        at = bisect_right(places, offset) - 1 if comes_first else bisect_left(places, offset)
        found.setdefault(by_place[min(max(at, 0), len(places) - 1)], set()).add(name)
    return {row: Aside(sorted(names)) for row, names in found.items()}


def _is_of_client(event: LogEvent) -> bool:
    """The client words what a review found in the model's name."""
    return isinstance(event, ModelReplied) and event.is_synthetic


def _stands_between(places: list[int], one: int, other: int) -> bool:
    return one < 0 or bisect_right(places, one) < bisect_right(places, other)


def _comes_before(count: int | None, item: int) -> bool:
    return count is not None and count < item


def _events(file: LogFile, own: Own | None) -> Iterable[tuple[int, LogEvent]]:
    from tracklog.agents.codex.translate.translator import CodexTranslator
    from tracklog.agents.registry import pieces_of

    translator = CodexTranslator(str(file.path))
    for piece in pieces_of(file):
        events = translator.translate(piece)
        if own is None or not own.is_copy(piece.line):
            yield from ((piece.offset, event) for event in events)
