"""Translate Codex's messages and thoughts: by the model, a person, the client, or another agent.

Rules
  1. A model's item always gives `ModelReplied`, with its request.
  2. Each text of a message in the user's name is classified by itself: a real prompt may be next to a text of the
     client. The texts that are left form one prompt.
  3. If the client states the kind of a text (`content_item_kinds`), that counts. Otherwise a text is the client's
     if it starts with one of its markers, and ends with the closing tag if there is one: a prompt that quotes a
     tag is a prompt.
  4. A prompt is given once, however often the file has it (translate/state.py).
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import msgspec

from tracklog.agents.codex.records import items
from tracklog.agents.codex.translate.state import Memory, Where
from tracklog.model.events import (
    CommandPrinted,
    CommandRun,
    End,
    LogEvent,
    ModelReplied,
    PromptGiven,
    SessionDescribed,
    StrangeSeen,
    TaskSeen,
    TextInjected,
)
from tracklog.model.ids import TaskId
from tracklog.model.records import UnknownPart

_TAGS = {
    "user_instructions": "instructions",
    "instructions": "instructions",
    "environment_context": "environment",
    "skill": "skill",
    "user_shell_command": "shell",
    "turn_aborted": "interrupt",
    "subagent_notification": "notification",
    "codex_internal_context": "goal",
    "goal_context": "goal",
    "recommended_plugins": "plugins",
    "hook_prompt": "hook",
    "user_action": "review",
    "permissions instructions": "permissions",
    "collaboration_mode": "mode",
    "multi_agent_mode": "mode",
    "multi_agent_role": "mode",
    "managed_developer_instructions": "instructions",
    "model_switch": "model",
    "personality_spec": "personality",
    "apps_instructions": "apps",
    "skills_instructions": "skill",
    "plugins_instructions": "plugins",
    "environments_instructions": "environment",
    "git_attribution": "git",
    "context_window": "context_window",
    "context_window_guidance": "context_window",
    "token_budget": "context_window",
    "rollout_budget": "context_window",
    "current_time_reminder": "reminder",
    "image_resize_notice": "image",
    "realtime_conversation": "spoken",
    "tools": "tools",
}
_PREFIXES = (
    ("# AGENTS.md instructions", "instructions"),
    ("Another language model started to solve this problem", "summary"),
    ("Warning: The maximum number of unified exec processes", "warning"),
    ("Warning: apply_patch was requested via ", "warning"),
    ("Warning: Your account was flagged", "warning"),
)
_OPENING = re.compile(r"\s*<(permissions instructions|[a-z_]+)(?:[ ][^<>\n]*)?>", re.IGNORECASE)
_PICTURE_TAG = re.compile(r"\s*</?image(?: [^>]{0,4000})?>\s*\Z")
_MAIL_HEAD = re.compile(r"Message Type: (\w+)\n(?:[^\n]*\n){0,5}?Payload:\n?")
_EXIT = re.compile(r"\s*Exit code: (-?\d{1,9})")
_ENDS: dict[str, End] = {
    "pending_init": "running",
    "running": "running",
    "completed": "ok",
    "errored": "error",
    "interrupted": "killed",
    "shutdown": "killed",
}


class ShellLine(NamedTuple):
    """A command that the person ran with `!`, and what it printed."""

    command: str
    printed: str
    is_error: bool


class SubagentNotice(NamedTuple):
    """How a subagent is doing."""

    agent: str
    end: End
    text: str


class Mail(NamedTuple):
    """A message from one agent to another."""

    kind: str | None
    text: str


def injected_as(text: str, stated: str | None = None) -> str | None:
    """Why the client put this text there, or None if a person may have written it."""
    if stated is not None and stated.startswith("user."):
        return None
    for prefix, why in _PREFIXES:
        if text.startswith(prefix):
            return why
    found = _OPENING.match(text)
    if found:
        tag = found[1].lower()
        why = _TAGS.get(tag) or ("external" if tag.startswith("external_") else "")
        if why and text.rstrip().lower().endswith(f"</{tag}>"):
            return why
    return stated.rpartition(".")[2] if stated else None


def is_picture_tag(text: str) -> bool:
    """Whether a text is only the wrapping of an attached picture."""
    return text.lstrip().startswith(("<image", "</image")) and _PICTURE_TAG.match(text) is not None


def inside(text: str, tag: str) -> str | None:
    """The text between a tag and its end."""
    _, opened, rest = text.partition(f"<{tag}>")
    body, closed, _ = rest.rpartition(f"</{tag}>")
    return body.strip("\n") if opened and closed else None


def shell_line(text: str) -> ShellLine:
    """The command in a `<user_shell_command>`."""
    command, result = inside(text, "command"), inside(text, "result") or ""
    code = _EXIT.match(result)
    return ShellLine(command or "", result, is_error=code is not None and int(code[1]) != 0)


def notice(text: str) -> SubagentNotice | None:
    """What a `<subagent_notification>` tells."""
    try:
        body = msgspec.json.decode((inside(text, "subagent_notification") or "").encode())
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    if not isinstance(body, dict):
        return None
    agent, status = body.get("agent_id") or body.get("agent_path"), how_ended(body.get("status"))
    return SubagentNotice(agent, *status) if isinstance(agent, str) and status else None


def how_ended(status: Any) -> tuple[End, str] | None:
    """A subagent's status: a word, or a word with its last words."""
    if isinstance(status, dict) and len(status) == 1:
        word, said = next(iter(status.items()))
    else:
        word, said = status, ""
    end = _ENDS.get(word) if isinstance(word, str) else None
    return (end, said if isinstance(said, str) else "") if end else None


