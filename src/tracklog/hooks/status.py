"""Every hook of both agents, on every level, in the order in which they fire; and why one does not.

Rules of this room
  1. Looking changes nothing and runs nothing.
  2. A file that cannot be read is a problem that is said, and the others are listed all the same.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tracklog.agents.codex.hooks import document_of, why_codex_does_not_run
from tracklog.agents.hooks.command import are_our_words, is_our_command
from tracklog.agents.hooks.places import (
    HookFile,
    Machine,
    claude_plugins,
    claude_settings,
    codex_plugins,
    codex_settings,
)
from tracklog.agents.hooks.settings import LocatedHook, hooks_in
from tracklog.sources.settings_files import read_whole
from tracklog.sources.settings_text import BOM, Malformed, is_blank, root_of

_TOLD_BY = ("command", "url", "tool", "prompt")  # what a hook does, by its kind


class Hook(NamedTuple):
    """One hook, as it stands in a file."""

    agent: str
    level: str
    path: Path
    event: str
    matcher: str | None
    command: str
    ours: bool
    why_not: str | None = None  # why it does not run, if that can be told


class UnreadableSettings(NamedTuple):
    """A file that could not be read."""

    path: Path
    what: str


class HookStatus(NamedTuple):
    """All hooks, and what could not be read."""

    hooks: list[Hook]
    problems: list[UnreadableSettings]


def status_of(machine: Machine, agents: tuple[str, ...] = ("claude", "codex")) -> HookStatus:
    """What is installed, by us and by others."""
    files = _Files()
    hooks: list[Hook] = []
    if "claude" in agents:
        hooks += _claude_hooks(machine, files)
    if "codex" in agents:
        hooks += _codex_hooks(machine, files)
    return HookStatus(hooks, files.problems)


class _Files:
    """Reads settings, and notes what cannot be read."""

    def __init__(self) -> None:
        self.problems: list[UnreadableSettings] = []

    def document(self, path: Path) -> Mapping[str, Any]:
        """What stands in a file; nothing if there is none or it cannot be read."""
        try:
            data = read_whole(path)
            return _document(path, data.decode("utf-8", "surrogateescape")) if data is not None else {}
        except NotADirectoryError:
            return {}
        except OSError as error:
            self.problems.append(UnreadableSettings(path, (error.strerror or str(error)).lower()))
        except Malformed as error:
            self.problems.append(UnreadableSettings(path, str(error)))
        return {}


def _document(path: Path, text: str) -> Mapping[str, Any]:
    if path.suffix == ".toml":
        return document_of(text)
    if is_blank(text):
        return {}
    root_of(text)
    document: Mapping[str, Any] = json.loads(text.removeprefix(BOM))
    return document


def _claude_hooks(machine: Machine, files: _Files) -> Iterator[Hook]:
    settings = [(place, files.document(place.path)) for place in claude_settings(machine)]
    plugins = claude_plugins(machine.claude, [document for _, document in settings], files.document)
    switch = _claude_switch(settings)
    for place, document in [*settings, *plugins]:
        why_not = None if place.level == "managed" else switch
        yield from (_hook(place, found, why_not) for found in hooks_in(document))


def _claude_switch(settings: list[tuple[HookFile, Mapping[str, Any]]]) -> str | None:
    """Why no hook runs but the managed ones: the highest level that says anything counts."""
    why_not = None
    for place, document in settings:
        if isinstance(document.get("disableAllHooks"), bool):
            why_not = f"disableAllHooks in {place.path}" if document["disableAllHooks"] else None
    for place, document in settings:
        if place.level == "managed" and document.get("allowManagedHooksOnly") is True:
            why_not = f"allowManagedHooksOnly in {place.path}"
    return why_not


def _codex_hooks(machine: Machine, files: _Files) -> Iterator[Hook]:
    settings = [(place, files.document(place.path)) for place in codex_settings(machine)]
    config = next(document for place, document in settings if place.path == machine.codex / "config.toml")
    plugins = codex_plugins(machine.codex, config, files.document)
    for place, document in [*settings, *plugins]:
        for found in hooks_in(document):
            yield _hook(place, found, why_codex_does_not_run(place, found, config, machine.cwd))
        if place.level != "project" and isinstance(words := document.get("notify"), list) and words:
            command = shlex.join(map(str, words))
            yield Hook(place.agent, place.level, place.path, "notify", None, command, are_our_words(words))


def _hook(place: HookFile, found: LocatedHook, why_not: str | None) -> Hook:
    told = (found.handler.get(key) for key in _TOLD_BY)
    command = next((one for one in told if isinstance(one, str)), "")
    ours = is_our_command(found.handler.get("command"))
    return Hook(place.agent, place.level, place.path, found.event, found.matcher, command, ours, why_not)
