"""How long Claude Code keeps sessions before it deletes them.

Rules
  1. At its start, Claude Code deletes files that were not written to for `cleanupPeriodDays` days (30 unless it is
     set), each file by its own time, in the folders of all projects (docs/archive.md#what-agents-delete).
  2. A start in any project deletes with that project's settings, so the shortest time of all projects counts.
     Settings of the organisation hold everywhere.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from tracklog.agents.base import Retention
from tracklog.sources.files import NotReadable, chunks

DEFAULT_DAYS = 30
_LARGEST_SETTINGS = 4 << 20


def retention(
    root: Path, *, projects: Iterable[Path] = (), managed: Sequence[Path] | None = None
) -> Retention:
    """For how long Claude Code keeps the logs in a home; `projects` are folders that it is started in."""
    for path in managed_settings() if managed is None else managed:
        if (said := _said_by(path)) is not None:
            return said
    own = _said_by(root / "settings.json") or Retention(DEFAULT_DAYS)
    theirs = (_of_project(folder, own) for folder in dict.fromkeys(projects))
    return min((own, *theirs), key=lambda one: (one.why_paused is not None, one.days))


def managed_settings(platform: str = sys.platform) -> list[Path]:
    """The files of an organisation's settings, the strongest first."""
    base = Path("/Library/Application Support/ClaudeCode" if platform == "darwin" else "/etc/claude-code")
    parts = base / "managed-settings.d"
    added = sorted(parts.glob("*.json"), reverse=True) if parts.is_dir() else []
    return [*added, base / "managed-settings.json"]


def _of_project(folder: Path, own: Retention) -> Retention:
    """What holds in a project: its local settings, then its shared ones, then those of the user."""
    settings = folder / ".claude"
    said = _said_by(settings / "settings.local.json") or _said_by(settings / "settings.json")
    return said or own


def _said_by(path: Path) -> Retention | None:
    value = _settings_in(path).get("cleanupPeriodDays")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != int(value) or value < 0:
        return Retention(DEFAULT_DAYS, path, "its value is not a number of days")
    if value == 0:
        # refused since 2.1.89, because older ones kept nothing at all then
        return Retention(0, path, "0 is refused by recent clients; those before 2.1.89 delete everything")
    return Retention(int(value), path)


def _settings_in(path: Path) -> Mapping[str, object]:
    try:
        raw = b"".join(_at_most(chunks(path), _LARGEST_SETTINGS))
        settings = json.loads(raw)
    except (NotReadable, ValueError, RecursionError):
        return {}  # no settings, or none that a client could read
    return settings if isinstance(settings, dict) else {}


def _at_most(pieces: Iterator[bytes], n_bytes: int) -> Iterator[bytes]:
    for piece in pieces:
        yield piece[:n_bytes]
        n_bytes -= len(piece)
        if n_bytes <= 0:
            return
