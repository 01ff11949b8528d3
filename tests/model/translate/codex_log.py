"""A Codex log as a user would find it, and what it is translated to."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, TypeVar

from tracklog.agents.codex.records import DOCUMENT_READER, READER
from tracklog.agents.codex.translate.translator import CodexTranslator
from tracklog.agents.reader import Reader
from tracklog.model.events import LogEvent
from tracklog.sources.lines import Line

PATH = "sessions/rollout-1.jsonl"
AT = "2026-11-15T10:00:00.000Z"
Line_ = dict[str, Any]
E = TypeVar("E", bound=LogEvent)


def line(kind: str, payload: Line_, **more: Any) -> Line_:
    return {"timestamp": AT, "type": kind, "payload": payload, **more}


def meta(ident: str = "t1", **fields: Any) -> Line_:
    known = {
        "id": ident,
        "cwd": "/work",
        "originator": "codex-tui",
        "cli_version": "0.166.0",
        "source": "cli",
    }
    return line("session_meta", {**known, **fields})


def item(kind: str, /, **fields: Any) -> Line_:
    return line("response_item", {"type": kind, **fields})


def event(kind: str, /, **fields: Any) -> Line_:
    return line("event_msg", {"type": kind, **fields})


def act(kind: str, ident: str, /, *, thread: str = "t1", **fields: Any) -> Line_:
    """An `item_completed` of the newer history."""
    times = {"started_at_ms": 1000, "completed_at_ms": 1250}
    done = {"type": kind, "id": ident, **fields}
    return event("item_completed", thread_id=thread, turn_id="u1", item=done, **times)


def said(role: str, *texts: str, **fields: Any) -> Line_:
    kind = "output_text" if role == "assistant" else "input_text"
    return item("message", role=role, content=[{"type": kind, "text": text} for text in texts], **fields)


def shown(text: str) -> Line_:
    """The mirror of a prompt in the newer history."""
    return act("UserMessage", "m1", content=[{"type": "text", "text": text}])


def call(name: str = "exec_command", ident: str = "c1", arguments: str = "{}", **fields: Any) -> Line_:
    return item("function_call", name=name, arguments=arguments, call_id=ident, **fields)


def output(text: Any, ident: str | None = "c1") -> Line_:
    return item("function_call_output", call_id=ident, output=text)


def raw(lines: Iterable[Line_]) -> bytes:
    return b"\n".join(json.dumps(one).encode() for one in lines)


def translated(*lines: Line_) -> list[LogEvent]:
    """What a file of these lines tells."""
    return translated_bytes(raw(lines))


def translated_bytes(log: bytes, reader: Reader = READER) -> list[LogEvent]:
    translator = CodexTranslator(PATH)
    return [told for piece in reader.read(cut(log)) for told in translator.translate(piece)]


def translated_document(document: Line_) -> list[LogEvent]:
    log = json.dumps(document, indent=2).encode()
    translator = CodexTranslator(PATH)
    return [
        told
        for piece in DOCUMENT_READER.read([Line(1, 0, len(log), log)])
        for told in translator.translate(piece)
    ]


def cut(log: bytes) -> list[Line]:
    lines, offset = [], 0
    for number, one in enumerate(log.split(b"\n"), 1):
        if one:
            lines.append(Line(number, offset, len(one), one))
        offset += len(one) + 1
    return lines


def only(told: list[LogEvent], kind: type[E]) -> list[E]:
    return [one for one in told if isinstance(one, kind)]


def facts(one: LogEvent, *names: str) -> tuple[Any, ...]:
    return tuple(getattr(one, name) for name in names)
