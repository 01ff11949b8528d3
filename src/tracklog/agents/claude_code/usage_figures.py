"""Token figures in one log of Claude Code: which lines are one request, which one counts, client totals.

Rules
  1. A gateway may use one id for several messages. In one file an id means one message, until a prompt or a result
     of one of its own calls comes in between and the prompt has other figures than all before.
  2. In another file it is the same message only if a record's id, a request's id, or a time with the prompt's
     figures is shared.
  3. Late clients write totals at the end of each process (`cost-state`). They are cumulative over processes: the
     last one counts. A killed process wrote none, so its work is in no totals; the life spans of the others show
     when it worked.
  4. Totals still include a fork's copies and the work of earlier clients: `ledger.unlogged_spending` subtracts
     those.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any

import msgspec

from tracklog.agents.claude_code.records import usage_lines
from tracklog.agents.claude_code.records.usage_lines import (
    AnswerFields,
    CostStateFields,
    PlainAnswer,
    PlainUsage,
    UsageFields,
)
from tracklog.clock import NO_TIME, moment_ms
from tracklog.model.events import PromptGiven, ToolCalled, ToolReturned
from tracklog.model.records import Piece
from tracklog.model.usage import LARGEST, NO_USAGE, Aside, ClientTotals, CountRule
from tracklog.sources.files import NotReadable
from tracklog.sources.log_file import LogFile

AnyAnswer = AnswerFields | PlainAnswer


class Held(msgspec.Struct, gc=False):
    """A request during the scan: the line whose figures count, and the first one."""

    line: AnyAnswer
    offset: int
    output: int
    is_told: bool
    first: AnyAnswer
    first_offset: int
    first_is_told: bool
    thread: str
    has_ended: bool
    tools: set[str] | None = None


IsBetter = Callable[[AnyAnswer, int, bool, Held], bool]


def has_more(line: AnyAnswer, output: int, is_told: bool, held: Held) -> bool:
    """Our own rule: a transcript before a mirror of it, then the larger output, then the later line."""
    if is_told != held.is_told:
        return held.is_told
    if output != held.output:
        return output > held.output
    return not is_before(line.timestamp, held.line.timestamp)


def _is_last(line: AnyAnswer, _output: int, _is_told: bool, held: Held) -> bool:
    return not is_before(line.timestamp, held.line.timestamp)


def _is_first(line: AnyAnswer, _output: int, _is_told: bool, held: Held) -> bool:
    return is_before(line.timestamp, held.line.timestamp)


IS_BETTER: dict[CountRule, IsBetter] = {
    "ours": has_more,
    "last-chunk": _is_last,
    "first-chunk": _is_first,
    "every-line": _is_last,
    "time-and-usage": _is_first,
}
_USUAL = len("2026-11-15T23:11:23.969Z")


def is_usual(time: str | None) -> bool:
    """Whether a time is written as clients do: such texts compare as their times do."""
    return time is not None and len(time) == _USUAL and time[-1] == "Z"


def is_before(one: str | None, other: str | None) -> bool:
    """Whether a time is earlier than another; lines that say none come first."""
    if one == other or one is None or other is None:
        return one is None and other is not None
    if len(one) == len(other) == _USUAL and one[-1] == other[-1] == "Z":
        return one < other
    return moment_ms(one) < moment_ms(other)


def is_earlier(one: str | None, other: str | None) -> bool:
    """Whether a time is earlier than another; a line that says none is no first one."""
    return one is not None and (other is None or is_before(one, other))


Figures = tuple[int, int, int, int, int, int, int]
_BITS = LARGEST.bit_length()
_NOTHING: Figures = (0, 0, 0, 0, 0, 0, 0)
_BILLED_BESIDE = {"advisor_message": "advisor", "compaction": "compaction"}


def output_of(usage: UsageFields | None) -> int:
    """The output; NO_USAGE where there are no figures."""
    return figure(usage.output_tokens) if usage is not None and usage_lines.has_figures(usage) else NO_USAGE


def figures_of(usage: UsageFields | PlainUsage | None) -> Figures:
    """Input, cache writes (all, 5 minutes, 1 hour), cache reads, reasoning, searches."""
    if usage is None:
        return _NOTHING
    short = long = reasoning = searches = 0
    if (by_life := usage.cache_creation) is not None:
        short, long = by_life.ephemeral_5m_input_tokens or 0, by_life.ephemeral_1h_input_tokens or 0
    if (details := usage.output_tokens_details) is not None:
        reasoning = details.thinking_tokens or 0
    if (asked := usage.server_tool_use) is not None:
        searches = asked.web_search_requests or 0
    input, read = usage.input_tokens or 0, usage.cache_read_input_tokens or 0
    write = usage.cache_creation_input_tokens or 0
    if (input | write | short | long | read | reasoning | searches) >> _BITS:  # one is negative, or too large
        said = (input, write, short, long, read, reasoning, searches)
        input, write, short, long, read, reasoning, searches = map(figure, said)
    if short + long > write:
        write = min(short + long, LARGEST)
    return (input, write, short, long, read, reasoning, searches)


def plain_figures_of(usage: PlainUsage) -> Figures:
    """The same of a usage that the decoder has looked at."""
    write, short, long = usage.cache_creation_input_tokens, 0, 0
    by_life, details, asked = usage.cache_creation, usage.output_tokens_details, usage.server_tool_use
    if by_life is not None:
        short, long = by_life.ephemeral_5m_input_tokens, by_life.ephemeral_1h_input_tokens
        if short + long > write:
            write = min(short + long, LARGEST)
    return (
        usage.input_tokens,
        write,
        short,
        long,
        usage.cache_read_input_tokens,
        0 if details is None else details.thinking_tokens,
        0 if asked is None else asked.web_search_requests,
    )


def figure(said: int | None) -> int:
    """A number of tokens; 0 for what is none."""
    return said if said is not None and 0 <= said <= LARGEST else 0


def sum_of(said: int | None) -> int:
    """A sum of tokens over many requests; 0 for what is none."""
    return said if said is not None and 0 <= said <= usage_lines.LARGEST_SUM else 0


def has_aside(held: Held) -> bool:
    """Whether it has anything that only few have."""
    line = held.line
    if isinstance(line, PlainAnswer):
        return bool(held.tools)
    if held.tools or line.cost_usd is not None:
        return True
    usage = line.message.usage if line.message is not None else None
    return usage is not None and len(usage.iterations) > 4 and usage_lines.tells_of_others(usage.iterations)


def aside_of(held: Held) -> Aside | None:
    """The parts that only few answers have."""
    line = held.line
    usage = line.message.usage if isinstance(line, AnswerFields) and line.message is not None else None
    beside = list(_beside(usage)) if usage is not None and len(usage.iterations) > 2 else []
    stated = pico(line.cost_usd)
    return (
        Aside(sorted(held.tools or ()), beside, stated)
        if held.tools or beside or stated is not None
        else None
    )


def tools_of(message: Any) -> set[str]:
    """The names of the tools that an answer calls."""
    content = getattr(message, "content", None)
    blocks = content if isinstance(content, list) else []
    return {block.name for block in blocks if block.name and str(block.type).endswith("tool_use")}


def _beside(usage: UsageFields) -> Iterator[tuple[str, str | None, tuple[int, ...]]]:
    for one in usage_lines.iterations_of(usage):
        what = _BILLED_BESIDE.get(one.type or "")
        if what is not None:
            same = UsageFields(
                one.input_tokens,
                one.output_tokens,
                one.cache_creation_input_tokens,
                one.cache_read_input_tokens,
                one.cache_creation,
                one.output_tokens_details,
            )
            input, write, short, long, read, reasoning, searches = figures_of(same)
            output = max(output_of(same), 0)
            yield what, one.model, (input, output, reasoning, write, short, long, read, searches)


def pico(usd: float | None) -> int | None:
    """Dollars in pico-dollars; None for what is no sum of money."""
    return round(usd * 10**12) if usd is not None and 0 <= usd < 10**6 else None


LOOKED_AT = 1 << 15  # bytes before the totals in which a time is looked for
_STAMP = b'"timestamp":"'


class RunningTotals:
    """Follows the totals of one log."""

    def __init__(self) -> None:
        self._last: tuple[int, CostStateFields] | None = None
        self._apart: list[tuple[int, int]] = []
        self._ended = 0  # when the last process did that wrote totals
        self._lived = 0.0  # how long all of them did

    def see(self, offset: int, raw: bytes, *, end: int) -> None:
        """Add a line with totals; `end` is the last time before it."""
        state = usage_lines.read_cost_state(raw)
        if state is None:
            return
        self._last = (offset, state)
        if end == NO_TIME or state.total_duration is None:
            return
        began = end - int(min(max(state.total_duration - self._lived, 0), end))
        if began > self._ended:
            self._apart.append((self._ended, began))
        self._ended, self._lived = end, state.total_duration

    def last(self) -> ClientTotals | None:
        """The last totals, and the times that they do not cover."""
        if self._last is None:
            return None
        offset, state = self._last
        models: dict[str, tuple[tuple[int, ...], int | None]] = {}
        for name, used in (state.model_usage or {}).items():
            figures = (
                used.input_tokens,
                used.output_tokens,
                used.thinking_tokens,
                used.cache_creation_input_tokens,
                used.cache_creation_ephemeral_5m_input_tokens,
                used.cache_creation_ephemeral_1h_input_tokens,
                used.cache_read_input_tokens,
                used.web_search_requests,
            )
            models[name] = (tuple(map(sum_of, figures)), pico(used.cost_usd))
        return ClientTotals(offset, pico(state.total_cost_usd), models, self._apart)


def last_time_in(head: bytes) -> int:
    """The last time in some bytes of a log."""
    at = head.rfind(_STAMP)
    text = head[at + len(_STAMP) : at + 64].partition(b'"')[0] if at >= 0 else b""
    return moment_ms(text.decode(errors="replace"))


def marks_of(sights: Iterable[Held]) -> set[str]:
    """By what a message is known again in another file."""
    return {
        f"{kind}:{value}"
        for held in sights
        for kind, value in (
            ("uuid", held.line.uuid),
            ("at", _time_and_prompt(held)),
            ("request", held.line.request_id if isinstance(held.line, AnswerFields) else None),
        )
        if value
    }


def _time_and_prompt(held: Held) -> str | None:
    """Two agents can be answered in one millisecond; their prompts differ, those of a copy do not."""
    at = held.line.timestamp
    return f"{at} {'/'.join(map(str, _prompt_of(held)))}" if at else None


def split(loose: dict[str, list[Held]], file: LogFile) -> Iterator[tuple[str, list[Held], Held]]:
    """Each message of a file, with all its lines and with the one whose figures count."""
    doubtful = {id for id, sights in loose.items() if len({_prompt_of(one) for one in sights}) > 1}
    borders = _borders(file, doubtful) if doubtful else _Borders()
    for id, sights in loose.items():
        together, prompts = sights[:1], {_prompt_of(sights[0])}
        for one, other in pairwise(sights):
            prompt = _prompt_of(other)
            if prompt not in prompts and borders.stand_between(one.offset, other.offset, id):
                yield id, together, _in_one(together)
                together, prompts = [], set()
            together.append(other)
            prompts.add(prompt)
        yield id, together, _in_one(together)


def _prompt_of(held: Held) -> tuple[int, ...]:
    message = held.line.message
    input, write, _, _, read, _, _ = figures_of(message.usage if message is not None else None)
    return input, write, read


def _in_one(sights: list[Held]) -> Held:
    best = sights[0]
    for held in sights[1:]:
        if has_more(held.line, held.output, held.is_told, best):
            best = held
    first = min(sights, key=_first_rank)
    return msgspec.structs.replace(
        best,
        first=first.line,
        first_offset=first.offset,
        first_is_told=first.is_told,
        thread=first.thread,
        has_ended=any(held.has_ended for held in sights),
        tools={tool for held in sights for tool in held.tools or ()} or None,
    )


def _first_rank(held: Held) -> tuple[bool, bool, int, int]:
    at = moment_ms(held.line.timestamp)
    return held.is_told, at == NO_TIME, at, held.offset


class _Borders:
    """The places in a file behind which another request begins: prompts, and results of a message's own calls."""

    def __init__(self) -> None:
        self.prompts: list[int] = []
        self.results: dict[str, list[int]] = {}

    def stand_between(self, one: int, other: int, id: str) -> bool:
        return any(
            bisect_right(offsets, one) < bisect_right(offsets, other)
            for offsets in (self.prompts, self.results.get(id, []))
        )


def _borders(file: LogFile, ids: set[str]) -> _Borders:
    # readers take long to load, and few logs need one here
    from tracklog.agents.claude_code.translate.translator import ClaudeTranslator
    from tracklog.agents.registry import pieces_of

    translator, borders = ClaudeTranslator(str(file.path)), _Borders()
    asked_by: dict[str, str] = {}
    for piece in _readable(pieces_of(file)):
        for event in translator.translate(piece):
            if isinstance(event, PromptGiven):
                borders.prompts.append(piece.offset)
            elif isinstance(event, ToolCalled) and event.request in ids:
                asked_by[event.call] = str(event.request)
            elif isinstance(event, ToolReturned) and event.call in asked_by:
                borders.results.setdefault(asked_by[str(event.call)], []).append(piece.offset)
    return borders


def _readable(pieces: Iterator[Piece]) -> Iterator[Piece]:
    """The pieces up to where the log cannot be read: the scan has met the same refusal."""
    try:
        yield from pieces
    except NotReadable:
        return
