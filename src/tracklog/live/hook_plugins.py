"""The hooks that plugins bring: those that are installed and switched on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tracklog.live.hook_places import Place

Document = Mapping[str, Any]
Read = Callable[[Path], Document]


def claude_plugins(home: Path, settings: Iterable[Document], read: Read) -> Iterator[tuple[Place, Document]]:
    """The hook files of Claude Code's plugins, in the order in which they were installed."""
    switches: dict[str, Any] = {}
    for document in settings:
        switches.update(_table(document.get("enabledPlugins")))
    installed = _table(read(home / "plugins" / "installed_plugins.json").get("plugins"))
    for name, ways in installed.items():
        if switches.get(name) is True:
            yield from _of_plugin("claude", name, _folders(ways), ".claude-plugin", read)


def codex_plugins(home: Path, config: Document, read: Read) -> Iterator[tuple[Place, Document]]:
    """The hook files of Codex's plugins that its config switches on."""
    for name, switches in _table(config.get("plugins")).items():
        if _table(switches).get("enabled") is not False:
            plugin, _, market = name.partition("@")
            folders = sorted((home / "plugins" / "cache" / market / plugin).glob("*/"))
            yield from _of_plugin("codex", name, folders, ".codex-plugin", read)


def _of_plugin(
    agent: str, name: str, folders: Iterable[Path], manifest: str, read: Read
) -> Iterator[tuple[Place, Document]]:
    """The usual file, and what the manifest adds: further files, or the hooks themselves."""
    for folder in folders:
        usual = folder / "hooks" / "hooks.json"
        yield Place(agent, "plugin", usual, name), read(usual)
        about = folder / manifest / "plugin.json"
        added = read(about).get("hooks")
        if isinstance(added, dict):
            yield Place(agent, "plugin", about, name), added if "hooks" in added else {"hooks": added}
        for other in added if isinstance(added, list) else [added]:
            if isinstance(other, str) and (path := folder / other).resolve() != usual.resolve():
                yield Place(agent, "plugin", path, name), read(path)


def _folders(ways: Any) -> list[Path]:
    """Where a plugin stands: one entry in early lists, one for each scope in later ones."""
    entries = ways if isinstance(ways, list) else [ways]
    paths = [_table(entry).get("installPath") for entry in entries]
    return [Path(path) for path in dict.fromkeys(paths) if isinstance(path, str)]


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
