"""Where hooks stand: the settings files of both agents, level by level, in the order in which they fire.

The hooks that plugins bring: those that are installed and switched on.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from tracklog.agents.roots import claude_homes, codex_homes, user_home

Level = Literal["user", "project", "local", "managed", "plugin"]
LEVELS: tuple[Level, ...] = ("user", "project", "local")
AGENTS = ("claude", "codex")
_CODEX_FILES = ("hooks.json", "config.toml")


class HookFile(NamedTuple):
    """One file that may hold hooks."""

    agent: str
    level: Level
    path: Path
    plugin: str | None = None  # its name, as settings switch it on


class Machine(NamedTuple):
    """Where to look: what the environment says, the project's folder, and the root of the system."""

    env: Mapping[str, str]
    cwd: Path
    system: Path = Path("/")

    @property
    def claude(self) -> Path:
        """The home of Claude Code, there or not."""
        return next(iter(claude_homes(self.env)), user_home(self.env) / ".claude")

    @property
    def codex(self) -> Path:
        """The home of Codex, there or not."""
        return next(iter(codex_homes(self.env)), user_home(self.env) / ".codex")

    def home_of(self, agent: str) -> Path:
        """The home of this agent, there or not."""
        return self.claude if agent == "claude" else self.codex


def own_place(machine: Machine, agent: str, level: Level) -> HookFile | None:
    """Where our hooks go; Codex has no local level."""
    if agent == "codex":
        folders = {"user": machine.codex, "project": machine.cwd / ".codex"}
        return HookFile(agent, level, folders[level] / "hooks.json") if level in folders else None
    name = "settings.local.json" if level == "local" else "settings.json"
    folder = machine.claude if level == "user" else machine.cwd / ".claude"
    return HookFile(agent, level, folder / name)


def codex_config(machine: Machine) -> Path:
    """Where `notify` stands."""
    return machine.codex / "config.toml"


def claude_settings(machine: Machine) -> list[HookFile]:
    """The settings of Claude Code, those of plugins aside."""
    own = [place for level in LEVELS if (place := own_place(machine, "claude", level))]
    managed = [HookFile("claude", "managed", path) for path in _claude_managed(machine.system)]
    return each_file_once([*own, *managed])


def _claude_managed(system: Path) -> list[Path]:
    folder = system / (
        "Library/Application Support/ClaudeCode" if sys.platform == "darwin" else "etc/claude-code"
    )
    return [folder / "managed-settings.json", *sorted((folder / "managed-settings.d").glob("*.json"))]


def codex_settings(machine: Machine) -> list[HookFile]:
    """The hook files of Codex, those of plugins aside: what is managed fires first."""
    etc = machine.system / "etc/codex"
    managed = [etc / "requirements.toml", etc / "managed_config.toml", etc / "config.toml"]
    layers: list[tuple[Level, Path]] = [("user", machine.codex), ("project", machine.cwd / ".codex")]
    own = [HookFile("codex", level, folder / name) for level, folder in layers for name in _CODEX_FILES]
    return each_file_once([*(HookFile("codex", "managed", path) for path in managed), *own])


def each_file_once(places: Iterable[HookFile]) -> list[HookFile]:
    """The places without those that are another name of an earlier one: in the home directory, the project is the user."""
    first: dict[str, HookFile] = {}
    for place in places:
        first.setdefault(os.path.realpath(place.path), place)
    return list(first.values())


Document = Mapping[str, Any]
Read = Callable[[Path], Document]


def claude_plugins(
    home: Path, settings: Iterable[Document], read: Read
) -> Iterator[tuple[HookFile, Document]]:
    """The hook files of Claude Code's plugins, in the order in which they were installed."""
    switches: dict[str, Any] = {}
    for document in settings:
        switches.update(_table(document.get("enabledPlugins")))
    installed = _table(read(home / "plugins" / "installed_plugins.json").get("plugins"))
    for name, ways in installed.items():
        if switches.get(name) is True:
            yield from _of_plugin("claude", name, _folders(ways), ".claude-plugin", read)


def codex_plugins(home: Path, config: Document, read: Read) -> Iterator[tuple[HookFile, Document]]:
    """The hook files of Codex's plugins that its config switches on."""
    for name, switches in _table(config.get("plugins")).items():
        if _table(switches).get("enabled") is not False:
            plugin, _, market = name.partition("@")
            folders = sorted((home / "plugins" / "cache" / market / plugin).glob("*/"))
            yield from _of_plugin("codex", name, folders, ".codex-plugin", read)


def _of_plugin(
    agent: str, name: str, folders: Iterable[Path], manifest: str, read: Read
) -> Iterator[tuple[HookFile, Document]]:
    """The usual file, and what the manifest adds: further files, or the hooks themselves."""
    for folder in folders:
        usual = folder / "hooks" / "hooks.json"
        yield HookFile(agent, "plugin", usual, name), read(usual)
        about = folder / manifest / "plugin.json"
        added = read(about).get("hooks")
        if isinstance(added, dict):
            yield HookFile(agent, "plugin", about, name), added if "hooks" in added else {"hooks": added}
        for other in added if isinstance(added, list) else [added]:
            if isinstance(other, str) and (path := folder / other).resolve() != usual.resolve():
                yield HookFile(agent, "plugin", path, name), read(path)


def _folders(ways: Any) -> list[Path]:
    """Where a plugin stands: one entry in early lists, one for each scope in later ones."""
    entries = ways if isinstance(ways, list) else [ways]
    paths = [_table(entry).get("installPath") for entry in entries]
    return [Path(path) for path in dict.fromkeys(paths) if isinstance(path, str)]


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
