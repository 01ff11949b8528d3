"""Folders that a person points at: an agent's home, or any folder of logs.

Rules of this room
  1. A folder that holds `projects/`, `sessions/` or `archived_sessions/` as an agent lays them out is that agent's
     home; it can be the home of both. One of these folders, named by itself, is that part of the home.
  2. Any other folder is searched to the bottom for .jsonl, .jsonl.zst and .json. Whose they are, only their records
     can tell: the agent is None, and homes further down are folders like any other.
  3. A file named by itself is what its home says of it; without one it is told by its name and its records.
  4. The path a person gives may be a link. What lies below is not followed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from tracklog.sources import claude_code, codex
from tracklog.sources.found import LINE_SUFFIXES, Agent, FileKind, LogFile, Root, Skipped
from tracklog.sources.listing import Listing, list_folder, log_file, stat_regular, walk

MAX_DEPTH = 64
_TOPS_OF_HOMES = ("projects", "sessions", "archived_sessions", "history.jsonl", "session_index.jsonl")
_YEAR = re.compile(r"[0-9]{4}")
_LOG_SUFFIXES = (*LINE_SUFFIXES, ".json")


def roots_at(path: Path) -> list[Root]:
    """The folder as the home of whichever agents it is, or a part of one, else as a plain folder of logs, or a file."""
    homes = [Root(path, agent) for agent in _agents_at_home_in(path)]
    return homes or _part_of_home(Path(os.path.abspath(path))) or [Root(path, None)]


def find(root: Path) -> Iterator[LogFile | Skipped]:
    """Every log in a plain folder and below, or the one file that a person named."""
    if not os.path.isdir(root):
        yield file_at(root)
        return
    for folder, listing in walk(root, max_depth=MAX_DEPTH, may_be_link=True):
        yield from listing.skipped
        for name, status in listing.files.items():
            if name.endswith(_LOG_SUFFIXES):
                yield _found(folder / name, status, root=root, inside=listing.inside)


def file_at(path: Path) -> LogFile | Skipped:
    """The one file a person named, whatever it is called; a link is read where it points."""
    target = Path(os.path.realpath(path)) if os.path.islink(path) else path
    status = stat_regular(target)
    if isinstance(status, Skipped):
        return status
    return _found_in_home(target, status) or _found(
        target, status, root=target.parent, inside=target.parts[:-1]
    )


def _found_in_home(path: Path, status: os.stat_result) -> LogFile | None:
    """The file as its agent's home would list it; the nearest home counts."""
    whole = Path(os.path.abspath(path))
    for n, home in enumerate(whole.parents[:MAX_DEPTH], start=1):
        inside = whole.parts[-n:]
        if inside[0] not in _TOPS_OF_HOMES:
            continue
        for agent in _agents_at_home_in(home):
            standing = (claude_code if agent == "claude" else codex).standing_of(inside)
            if standing:
                return log_file(path, status, agent=agent, root=home, **standing._asdict())
    return None


def _found(path: Path, status: os.stat_result, *, root: Path, inside: tuple[str, ...]) -> LogFile:
    """`inside` are the folders whose names may state a session."""
    kind = _kind_of(path)
    session = codex.session_of(path.name) or claude_code.session_of(path.name, kind, folders=inside)
    return log_file(path, status, kind=kind, agent=None, root=root, session=session)


def _kind_of(path: Path) -> FileKind:
    known = claude_code.kind_of(path.name, path.parent.name) or codex.kind_of(path.name)
    if known is not None:
        return known
    return FileKind.DOCUMENT if path.name.endswith(".json") else FileKind.TRANSCRIPT


def _agents_at_home_in(path: Path) -> list[Agent]:
    top = list_folder(path, may_be_link=True)
    inside = top.folders + top.links
    sessions = list_folder(path / "sessions", may_be_link=True) if "sessions" in inside else Listing()
    agents: list[Agent] = []
    if "projects" in inside or _has_registry(sessions):
        agents.append("claude")
    if "archived_sessions" in inside or _has_rollouts(sessions):
        agents.append("codex")
    return agents


def _part_of_home(path: Path) -> list[Root]:
    """The home of which the folder is a part, once for each agent that writes there."""
    home, name = path.parent, path.name
    inside = list_folder(path, may_be_link=True)
    roots: list[Root] = []
    if (name == "projects" and any(map(claude_code.is_project_name, inside.folders))) or (
        name == "sessions" and _has_registry(inside)
    ):
        roots.append(Root(home, "claude", name))
    if name in ("sessions", "archived_sessions") and _has_rollouts(inside):
        roots.append(Root(home, "codex", name))
    return roots


def _has_registry(sessions: Listing) -> bool:
    return any(map(_is_registry, sessions.files))


def _has_rollouts(sessions: Listing) -> bool:
    return any(map(_YEAR.fullmatch, sessions.folders)) or any(map(_is_rollout, sessions.files))


def _is_registry(name: str) -> bool:
    return claude_code.kind_of(name, "sessions") is FileKind.REGISTRY


def _is_rollout(name: str) -> bool:
    return name.startswith("rollout-") and codex.kind_of(name) is not None
