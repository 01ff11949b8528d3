"""What a line of Claude Code says of tokens, and nothing else: the narrow reading behind token totals.

The full records hold the same figures. This one skips what is between them, which makes it several times faster;
tests hold both readings against each other.

Rules
  1. A line is spending if it is a model's answer, a subagent's answer told by a `progress` line, or a `cost-state`.
  2. A figure that is no whole number from 0 on is no figure. A usage without figures is no usage.
  3. What the narrow types do not fit is read again as plain JSON. What is not JSON is for the caller to take apart.
  4. `PlainAnswer` fits the lines that nearly all are: the decoder refuses whatever else a closer look is due to, so
     nobody has to ask what it has checked. It holds no part of the bytes that it was read from.
"""

import re
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Raw, Struct

from tracklog.model.json_text import loads

LARGEST = 2**31 - 1  # tokens of one request: none comes near
LARGEST_SUM = 2**53  # tokens of many requests, milliseconds, dollars
REFUSALS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_ODD = "(odd)"  # a key that no log has
SYNTHETIC = "<synthetic>"
NEEDLE = b'"assistant"'  # in every line that is spending, except:
TOTALS_NEEDLE = b'"cost-state"'
_OURS = re.compile(r"msg_(?:bdrk_|vrtx_)?01[0-9A-Za-z]{22}")


class CacheWriteFields(Struct, gc=False):
    """Cache writes by their time to live."""

    ephemeral_5m_input_tokens: int | None = None
    ephemeral_1h_input_tokens: int | None = None


class Searches(Struct, gc=False):
    """How often the API's own search ran."""

    web_search_requests: int | None = None


class Details(Struct, gc=False):
    """A part of the output."""

    thinking_tokens: int | None = None


class UsageFields(Struct, gc=False):
    """The tokens of a request, as far as they were known when the line was written."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation: CacheWriteFields | None = None
    output_tokens_details: Details | None = None
    server_tool_use: Searches | None = None
    service_tier: str | None = None
    speed: str | None = None
    inference_geo: str | None = None
    iterations: Raw = Raw()
    has_odd: bool = msgspec.field(default=False, name=_ODD)  # a value that is no figure was left out


class ToolBlock(Struct, gc=False):
    """A part of an answer, as far as it names a tool."""

    type: str | None = None
    name: str | None = None


class MessageFields(Struct, gc=False):
    """A message of the API, or the part of it that a line holds."""

    id: str | None = None
    model: str | None = None
    stop_reason: str | None = None
    usage: UsageFields | None = None


class ToolMessage(MessageFields, gc=False):
    """The same with the names of the tools it calls."""

    content: list[ToolBlock] | str | None = None


class AnswerFields(Struct, gc=False, rename="camel"):
    """A line that holds a model's answer, or a part of it."""

    type: str | None = None
    uuid: str | None = None
    parent_uuid: str | None = None
    timestamp: str | None = None
    request_id: str | None = None
    agent_id: str | None = None
    is_sidechain: bool | None = None
    entrypoint: str | None = None
    forked_from: Raw = Raw()
    cost_usd: float | None = msgspec.field(default=None, name="costUSD")
    message: MessageFields | None = None


class ToolAnswer(AnswerFields, gc=False, rename="camel"):
    """The same with the names of the tools it calls."""

    message: ToolMessage | None = None


Figure = Annotated[int, Meta(ge=0, le=LARGEST)]
Usual = Literal["standard", "global", "not_available"]  # of a tier, a speed or a place: they change no price
Reason = Literal["end_turn", "tool_use", "stop_sequence", "max_tokens", "pause_turn", "refusal"]
Moment = Annotated[str, Meta(min_length=24, max_length=24)]  # 2026-11-15T23:11:23.969Z, if it ends so


class PlainCacheCreation(Struct, gc=False):
    """Cache writes by their time to live."""

    ephemeral_5m_input_tokens: Figure = 0
    ephemeral_1h_input_tokens: Figure = 0


class PlainSearches(Struct, gc=False):
    """How often the API's own search ran."""

    web_search_requests: Figure = 0


class PlainDetails(Struct, gc=False):
    """A part of the output."""

    thinking_tokens: Figure = 0


class OwnSampling(Struct, gc=False):
    """A sampling of a request that its own figures hold."""

    type: Literal["message"]


