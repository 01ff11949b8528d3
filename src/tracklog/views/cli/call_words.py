"""What a call did, in a few words: the command, the file, the question."""

from __future__ import annotations

import json
import re
from typing import Any

from tracklog.model.session import Call, Verdict
from tracklog.views.cli.printing import count, short

LONGEST = 300  # letters of what a call did, also where there is room for more
_LONGEST_REASON = 300
_SEARCHED = 100_000  # letters of an error that are looked at

MARKS: dict[Verdict, tuple[str, str]] = {
    "ok": ("✓", "green"),
    "error": ("✗", "red"),
    "denied": ("!", "yellow"),
    "blocked": ("!", "yellow"),
    "interrupted": ("!", "yellow"),
    "timed_out": ("✗", "red"),
    "sibling_error": ("!", "yellow"),
    "backgrounded": ("↗", "cyan"),
    "running": ("…", "cyan"),
    "lost": ("?", "yellow"),
    "abandoned": ("?", "yellow"),
}
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
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)
_PATCH_SEARCHED = 100_000  # letters of a patch in which files are looked for


def what_it_did(call: Call, *, cwd: str | None) -> str:
    """The most telling part of a call's input, safe and on one line."""
    return short(_told(call.arguments, cwd), LONGEST)


def verdict_words(call: Call) -> str:
    """The verdict with all that belongs to it: `backgrounded, ok`, `lost (inferred)`."""
    parts = [call.verdict, call.outcome or "", "time limit" if call.timed_out else ""]
    said = ", ".join(part for part in parts if part)
    return said if call.sureness == "stated" else f"{said} (inferred)"


def reason_of(call: Call) -> str:
    """Why a call did not end well, on one line; empty if it did."""
    if call.verdict in ("ok", "running"):
        return ""
    said = call.feedback or call.error
    if not said and call.verdict != "backgrounded":  # that one did not end badly: nothing needs an excuse
        said = call.decision or call.why
    lines = [line.strip() for line in (said or "")[:_SEARCHED].splitlines() if line.strip()]
    told = lines if len(lines) < 4 else [lines[0], "…", lines[-1]]  # errors say most where they begin and end
    return "" if told == [call.verdict] else short(" / ".join(told), _LONGEST_REASON)


def answers_words(call: Call) -> str:
    """That a call was answered more than once; empty if it was not."""
    n_answers = sum(not result.is_note for result in call.results)
    return f"answered {n_answers:,} times" if n_answers > 1 else ""


def stated_words(call: Call) -> str:
    """What the client says that a subagent's work came to: `12.3k tokens, 4 tools stated`."""
    if call.stated is None:
        return ""
    tokens, tools = call.stated.tokens, call.stated.tool_uses
    parts = [
        "" if tokens is None else f"{thousands(tokens)} tokens",
        "" if tools is None else count(tools, "tool"),
    ]
    told = ", ".join(part for part in parts if part)
    return f"{told} stated" if told else ""


def thousands(n: int) -> str:
    """A number in few letters: `834`, `12.3k`, `4.1M`."""
    if n < 1000:
        return str(n)
    return f"{n / 1000:.1f}k" if n < 999_950 else f"{n / 1_000_000:.1f}M"


def _told(given: Any, cwd: str | None) -> str:
    if isinstance(given, str):
        return _patched_files(given, cwd) or given.strip()
    if not isinstance(given, dict):
        return "" if given is None else _as_json(given)
    patch = given.get("input") or given.get("patch")
    if isinstance(patch, str) and (files := _patched_files(patch, cwd)):
        return files
    key = next((key for key in _TELLING if given.get(key)), None)
    if key is None:
        return _as_json(given) if given else ""
    told = _as_words(given[key], cwd)
    where = given.get("path") if key == "pattern" else None
    return f"{told} in {_below(where, cwd)}" if isinstance(where, str) else told


def _as_words(value: Any, cwd: str | None) -> str:
    if isinstance(value, str):
        return _below(value.strip(), cwd)
    if isinstance(value, list) and value:
        if all(isinstance(one, str) for one in value):
            return " ".join(value[2:] if value[1:2] in (["-lc"], ["-c"]) else value)
        if isinstance(value[0], dict) and isinstance(value[0].get("question"), str):
            return str(value[0]["question"])
    return _as_json(value)


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
