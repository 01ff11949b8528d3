"""All the logs there are: the homes of this machine's agents, or the folders a person names.

Rules of this room
  1. Each real file comes once, however many roots lead to it; a second name for it is said to be one.
  2. A session is named by its id, the start of its id, a file, or @last. What fits several is never guessed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from tracklog.errors import UserError
from tracklog.sources import claude_code, codex, folders
from tracklog.sources.found import LINE_SUFFIXES, FileKind, LogFile, Place, Root, Skipped
from tracklog.sources.listing import log_file, stat_regular

_SUFFIXES = (*LINE_SUFFIXES, ".json")
_MAIN_KINDS = (FileKind.TRANSCRIPT, FileKind.DOCUMENT)
_CANDIDATES_SHOWN = 5


def find(root: Root) -> Iterator[LogFile | Skipped]:
    """Everything under one root."""
    match root.agent:
        case "claude":
            return claude_code.find(root.path, part=root.part)
        case "codex":
            return codex.find(root.path, part=root.part)
        case None:
            return folders.find(root.path)


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
            file = folders.file_at(Path(path)) if path.endswith(_SUFFIXES) else None
            return file._replace(root=root.path) if isinstance(file, LogFile) else None
        inside = Path(path).parts[len(root.path.parts) :]
        standing = (claude_code if root.agent == "claude" else codex).standing_of(inside)
        if standing is not None and root.part in (None, inside[0]):
            return log_file(Path(path), status, agent=root.agent, root=root.path, **standing._asdict())
    return None


def find_at(path: Path) -> Iterator[LogFile | Skipped]:
    """What a path given by a person leads to: one file, or all logs in a folder."""
    return find_all(folders.roots_at(path))


def places(found: Iterable[LogFile | Skipped]) -> list[Place]:
    """How many files and bytes of each kind stand under each root, in the order found."""
    totals: dict[tuple[object, ...], Place] = {}
    for file in found:
        if isinstance(file, LogFile):
            key = (file.root, file.agent, file.kind)
            place = totals.get(key, Place(file.agent, file.root, file.kind, 0, 0))
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
    named = folders.file_at(Path(text))
    if isinstance(named, Skipped):
        raise UserError(f"cannot read {_one_line(text)}: {named.why}")
    return [named]


def _names(file: LogFile) -> set[str]:
    """What a person may call the session: its id, or the file's name where the path states no id."""
    if file.session:
        return {file.session.lower()}
    return {file.path.name.partition(".json")[0].lower()} if file.kind in _MAIN_KINDS else set()


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
    """The main line of the session if any is left: what is not empty, then what is named like it, then the newest."""
    mains = [file for file in matches if file.kind in _MAIN_KINDS]
    return sorted(
        mains or matches, key=lambda file: (file.size == 0, not _is_named_like_it(file), -file.mtime_ns)
    )


def _is_named_like_it(file: LogFile) -> bool:
    return (file.session or "").lower() in file.path.name.lower()
