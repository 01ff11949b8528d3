"""Where hooks stand: the settings files of both agents, level by level, in the order in which they fire."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from tracklog.sources.homes import claude_homes, codex_homes, user_home

Level = Literal["user", "project", "local", "managed", "plugin"]
LEVELS: tuple[Level, ...] = ("user", "project", "local")
AGENTS = ("claude", "codex")
_CODEX_FILES = ("hooks.json", "config.toml")


class Place(NamedTuple):
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


def own_place(machine: Machine, agent: str, level: Level) -> Place | None:
    """Where our hooks go; Codex has no local level."""
    if agent == "codex":
        folders = {"user": machine.codex, "project": machine.cwd / ".codex"}
        return Place(agent, level, folders[level] / "hooks.json") if level in folders else None
    name = "settings.local.json" if level == "local" else "settings.json"
    folder = machine.claude if level == "user" else machine.cwd / ".claude"
    return Place(agent, level, folder / name)


def codex_config(machine: Machine) -> Path:
    """Where `notify` stands."""
    return machine.codex / "config.toml"


def claude_settings(machine: Machine) -> list[Place]:
    """The settings of Claude Code, those of plugins aside."""
    own = [place for level in LEVELS if (place := own_place(machine, "claude", level))]
    managed = [Place("claude", "managed", path) for path in _claude_managed(machine.system)]
    return each_file_once([*own, *managed])


def _claude_managed(system: Path) -> list[Path]:
    folder = system / (
        "Library/Application Support/ClaudeCode" if sys.platform == "darwin" else "etc/claude-code"
    )
    return [folder / "managed-settings.json", *sorted((folder / "managed-settings.d").glob("*.json"))]


def codex_settings(machine: Machine) -> list[Place]:
    """The hook files of Codex, those of plugins aside: what is managed fires first."""
    etc = machine.system / "etc/codex"
    managed = [etc / "requirements.toml", etc / "managed_config.toml", etc / "config.toml"]
    layers: list[tuple[Level, Path]] = [("user", machine.codex), ("project", machine.cwd / ".codex")]
    own = [Place("codex", level, folder / name) for level, folder in layers for name in _CODEX_FILES]
    return each_file_once([*(Place("codex", "managed", path) for path in managed), *own])


def each_file_once(places: Iterable[Place]) -> list[Place]:
    """The places without those that are another name of an earlier one: in the home directory, the project is the user."""
    first: dict[str, Place] = {}
    for place in places:
        first.setdefault(os.path.realpath(place.path), place)
    return list(first.values())
