"""A scripted stand-in for the Anthropic Messages API, for the real Claude Code.

Rules of this room
  1. `message_start` carries placeholder usage (a few output tokens), the closing `message_delta` repeats every
     field with the final output: as the real API does, and as accounting depends on.
  2. A request is part of the story unless it is one of the client's own: a helper's (titles, paths), a summary, a web search,
     a warm-up. Those are answered in kind and named in the log.
  3. Ids look like the real ones: `msg_01`, `toolu_01`, `req_01` and 22 letters or digits.
"""

from __future__ import annotations

import base64
import itertools
import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from tests.lab.loopback import Cut, Door, Exchange, Hold, Part, ScriptedApi
from tests.lab.script import Script, Turn, filled
from tests.lab.words import Call, Json, Reply, Say, Settled, Think, Wire, reply

PIECES = 4  # deltas per block, at most about
ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    429: "rate_limit_error",
    529: "overloaded_error",
}
WARM_UP = re.compile(
    r"^Warmup$", re.MULTILINE
)  # 2.0.30 asks this of subagents nobody started (formats/lifecycle.md 2.1)
SUMMARY_WISH = "Your task is to create a detailed summary"


class AnthropicApi(ScriptedApi):
    """Answers Messages requests from a script."""

    models: ClassVar[Json] = {"data": []}

    def __init__(self, script: Script, holes: Mapping[str, str]) -> None:
        super().__init__()
        self._script = script
        self._holes = holes

    def post(self, path: str, request: Json, door: Door) -> None:
        if "/count_tokens" in path:
            door.send_json({"input_tokens": 100})
        elif path.startswith("/v1/messages"):
            self._answer(request, door)
        else:
            door.send_json({})

    def _answer(self, request: Json, door: Door) -> None:
        kind, turn = self._turn(request)
        exchange = self._exchange(kind, turn, request)
        time.sleep(turn.reply.delay_s)
        if turn.reply.status != 200:
            door.fail(turn.reply, _error(turn.reply), exchange)
            return
        blocks = self._blocks(turn, request)
        exchange.blocks = [b["type"] for b in blocks]
        message = self._message(turn, exchange)
        exchange.began, exchange.meant = message["usage"], self._usage(turn)
        headers = {"request-id": exchange.request_id} if turn.reply.names_request else {}
        if request.get("stream"):
            door.send_stream(self._events(turn, message, blocks, exchange), exchange, headers=headers)
        else:
            exchange.usage, exchange.outcome = self._usage(turn), "complete"
            done = {
                "content": blocks,
                "stop_reason": _stop_reason(turn.reply, blocks),
                "usage": exchange.usage,
            }
            door.send_json(message | done, headers=headers)

    def _turn(self, request: Json) -> tuple[str, Turn]:
        text = person_text(request)
        kind, answer = aside_of(request, text)
        if answer is not None:
            return kind, self._script.aside(kind, answer)
        return kind, self._script.next(text, {t.get("name", "") for t in request.get("tools", [])})

    def _exchange(self, kind: str, turn: Turn, request: Json) -> Exchange:
        exchange = Exchange(
            n=0,
            thread=turn.thread,
            k=turn.k,
            kind=kind,
            model=request.get("model", ""),
            message_id=turn.reply.message_id or "msg_01" + self._script.token(turn, "message"),
            request_id="req_01" + self._script.token(turn, "request"),
        )
        self.record(exchange, request)
        return exchange

    def _blocks(self, turn: Turn, request: Json) -> list[Json]:
        blocks = filled(turn.blocks, {**self._holes, **learned(request)})
        return [self._block(turn, j, b) for j, b in enumerate(blocks)]

    def _block(self, turn: Turn, j: int, block: Settled) -> Json:
        match block:
            case Say(text):
                return {"type": "text", "text": text}
            case Think(text):
                signature = base64.b64encode(self._script.token(turn, f"signature{j}").encode()).decode()
                return {"type": "thinking", "thinking": text, "signature": signature}
            case Call(names, args, raw):
                ident = "toolu_01" + self._script.token(turn, f"call{j}")
                sent = {"type": "tool_use", "id": ident, "name": names[0], "input": args}
                return sent if raw is None else sent | {"raw": raw}
            case Wire(json):
                return json
            case _:
                raise TypeError(f"not a word of this API: {block}")

    def _message(self, turn: Turn, exchange: Exchange) -> Json:
        return {
            "id": exchange.message_id,
            "type": "message",
            "role": "assistant",
            "model": exchange.model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": self._usage(turn) | self._first_usage(turn),
        }

    def _first_usage(self, turn: Turn) -> Json:
        return {"output_tokens": self._script.number(turn, "first", 1, 6), **turn.reply.first_usage}

    def _usage(self, turn: Turn) -> Json:
        for_5m = self._script.number(turn, "5m", 100, 900)
        for_1h = self._script.number(turn, "1h", 50, 400)
        return {
            "input_tokens": self._script.number(turn, "input", 3, 40),
            "cache_creation_input_tokens": for_5m + for_1h,
            "cache_read_input_tokens": 12_000 + 900 * turn.k + self._script.number(turn, "read", 0, 300),
            "cache_creation": {"ephemeral_5m_input_tokens": for_5m, "ephemeral_1h_input_tokens": for_1h},
            "output_tokens": self._script.number(turn, "output", 40, 600),
            "service_tier": "standard",
            "inference_geo": "global",
            **turn.reply.usage,
        }

    def _events(self, turn: Turn, message: Json, blocks: list[Json], exchange: Exchange) -> Iterator[Part]:
        yield {"type": "message_start", "message": message}
        yield {"type": "ping"}
        for j, block in enumerate([*blocks, None]):
            if turn.reply.cut_after == j:
                yield Cut()
            if turn.reply.hold_after == j:
                yield Hold()
            if block is not None:
                yield from _block_events(j, block)
        time.sleep(turn.reply.linger_s)
        exchange.usage = self._usage(turn)
        closing = {"stop_reason": _stop_reason(turn.reply, blocks), "stop_sequence": None}
        yield {"type": "message_delta", "delta": closing, "usage": exchange.usage}
        yield {"type": "message_stop"}


