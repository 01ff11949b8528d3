"""The tokens of Claude Code requests, and the usage objects that tell them.

Rules of this room
  1. The figures add up: what a request reads from the cache is what the requests before it wrote there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from bench.made.claude_eras import Era
from bench.made.claude_tools import Json
from bench.made.dice import Dice
from bench.made.tally import Spent

BYTES_PER_TOKEN = 4
_IMAGE_TOKENS = 1_500


class Meter:
    """The context of a thread in tokens: what is cached, what came since."""

    def __init__(self, dice: Dice) -> None:
        self._dice = dice
        self._cached, self._fresh = 0, dice.between(14_000, 24_000)

    @property
    def context(self) -> int:
        return self._cached + self._fresh

    def feed(self, n_characters: int) -> None:
        self._fresh += n_characters // BYTES_PER_TOKEN

    def compact(self, kept: int) -> None:
        self._cached, self._fresh = 0, kept

    def spend(self, output: int, *, thinking: int, for_an_hour: bool) -> Spent:
        written, read = self._fresh, self._cached
        self._cached, self._fresh = read + written, output
        split = (0, written) if for_an_hour else (written, 0)
        return Spent(self._dice.between(1, 12), output, read, *split, thinking)


def n_characters_of(content: str | Iterable[Json]) -> int:
    """What the model reads or writes of a content, in characters."""
    if isinstance(content, str):
        return len(content)
    return sum(_block_length(block) for block in content)


def _block_length(block: Json) -> int:
    kind = block["type"]
    if kind == "image":
        return _IMAGE_TOKENS * BYTES_PER_TOKEN
    if kind == "tool_use":
        return len(block["name"]) + sum(len(str(value)) for value in block["input"].values())
    return n_characters_of(block["content"]) if kind == "tool_result" else len(block.get("text", ""))


def with_output(spent: Spent, output: int) -> Spent:
    """The same request as the start of its stream tells it: no final output, no thinking."""
    return replace(spent, output_tokens=output, reasoning_tokens=0)


def _counts(spent: Spent) -> Json:
    return {
        "input_tokens": spent.input_tokens,
        "cache_creation_input_tokens": spent.cache_write_tokens,
        "cache_read_input_tokens": spent.cache_read_tokens,
        "output_tokens": spent.output_tokens,
    }


def _split(spent: Spent) -> Json:
    return {
        "ephemeral_5m_input_tokens": spent.cache_write_5m_tokens,
        "ephemeral_1h_input_tokens": spent.cache_write_1h_tokens,
    }


def starting_usage(era: Era, spent: Spent) -> Json:
    """What the stream says when a message starts: no iterations, no speed, a placeholder for the output."""
    return {**_counts(spent), "cache_creation": _split(spent), "service_tier": "standard", **_geo(era)}


def _geo(era: Era) -> Json:
    return {"inference_geo": "not_available"} if "inference_geo" in era.usage else {}


def usage_of(era: Era, spent: Spent) -> Json:
    """The final usage, with the fields of its era."""
    counts, split = _counts(spent), _split(spent)
    known: Json = {
        "cache_creation": split,
        "inference_geo": "not_available",
        "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
        "iterations": [{**counts, "cache_creation": split, "type": "message"}],
        "speed": "standard",
        "output_tokens_details": {"thinking_tokens": spent.reasoning_tokens},
        "fallback_credit": None,
    }
    return {**counts, "service_tier": "standard", **{name: known[name] for name in era.usage}}
