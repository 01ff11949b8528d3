"""The figures of an answer of Claude Code: as numbers that are always there, in one order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tracklog.model.ledger import LARGEST, NO_USAGE, Aside
from tracklog.pipeline.claude_held import Held
from tracklog.records.claude_code import spending
from tracklog.records.claude_code.spending import Answer, PlainAnswer, PlainUsage, Usage

Figures = tuple[int, int, int, int, int, int, int]
_BITS = LARGEST.bit_length()
_NOTHING: Figures = (0, 0, 0, 0, 0, 0, 0)
_BILLED_BESIDE = {"advisor_message": "advisor", "compaction": "compaction"}


def output_of(usage: Usage | None) -> int:
    """The output; NO_USAGE where there are no figures."""
    return figure(usage.output_tokens) if usage is not None and spending.has_figures(usage) else NO_USAGE


def figures_of(usage: Usage | PlainUsage | None) -> Figures:
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
    return said if said is not None and 0 <= said <= spending.LARGEST_SUM else 0


def has_aside(held: Held) -> bool:
    """Whether it has anything that only few have."""
    line = held.line
    if isinstance(line, PlainAnswer):
        return bool(held.tools)
    if held.tools or line.cost_usd is not None:
        return True
    usage = line.message.usage if line.message is not None else None
    return usage is not None and len(usage.iterations) > 4 and spending.tells_of_others(usage.iterations)


def aside_of(held: Held) -> Aside | None:
    """What only few answers have."""
    line = held.line
    usage = line.message.usage if isinstance(line, Answer) and line.message is not None else None
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


def _beside(usage: Usage) -> Iterator[tuple[str, str | None, tuple[int, ...]]]:
    for one in spending.iterations_of(usage):
        what = _BILLED_BESIDE.get(one.type or "")
        if what is not None:
            same = Usage(
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