def person_text(request: Json) -> str:
    """All plain text of the user messages, joined."""
    texts = (_texts(m["content"]) for m in request.get("messages", []) if m["role"] == "user")
    return "\n".join(itertools.chain.from_iterable(texts))


def learned(request: Json) -> dict[str, str]:
    """What a model would have read in this request: the last background task, the last subagent, the plan's file."""
    told = json.dumps(request.get("messages", []))
    return {
        "task": _last(r"background with ID: (\w+)", told),
        "agent": _last(r"agentId: (\w+)", told),
        "plan": _last(r"([\w./-]+/plans/[\w-]+\.md)", told),
    }


def _last(pattern: str, text: str) -> str:
    return next(reversed(re.findall(pattern, text)), "none")


def aside_of(request: Json, text: str) -> tuple[str, Reply | None]:
    """What kind of request this is, and the answer if it is none of the story."""
    tools = request.get("tools", [])
    if WARM_UP.search(text):
        return "warmup", reply(Say("Ready."))
    if SUMMARY_WISH in text.rsplit("<command-name>", 1)[-1]:
        return "summary", reply(
            Say("<analysis>Short.</analysis>\n<summary>The work so far, in short.</summary>")
        )
    if tools and all(str(t.get("type", "")).startswith("web_search") for t in tools):
        return "web_search", reply(*_search_blocks())
    if not tools:
        return "helper", reply(Say('{"isNewTopic": true, "title": "A scripted title"}'))
    return "story", None


def _texts(content: str | Sequence[Mapping[str, Any]]) -> list[str]:
    if isinstance(content, str):
        return [content]
    return [str(b["text"]) for b in content if b.get("type") == "text"]


def _search_blocks() -> list[Wire | Say]:
    ident = "srvtoolu_01" + "SearchSearchSearchSear"
    found = {
        "type": "web_search_result",
        "title": "Flight recorders",
        "url": "https://example.com/recorders",
        "encrypted_content": "ZW5jcnlwdGVk",
        "page_age": None,
    }
    return [
        Wire(
            {
                "type": "server_tool_use",
                "id": ident,
                "name": "web_search",
                "input": {"query": "flight recorder"},
            }
        ),
        Wire({"type": "web_search_tool_result", "tool_use_id": ident, "content": [found]}),
        Say("One page was found."),
    ]


def _stop_reason(answer: Reply, blocks: Sequence[Json]) -> str:
    if answer.stop_reason is not None:
        return answer.stop_reason
    return "tool_use" if any(b["type"] == "tool_use" for b in blocks) else "end_turn"


def _error(answer: Reply) -> Json:
    kind = ERRORS.get(answer.status, "api_error")
    return {"type": "error", "error": {"type": kind, "message": answer.error}}


def _block_events(j: int, block: Json) -> Iterator[Json]:
    start, deltas = _opened(block)
    yield {"type": "content_block_start", "index": j, "content_block": start}
    for delta in deltas:
        yield {"type": "content_block_delta", "index": j, "delta": delta}
    yield {"type": "content_block_stop", "index": j}


def _opened(block: Json) -> tuple[Json, list[Json]]:
    match block["type"]:
        case "text":
            return block | {"text": ""}, [{"type": "text_delta", "text": t} for t in _pieces(block["text"])]
        case "thinking":
            thoughts = [{"type": "thinking_delta", "thinking": t} for t in _pieces(block["thinking"])]
            closing = {"type": "signature_delta", "signature": block["signature"]}
            return block | {"thinking": "", "signature": ""}, [*thoughts, closing]
        case "tool_use" | "server_tool_use":
            sent = block.get("raw") or json.dumps(block["input"])
            start = {k: v for k, v in block.items() if k != "raw"} | {"input": {}}
            return start, [{"type": "input_json_delta", "partial_json": t} for t in _pieces(sent)]
        case _:
            return block, []


def _pieces(text: str) -> list[str]:
    size = max(20, len(text) // PIECES)
    return [text[i : i + size] for i in range(0, len(text), size)]
