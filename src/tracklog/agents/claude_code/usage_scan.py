"""Scan one log of Claude Code for requests, straight from its bytes.

Rules
  1. Only lines that hold an answer are decoded. The whole file is read again, line by line, in one case: an id of a
     gateway that comes back with other figures, where the lines between tell whether it is another request.
  2. The words that a client puts into the model's mouth cost nothing.
  3. An answer of which the client says that it broke off has not ended, whatever stop reason it has: 2.1.197 and
     2.1.325 make one up. The one says so by an API error, the other when it asks the model to go on.
"""

from __future__ import annotations

import msgspec

from tracklog.agents.base import LogToScan
from tracklog.agents.claude_code import records
from tracklog.agents.claude_code.records import usage_lines
from tracklog.agents.claude_code.records.usage_lines import (
    AnswerFields,
    PlainAnswer,
    PlainUsage,
    ProgressLineFields,
    UsageFields,
    is_unique,
)
from tracklog.agents.claude_code.usage_figures import (
    IS_BETTER,
    LOOKED_AT,
    AnyAnswer,
    Held,
    RunningTotals,
    aside_of,
    figures_of,
    has_aside,
    is_earlier,
    is_usual,
    last_time_in,
    marks_of,
    output_of,
    plain_figures_of,
    split,
    tools_of,
)
from tracklog.agents.pending_request import awaited_in
from tracklog.clock import NO_TIME, moment_ms
from tracklog.model.usage import CountRule, Loose, Source, UsageBlock, pack
from tracklog.sources.files import NotReadable, buffer_of, chunks, chunks_in
from tracklog.sources.lines import Line
from tracklog.sources.log_file import LogFile
from tracklog.sources.needles import Hit, HitView, LinesWith

CHUNK = 1 << 19  # what fits into a processor's own memory is searched fastest
_USUAL_WORDS = frozenset({None, "standard", "global", "not_available"})
_SYNTHETIC = usage_lines.SYNTHETIC
_ASKED = b'"user"'
_BROKE_OFF = b"mid-response"
_CUT_OFF = b"Your response above was cut off mid-stream"


class _Where(msgspec.Struct):
    """The fields that are read from the first answer of a file only."""

    cwd: str | None = None


class _Broken(msgspec.Struct, rename="camel"):
    """The client's word that an answer broke off."""

    parent_uuid: str | None = None
    is_api_error_message: bool | None = None
    is_meta: bool | None = None


_where = msgspec.json.Decoder(_Where)
_broken = msgspec.json.Decoder(_Broken)


def scan(log: LogToScan, buffer: memoryview | None = None) -> UsageBlock:
    """Scan one file. The block of a damaged one holds what could be read, and why not more."""
    file = log.file
    buffer = buffer_of(CHUNK) if buffer is None else buffer
    reading = _Reading(log.number, log.source, log.rule, with_tools=log.with_tools)
    hits = LinesWith(chunks_in(buffer, file), usage_lines.NEEDLE, usage_lines.TOTALS_NEEDLE, _CUT_OFF)
    problem, is_transient = None, False
    try:
        for batch in hits.batches():
            for offset, raw in reading.see_all(batch):
                reading.totals.see(offset, raw, end=_time_before(hits, file, offset))
    except NotReadable as error:
        problem, is_transient = error.why, error.is_transient
    block = reading.block(file)
    block.problem, block.is_transient = problem, is_transient
    if log.rule == "ours" and problem is None:
        block.totals = reading.totals.last()
        if log.is_newest:
            try:
                _look_behind(block, hits, file, reading)
            except NotReadable as error:
                block.problem, block.is_transient = error.why, error.is_transient
    return block


def _time_before(hits: LinesWith, file: LogFile, offset: int) -> int:
    """The last time before a place."""
    start = max(offset - LOOKED_AT, 0)
    if start >= hits.chunk_from:
        return last_time_in(bytes(hits.chunk[start - hits.chunk_from : offset - hits.chunk_from]))
    return last_time_in(next(chunks(file, start, size=offset - start), b"")) if offset else NO_TIME


