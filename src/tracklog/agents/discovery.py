"""Find logs: in the homes of this machine's agents, or in the folders and files that a person names.

Rules
  1. Each real file comes once, however many roots lead to it; a second name for it is reported as such.
  2. A session is named by its id, the start of its id, a file, or @last. A name that fits several is never
     guessed.
  3. A folder that holds `projects/`, `sessions/` or `archived_sessions/` as an agent lays them out is that agent's
     home; it can be the home of both. One of these folders, named by itself, is that part of the home.
  4. Any other folder is searched to the bottom for .jsonl, .jsonl.zst and .json. Only their records can tell which
     agent wrote them, so the agent is None; homes further down are folders like any other.
  5. A file named by itself is what its home says of it; without a home its name and its records decide.
  6. The path that a person gives may be a link. Links below it are not followed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from tracklog.agents.claude_code import places as claude_places
from tracklog.agents.codex import places as codex_places
from tracklog.errors import UserError
from tracklog.sources.folders import Listing, list_folder, log_file, stat_regular, walk
from tracklog.sources.log_file import (
    LINE_SUFFIXES,
    MAIN_KINDS,
    Agent,
    FileKind,
    LogFile,
    LogFolder,
    Root,
    Skipped,
)

MAX_DEPTH = 64
_TOPS_OF_HOMES = ("projects", "sessions", "archived_sessions", "history.jsonl", "session_index.jsonl")
_YEAR = re.compile(r"[0-9]{4}")
_SUFFIXES = (*LINE_SUFFIXES, ".json")


def roots_at(path: Path) -> list[Root]:
    """The folder as the home of whichever agents it is, or a part of one, else as a plain folder of logs, or a file."""
    homes = [Root(path, agent) for agent in _agents_at_home_in(path)]
    return homes or _part_of_home(Path(os.path.abspath(path))) or [Root(path, None)]


def find_in_folders(root: Path) -> Iterator[LogFile | Skipped]:
    """Every log in a plain folder and below, or the one file that a person named."""
    if not os.path.isdir(root):
        yield file_at(root)
        return
    for folder, listing in walk(root, max_depth=MAX_DEPTH, may_be_link=True):
        yield from listing.skipped
        for name, status in listing.files.items():
            if name.endswith(_SUFFIXES):
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
            standing = (claude_places if agent == "claude" else codex_places).standing_of(inside)
            if standing:
                return log_file(path, status, agent=agent, root=home, **standing._asdict())
    return None


def _found(path: Path, status: os.stat_result, *, root: Path, inside: tuple[str, ...]) -> LogFile:
    """`inside` are the folders whose names may state a session."""
    kind = _kind_of(path)
    session = codex_places.session_of(path.name) or claude_places.session_of(path.name, kind, folders=inside)
    return log_file(path, status, kind=kind, agent=None, root=root, session=session)


def _kind_of(path: Path) -> FileKind:
    known = claude_places.kind_of(path.name, path.parent.name) or codex_places.kind_of(path.name)
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
    if (name == "projects" and any(map(claude_places.is_project_name, inside.folders))) or (
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
    return claude_places.kind_of(name, "sessions") is FileKind.REGISTRY


def _is_rollout(name: str) -> bool:
    return name.startswith("rollout-") and codex_places.kind_of(name) is not None


_CANDIDATES_SHOWN = 5


def find(root: Root) -> Iterator[LogFile | Skipped]:
    """Everything under one root."""
    match root.agent:
        case "claude":
            return claude_places.find(root.path, part=root.part)
        case "codex":
            return codex_places.find(root.path, part=root.part)
        case None:
            return find_in_folders(root.path)


def find_all(roots: Iterable[Root]) -> Iterator[LogFile | Skipped]:
    """Everything under all roots, each real file once."""
    first_seen: dict[tuple[int, int], Path] = {}
    skipped: set[Skipped] = set()
    for found in (found for root in roots for found in find(root)):
        if isinstance(found, LogFile):
            first = first_seen.setdefault((found.device, found.inode), found.path)
            if first is found.path:
                yield found
                continue
            if first == found.path or os.path.realpath(first) == os.path.realpath(found.path):
                continue  # the same name by way of an overlapping root
            found = Skipped(found.path, "another name of a file already found")
        if found not in skipped:
            skipped.add(found)
            yield found


def find_one(path: str, roots: Iterable[Root]) -> LogFile | None:
    """The log at one path as a search of these roots would find it, without the search; None if it would not."""
    for root in roots:
        if not path.startswith(f"{root.path}/"):
            continue
        status = stat_regular(Path(path))
        if isinstance(status, Skipped):
            return None
        if root.agent is None:
            file = file_at(Path(path)) if path.endswith(_SUFFIXES) else None
            return file._replace(root=root.path) if isinstance(file, LogFile) else None
        inside = Path(path).parts[len(root.path.parts) :]
        standing = (claude_places if root.agent == "claude" else codex_places).standing_of(inside)
        if standing is not None and root.part in (None, inside[0]):
            return log_file(Path(path), status, agent=root.agent, root=root.path, **standing._asdict())
    return None


def find_at(path: Path) -> Iterator[LogFile | Skipped]:
    """What a path given by a person leads to: one file, or all logs in a folder."""
    return find_all(roots_at(path))


def transcript_path(
    session_id: str,
    cwd: str | os.PathLike[str],
    *,
    root: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
) -> Path:
    """Where a session of Claude Code is, or will be written: of no other agent id and folder alone tell that."""
    return claude_places.transcript_path(session_id, cwd, root=root, env=env)


def places(found: Iterable[LogFile | Skipped]) -> list[LogFolder]:
    """How many files and bytes of each kind are under each root, in the order found."""
    totals: dict[tuple[object, ...], LogFolder] = {}
    for file in found:
        if isinstance(file, LogFile):
            key = (file.root, file.agent, file.kind)
            place = totals.get(key, LogFolder(file.agent, file.root, file.kind, 0, 0))
            totals[key] = place._replace(files=place.files + 1, bytes=place.bytes + file.size)
    return list(totals.values())


def resolve_session(text: str, files: Iterable[LogFile]) -> list[LogFile]:
    """The files of the one session a person means, the best first; empty if there is none."""
    files = list(files)
    if text == "@last":
        return _newest_session(files)
    if "\0" not in text and (os.sep in text or text.endswith(_SUFFIXES)):
        return _file_named(text, files)
    matches = [file for file in files if text.lower() in _names(file)]
    return _best_first(matches or _by_prefix(text, files))


def _newest_session(files: list[LogFile]) -> list[LogFile]:
    mains = [file for file in files if _is_a_session(file)]
    return [max(mains, key=lambda file: file.mtime_ns)] if mains else []


def _is_a_session(file: LogFile) -> bool:
    """An empty transcript is a stub, and a document nobody vouches for may be any JSON file."""
    known = file.kind is FileKind.TRANSCRIPT or (file.kind is FileKind.DOCUMENT and file.agent is not None)
    return known and file.size > 0


def _file_named(text: str, files: list[LogFile]) -> list[LogFile]:
    wanted = os.path.realpath(text)
    known = [file for file in files if os.path.realpath(file.path) == wanted]
    if known or not os.path.lexists(text):
        return known
    named = file_at(Path(text))
    if isinstance(named, Skipped):
        raise UserError(f"cannot read {_one_line(text)}: {named.why}")
    return [named]


def _names(file: LogFile) -> set[str]:
    """What a person may call the session: its id, or the file's name where the path states no id."""
    if file.session:
        return {file.session.lower()}
    return {file.path.name.partition(".json")[0].lower()} if file.kind in MAIN_KINDS else set()


def _by_prefix(text: str, files: list[LogFile]) -> list[LogFile]:
    matches = [
        (name, file) for file in files for name in _names(file) if text and name.startswith(text.lower())
    ]
    names = sorted({name for name, _ in matches})
    if len(names) > 1:
        shown = ", ".join(map(_one_line, names[:_CANDIDATES_SHOWN]))
        more = ", …" if len(names) > _CANDIDATES_SHOWN else ""
        raise UserError(
            f"{text!r} is the start of {len(names)} sessions ({shown}{more}): give more of the id"
        )
    return [file for _, file in matches]


def _one_line(name: str) -> str:
    return name if name.isprintable() else ascii(name)


def _best_first(matches: list[LogFile]) -> list[LogFile]:
    """The main log of the session if any is left, else a subagent's: not empty first, then by name, then the newest."""
    mains = [file for file in matches if file.kind in MAIN_KINDS]
    subagents = [file for file in matches if file.kind is FileKind.SUBAGENT]
    return sorted(
        mains or subagents or matches,
        key=lambda file: (file.size == 0, not _is_named_like_it(file), -file.mtime_ns),
    )


def _is_named_like_it(file: LogFile) -> bool:
    return (file.session or "").lower() in file.path.name.lower()