class PlainUsage(Struct, gc=False):
    """The tokens of a request, all of them its own, on the usual terms."""

    output_tokens: Figure
    input_tokens: Figure = 0
    cache_creation_input_tokens: Figure = 0
    cache_read_input_tokens: Figure = 0
    cache_creation: PlainCacheCreation | None = None
    output_tokens_details: PlainDetails | None = None
    server_tool_use: PlainSearches | None = None
    service_tier: Usual | None = None
    speed: Usual | None = None
    inference_geo: Usual | None = None
    iterations: list[OwnSampling] | None = None


class PlainMessage(Struct, gc=False):
    """A message that has an id and figures."""

    id: str
    usage: PlainUsage
    model: str | None = None
    stop_reason: Reason | None = None


class PlainAnswer(Struct, gc=False, rename="camel"):
    """A line that holds an answer and nothing odd: no copy, no price, no figure that is none."""

    type: Literal["assistant"]
    timestamp: Moment
    message: PlainMessage
    uuid: str | None = None
    agent_id: str | None = None
    is_sidechain: bool | None = None
    entrypoint: str | None = None
    forked_from: None = None
    cost_usd: None = msgspec.field(default=None, name="costUSD")


class ProgressFields(Struct, gc=False, rename="camel"):
    """What a `progress` line tells."""

    type: str | None = None
    agent_id: str | None = None
    message: ToolAnswer | None = None


class ProgressLineFields(Struct, gc=False, rename="camel"):
    """A line that mirrors a subagent's answer."""

    type: str | None = None
    timestamp: str | None = None
    entrypoint: str | None = None
    forked_from: Raw = Raw()
    parent_tool_use_id: str | None = msgspec.field(default=None, name="parentToolUseID")
    data: ProgressFields | None = None


class IterationFields(Struct, gc=False):
    """One sampling of a request."""

    type: str | None = None
    model: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation: CacheWriteFields | None = None
    output_tokens_details: Details | None = None


class ModelTotals(Struct, gc=False, rename="camel"):
    """What the client counted for one model."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    thinking_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_creation_ephemeral_5m_input_tokens: int | None = msgspec.field(
        default=None, name="cacheCreationEphemeral5mInputTokens"
    )
    cache_creation_ephemeral_1h_input_tokens: int | None = msgspec.field(
        default=None, name="cacheCreationEphemeral1hInputTokens"
    )
    web_search_requests: int | None = None
    cost_usd: float | None = msgspec.field(default=None, name="costUSD")


class CostStateFields(Struct, gc=False, rename="camel"):
    """The client's own running totals of a session."""

    type: str | None = None
    total_cost_usd: float | None = msgspec.field(default=None, name="totalCostUSD")
    total_duration: float | None = None
    model_usage: dict[str, ModelTotals] | None = None


# What is no answer is decoded too, as far as it fits: its `type` tells. They raise REFUSALS.
ANSWERS: msgspec.json.Decoder[AnswerFields] = msgspec.json.Decoder(AnswerFields)
TOOL_ANSWERS: msgspec.json.Decoder[AnswerFields] = msgspec.json.Decoder(ToolAnswer)
PLAIN_ANSWERS: msgspec.json.Decoder[PlainAnswer] = msgspec.json.Decoder(PlainAnswer)
decode_progress = msgspec.json.Decoder(ProgressLineFields).decode
_iterations = msgspec.json.Decoder(list[IterationFields])
_cost_state = msgspec.json.Decoder(CostStateFields)


def read_cost_state(raw: bytes) -> CostStateFields | None:
    """The client's totals in a line; None if the line is something else."""
    try:
        state = _cost_state.decode(raw)
    except REFUSALS:
        value = _plain(raw)
        state = (
            msgspec.convert(_fitting(value), CostStateFields)
            if isinstance(value, dict)
            else CostStateFields()
        )
    return state if state.type == "cost-state" else None


def tells_of_others(iterations: Raw) -> bool:
    """Whether the samplings of a request may be billed beside its own figures."""
    raw = bytes(iterations)
    return b"advisor" in raw or b"compaction" in raw


