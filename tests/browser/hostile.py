"""Homes in which every text attacks: real and made logs whose values are replaced one by one.

Rules of this room
  1. A log stays a log: what joins its records (ids, parents, times) keeps joining them, so that all of it is shown.
  2. Which values are replaced is the difference between the ways: what is said, what things are called, everything.
  3. Each value gets an attack of its own, in turn; `Hostile.where` says which value a mark stands for.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.browser.attacks import ATTACKS, MARKDOWN, SCRIPTS, armed

Json = dict[str, Any]

# What joins records, or says what they are: without it there is nothing to show.
_JOINTS = frozenset(
    (
        "type", "subtype", "uuid", "parentUuid", "logicalParentUuid", "sessionId", "timestamp", "tool_use_id", "id",
        "leafUuid", "requestId", "role", "sourceToolAssistantUUID", "toolUseID", "parentToolUseID", "agentId", "call_id",
        "turn_id", "thread_id", "session_id", "parent_thread_id", "stop_reason", "operation", "hookEvent", "status",
        "trigger", "history_mode", "interruptedMessageId", "promptId", "messageId", "toolUseId", "parentAgentId", "data",
        "signature", "encrypted_content", "media_type", "arguments",
    )
)  # fmt: skip
# What things are called; the reader looks at them too.
_NAMES = frozenset(
    (
        "name", "model", "version", "gitBranch", "cwd", "agentType", "cli_version", "slug", "hookName", "subagent_type",
        "entrypoint", "userType", "permissionMode", "mode", "originator", "source", "branch", "namespace", "tool",
    )
)  # fmt: skip
_LONG = frozenset(
    ("text", "thinking", "content", "stdout", "message", "output", "prompt", "plan", "aggregated_output")
)
_IN_TURN = list(ATTACKS)


@dataclass
class Hostile:
    """Arms values; knows what it armed."""

    canary: str
    where: dict[str, str] = field(default_factory=dict)
    n_texts: int = 0

    def arm(self, place: str, *, name: str | None = None) -> str:
        """The next attack, for this place."""
        mark = f"m{len(self.where)}m"
        name = name or _IN_TURN[len(self.where) % len(_IN_TURN)]
        self.where[mark] = f"{name} in {place}"
        return armed(name, mark=mark, canary=self.canary)

    def arm_all(self, place: str) -> str:
        """All that can be said at once, as a text of a conversation may."""
        names = [*SCRIPTS, *MARKDOWN]
        return "\n\n".join(self.arm(place, name=name) for name in names)


def said(record: Json, hostile: Hostile, place: str) -> Json:
    """The record with everything that it says replaced, its joints and names kept."""

    def change(key: str, value: str, path: str) -> str:
        return value if key in _JOINTS or key in _NAMES else _armed_text(hostile, key, path)

    changed: Json = _walk(record, change, place)
    return changed


def named(record: Json, hostile: Hostile, place: str) -> Json:
    """The record with all that it calls by a name replaced: tools, models, versions, folders, branches, keys of inputs."""

    def change(key: str, value: str, path: str) -> str:
        return hostile.arm(path) if key in _NAMES else value

    return _with_keys(_walk(record, change, place), hostile, place)


def _with_keys(record: Json, hostile: Hostile, place: str) -> Json:
    """Inputs of tools with hostile keys."""
    message = record.get("message")
    for block in message.get("content", []) if isinstance(message, dict) else []:
        if isinstance(block, dict) and isinstance(block.get("input"), dict):
            block["input"] = {hostile.arm(f"{place}.input key"): value for value in block["input"].values()}
    return record


def whole(record: Json, hostile: Hostile, place: str) -> Json:
    """Every text replaced but what joins: kinds of lines and blocks too, and numbers are texts."""
    kept = _JOINTS - {
        "type",
        "subtype",
        "status",
        "operation",
        "role",
        "stop_reason",
        "hookEvent",
        "trigger",
        "media_type",
    }

    def change(key: str, value: str, path: str) -> str:
        return value if key in kept else hostile.arm(path)

    changed: Json = _walk(record, change, place, numbers=True)
    return changed


Way = Callable[[Json, Hostile, str], Json]
WAYS: dict[str, Way] = {"said": said, "named": named, "whole": whole}


def _armed_text(hostile: Hostile, key: str, path: str) -> str:
    """One attack, or, in every fifth text of a conversation, all that fit there."""
    if key not in _LONG:
        return hostile.arm(path)
    hostile.n_texts += 1
    return hostile.arm_all(path) if hostile.n_texts % 5 == 1 else hostile.arm(path)


def _walk(
    value: Any, change: Callable[[str, str, str], str], path: str, *, key: str = "", numbers: bool = False
) -> Any:
    if isinstance(value, str):
        return change(key, value, path)
    if isinstance(value, int | float) and not isinstance(value, bool) and numbers:
        return change(key, str(value), path)
    if isinstance(value, list):
        return [_walk(one, change, path, key=key, numbers=numbers) for one in value]
    if isinstance(value, dict):
        return {
            name: _walk(one, change, f"{path}.{name}", key=name, numbers=numbers)
            for name, one in value.items()
        }
    return value


def hostile_lines(lines: Iterator[bytes], way: Way, hostile: Hostile, place: str) -> Iterator[bytes]:
    """The lines of a log, armed; those that are no JSON stay."""
    for n, line in enumerate(lines, 1):
        try:
            record = json.loads(line)
        except ValueError:
            yield line
            continue
        armed_record = way(record, hostile, f"{place}:{n}") if isinstance(record, dict) else record
        yield json.dumps(armed_record).encode()


_PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
_SCRIPT = b"<script>__pwned('picture')</script>"
# What a log says is a picture, and as what it may be served: by its own first bytes, or not at all.
PICTURES: dict[str, tuple[bytes, str | None]] = {
    "png": (_PIXEL, "image/png"),
    "png-and-page": (_PIXEL + b"<!doctype html>" + _SCRIPT, "image/png"),
    "gif-and-script": (b"GIF89a=1;__pwned('picture');//" + _SCRIPT, "image/gif"),
    "jpeg-and-page": (b"\xff\xd8\xff\xe0<!--" + _SCRIPT, "image/jpeg"),
    "svg": (b"<svg xmlns='http://www.w3.org/2000/svg' onload=\"__pwned('picture')\">" + _SCRIPT + b"</svg>", None),
    "svg-behind-a-mark": (b"\xef\xbb\xbf<?xml version='1.0'?><svg xmlns='http://www.w3.org/2000/svg'/>", None),
    "page": (b"<!doctype html>" + _SCRIPT, None),
    "pdf": (b"%PDF-1.7\n", None),
    "empty": (b"", None),
}  # fmt: skip


def picture_lines(session: str) -> Iterator[bytes]:
    """A log of one picture a line; each is said to be a PNG."""
    for n, (data, _) in enumerate(PICTURES.values(), 1):
        source = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(data).decode()}
        content = [{"type": "text", "text": "look"}, {"type": "image", "source": source}]
        joints = {"uuid": f"u{n}", "parentUuid": f"u{n - 1}" if n > 1 else None, "sessionId": session}
        said = {"timestamp": f"2025-08-06T17:52:{n:02}.000Z", "cwd": "/work/app", "version": "2.1.325"}
        line = {"type": "user", **joints, **said, "message": {"role": "user", "content": content}}
        yield json.dumps(line).encode()


def arm_log(
    source: Path, target: Path, way: Way, hostile: Hostile, *, renamed: tuple[str, str] = ("", "")
) -> None:
    """Writes a hostile copy of a log, with one id replaced by another wherever it stands."""
    old, new = (part.encode() for part in renamed)
    data = source.read_bytes().replace(old, new) if old else source.read_bytes()
    target.parent.mkdir(parents=True, exist_ok=True)
    lines = hostile_lines(iter(data.splitlines()), way, hostile, target.name)
    target.write_bytes(b"\n".join(lines) + b"\n")
