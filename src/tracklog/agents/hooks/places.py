"""The settings files that name hooks: where to look, what they contain, and each file once.

Also the hooks that plugins bring, which have the same form for both agents.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from tracklog.agents.hooks.command import is_our_command
from tracklog.agents.hooks.settings import LocatedHook

Level = Literal["user", "project", "local", "managed", "plugin"]
LEVELS: tuple[Level, ...] = ("user", "project", "local")
Document = Mapping[str, Any]
Documents = Callable[[Path], Document]  # the contents of a settings file; empty if it cannot be read
_ACTION = ("command", "url", "tool", "prompt")  # what a hook does, by its kind


class HookFile(NamedTuple):
    """One file that may hold hooks."""

    agent: str
    level: Level
    path: Path
    plugin: str | None = None  # its name, as settings switch it on


class HookEntry(NamedTuple):
    """One hook of a settings file."""

    agent: str
    level: str
    path: Path
    event: str
    matcher: str | None
    command: str
    ours: bool
    why_not: str | None = None  # why it does not run, if that can be told


class Machine(NamedTuple):
    """Where to look: what the environment says, the project's folder, and the root of the system."""

    env: Mapping[str, str]
    cwd: Path
    system: Path = Path("/")


def entry_of(file: HookFile, found: LocatedHook, why_not: str | None) -> HookEntry:
    """A hook that was found in a file."""
    texts = (found.handler.get(key) for key in _ACTION)
    command = next((one for one in texts if isinstance(one, str)), "")
    ours = is_our_command(found.handler.get("command"))
    return HookEntry(file.agent, file.level, file.path, found.event, found.matcher, command, ours, why_not)


def each_file_once(files: Iterable[HookFile]) -> list[HookFile]:
    """The files without those that are another name of an earlier one: in the home directory, the project is the user."""
    first: dict[str, HookFile] = {}
    for file in files:
        first.setdefault(os.path.realpath(file.path), file)
    return list(first.values())


def plugin_files(
    agent: str, name: str, folders: Iterable[Path], manifest: str, documents: Documents
) -> Iterator[tuple[HookFile, Document]]:
    """The usual file of a plugin, and what its manifest adds: further files, or the hooks themselves."""
    for folder in folders:
        usual = folder / "hooks" / "hooks.json"
        yield HookFile(agent, "plugin", usual, name), documents(usual)
        about = folder / manifest / "plugin.json"
        added = documents(about).get("hooks")
        if isinstance(added, dict):
            yield HookFile(agent, "plugin", about, name), added if "hooks" in added else {"hooks": added}
        for other in added if isinstance(added, list) else [added]:
            if isinstance(other, str) and (path := folder / other).resolve() != usual.resolve():
                yield HookFile(agent, "plugin", path, name), documents(path)


def table_in(value: Any) -> dict[str, Any]:
    """A table of a document; an empty one in place of anything else."""
    return value if isinstance(value, dict) else {}
