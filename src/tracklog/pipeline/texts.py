r"""What of a line can be searched.

Rules of this room
  1. A text is plain: of a tool's input the keys and values, without the JSON around them, so that a newline is one;
     of coloured output the words, without what the terminal would obey (`\x1b[31mError` is the word `Error`).
  2. What stands in another file too, and is kept there, is left out here; so is what a title only repeats.
  3. Of a longer text the first MOST_LETTERS count. Nothing that a log may hold makes this fail.
  4. It runs for every line of every log, so it looks at an event only once it knows that there is a text in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, cast

import msgspec

from tracklog.model.events import (
    CommandPrinted,
    CommandRun,
    ContextCompacted,
    Event,
    HookRan,
    ModelReplied,
    PromptGiven,
    RequestFailed,
    SessionTitled,
    TextInjected,
    ToolCalled,
    ToolReturned,
)
from tracklog.model.moments import NO_TIME, moment_ms
from tracklog.records.base import Piece, opened
from tracklog.store.texts import ROLES
from tracklog.store.values import Text

MOST_LETTERS = 1_000_000
_decode = msgspec.json.Decoder().decode
_MOST_DEEP = 50

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])")

Said = tuple[int, str, str | None, str | None]  # role, text, name, call
_PROMPT, _ANSWER, _THINKING = ROLES["prompt"], ROLES["answer"], ROLES["thinking"]
_INPUT, _RESULT, _CONTEXT = ROLES["input"], ROLES["result"], ROLES["context"]
_TITLE, _SUMMARY = ROLES["title"], ROLES["summary"]


def texts_of(piece: Piece, events: Sequence[Event]) -> list[Text]:
    """The texts of one piece of a log, in the order of the events that it gave.

    Of a result it is the fullest text: give the events with their output files filled in (full_results.py).
    """
    texts: list[Text] = []
    for event in events:
        said_by = _SAID_BY.get(type(event))
        if said_by is None or event.is_copy or (type(event) is CommandRun and _is_prompted(events)):
            continue
        for role, text, name, call in said_by(event):
            if text and not text.isspace():
                at_ms = _moment_or_none(event.at)
                if len(text) > MOST_LETTERS:
                    text = text[:MOST_LETTERS]
                text = without_escapes(text)
                texts.append(Text(event.place.line, piece.offset, len(texts), role, at_ms, name, call, text))
    return texts


def without_escapes(text: str) -> str:
    """The words of coloured output, without what a terminal would obey."""
    return _ESCAPES.sub("", text) if "\x1b" in text else text


def _moment_or_none(text: str | None) -> int | None:
    at_ms = moment_ms(text)
    return None if at_ms == NO_TIME else at_ms


def _prompt(event: PromptGiven) -> list[Said]:
    return [(_PROMPT, event.text, None, None)]


def _command(event: CommandRun) -> list[Said]:
    line = f"{event.name} {event.arguments}" if event.kind == "slash" else f"!{event.name}"
    return [(_PROMPT, line.rstrip(), None, None)]


def _is_prompted(events: Sequence[Event]) -> bool:
    """Whether the same record tells of the command as a prompt, too."""
    return any(type(event) is PromptGiven for event in events)


def _reply(event: ModelReplied) -> list[Said]:
    said: list[Said] = [(_THINKING, event.thinking, event.model, None)] if event.thinking else []
    if event.text:
        said.append((_ANSWER, event.text, event.model, None))
    return said


def _input(event: ToolCalled) -> list[Said]:
    return [(_INPUT, plain(event.input), event.name, event.call)]


def _result(event: ToolReturned) -> list[Said]:
    said: list[Said] = [(_RESULT, event.fullest_text, None, event.call)]
    if event.feedback and event.feedback not in event.text:
        said.append((_PROMPT, event.feedback, None, event.call))
    return said


def _injected(event: TextInjected) -> list[Said]:
    return [(_SUMMARY if event.why == "summary" else _CONTEXT, event.text, None, None)]


def _spoken(event: CommandPrinted | HookRan | RequestFailed) -> list[Said]:
    return [(_CONTEXT, event.text, None, None)]


def _title(event: SessionTitled) -> list[Said]:
    return [] if event.source == "last_prompt" else [(_TITLE, event.title, None, None)]


def _compacted(event: ContextCompacted) -> list[Said]:
    return [(_SUMMARY, event.summary, None, None)]


_SAID_BY = cast(
    dict[type[Event], Callable[[Event], list[Said]]],
    {
        PromptGiven: _prompt,
        CommandRun: _command,
        CommandPrinted: _spoken,
        ModelReplied: _reply,
        ToolCalled: _input,
        ToolReturned: _result,
        TextInjected: _injected,
        HookRan: _spoken,
        RequestFailed: _spoken,
        SessionTitled: _title,
        ContextCompacted: _compacted,
    },
)


def plain(raw: msgspec.Raw) -> str:
    """A tool's input as a person would read it: a line for each value, with its key before it."""
    if not raw:
        return ""
    try:
        value = _decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        value = opened(raw)
    if value is None:
        return bytes(raw).decode("utf-8", "replace")
    lines: list[str] = []
    _put_lines(lines, value, key="", depth=0)
    return "\n".join(lines)


def _put_lines(lines: list[str], value: Any, *, key: str, depth: int) -> None:
    if isinstance(value, str):
        lines.append(f"{key}: {value}" if key else value)
    elif depth > _MOST_DEEP:
        lines.append(key)
    elif isinstance(value, dict):
        if key:
            lines.append(f"{key}:")
        for name, one in value.items():
            if type(one) is str and name:
                lines.append(f"{name}: {one}")
            else:
                _put_lines(lines, one, key=name, depth=depth + 1)
    elif isinstance(value, list):
        for one in value:
            _put_lines(lines, one, key=key, depth=depth + 1)
    elif value is not None:
        lines.append(f"{key}: {value}")
