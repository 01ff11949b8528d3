"""What a text in the user's or developer's name is: words of a person, or of the client.

Rules of this room
  1. Where the client states the kind of a text (`content_item_kinds`), that counts.
  2. Else a text is the client's if it starts with one of its markers, and ends with the closing tag where there is
     one: a prompt that quotes a tag is a prompt.
  3. Every text is judged for itself: a real prompt may stand beside an envelope in one message.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import msgspec

from tracklog.model.events import End

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


class Notice(NamedTuple):
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
    """What stands between a tag and its end."""
    _, opened, rest = text.partition(f"<{tag}>")
    body, closed, _ = rest.rpartition(f"</{tag}>")
    return body.strip("\n") if opened and closed else None


def shell_line(text: str) -> ShellLine:
    """The command in a `<user_shell_command>`."""
    command, result = inside(text, "command"), inside(text, "result") or ""
    code = _EXIT.match(result)
    return ShellLine(command or "", result, is_error=code is not None and int(code[1]) != 0)


def notice(text: str) -> Notice | None:
    """What a `<subagent_notification>` tells."""
    try:
        body = msgspec.json.decode((inside(text, "subagent_notification") or "").encode())
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    if not isinstance(body, dict):
        return None
    agent, status = body.get("agent_id") or body.get("agent_path"), how_ended(body.get("status"))
    return Notice(agent, *status) if isinstance(agent, str) and status else None


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
