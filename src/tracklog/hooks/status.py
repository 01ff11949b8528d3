"""Every hook of every agent, on every level, in the order in which they fire; and why one does not.

Rules
  1. Looking changes nothing and runs nothing.
  2. A file that cannot be read is a problem that is reported, and the others are listed all the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tracklog.agents.hooks.places import HookEntry, Machine
from tracklog.agents.supported import SUPPORTED, support_for
from tracklog.sources.settings_files import read_whole
from tracklog.sources.settings_text import BOM, Malformed, is_blank, root_of, toml_document


class UnreadableSettings(NamedTuple):
    """A file that could not be read."""

    path: Path
    what: str


class HookStatus(NamedTuple):
    """All hooks, and what could not be read."""

    hooks: list[HookEntry]
    problems: list[UnreadableSettings]


def status_of(machine: Machine, agents: Iterable[str] = tuple(SUPPORTED)) -> HookStatus:
    """What is installed, by us and by others."""
    files = _Files()
    hooks = [hook for agent in agents for hook in support_for(agent).hooks.installed(machine, files.document)]
    return HookStatus(hooks, files.problems)


class _Files:
    """Reads settings, and notes what cannot be read."""

    def __init__(self) -> None:
        self.problems: list[UnreadableSettings] = []

    def document(self, path: Path) -> Mapping[str, Any]:
        """The contents of a file; empty if there is none or it cannot be read."""
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
        return toml_document(text)
    if is_blank(text):
        return {}
    root_of(text)
    document: Mapping[str, Any] = json.loads(text.removeprefix(BOM))
    return document