def read_mail(text: str) -> Mail:
    """The kind and the payload of a message between agents."""
    found = _MAIL_HEAD.match(text)
    return Mail(found[1], text[found.end() :]) if found else Mail(None, text)


def is_cipher(text: str) -> bool:
    """Whether a text is opaque: a Fernet token. Others are plain in spite of the field's name."""
    return text.startswith("gAAAAA")


def message(item: items.Message, where: Where, memory: Memory) -> list[LogEvent]:
    """What a message says, by whose name it bears."""
    if item.role == "assistant":
        # The compaction has the summary; it is no message of the conversation.
        text = "" if memory.is_summary else "\n".join(text for text, _ in _texts(item))
        return reply(item, where, memory, text=text, is_last=item.phase == "final_answer")
    memory.end_request()
    where = with_turn(item, where)
    if item.role == "user":
        return _user(item, where, memory)
    return [
        TextInjected(**where, why=injected_as(text, stated) or item.role, text=text)
        for text, stated in _texts(item)
    ]


def agent_message(item: items.AgentMailItem, where: Where, memory: Memory) -> list[LogEvent]:
    """What one agent wrote to another."""
    memory.end_request()
    where = with_turn(item, where)
    shown = [text for part in item.content if not is_cipher(text := _mail_text(part))]
    return mail("".join(shown), where, memory)


def mail(text: str, where: Where, memory: Memory) -> list[LogEvent]:
    """A task from the agent above is a subagent's prompt; all other mail is the client's to show."""
    read, is_task = read_mail(text), memory.origin == "agent" and memory.mail_triggers
    memory.mail_triggers = False
    if read.kind == "NEW_TASK" or (read.kind is None and is_task):
        return [PromptGiven(**where, text=read.text, origin="agent")]
    return [TextInjected(**where, why="peer", text=text)]


def reasoning(item: items.Reasoning, where: Where, memory: Memory) -> list[LogEvent]:
    """What the model thought, where the log keeps it readable."""
    parts = [*item.summary, *(item.content or [])]
    thinking = "\n\n".join(part.text for part in parts if not isinstance(part, UnknownPart))
    hidden = not thinking and bool(item.encrypted_content)
    return reply(item, where, memory, thinking=thinking, has_hidden_thought=hidden)


