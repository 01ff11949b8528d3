"""Translate the user records of Claude Code: prompts, results, interruptions, words of the client."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tracklog.agents.claude_code.records.context.attachments import QueuedCommand
from tracklog.agents.claude_code.records.envelope import Content, DocumentBlock, Image, Text, ToolResult
from tracklog.agents.claude_code.records.envelope import Origin as Cause
from tracklog.agents.claude_code.records.messages import UserLine
from tracklog.agents.claude_code.translate.results import returned
from tracklog.agents.claude_code.translate.texts import (
    INTERRUPTED,
    INTERRUPTED_IN_TOOL,
    command_of,
    inside,
    kind_of,
    notice_of,
)
from tracklog.model.events import (
    CommandPrinted,
    CommandRun,
    LogEvent,
    Origin,
    PromptGiven,
    TaskSeen,
    TextInjected,
    TurnInterrupted,
)
from tracklog.model.ids import CallId, RequestId, TaskId

Where = dict[str, Any]
_CONTEXT = ("ide", "reminder", "hook")


def user_said(record: UserLine, where: Where) -> list[LogEvent]:
    """The events of a user record."""
    content = record.message.content
    results = (
        [block for block in content if isinstance(block, ToolResult)] if isinstance(content, list) else []
    )
    if len(results) == len(content) == 1:  # nearly always
        return returned(record, results[0], where)
    if results:
        return [event for block in results for event in returned(record, block, where)] + _beside(
            content, where
        )
    text = text_of(content)
    if text.strip() in {INTERRUPTED, INTERRUPTED_IN_TOOL} and not _is_human(record.origin):
        return [_interrupted(record, text.strip(), where)]
    return list(_words(record, text, where))


def queued(record: QueuedCommand, where: Where) -> list[LogEvent]:
    """A prompt that was typed while the model worked, or a notice that came meanwhile."""
    text = text_of(record.prompt)
    origin = record.origin.kind if record.origin else None
    is_notice = record.command_mode == "task-notification" or origin == "task-notification"
    if is_notice or (origin is None and notice_of(text)):
        return [TextInjected(**where, why="notification", text=text), *noticed(text, where)]
    if record.is_meta or origin not in (None, "human"):
        return [TextInjected(**where, why=origin or "meta", text=text)]
    if _is_human(record.origin):
        return [PromptGiven(**_counted(record.prompt, where), text=text, origin="queued")]
    return list(_by_words(text, _counted(record.prompt, where), origin="queued"))


def noticed(text: str, where: Where) -> list[LogEvent]:
    """The event of a notice about something in the background."""
    notice = notice_of(text)
    if notice is None:
        return []
    return [
        TaskSeen(
            **where,
            task=TaskId(notice.task) if notice.task else None,
            call=CallId(notice.call) if notice.call else None,
            end=notice.end,
            description=notice.description,
            exit_code=notice.exit_code,
            text=notice.text,
        )
    ]


def command_markup(text: str, where: Where) -> list[LogEvent]:
    """A slash command, a line for the shell, or what they printed, from the markup around it."""
    kind = kind_of(text)
    if kind == "command":
        name, arguments = command_of(text)
        return [CommandRun(**where, kind="slash", name=name, arguments=arguments)]
    if kind == "shell":
        line = (inside(text, "bash-input") or "").strip()
        return [CommandRun(**where, kind="shell", name=line)]
    if kind in {"command_output", "shell_output"}:
        return [_printed(text, where)]
    return []


def text_of(content: Content) -> str:
    """The text of a message, its blocks joined by newlines."""
    if isinstance(content, str):
        return content
    texts = (
        block if isinstance(block, str) else block.text for block in content if isinstance(block, (str, Text))
    )
    return "\n".join(texts)


def _words(record: UserLine, text: str, where: Where) -> Iterator[LogEvent]:
    origin = record.origin.kind if record.origin else None
    if record.is_compact_summary:
        yield TextInjected(**where, why="summary", text=text)
    elif origin == "task-notification" or (origin is None and _is_notice(text)):
        yield TextInjected(**where, why="notification", text=text)
        yield from noticed(text, where)
    elif origin not in (None, "human"):
        yield TextInjected(**where, why=origin or "", text=text)
    elif record.is_meta:
        yield TextInjected(**where, why=_why_meta(record, text), text=text)
    else:
        content, context = _without_context(record.message.content)
        yield from (TextInjected(**where, why=kind_of(one) or "", text=one) for one in context)
        counted = _counted(content, where) | {"permission_mode": record.permission_mode}
        if _is_human(record.origin):
            yield PromptGiven(**counted, text=text_of(content), origin=_origin(record))
        else:
            yield from _by_words(text_of(content), counted, origin=_origin(record))


def _without_context(content: Content) -> tuple[Content, list[str]]:
    """A prompt without the blocks that the client put beside it, such as the file that is open in the editor."""
    if isinstance(content, str):
        return content, []
    context = [block for block in content if isinstance(block, Text) and kind_of(block.text) in _CONTEXT]
    rest = [block for block in content if block not in context]
    return (rest, [block.text for block in context]) if rest else (content, [])


def _is_human(origin: Cause | None) -> bool:
    """Whether the client itself says that a person typed it: then no words can make it anything else."""
    return origin is not None and origin.kind == "human"


def _is_notice(text: str) -> bool:
    """A whole notice; words of the client may follow it."""
    return text.startswith("<task-notification>") and "</task-notification>" in text


def _by_words(text: str, where: Where, *, origin: Origin) -> Iterator[LogEvent]:
    kind = kind_of(text)
    plain = {key: where[key] for key in where if key not in {"n_images", "n_documents", "permission_mode"}}
    if kind == "command":
        name, arguments = command_of(text)
        yield PromptGiven(**where, text=f"{name} {arguments}".rstrip(), origin="slash")
        yield CommandRun(**plain, kind="slash", name=name, arguments=arguments)
    elif kind == "shell":
        line = (inside(text, "bash-input") or "").strip()
        yield PromptGiven(**where, text=f"!{line}", origin="shell")
        yield CommandRun(**plain, kind="shell", name=line)
    elif kind in {"command_output", "shell_output"}:
        yield _printed(text, plain)
    elif kind is not None:
        yield TextInjected(**plain, why=kind, text=text)
    else:
        yield PromptGiven(**where, text=text, origin=origin)


def _printed(text: str, where: Where) -> CommandPrinted:
    if not text.lstrip().startswith("<"):
        return CommandPrinted(**where, text=text, is_error=True)  # no such command
    out = inside(text, "local-command-stdout") or inside(text, "bash-stdout") or ""
    error = inside(text, "local-command-stderr") or inside(text, "bash-stderr") or ""
    return CommandPrinted(**where, text=out or error, is_error=bool(error.strip()))


def _interrupted(record: UserLine, text: str, where: Where) -> TurnInterrupted:
    request = record.interrupted_message_id
    return TurnInterrupted(
        **where,
        in_tool=text == INTERRUPTED_IN_TOOL,
        request=RequestId(request) if request else None,
        is_headless=record.entrypoint == "sdk-cli",
    )


def _beside(content: Content, where: Where) -> list[LogEvent]:
    """Texts in the same record as results: the client's additions, an interruption among them."""
    found: list[LogEvent] = []
    for block in content if isinstance(content, list) else []:
        text = block.text if isinstance(block, Text) else ""
        if text.strip() in {INTERRUPTED, INTERRUPTED_IN_TOOL}:
            found.append(TurnInterrupted(**where, in_tool=text.strip() == INTERRUPTED_IN_TOOL))
        elif text:
            found.append(TextInjected(**where, why=kind_of(text) or "beside_result", text=text))
    return found


def _origin(record: UserLine) -> Origin:
    if record.is_sidechain:
        return "agent"
    return "sdk" if record.prompt_source == "sdk" or record.entrypoint == "sdk-cli" else "typed"


def _why_meta(record: UserLine, text: str) -> str:
    if record.source_tool_use_id:
        return "skill"
    return kind_of(text) or "meta"


def _counted(content: Content, where: Where) -> Where:
    blocks = content if isinstance(content, list) else []
    n_images = sum(isinstance(block, Image) for block in blocks)
    n_documents = sum(isinstance(block, DocumentBlock) for block in blocks)
    return {**where, "n_images": n_images, "n_documents": n_documents}
