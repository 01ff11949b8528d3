"""The homes of this machine's agents, as the environment names them. Asked before every answer: it loads little."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Mapping
from pathlib import Path

from tracklog.sources.log_file import Root


def default_roots(env: Mapping[str, str]) -> list[Root]:
    """The homes that the environment and the usual places give."""
    claude = [Root(path, "claude") for path in claude_homes(env)]
    return claude + [Root(path, "codex") for path in codex_homes(env)]


def claude_homes(env: Mapping[str, str]) -> list[Path]:
    """The homes in use: the one the environment names, else the usual one and the one of old 1.0.x builds."""
    named = env.get("CLAUDE_CONFIG_DIR")
    if named:
        return [_without_projects(home) for home in homes_from(unicodedata.normalize("NFC", named))]
    home = user_home(env)
    xdg = Path(env.get("XDG_CONFIG_HOME") or home / ".config")
    return [root for root in (home / ".claude", xdg / "claude") if root.is_dir()]


def codex_homes(env: Mapping[str, str]) -> list[Path]:
    """The home that CODEX_HOME names, else the usual one if it exists."""
    named = env.get("CODEX_HOME")
    if named:
        return homes_from(named)
    usual = user_home(env) / ".codex"
    return [usual] if usual.is_dir() else []


def all_homes(env: Mapping[str, str]) -> set[Path]:
    """The homes in use, and those in the usual places, whether they are there yet or not."""
    usual = {user_home(env) / name for name in (".claude", ".codex", ".config/claude")}
    return usual | {root.path for root in default_roots(env)}


def claude_home(env: Mapping[str, str]) -> Path:
    """The home whose settings Claude Code reads, whether it exists or not."""
    return next(iter(claude_homes(env)), user_home(env) / ".claude")


def codex_home(env: Mapping[str, str]) -> Path:
    """The home whose settings Codex reads, whether it exists or not."""
    return next(iter(codex_homes(env)), user_home(env) / ".codex")


def user_home(env: Mapping[str, str]) -> Path:
    """HOME, or what the system knows of the user when it is unset."""
    return Path(env.get("HOME") or os.path.expanduser("~"))


def homes_from(value: str) -> list[Path]:
    """The directory a variable names; several with commas between, as usage tools accept it.

    The agents themselves take one directory: an existing one whose name holds a comma is that one.
    """
    if os.path.isdir(value):
        return [Path(os.path.abspath(value))]
    parts = (part.strip() for part in value.split(","))
    return list(dict.fromkeys(Path(os.path.abspath(part)) for part in parts if part))


def _without_projects(home: Path) -> Path:
    return home.parent if home.name == "projects" and not (home / "projects").is_dir() else home