class _Reading:
    """A file during the scan: what is known of each of its requests so far."""

    def __init__(self, number: int, source: Source, rule: CountRule, *, with_tools: bool) -> None:
        self.number = number
        self.source = source
        self.rule: CountRule = rule
        self.with_tools = with_tools
        self.cwd: str | None = None
        self.totals = RunningTotals()
        self.last: Held | None = None  # the thread's last message
        self.last_line: AnyAnswer | None = None
        self.last_from = 0  # where the last message of the thread begins
        self.last_end = 0  # and where the last answer of all ends
        self._names: dict[str, int] = {"": 0}
        self._held: dict[str, Held] = {}
        self._loose: dict[str, list[Held]] = {}
        # Of the last line without any id: its request, its thread, itself, and where it ends. Each such line has a request.
        self._unnamed: tuple[str, str, AnswerFields, int] | None = None
        self._requests_of: dict[str, str] = {}
        self._is_better = IS_BETTER[rule]
        self._is_beside = not source.is_main
        self._is_plain = rule == "ours" and not with_tools
        # Of the last message, where a line that goes on with it needs no closer look:
        self._last_id: str | None = None
        self._last_model: str | None = None
        self._last_time = ""
        self._decode = (usage_lines.TOOL_ANSWERS if with_tools else usage_lines.ANSWERS).decode

    def see_all(self, batch: list[HitView]) -> list[Hit]:
        """Add lines that may hold answers; return those that hold totals.

        Nearly all begin a message or go on with the last one, with the same figures or more, and have nothing odd about
        them. `see` would do the same with those, only later: the loop is long because it makes no call that it can do
        without.
        """
        if not self._is_plain:
            return [hit for hit in map(_copied, batch) if not self.see(*hit)]
        decode, held, is_main = usage_lines.PLAIN_ANSWERS.decode, self._held, self.source.is_main
        totals: list[Hit] = []
        answer_from, answer = 0, b""
        for offset, raw in batch:
            try:
                line = decode(raw)
            except usage_lines.REFUSALS:
                if not self.see(offset, bytes(raw)):
                    totals.append((offset, bytes(raw)))
                continue
            message, time = line.message, line.timestamp
            id, output, last = message.id, message.usage.output_tokens, self.last
            if time[-1] != "Z" or (is_main and is_of_another(line)):
                self.see(offset, bytes(raw))
            elif last is not None and id == self._last_id:
                if output < last.output or time < self._last_time or message.model != self._last_model:
                    self.see(offset, bytes(raw))
                    continue
                last.line = self.last_line = line
                last.offset, last.output = offset, output
                last.has_ended = last.has_ended or message.stop_reason is not None
                self._last_time = time
                answer_from, answer = offset, raw
            elif id in held or self.cwd is None or message.model == _SYNTHETIC or not is_unique(id):
                self.see(offset, bytes(raw))
            else:
                has_ended = message.stop_reason is not None
                self.last = held[id] = Held(line, offset, output, False, line, offset, False, "", has_ended)
                self.last_line, self.last_from = line, offset
                self._last_id, self._last_model, self._last_time = id, message.model, time
                answer_from, answer = offset, raw
        if answer:
            self.last_end = max(self.last_end, answer_from + len(answer) + 1)
        return totals

    def see(self, offset: int, raw: bytes) -> bool:
        """Add a line that may hold an answer; return whether it holds no totals."""
        try:
            line = self._decode(raw)
        except usage_lines.REFUSALS:
            self._see_oddity(offset, raw)
            return True
        if line.type == "assistant":
            self.last_end = offset + len(raw) + 1
            if line.message is not None:
                self._see_answer(offset, raw, line)
        elif line.type == "progress":
            self._see_progress(offset, raw)
        elif line.type == "user":
            self._see_words_of_the_client(raw)
        return line.type != "cost-state"

    def _see_progress(self, offset: int, raw: bytes) -> None:
        try:
            line = usage_lines.decode_progress(raw)
        except usage_lines.REFUSALS:
            self._see_oddity(offset, raw)
            return
        self._see_told(offset, line)

    def _see_oddity(self, offset: int, raw: bytes) -> None:
        """A line that does not fit, or that is torn: read again with more patience."""
        try:
            line = usage_lines.read_tolerantly(raw)
        except (ValueError, RecursionError):
            for piece in records.READER.read([Line(1, offset, len(raw), raw)]):
                if piece.raw != raw and usage_lines.NEEDLE in piece.raw:
                    self.see(piece.offset, piece.raw)
            return
        if type(line) is ProgressLineFields:
            self._see_told(offset, line)
        elif isinstance(line, AnswerFields) and line.message is not None:
            self._see_answer(offset, raw, line)

    def _see_answer(self, offset: int, raw: bytes, line: AnswerFields) -> None:
        message = line.message
        assert message is not None
        if message.model == usage_lines.SYNTHETIC:
            self._see_words_of_the_client(raw)
            return
        if self.cwd is None:
            self.cwd = _cwd_in(raw)
        thread = _thread_in_main(line) if self.source.is_main else ""
        held = self._take(offset, line, thread, is_told=False)
        if not thread:
            if held is not self.last:
                self.last, self.last_from = held, offset
            self.last_line = line
            self._last_id = None
            if held.line is line and message.id in self._held and is_usual(line.timestamp):
                self._last_id, self._last_model = message.id, message.model
                self._last_time = line.timestamp or ""

    def _see_told(self, offset: int, line: ProgressLineFields) -> None:
        answer = line.data.message if line.data is not None else None
        if line.data is None or answer is None or answer.message is None or self.rule != "ours":
            return
        if answer.type != "assistant" or answer.message.model == usage_lines.SYNTHETIC:
            return
        answer.entrypoint, answer.forked_from = line.entrypoint, line.forked_from
        answer.timestamp = answer.timestamp or line.timestamp
        self._last_id = None  # it may be of the last message
        self._take(offset, answer, line.data.agent_id or line.parent_tool_use_id or "", is_told=True)

    def _see_words_of_the_client(self, raw: bytes) -> None:
        """Note that the answer before this line broke off, if the client says so."""
        if not (_BROKE_OFF in raw or _CUT_OFF in raw) or self.last is None or self.last_line is None:
            return
        try:
            said = _broken.decode(raw)
        except usage_lines.REFUSALS:
            return
        is_of_client = said.is_api_error_message or said.is_meta
        if is_of_client and said.parent_uuid is not None and said.parent_uuid == self.last_line.uuid:
            self.last.has_ended = False

    def _take(self, offset: int, line: AnswerFields, thread: str, *, is_told: bool) -> Held:
        message = line.message
        assert message is not None
        output = output_of(message.usage)
        tools = tools_of(message) if self.with_tools else None
        usage = message.usage
        has_ended = message.stop_reason is not None and (usage is None or usage_lines.is_whole(usage))
        id = message.id
        if self.rule == "ours" and id and id not in self._held and not usage_lines.is_unique(id):
            new = Held(line, offset, output, is_told, line, offset, is_told, thread, has_ended, tools)
            self._loose.setdefault(id, []).append(new)
            return new
        is_unnamed = self.rule == "ours" and not (id or line.request_id or is_told)
        key = self._adjacent(line, offset, thread) if is_unnamed else self._key(id, line, offset)
        held = self._held.get(key)
        if held is None:
            new = Held(line, offset, output, is_told, line, offset, is_told, thread, has_ended, tools)
            self._held[key] = new
            return new
        if self._is_better(line, output, is_told, held):
            held.line, held.offset, held.output, held.is_told = line, offset, output, is_told
        if (held.first_is_told and not is_told) or is_earlier(line.timestamp, held.first.timestamp):
            held.first, held.first_offset, held.first_is_told, held.thread = line, offset, is_told, thread
        held.has_ended = held.has_ended or has_ended
        if tools and held.tools is not None:
            held.tools |= tools
        return held

    def _adjacent(self, line: AnswerFields, offset: int, thread: str) -> str:
        """The request of a line without any id: that of the one right before it, else its own. As in `model/fold/thread.py`."""
        assert line.message is not None
        uuid, last = line.uuid, self._unnamed
        key = self._requests_of.get(uuid) if uuid else None
        if key is None:
            key = self._key(None, line, offset)
            if last is not None and _goes_on(line, offset, thread, *last[1:]):
                key = last[0]
        if uuid:
            self._requests_of[uuid] = key
        self._unnamed = (key, thread, line, self.last_end)
        return key

    def _key(self, id: str | None, line: AnswerFields, offset: int) -> str:
        """By rules of others a request is something else; docs/accounting.md says why each fails."""
        rule = self.rule
        if rule == "ours":
            return id or line.request_id or line.uuid or f"{self.number}:{offset}"
        if rule == "every-line" or not id:
            return f"{self.number}:{offset}"
        if rule == "time-and-usage":
            message = line.message
            assert message is not None
            return f"{line.timestamp}:{message.model}:{figures_of(message.usage)}"
        return f"{id}:{line.request_id or ''}"

    @property
    def names(self) -> list[str]:
        """The names that rows refer to by number."""
        return list(self._names)

    def _name(self, text: str | None) -> int:
        return self._names.setdefault(text or "", len(self._names))

    def _terms(self, usage: UsageFields | PlainUsage) -> int:
        tier, speed, geo = usage.service_tier, usage.speed, usage.inference_geo
        if tier in _USUAL_WORDS and speed in _USUAL_WORDS and geo in _USUAL_WORDS:
            return 0
        return self._name("\t".join((word or "").replace("\t", " ") for word in (tier, speed, geo)))

    def _rows(self, helds: list[Held]) -> list[bytes]:
        """The rows of all; most lines are plain, and of those no more is asked than there is."""
        rows: list[bytes] = []
        number, names, name, is_beside = self.number, self._names, self._name, self._is_beside
        for held in helds:
            line, first = held.line, held.first
            if not (type(line) is type(first) is PlainAnswer):
                rows.append(self._row(held))
                continue
            at = moment_ms(line.timestamp)
            first_at = at if first is line else moment_ms(first.timestamp)
            model, entrypoint = line.message.model or "", first.entrypoint or ""
            of_model = names[model] if model in names else name(model)
            way_in = names[entrypoint] if entrypoint in names else name(entrypoint)
            spent = (held.output, at, number, held.offset, *plain_figures_of(line.message.usage), of_model, 0)
            began = (False, first_at, number, held.first_offset, False, False, is_beside)
            rows.append(pack(*spent, *began, 0, way_in, held.has_ended))
        return rows

    def _row(self, held: Held) -> bytes:
        line, first, names = held.line, held.first, self._names
        message = line.message
        assert message is not None
        at = moment_ms(line.timestamp)
        usage, model, entrypoint = message.usage, message.model or "", first.entrypoint or ""
        figures = plain_figures_of(usage) if type(usage) is PlainUsage else figures_of(usage)
        input, write, short, long, read, reasoning, searches = figures
        return pack(
            held.output,
            at,
            self.number,
            held.offset,
            input,
            write,
            short,
            long,
            read,
            reasoning,
            searches,
            names[model] if model in names else self._name(model),
            0 if usage is None else self._terms(usage),
            held.is_told,
            at if first is line else moment_ms(first.timestamp),
            self.number,
            held.first_offset,
            held.first_is_told,
            first.forked_from is not None and len(first.forked_from) > 4,  # more than `null`
            self._is_beside or bool(held.thread),
            self._name(held.thread) if held.thread else 0,
            names[entrypoint] if entrypoint in names else self._name(entrypoint),
            held.has_ended,
        )

    def model_of_last(self) -> int:
        """The name of the model that answered last."""
        return self._name(_model_of(self.last_line))

    def block(self, file: LogFile) -> UsageBlock:
        """The result of the scan, for the ledger."""
        loose = [
            Loose(id, sorted(marks_of(together)), self._row(one), aside_of(one))
            for id, together, one in split(self._loose, file)
        ]
        helds = list(self._held.values())
        odd = [(number, held) for number, held in enumerate(helds) if type(held.line) is not PlainAnswer]
        asides = ((number, aside_of(held)) for number, held in odd if has_aside(held))
        return UsageBlock(
            file=self.number,
            cwd=self.cwd,
            keys=[key.encode(errors="replace") for key in self._held],
            rows=b"".join(self._rows(helds)),
            asides={number: aside for number, aside in asides if aside is not None},
            loose=loose,
            names=self.names,
        )


