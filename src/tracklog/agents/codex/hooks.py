"""Our program as the `notify` of Codex: one line of its config.toml, put in and taken out.

Codex runs it after every turn, without asking for trust as it does for hooks. There is one place for it: somebody
else's program is left there.

Rules of this room
  1. The line goes to the top, where every key belongs to the whole and not to a table; no other byte moves.
  2. The text is read as TOML before and after: what comes out must be the same with `notify`, and without it the same text.

Whether Codex will run a hook: it asks its user first, and keeps the answer with a fingerprint of the hook.

Only read, never written: trust is the user's to give, in Codex. The fingerprint was found in its source and checked
against a config.toml that Codex 0.166.0 wrote (docs/hooks.md#codex).
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tracklog.agents.hooks.command import are_our_words
from tracklog.agents.hooks.places import HookFile
from tracklog.agents.hooks.settings import LocatedHook
from tracklog.sources.settings_text import BOM, Malformed

_PLACE = re.compile(r"\(at line (\d+), column (\d+)\)|\(at end of document\)")
_DIRECTIVE = re.compile(r"(?:#:[^\n]*\n)*")  # `#:schema …` must stay the first line
_OUR_LINE = re.compile(r"(?:^|(?<=\ufeff))notify = \[.*\]\r?\n", re.MULTILINE)


def document_of(text: str) -> dict[str, Any]:
    """The text as TOML, else it is refused with its place."""
    try:
        return tomllib.loads(text.removeprefix(BOM))
    except tomllib.TOMLDecodeError as error:
        raise Malformed(text, _place(text, str(error)), _PLACE.sub("", str(error)).strip()) from error


def _place(text: str, message: str) -> int:
    match = _PLACE.search(message)
    if match is None or match[1] is None:
        return len(text)
    lines = text.splitlines(keepends=True)
    return sum(map(len, lines[: int(match[1]) - 1])) + int(match[2]) - 1 + text.startswith(BOM)


def is_free(text: str | None) -> bool:
    """Whether the place is nobody else's."""
    document = document_of(text or "")
    return "notify" not in document or are_our_words(document["notify"])


def notifies(text: str | None, words: Sequence[str]) -> bool:
    """Whether it is just this program."""
    return bool(document_of(text or "").get("notify") == list(words))


def with_notify(text: str | None, words: Sequence[str]) -> str:
    """The text with our line, which it must not hold yet."""
    old = text or ""
    newline = "\r\n" if re.match(r"[^\n]*\r\n", old) else "\n"
    start = len(BOM) if old.startswith(BOM) else 0
    match = _DIRECTIVE.match(old, start)
    at = match.end() if match else start
    new = f"{old[:at]}notify = [{', '.join(map(_quoted, words))}]{newline}{old[at:]}"
    if document_of(new) != {**document_of(old), "notify": list(words)} or without_notify(new) != old:
        raise Malformed(old, 0, "our line could not be taken out again as it was put in")
    return new


def _quoted(word: str) -> str:
    return json.dumps(word, ensure_ascii=False).replace("\x7f", "\\u007f")


def without_notify(text: str) -> str:
    """The text without our line; somebody else's stays."""
    if not are_our_words(document_of(text).get("notify")):
        return text
    for line in _OUR_LINE.finditer(text):
        if are_our_words(_notify_in(line.group())):
            return text[: line.start()] + text[line.end() :]
    raise Malformed(text, text.find("notify"), "our `notify` was rewritten: take it out by hand")


def _notify_in(line: str) -> Any:
    try:
        return tomllib.loads(line).get("notify")
    except tomllib.TOMLDecodeError:
        return None


_DEFAULT_TIMEOUT_S, _END_TIMEOUT_S, _MOST_END_TIMEOUT_S = 600, 1, 3
_WITHOUT_MATCHER = ("UserPromptSubmit", "Stop", "Interrupt", "PreModelRequest")
_NOT_TRUSTED = "Codex has not been told to trust it: start `codex` and agree, or look at /hooks there"


def why_codex_does_not_run(
    place: HookFile, found: LocatedHook, config: Mapping[str, Any], cwd: Path
) -> str | None:
    """The reason, or None if it runs as far as can be told."""
    if _table(config.get("features")).get("hooks") is False:
        return "hooks are off: features.hooks in config.toml"
    if place.level == "managed":
        return None
    if place.level == "project" and not _is_trusted_project(config, cwd):
        return "Codex has not been told to trust this project"
    state = _table(_table(_table(config.get("hooks")).get("state")).get(hook_key(place, found)))
    if state.get("enabled") is False:
        return "it is switched off in Codex"
    return None if state.get("trusted_hash") == fingerprint(found) else _NOT_TRUSTED


def hook_key(place: HookFile, found: LocatedHook) -> str:
    """How Codex names a hook: by its file and its place in it."""
    source = f"{place.plugin}:hooks/hooks.json" if place.plugin else str(place.path)
    return f"{source}:{_label(found.event)}:{found.group}:{found.position}"


def fingerprint(found: LocatedHook) -> str:
    """The hash that Codex keeps: of the hook with its defaults filled in, keys in order."""
    told = found.handler
    hook: dict[str, Any] = {
        "type": "command",
        "command": told.get("command"),
        "timeout": _timeout_s(found.event, told.get("timeout")),
        "async": told.get("async") is True,
    }
    hook.update({key: told[key] for key in ("statusMessage", "additionalContextLimit") if key in told})
    identity: dict[str, Any] = {"event_name": _label(found.event), "hooks": [hook]}
    if found.matcher is not None and found.event not in _WITHOUT_MATCHER:
        identity["matcher"] = found.matcher
    whole = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{hashlib.sha256(whole.encode('utf-8', 'surrogateescape')).hexdigest()}"


def _timeout_s(event: str, wished: Any) -> int:
    is_told = isinstance(wished, int) and not isinstance(wished, bool)
    if event == "SessionEnd":
        return min(max(wished, 1), _MOST_END_TIMEOUT_S) if is_told else _END_TIMEOUT_S
    return max(wished, 1) if is_told else _DEFAULT_TIMEOUT_S


def _label(event: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", event).lower()


def _is_trusted_project(config: Mapping[str, Any], cwd: Path) -> bool:
    projects = _table(config.get("projects"))
    levels = (_table(projects.get(str(folder))).get("trust_level") for folder in (cwd, *cwd.parents))
    return "trusted" in levels


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
