"""Codex's hooks: the files that name them, whether Codex will run one, and its `notify`.

`notify` in config.toml names one program that Codex runs after every turn, without asking for trust as it does for
hooks. Another program is left there.

Rules
  1. Our line goes to the top, where every key belongs to the whole and not to a table; no other byte moves.
  2. The text is read as TOML before and after: what comes out must be the same with `notify`, and without it the same text.
  3. Trust is only read, never written: Codex asks its user first, and keeps the answer with a fingerprint of the hook,
     which was found in its source and checked against a config.toml that Codex 0.166.0 wrote (docs/hooks.md#codex).
"""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tracklog.agents.base import AgentHooks
from tracklog.agents.hooks.command import are_our_words
from tracklog.agents.hooks.places import (
    Document,
    Documents,
    HookEntry,
    HookFile,
    Level,
    Machine,
    each_file_once,
    entry_of,
    plugin_files,
    table_in,
)
from tracklog.agents.hooks.settings import LocatedHook, hooks_in
from tracklog.agents.roots import codex_home
from tracklog.sources.settings_text import BOM, Malformed, toml_document

_HOOK_FILE, _CONFIG_FILE = "hooks.json", "config.toml"
_DEFAULT = (
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "SubagentStart",
    "SubagentStop",
    "Stop",
    "Interrupt",
    "SessionEnd",
)
_ALL = (*_DEFAULT, "PreModelRequest", "PreCompact", "PostCompact")
_DEFAULT_TIMEOUT_S, _END_TIMEOUT_S, _MOST_END_TIMEOUT_S = 600, 1, 3
_WITHOUT_MATCHER = ("UserPromptSubmit", "Stop", "Interrupt", "PreModelRequest")
_NOT_TRUSTED = "Codex has not been told to trust it: start `codex` and agree, or look at /hooks there"
_DIRECTIVE = re.compile(r"(?:#:[^\n]*\n)*")  # `#:schema …` must stay the first line
_OUR_LINE = re.compile(r"(?:^|(?<=\ufeff))notify = \[.*\]\r?\n", re.MULTILINE)


class CodexHooks(AgentHooks):
    """The hooks of Codex, and its `notify`."""

    event_sets: Mapping[str, tuple[str, ...]] = {"default": _DEFAULT, "oldest": _DEFAULT, "all": _ALL}
    timeouts_s: Mapping[str, int] = {"SessionEnd": _MOST_END_TIMEOUT_S}  # of a longer one it warns
    note_after_install = (
        "Codex runs new hooks when you have reviewed them: it asks at its next start, or say /hooks there"
    )

    def home(self, env: Mapping[str, str]) -> Path:
        return codex_home(env)

    def file_for(self, machine: Machine, level: Level) -> HookFile | None:
        if level == "user":
            return HookFile("codex", level, self.home(machine.env) / _HOOK_FILE)
        return HookFile("codex", level, machine.cwd / ".codex" / _HOOK_FILE) if level == "project" else None

    def level_of(self, path: Path) -> Level | None:
        return "project" if path.name == _HOOK_FILE or path.suffix == ".toml" else None

    def installed(self, machine: Machine, documents: Documents) -> Iterator[HookEntry]:
        home = self.home(machine.env)
        settings = [(file, documents(file.path)) for file in self._settings(machine)]
        config = next(document for file, document in settings if file.path == home / _CONFIG_FILE)
        for file, document in [*settings, *_plugins(home, config, documents)]:
            for found in hooks_in(document):
                yield entry_of(file, found, why_codex_does_not_run(file, found, config, machine.cwd))
            if file.level != "project" and isinstance(words := document.get("notify"), list) and words:
                command = shlex.join(map(str, words))
                ours = are_our_words(words)
                yield HookEntry("codex", file.level, file.path, "notify", None, command, ours)

    def notify_file(self, machine: Machine, level: Level) -> HookFile | None:
        path = self.home(machine.env) / _CONFIG_FILE
        return HookFile("codex", level, path) if level == "user" else None

    def is_notify_free(self, text: str | None) -> bool:
        return is_free(text)

    def has_notify(self, text: str | None, words: Sequence[str]) -> bool:
        return notifies(text, words)

    def with_notify(self, text: str | None, words: Sequence[str]) -> str:
        return with_notify(text, words)

    def without_notify(self, text: str) -> str:
        return without_notify(text)

    def _settings(self, machine: Machine) -> list[HookFile]:
        """What is managed fires first."""
        etc = machine.system / "etc/codex"
        managed = [etc / "requirements.toml", etc / "managed_config.toml", etc / _CONFIG_FILE]
        layers: list[tuple[Level, Path]] = [
            ("user", self.home(machine.env)),
            ("project", machine.cwd / ".codex"),
        ]
        own = [
            HookFile("codex", level, folder / name)
            for level, folder in layers
            for name in (_HOOK_FILE, _CONFIG_FILE)
        ]
        return each_file_once([*(HookFile("codex", "managed", path) for path in managed), *own])


def _plugins(home: Path, config: Document, documents: Documents) -> Iterator[tuple[HookFile, Document]]:
    """The hook files of the plugins that the config switches on."""
    for name, switches in table_in(config.get("plugins")).items():
        if table_in(switches).get("enabled") is not False:
            plugin, _, market = name.partition("@")
            folders = sorted((home / "plugins" / "cache" / market / plugin).glob("*/"))
            yield from plugin_files("codex", name, folders, ".codex-plugin", documents)


def is_free(text: str | None) -> bool:
    """Whether the place is nobody else's."""
    document = toml_document(text or "")
    return "notify" not in document or are_our_words(document["notify"])


def notifies(text: str | None, words: Sequence[str]) -> bool:
    """Whether it is just this program."""
    return bool(toml_document(text or "").get("notify") == list(words))


def with_notify(text: str | None, words: Sequence[str]) -> str:
    """The text with our line, which it must not hold yet."""
    old = text or ""
    newline = "\r\n" if re.match(r"[^\n]*\r\n", old) else "\n"
    start = len(BOM) if old.startswith(BOM) else 0
    match = _DIRECTIVE.match(old, start)
    at = match.end() if match else start
    new = f"{old[:at]}notify = [{', '.join(map(_quoted, words))}]{newline}{old[at:]}"
    if toml_document(new) != {**toml_document(old), "notify": list(words)} or without_notify(new) != old:
        raise Malformed(old, 0, "our line could not be taken out again as it was put in")
    return new


def _quoted(word: str) -> str:
    return json.dumps(word, ensure_ascii=False).replace("\x7f", "\\u007f")


def without_notify(text: str) -> str:
    """The text without our line; another program's stays."""
    if not are_our_words(toml_document(text).get("notify")):
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


def why_codex_does_not_run(
    place: HookFile, found: LocatedHook, config: Mapping[str, Any], cwd: Path
) -> str | None:
    """The reason, or None if it runs as far as can be told."""
    if table_in(config.get("features")).get("hooks") is False:
        return "hooks are off: features.hooks in config.toml"
    if place.level == "managed":
        return None
    if place.level == "project" and not _is_trusted_project(config, cwd):
        return "Codex has not been told to trust this project"
    state = table_in(table_in(table_in(config.get("hooks")).get("state")).get(hook_key(place, found)))
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
    projects = table_in(config.get("projects"))
    levels = (table_in(projects.get(str(folder))).get("trust_level") for folder in (cwd, *cwd.parents))
    return "trusted" in levels
