"""Lines of a Claude Code log as its user would find them, and what becomes of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, TypeVar

from tracklog.agents.claude_code.records import READER
from tracklog.agents.claude_code.translate.translator import ClaudeTranslator
from tracklog.agents.reader import Reader
from tracklog.model.assemble.session import assemble
from tracklog.model.events import HookRan, LogEvent, SessionDescribed
from tracklog.model.fold.log import FileFold
from tracklog.model.ids import MAIN, SessionId, ThreadId
from tracklog.model.session import Session
from tracklog.sources.lines import cut

LOG = "one.jsonl"
REJECTED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, "
    "the new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to proceed."
)
STOPPED = "[Request interrupted by user for tool use]"
Line = dict[str, Any]
E = TypeVar("E", bound=LogEvent)


def at(second: float) -> str:
    """A time within the one minute in which all of this happens."""
    return f"2026-11-15T10:00:{second:06.3f}Z"


def record(kind: str, id: str, parent: str | None, **more: Any) -> Line:
    return {"type": kind, "uuid": id, "parentUuid": parent, "sessionId": "s1", **more}


def user(id: str, parent: str | None, content: Any, **more: Any) -> Line:
    return record("user", id, parent, message={"role": "user", "content": content}, **more)


def reply(id: str, parent: str | None, request: str, *content: Line | str, **more: Any) -> Line:
    """A line of the model's answer; a text stands for its block."""
    blocks = [{"type": "text", "text": one} if isinstance(one, str) else one for one in content]
    said = {"id": request, "role": "assistant", "model": "claude-x", "content": blocks}
    return record("assistant", id, parent, message=said | more.pop("message", {}), **more)


def use(call: str, name: str = "Bash", **input: Any) -> Line:
    return {"type": "tool_use", "id": call, "name": name, "input": input}


def block(call: str | None, content: Any = "done", **more: Any) -> Line:
    return {"type": "tool_result", "tool_use_id": call, "content": content, **more}


def result(
    id: str,
    parent: str | None,
    call: str | None,
    content: Any = "done",
    *,
    is_error: bool = False,
    **more: Any,
) -> Line:
    return user(id, parent, [block(call, content, is_error=is_error)], **more)


def attachment(id: str, parent: str | None, kind: str, /, **fields: Any) -> Line:
    return record("attachment", id, parent, attachment={"type": kind, **fields})


def notice(task: str, status: str, **tags: str) -> str:
    """A notice as the client puts it into the conversation."""
    told = {"task-id": task, "status": status, **{tag.replace("_", "-"): text for tag, text in tags.items()}}
    body = "\n".join(f"<{tag}>{text}</{tag}>" for tag, text in told.items())
    return f"<task-notification>\n{body}\n</task-notification>"


def log(lines: Iterable[Line | bytes]) -> bytes:
    return b"\n".join(line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines)


def told(*lines: Line | bytes, path: str = LOG, reader: Reader = READER) -> list[LogEvent]:
    """All that a file of these lines tells."""
    translator = ClaudeTranslator(path)
    return [event for piece in reader.read(cut([log(lines)])) for event in translator.translate(piece)]


def said(*lines: Line | bytes) -> list[LogEvent]:
    """What the lines tell, how they describe themselves left out."""
    return [event for event in told(*lines) if not isinstance(event, SessionDescribed)]


def facts(event: LogEvent, *names: str) -> tuple[Any, ...]:
    return tuple(getattr(event, name) for name in names)


def only(events: Iterable[LogEvent], kind: type[E]) -> list[E]:
    return [event for event in events if isinstance(event, kind)]


def folded(*lines: Line | bytes, path: str = LOG, thread: str = MAIN, reader: Reader = READER) -> FileFold:
    fold = FileFold(path, ThreadId(thread))
    fold.add(told(*lines, path=path, reader=reader))
    return fold


def session(
    *parts: Line | bytes | FileFold,
    is_alive: bool | None = None,
    now: datetime | None = None,
    heard: Sequence[HookRan] = (),
) -> Session:
    """The session that some lines of its main log tell, with the folds of its other logs."""
    lines = [part for part in parts if not isinstance(part, FileFold)]
    folds = [part for part in parts if isinstance(part, FileFold)]
    main = [folded(*lines)] if lines else []
    return assemble(
        [*main, *folds], session=SessionId("s1"), agent="claude", is_alive=is_alive, now=now, heard=heard
    )
