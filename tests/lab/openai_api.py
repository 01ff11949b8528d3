"""A scripted stand-in for the OpenAI Responses API, for the real Codex.

Rules of this room
  1. Only `response.completed` carries usage; a stream that breaks before it was never paid for.
  2. A tool is offered by its name, or inside a namespace (MCP servers): both count as offered.
"""

from __future__ import annotations

import base64
import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from tests.lab.loopback import Cut, Door, Exchange, Hold, Part, ScriptedApi
from tests.lab.script import Script, Turn, filled
from tests.lab.words import Call, Freeform, Json, Reply, Say, Settled, Think, Wire, reply

SUMMARY_WISH = "CONTEXT CHECKPOINT COMPACTION"
TITLE_WISH = "Generate a concise, single-line task title"


class OpenAiApi(ScriptedApi):
    """Answers Responses requests from a script."""

    models: ClassVar[Json] = {"models": []}

    def __init__(self, script: Script, holes: Mapping[str, str]) -> None:
        super().__init__()
        self._script = script
        self._holes = holes

    def post(self, path: str, request: Json, door: Door) -> None:
        if path.split("?")[0].endswith("/responses"):
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
        offered = offered_tools(request)
        blocks = filled(turn.blocks, {**self._holes, **learned(request)})
        items = [self._item(turn, j, flattened(b, offered)) for j, b in enumerate(blocks)]
        exchange.blocks = [i["type"] for i in items]
        exchange.meant = self._usage(turn)
        headers = {"x-request-id": exchange.request_id}
        door.send_stream(self._events(turn, items, exchange), exchange, headers=headers)

    def _turn(self, request: Json) -> tuple[str, Turn]:
        texts = person_texts(request)
        last = texts[-1] if texts else ""
        if SUMMARY_WISH in last:
            return "summary", self._script.aside("summary", reply(Say("The work so far, in short.")))
        if last.startswith(TITLE_WISH):
            return "helper", self._script.aside("helper", reply(Say('{"title": "Look around"}')))
        return "story", self._script.next("\n".join(texts), offered_tools(request))

    def _exchange(self, kind: str, turn: Turn, request: Json) -> Exchange:
        exchange = Exchange(
            n=0,
            thread=turn.thread,
            k=turn.k,
            kind=kind,
            model=request.get("model", ""),
            message_id="resp_0" + self._script.token(turn, "response", 40).lower(),
            request_id="req_" + self._script.token(turn, "request").lower(),
        )
        self.record(exchange, request)
        return exchange

    def _item(self, turn: Turn, j: int, block: Settled) -> Json:
        token = self._script.token(turn, f"item{j}", 24)
        match block:
            case Say(text):
                content = [{"type": "output_text", "text": text, "annotations": []}]
                return {"type": "message", "id": f"msg_{token}", "role": "assistant", "content": content}
            case Think(text):
                summary = [{"type": "summary_text", "text": text}]
                hidden = base64.b64encode(token.encode()).decode()
                return {
                    "type": "reasoning",
                    "id": f"rs_{token}",
                    "summary": summary,
                    "encrypted_content": hidden,
                }
            case Call(names, args, raw, space):
                sent = json.dumps(args) if raw is None else raw
                item = {"type": "function_call", "id": f"fc_{token}", "call_id": f"call_{token}"}
                return item | {"name": names[0], "arguments": sent} | ({"namespace": space} if space else {})
            case Freeform(names, text):
                item = {"type": "custom_tool_call", "id": f"ctc_{token}", "call_id": f"call_{token}"}
                return item | {"name": names[0], "input": text, "status": "completed"}
            case Wire(json_):
                return json_

    def _usage(self, turn: Turn) -> Json:
        cached = 5_000 + 900 * turn.k
        given = cached + self._script.number(turn, "input", 100, 900)
        thought = self._script.number(turn, "reasoning", 0, 90)
        spent = thought + self._script.number(turn, "output", 40, 600)
        return {
            "input_tokens": given,
            "input_tokens_details": {"cached_tokens": cached},
            "output_tokens": spent,
            "output_tokens_details": {"reasoning_tokens": thought},
            "total_tokens": given + spent,
            **turn.reply.usage,
        }

    def _events(self, turn: Turn, items: list[Json], exchange: Exchange) -> Iterator[Part]:
        base = {"id": exchange.message_id, "object": "response", "model": exchange.model}
        yield {"type": "response.created", "response": base | {"status": "in_progress", "output": []}}
        for j, item in enumerate([*items, None]):
            if turn.reply.cut_after == j:
                yield Cut()
            if turn.reply.hold_after == j:
                yield Hold()
            if item is not None:
                yield from _item_events(j, item)
        exchange.usage = self._usage(turn)
        done = base | {"status": "completed", "output": items, "usage": exchange.usage}
        yield {"type": "response.completed", "response": done}


def learned(request: Json) -> dict[str, str]:
    """The ids a model would have read in this request: of the last open shell or script, of the last subagent."""
    told = " ".join(str(i.get("output", "")) for i in request.get("input", []))
    tasks = re.findall(r"(?:session|cell) ID (\d+)", told)
    agents = re.findall(r'"agent_id": ?"([0-9a-f-]+)"', told)
    return {"task": tasks[-1] if tasks else "0", "agent": agents[-1] if agents else "none"}


def flattened(block: Settled, offered: set[str]) -> Settled:
    """Older clients offer `mcp__server__tool` in place of a namespace: then it is called by that name."""
    if isinstance(block, Call) and f"{block.space}__{block.names[0]}" in offered:
        return Call((f"{block.space}__{block.names[0]}",), block.args, raw=block.raw)
    return block


def offered_tools(request: Json) -> set[str]:
    """The names of all tools the client offers, those inside namespaces too."""
    names: set[str] = set()
    added = [t for i in request.get("input", []) if i.get("type") == "additional_tools" for t in i["tools"]]
    for tool in [*request.get("tools", []), *added]:
        names.add(tool.get("name") or tool.get("type", ""))
        names.update(t.get("name", "") for t in tool.get("tools", []))
    return names


def person_texts(request: Json) -> list[str]:
    """The plain text of each user message, and of each task that another agent gave to this one."""
    spoken = [
        i
        for i in request.get("input", [])
        if i.get("role") == "user" or i.get("recipient", "/root") != "/root"
    ]
    return ["\n".join(_texts(i["content"])) for i in spoken]


def _texts(content: str | Sequence[Mapping[str, Any]]) -> list[str]:
    if isinstance(content, str):
        return [content]
    return [str(part.get("text") or part.get("encrypted_content") or "") for part in content]


def _item_events(j: int, item: Json) -> Iterator[Json]:
    yield {"type": "response.output_item.added", "output_index": j, "item": item}
    if item["type"] == "message":
        for part in item["content"]:
            delta = {"type": "response.output_text.delta", "output_index": j, "content_index": 0}
            yield delta | {"item_id": item["id"], "delta": part["text"]}
    yield {"type": "response.output_item.done", "output_index": j, "item": item}


def _error(answer: Reply) -> Json:
    return {"error": {"type": "server_error", "code": None, "message": answer.error}}
