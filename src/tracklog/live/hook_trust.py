"""Whether Codex will run a hook: it asks its user first, and keeps the answer with a fingerprint of the hook.

Only read, never written: trust is the user's to give, in Codex. The fingerprint was found in its source and checked
against a config.toml that Codex 0.166.0 wrote (docs/hooks.md#codex).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tracklog.live.hook_places import Place
from tracklog.live.hook_settings import Found

_DEFAULT_TIMEOUT_S, _END_TIMEOUT_S, _MOST_END_TIMEOUT_S = 600, 1, 3
_WITHOUT_MATCHER = ("UserPromptSubmit", "Stop", "Interrupt", "PreModelRequest")
_NOT_TRUSTED = "Codex has not been told to trust it: start `codex` and agree, or look at /hooks there"


def why_codex_does_not_run(place: Place, found: Found, config: Mapping[str, Any], cwd: Path) -> str | None:
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


def hook_key(place: Place, found: Found) -> str:
    """How Codex names a hook: by its file and its place in it."""
    source = f"{place.plugin}:hooks/hooks.json" if place.plugin else str(place.path)
    return f"{source}:{_label(found.event)}:{found.group}:{found.position}"


def fingerprint(found: Found) -> str:
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
