"""A model's name, as it stands in a log, and the names that a price may stand under.

Clients and gateways write the same model as `claude-opus-4-5-20251101`, `claude-opus-4-5[1m]`,
`us.anthropic.claude-opus-4-5-20251101-v1:0`, `claude-opus-4-5@20251101`, `anthropic/claude-opus-4.5`. Claude Code
prices all of them alike, and so do we.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_LONGEST = 200  # of a name that is looked at: logs may hold anything
_WINDOW = re.compile(r"\[[12]m\]$")
_BEDROCK = re.compile(r"(?:[a-z-]+\.)?anthropic\.(?=claude-)")
_VERSION = re.compile(r"-v\d{1,3}:\d{1,3}$")
_BEDROCK_VERSION = re.compile(r"-v\d{1,3}$")
_DATE = re.compile(r"(?:-v\d{1,3})?[-@](20\d\d)-?(\d\d)-?(\d\d)$")
_DOTTED = re.compile(r"(?<=\d)\.(?=\d)")
_ROUTES = {"openrouter", "bedrock", "vertex_ai", "azure", "litellm", "litellm_proxy"}


class ModelName(NamedTuple):
    """What a name says: whose model, which one, and whether it is the fast way to run it."""

    vendor: str | None  # if the name says so, in the words of whoever wrote it
    name: str
    is_fast: bool = False


def read_name(model: str) -> ModelName | None:
    """The name without what clients and gateways put around it; None if it cannot be a model's."""
    if len(model) > _LONGEST:
        return None
    *before, name = _WINDOW.sub("", model.strip().lower()).split("/")
    vendors = [part for part in before if part not in _ROUTES]
    if len(vendors) > 1 or not name:
        return None
    name, n_bedrock = _BEDROCK.subn("", _VERSION.sub("", name), count=1)
    if n_bedrock:
        name = _BEDROCK_VERSION.sub("", name)
    if ":" in name:  # `:free` and its like are sold at other prices
        return None
    is_fast = name.startswith("claude-") and name.endswith("-fast")
    return ModelName(
        vendors[0] if vendors else None, name.removesuffix("-fast") if is_fast else name, is_fast
    )


def spellings(name: str) -> list[str]:
    """The name, then as others spell it, then without its date: the first that has a price is meant."""
    undated = _DATE.sub("", name)
    ways = [name]
    if undated != name:
        ways += [_DATE.sub(r"-\1-\2-\3", name), _DATE.sub(r"-\1\2\3", name), undated]
    if name.startswith("claude-"):
        ways = [one for way in ways for one in (way, _DOTTED.sub("-", way))]
    return list(dict.fromkeys(ways))


def is_named(pattern: str, name: str) -> bool:
    """Whether a name is the one that is written, or begins like one that ends with a star."""
    return name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern
