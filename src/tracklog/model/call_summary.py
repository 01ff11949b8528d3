"""Summarize a call by its input: the command, the file, the question."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

_TELLING = (
    "command",
    "cmd",
    "file_path",
    "notebook_path",
    "pattern",
    "query",
    "url",
    "description",
    "subject",
    "skill",
    "path",
    "questions",
    "todos",
    "plan",
    "prompt",
    "message",
    "task_id",
    "taskId",
    "bash_id",
    "shell_id",
    "agent_id",
    "session_id",
    "name",
)
_KEYS_OF_A_STEP = {"content", "step", "status", "activeForm", "id", "priority"}
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)
_PATCH_SEARCHED = 100_000  # letters of a patch in which files are looked for


class ChecklistItem(NamedTuple):
    """A line of a list of things to do."""

    text: str
    status: str


def listed_steps(value: Any) -> list[ChecklistItem] | None:
    """A list of things to do, as TodoWrite and update_plan are given it; None: it is none, or holds more than that."""
    if not isinstance(value, list) or not value:
        return None
    steps = [_step(one) for one in value]
    return None if None in steps else [step for step in steps if step is not None]


def _step(value: Any) -> ChecklistItem | None:
    if (
        not isinstance(value, dict)
        or not value.keys() <= _KEYS_OF_A_STEP
        or value.keys() >= {"content", "step"}
    ):
        return None
    text, status = value.get("content", value.get("step")), value.get("status")
    return ChecklistItem(text, status) if isinstance(text, str) and isinstance(status, str) else None


def told(given: Any, cwd: str | None) -> str:
    """The most telling part of an input; paths below `cwd` by their end."""
    if isinstance(given, str):
        return _patched_files(given, cwd) or given.strip()
    if not isinstance(given, dict):
        return "" if given is None else _as_json(given)
    patch = given.get("input") or given.get("patch")
    if isinstance(patch, str) and (files := _patched_files(patch, cwd)):
        return files
    for key in _TELLING:
        if given.get(key):
            words = _as_words(given[key], cwd)
            where = given.get("path") if key == "pattern" else None
            return f"{words} in {_below(where, cwd)}" if isinstance(where, str) else words
    return _as_json(given) if given else ""


def _as_words(value: Any, cwd: str | None) -> str:
    if isinstance(value, str):
        return _below(value.strip(), cwd)
    if isinstance(value, list) and value:
        if all(isinstance(one, str) for one in value):
            return " ".join(value[2:] if value[1:2] in (["-lc"], ["-c"]) else value)
        if isinstance(value[0], dict) and isinstance(value[0].get("question"), str):
            return str(value[0]["question"])
        if (steps := listed_steps(value)) is not None:
            return _how_far(steps)
    return _as_json(value)


def _how_far(steps: list[ChecklistItem]) -> str:
    done = sum(step.status == "completed" for step in steps)
    now = next((f": {step.text}" for step in steps if step.status == "in_progress"), "")
    return f"{done} of {len(steps)} done{now}"


def _patched_files(text: str, cwd: str | None) -> str:
    return ", ".join(_below(name, cwd) for name in _PATCHED.findall(text[:_PATCH_SEARCHED]))


def _below(text: str, cwd: str | None) -> str:
    """A path inside the working directory needs no more than its end."""
    return text[len(cwd) + 1 :] if cwd and text.startswith(f"{cwd}/") and len(text) > len(cwd) + 1 else text


def _as_json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return "nested too deep to show"