def reply(
    item: items.Item,
    where: Where,
    memory: Memory,
    *,
    text: str = "",
    thinking: str = "",
    has_hidden_thought: bool = False,
    is_last: bool = False,
) -> list[LogEvent]:
    """A part of the answer to the request that is open."""
    is_synthetic, memory.is_after_review = memory.is_after_review, False
    replied = ModelReplied(
        **with_turn(item, where),
        request=memory.request(),
        model=memory.model,
        text=text,
        thinking=thinking,
        has_hidden_thought=has_hidden_thought,
        is_last=is_last,
        is_synthetic=is_synthetic,
        effort=memory.effort,
    )
    return [*memory.prompts.settle(), replied]


def with_turn(item: items.Item, where: Where) -> Where:
    """The same place, in the turn that the item names."""
    turn = item.turn_id
    return where if turn is None or turn == where["turn"] else {**where, "turn": turn}


def _user(item: items.Message, where: Where, memory: Memory) -> list[LogEvent]:
    events: list[LogEvent] = []
    words: list[str] = []
    for text, stated in _texts(item):
        why = injected_as(text, stated)
        if why is not None:
            events += _injected(why, text, where, memory)
        elif not is_picture_tag(text):
            words.append(text)
    n_images = n_pictures(item.content)
    if not words and n_images and memory.n_pictures_due:
        memory.n_pictures_due -= 1
        memory.n_picture_mirrors_due += 1
        return [*events, TextInjected(**where, why="image", text="")]
    if words or n_images:
        prompt = PromptGiven(**where, text="\n".join(words), origin=memory.origin, n_images=n_images)
        has_no_mirror = memory.is_bare or memory.is_inherited
        events += memory.prompts.heard(prompt, has_no_mirror=has_no_mirror)
    return [*events, *_strange_parts(item, where)]


def _injected(why: str, text: str, where: Where, memory: Memory) -> list[LogEvent]:
    if why == "shell":
        line = shell_line(text)
        printed = CommandPrinted(**where, text=line.printed, is_error=line.is_error)
        return [CommandRun(**where, kind="shell", name=line.command), printed]
    events: list[LogEvent] = [TextInjected(**where, why=why, text=text)]
    if why == "notification" and (told := notice(text)):
        events.append(TaskSeen(**where, task=TaskId(told.agent), end=told.end, text=told.text))
    if why == "environment" and memory.is_bare and (cwd := inside(text, "cwd")):
        memory.described["cwd"] = cwd
        events.append(SessionDescribed(**where, **memory.described))
    return events


def _texts(item: items.Message) -> list[tuple[str, str | None]]:
    """The texts of a message, each with the kind that the client states for it."""
    if isinstance(item.content, str):
        return [(item.content, None)]
    said = item.passthrough or item.metadata
    kinds = said.content_item_kinds if said is not None and said.content_item_kinds else []
    stated = kinds if len(kinds) == len(item.content) else [None] * len(item.content)
    parts = zip(item.content, stated, strict=True)
    return [
        (part.text, kind) for part, kind in parts if isinstance(part, (items.InputText, items.OutputText))
    ]


def _mail_text(part: Any) -> str:
    return part.encrypted_content if isinstance(part, items.EncryptedContent) else getattr(part, "text", "")


def n_pictures(content: Any) -> int:
    """How many parts of a message or an output are pictures."""
    parts = content if isinstance(content, list) else []
    return sum(isinstance(part, items.InputImage) for part in parts)


def _strange_parts(item: items.Message, where: Where) -> list[LogEvent]:
    parts = item.content if isinstance(item.content, list) else []
    unknown = [part for part in parts if isinstance(part, UnknownPart)]
    return [StrangeSeen(**where, kind=part.name, problem=part.why) for part in unknown]
