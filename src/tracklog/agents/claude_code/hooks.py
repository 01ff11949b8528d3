"""Claude Code's hooks: the settings files that name them, and the events that a release knows.

Which release knows which event was read from the clients' own lists (docs/hooks.md). Up to 2.1.100 a client that does
not know one event of a settings file ignores the whole file, with everything else in it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tracklog.agents.base import AgentHooks
from tracklog.agents.claude_code.places import is_too_old, last_release
from tracklog.agents.hooks.places import (
    LEVELS,
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
from tracklog.agents.hooks.settings import hooks_in
from tracklog.agents.roots import claude_home

_DEFAULT = (
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PermissionRequest",
    "PermissionDenied",
    "PostToolUse",
    "PostToolUseFailure",
    "Notification",
    "SubagentStart",
    "SubagentStop",
    "Stop",
    "StopFailure",
    "SessionEnd",
)
_OLDEST = ("UserPromptSubmit", "PreToolUse", "PostToolUse", "Notification", "SubagentStop", "Stop")
_ALL = (
    *_DEFAULT,
    "Setup",
    "UserPromptExpansion",
    "PostToolBatch",
    "PreCompact",
    "PostCompact",
    "PreModelSwitch",
    "PostModelSwitch",
    "TeammateIdle",
    "TaskCreated",
    "TaskCompleted",
    "Elicitation",
    "ElicitationResult",
    "ConfigChange",
    "WorktreeRemove",
    "InstructionsLoaded",
    "CwdChanged",
    "FileChanged",
    "DirectoryAdded",
    "MessageDisplay",
)
_USER_FILE, _LOCAL_FILE = "settings.json", "settings.local.json"


class ClaudeCodeHooks(AgentHooks):
    """The hooks of Claude Code."""

    event_sets: Mapping[str, tuple[str, ...]] = {"default": _DEFAULT, "oldest": _OLDEST, "all": _ALL}
    blocking_events = ("WorktreeCreate",)  # what such a hook prints is the path of the worktree

    def home(self, env: Mapping[str, str]) -> Path:
        return claude_home(env)

    def file_for(self, machine: Machine, level: Level) -> HookFile | None:
        name = _LOCAL_FILE if level == "local" else _USER_FILE
        folder = self.home(machine.env) if level == "user" else machine.cwd / ".claude"
        return HookFile("claude", level, folder / name)

    def level_of(self, path: Path) -> Level | None:
        return {_USER_FILE: "project", _LOCAL_FILE: "local"}.get(path.name)  # type: ignore[return-value]

    def suitable_events(self, machine: Machine) -> tuple[str, str | None]:
        """Those of the release that wrote the newest log."""
        release = last_release(self.home(machine.env))
        if release is None or not is_too_old(release):
            return "default", None
        return "oldest", ".".join(map(str, release))

    def installed(self, machine: Machine, documents: Documents) -> Iterator[HookEntry]:
        settings = [(file, documents(file.path)) for file in self._settings(machine)]
        home = self.home(machine.env)
        switch = _switch(settings)
        for file, document in [*settings, *_plugins(home, [one for _, one in settings], documents)]:
            why_not = None if file.level == "managed" else switch
            yield from (entry_of(file, found, why_not) for found in hooks_in(document))

    def _settings(self, machine: Machine) -> list[HookFile]:
        own = [file for level in LEVELS if (file := self.file_for(machine, level))]
        return each_file_once(
            [*own, *(HookFile("claude", "managed", path) for path in _managed(machine.system))]
        )


def _managed(system: Path) -> list[Path]:
    folder = system / (
        "Library/Application Support/ClaudeCode" if sys.platform == "darwin" else "etc/claude-code"
    )
    return [folder / "managed-settings.json", *sorted((folder / "managed-settings.d").glob("*.json"))]


def _switch(settings: list[tuple[HookFile, Document]]) -> str | None:
    """Why no hook runs but the managed ones: the highest level that says anything counts."""
    why_not = None
    for file, document in settings:
        if isinstance(document.get("disableAllHooks"), bool):
            why_not = f"disableAllHooks in {file.path}" if document["disableAllHooks"] else None
    for file, document in settings:
        if file.level == "managed" and document.get("allowManagedHooksOnly") is True:
            why_not = f"allowManagedHooksOnly in {file.path}"
    return why_not


def _plugins(
    home: Path, settings: Iterable[Document], documents: Documents
) -> Iterator[tuple[HookFile, Document]]:
    """The hook files of the plugins that settings switch on, in the order in which they were installed."""
    switches: dict[str, Any] = {}
    for document in settings:
        switches.update(table_in(document.get("enabledPlugins")))
    installed = table_in(documents(home / "plugins" / "installed_plugins.json").get("plugins"))
    for name, entries in installed.items():
        if switches.get(name) is True:
            yield from plugin_files("claude", name, _folders(entries), ".claude-plugin", documents)


def _folders(entries: Any) -> list[Path]:
    """Where a plugin is installed: one entry in early lists, one for each scope in later ones."""
    listed = entries if isinstance(entries, list) else [entries]
    paths = [table_in(entry).get("installPath") for entry in listed]
    return [Path(path) for path in dict.fromkeys(paths) if isinstance(path, str)]