def _copied(hit: HitView) -> Hit:
    return hit[0], bytes(hit[1])


def is_of_another(line: AnyAnswer) -> bool:
    """Early clients wrote subagents' lines between those of the main thread."""
    return bool(line.agent_id or line.is_sidechain)


def _thread_in_main(line: AnswerFields) -> str:
    return line.agent_id or ("sidechain" if line.is_sidechain else "")


def _cwd_in(raw: bytes) -> str | None:
    try:
        return _where.decode(raw).cwd
    except usage_lines.REFUSALS:
        return None


def _model_of(line: AnyAnswer | None) -> str | None:
    return line.message.model if line is not None and line.message is not None else None


def _look_behind(block: UsageBlock, hits: LinesWith, file: LogFile, reading: _Reading) -> None:
    """Search behind the last answer for a turn that waits for the next one."""
    if hits.behind is not None and hits.behind_from == reading.last_end:
        is_asked = _ASKED in hits.behind
    else:
        is_asked = any(LinesWith(chunks(file, reading.last_end), _ASKED))
    if is_asked:
        block.awaited = awaited_in(file, reading.last_from, model=reading.model_of_last())
        block.names = reading.names


def _goes_on(
    line: AnswerFields, offset: int, thread: str, last_thread: str, last: AnswerFields, last_end: int
) -> bool:
    """Whether a line without any id continues another: no prompt and no result is between them."""
    assert line.message is not None
    assert last.message is not None
    if thread != last_thread or line.message.model != last.message.model:
        return False
    if line.parent_uuid is None or last.uuid is None:
        return offset == last_end
    return line.parent_uuid in (last.uuid, last.parent_uuid)