def iterations_of(usage: UsageFields) -> list[IterationFields]:
    """The samplings of a request that are billed beside its own figures."""
    if not tells_of_others(usage.iterations):
        return []
    raw = bytes(usage.iterations)
    try:
        return _iterations.decode(raw)
    except REFUSALS:
        value = _plain(raw)
        parts = [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
        return [msgspec.convert(_fitting(one), IterationFields) for one in parts]


def _plain(raw: bytes) -> Any:
    try:
        return loads(raw)[0]
    except (ValueError, RecursionError):
        return None


def is_unique(id: str) -> bool:
    """Whether an id is one of Anthropic's own; those of gateways may come again for another message."""
    if len(id) == 28 and id[:6] == "msg_01" and id[6:].isalnum() and id.isascii():  # as nearly all are
        return True
    return _OURS.fullmatch(id) is not None


def has_figures(usage: UsageFields) -> bool:
    """Whether a usage says anything."""
    return usage.input_tokens is not None or usage.output_tokens is not None


def is_whole(usage: UsageFields) -> bool:
    """Whether all figures of a usage could be counted: else the others are a lower bound."""
    if usage.has_odd or usage.output_tokens is None:
        return False
    said = [
        usage.input_tokens,
        usage.output_tokens,
        usage.cache_creation_input_tokens,
        usage.cache_read_input_tokens,
    ]
    if (by_life := usage.cache_creation) is not None:
        said += (by_life.ephemeral_5m_input_tokens, by_life.ephemeral_1h_input_tokens)
    if (details := usage.output_tokens_details) is not None:
        said.append(details.thinking_tokens)
    if (asked := usage.server_tool_use) is not None:
        said.append(asked.web_search_requests)
    return all(0 <= one <= LARGEST for one in said if one is not None)


def read_tolerantly(raw: bytes) -> AnswerFields | ProgressLineFields | None:
    """The answer in a line that does not fit, as far as it can be told. Raises ValueError for what is not JSON."""
    value, _ = loads(raw)
    if not isinstance(value, dict) or value.get("type") not in ("assistant", "progress"):
        return None
    kind: type[AnswerFields | ProgressLineFields] = (
        ToolAnswer if value["type"] == "assistant" else ProgressLineFields
    )
    return msgspec.convert(_fitting(value), kind)


_TEXTS = frozenset(
    [
        "type",
        "uuid",
        "parentUuid",
        "timestamp",
        "requestId",
        "agentId",
        "entrypoint",
        "parentToolUseID",
        "id",
        "model",
        "stop_reason",
        "name",
        "service_tier",
        "speed",
        "inference_geo",
    ]
)
_OBJECTS = frozenset(
    ["message", "usage", "data", "cache_creation", "server_tool_use", "output_tokens_details"]
)


def _fitting(value: dict[str, Any]) -> dict[str, Any]:
    """The keys that we know, where their values are what they should be."""
    fitting: dict[str, Any] = {}
    for key, found in value.items():
        if key in _TEXTS:
            fitting[key] = found if isinstance(found, str) else None
        elif key in _OBJECTS:
            fitting[key] = inner = _fitting(found) if isinstance(found, dict) else None
            if inner is not None and _ODD in inner:
                fitting[_ODD] = True
        elif key.endswith(("_tokens", "_requests")):
            fitting[key] = _whole(found)
            if found is not None and fitting[key] is None:
                fitting[_ODD] = True
        elif key.endswith(("Tokens", "Requests")):
            fitting[key] = _whole(found)
        elif key == "isSidechain":
            fitting[key] = found is True
        elif key == "costUSD":
            fitting[key] = _money(found)
        elif key == "modelUsage" and isinstance(found, dict):
            fitting[key] = {name: _fitting(one) for name, one in found.items() if isinstance(one, dict)}
        elif key in ("totalCostUSD", "totalDuration"):
            fitting[key] = _money(found)
        elif key in ("iterations", "forkedFrom"):
            fitting[key] = Raw(msgspec.json.encode(found))
        elif key == "content" and isinstance(found, list):
            fitting[key] = [_fitting(one) for one in found if isinstance(one, dict)]
    return fitting


def _money(found: Any) -> float | None:
    is_number = isinstance(found, (int, float)) and not isinstance(found, bool)
    return float(found) if is_number and abs(found) < LARGEST_SUM else None


def _whole(found: Any) -> int | None:
    if isinstance(found, float) and found.is_integer():
        found = int(found)
    return found if isinstance(found, int) and not isinstance(found, bool) else None
