"""Claude Code's folders: its logs, the folder name of a project, and the release that was used last.

See docs/formats/claude_code.md#layout and docs/formats/claude_code.md#slug.

Rules
  1. The root and the folders `projects` and `sessions` in it may be links; links below them are not followed.
  2. `memory/` is not a session, and `sessions/*.key` are secrets: neither is listed as a log.
  3. A .jsonl below `projects` at a place that no format page names is listed as `other`, so that files of a new
     client are not lost.
  4. A folder name (slug) counts in UTF-16 units, as JavaScript does: an emoji is two units and becomes two dashes.
  5. A slug is lossy: nothing here derives a directory from it.
"""

from __future__ import annotations

import os
import re
import struct
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from tracklog.agents.roots import claude_homes, user_home
from tracklog.errors import UserError
from tracklog.sources.folders import list_folder, log_file, stat_regular, walk
from tracklog.sources.log_file import LINE_SUFFIXES, UUID, FileKind, LogFile, PathFacts, Skipped, plain_name

KNOWS_OUR_EVENTS = (2, 1, 100)  # the first release seen to know them all; 2.0.30 does not
_TAIL_BYTES = 256 << 10
_VERSION = re.compile(rb'"version":"(\d{1,4})\.(\d{1,4})\.(\d{1,6})"')
Release = tuple[int, int, int]


def last_release(home: Path) -> Release | None:
    """The release that wrote the newest transcript in this home; None if there is none that says so."""
    newest = max(_transcripts(home / "projects"), default=None)
    found = _VERSION.findall(_tail(newest[1])) if newest else []
    return (int(found[-1][0]), int(found[-1][1]), int(found[-1][2])) if found else None


def is_too_old(release: Release | None) -> bool:
    """Whether this release would ignore settings that name our events."""
    return release is not None and release < KNOWS_OUR_EVENTS


def _transcripts(projects: Path) -> Iterator[tuple[int, str]]:
    """The transcripts of all projects with the time of their last change; links are not followed."""
    for project in _entries(projects):
        if project.is_dir(follow_symlinks=False):
            for entry in _entries(project.path):
                if entry.name.endswith(".jsonl") and entry.is_file(follow_symlinks=False):
                    yield entry.stat(follow_symlinks=False).st_mtime_ns, entry.path


def _entries(folder: str | Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:  # no such folder, or not to be entered: then nothing is known
        return []


def _tail(path: str) -> bytes:
    try:
        with open(path, "rb") as stream:
            stream.seek(max(0, os.fstat(stream.fileno()).st_size - _TAIL_BYTES))
            return stream.read(_TAIL_BYTES)
    except OSError:
        return b""


CUT = 200  # units kept of a long path
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_KEPT = frozenset(map(ord, _DIGITS + _DIGITS[10:].upper()))


def slug(cwd: str) -> str:
    """The folder name for an absolute working directory whose links are already resolved."""
    units = _utf16_units(unicodedata.normalize("NFC", cwd))
    dashed = _dashed(units)
    return dashed if len(dashed) <= CUT else f"{dashed[:CUT]}-{_base36(abs(_hash31(units)))}"


def project_dirs_for(root: Path, cwd: str) -> list[Path]:
    """The existing project folders that may belong to the directory, the exact one first.

    Claude Code built with Bun may hash long paths in another way, so there any tail is accepted.
    """
    exact = slug(cwd)
    projects = root / "projects"
    names = list_folder(projects, may_be_link=True).folders
    fitting = [name for name in names if name == exact or _same_long_path(name, exact)]
    return [projects / name for name in sorted(fitting, key=lambda name: (name != exact, name))]


def _same_long_path(name: str, exact: str) -> bool:
    return len(exact) > CUT and name.startswith(exact[: CUT + 1])


def _utf16_units(text: str) -> tuple[int, ...]:
    encoded = text.encode("utf-16-le", "surrogatepass")
    return struct.unpack(f"<{len(encoded) // 2}H", encoded)


def _dashed(units: tuple[int, ...]) -> str:
    return "".join(chr(unit) if unit in _KEPT else "-" for unit in units)


def _hash31(units: tuple[int, ...]) -> int:
    """JavaScript's `(h << 5) - h + unit | 0`: a signed 32-bit number."""
    total = 0
    for unit in units:
        total = (31 * total + unit) & 0xFFFFFFFF
    return total - (1 << 32) if total >= 1 << 31 else total


def _base36(number: int) -> str:
    digits = ""
    while number or not digits:
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
    return digits


_SESSION_ID = re.compile(UUID)
_REGISTRY_NAME = re.compile(r"[0-9]+\.json")
_HOST_CHOSEN_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_PROJECT_NAME = re.compile(r"-|[A-Za-z]--")  # how the slug of an absolute path begins
_WINDOWS_PATH = re.compile(r"[A-Za-z]:[\\/]|\\\\")
_SESSION_FOLDER_DEPTH = 16
_KIND_BY_NAME = {
    "journal.jsonl": FileKind.JOURNAL,
    "custom-title.json": FileKind.TITLE,
    "sessions-index.json": FileKind.PROJECT_INDEX,
    "history.jsonl": FileKind.HISTORY,
}


def find(root: Path, *, part: str | None = None) -> Iterator[LogFile | Skipped]:
    """Everything Claude Code wrote about its sessions under this home, or in one of its folders."""
    top = list_folder(root, may_be_link=True)
    yield from (odd for odd in top.skipped if odd.path == root or odd.path.name == "history.jsonl")
    if part is None and "history.jsonl" in top.files:
        yield _found(root / "history.jsonl", top.files["history.jsonl"], kind=FileKind.HISTORY, root=root)
    if part in (None, "projects") and "projects" in top.folders + top.links:
        yield from _find_projects(root)
    if part in (None, "sessions") and "sessions" in top.folders + top.links:
        yield from _find_registry(root)


def standing_of(inside: Sequence[str]) -> PathFacts | None:
    """What a file is by its path from the home on, None if it is not surely one of Claude Code's.

    Many people have a folder called `projects`: only the name of a project or a session shows whose it is.
    """
    match inside:
        case ["history.jsonl"]:
            return PathFacts(FileKind.HISTORY)
        case ["sessions", name] if _REGISTRY_NAME.fullmatch(name):
            return PathFacts(FileKind.REGISTRY)
        case ["projects", project, name]:
            kind, session = _kind_in_project(name), _if_session_id(name.partition(".json")[0])
        case ["projects", project, beside, *folders, name] if beside != "memory":
            kind, session = _kind_beside(name, tuple(folders)), _if_session_id(beside)
        case _:
            return None
    return PathFacts(kind, session) if kind and (session or is_project_name(project)) else None


def home_of(log: Path) -> Path | None:
    """The home of a transcript, by its path alone; None if it is in none."""
    return next((above.parent for above in log.parents if above.name == "projects"), None)


def homes_of(logs: Iterable[Path]) -> list[Path]:
    """The homes of these transcripts, by their paths alone."""
    folders = dict.fromkeys(log.parent for log in logs)
    return list(dict.fromkeys(home for folder in folders if (home := home_of(folder / "log")) is not None))


def is_project_name(name: str) -> bool:
    """Whether a folder is called as Claude Code calls those of projects, unless a host chose the name."""
    return _PROJECT_NAME.match(name) is not None


def transcript_path(
    session_id: str,
    cwd: str | os.PathLike[str],
    *,
    root: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
) -> Path:
    """Where the session's transcript is, or, if there is none yet, where Claude Code will write it.

    Sessions move between projects (/cd, worktrees), so a file under any project wins over the computed place.
    """
    env = os.environ if env is None else env
    if not session_id or "/" in session_id or "\0" in session_id:
        raise UserError(f"not a session id: {session_id!r}; give the UUID that names the transcript")
    homes = [Path(root)] if root else claude_homes(env) or [user_home(env) / ".claude"]
    working_dir = resolved(cwd)
    existing = {path: status for home in homes for path, status in _transcripts_named(session_id, home)}
    if existing:
        own = {folder for home in homes for folder in project_dirs_for(home, working_dir)}
        ranks = {path: (s.st_size > 0, path.parent in own, s.st_mtime_ns) for path, s in existing.items()}
        return max(ranks, key=ranks.__getitem__)
    return homes[0] / "projects" / _project_name(working_dir, env) / f"{session_id}.jsonl"


def place_in_home(file: LogFile, session: str, *, is_main: bool, cwd: str) -> PurePosixPath:
    """Where in its home the client writes a file of a session that works in `cwd`."""
    inside = _below(file.path, file.root)
    if inside.parts[:1] == ("projects",) and len(inside.parts) > 2:
        return inside
    project = PurePosixPath("projects", slug(cwd or "/"))
    if is_main:
        return project / f"{session}.jsonl"
    if file.kind is FileKind.TOOL_RESULT:
        return project / session / "tool-results" / file.path.name
    folder = project / session / "subagents" if file.kind in (FileKind.SUBAGENT, FileKind.META) else project
    name = plain_name(file.path.name) if file.path.name.endswith(LINE_SUFFIXES) else file.path.name
    return folder / name


def _below(path: Path, root: Path) -> PurePosixPath:
    """The path from the root on; its name alone, where it is not plainly below."""
    inside = PurePosixPath(path.relative_to(root)) if path.is_relative_to(root) else PurePosixPath(path.name)
    return inside if ".." not in inside.parts else PurePosixPath(path.name)


def resolved(cwd: str | os.PathLike[str]) -> str:
    """The working directory as it names the project: absolute, its links resolved. One of Windows is left as it is."""
    path = os.fspath(cwd)
    if "\0" in path:
        raise UserError(f"not a directory: {path!r}; give the session's working directory")
    return path if _WINDOWS_PATH.match(path) else os.path.realpath(path)


def kind_of(name: str, folder: str) -> FileKind | None:
    """The kind of a file that only Claude Code names so, from its name and the name of its folder."""
    if folder == "tool-results":
        return FileKind.TOOL_RESULT
    if name.startswith("agent-") and name.endswith(LINE_SUFFIXES):
        return FileKind.SUBAGENT
    if name.endswith(".meta.json"):
        return FileKind.META
    if name.startswith("wf_") and name.endswith(".json"):
        return FileKind.WORKFLOW
    if folder == "sessions" and _REGISTRY_NAME.fullmatch(name):
        return FileKind.REGISTRY
    return _KIND_BY_NAME.get(name)


def session_of(name: str, kind: FileKind, *, folders: Sequence[str]) -> str | None:
    """The session a path states: a transcript's own name, or the nearest folder named like a session."""
    if kind in (FileKind.TRANSCRIPT, FileKind.DOCUMENT):
        return _if_session_id(name.partition(".json")[0])
    return next(filter(_if_session_id, reversed(folders)), None)


def _if_session_id(name: str) -> str | None:
    return name if _SESSION_ID.fullmatch(name) else None


def _find_projects(root: Path) -> Iterator[LogFile | Skipped]:
    projects = root / "projects"
    listing = list_folder(projects, may_be_link=True)
    yield from listing.skipped
    for name, status in listing.files.items():
        if name.endswith(LINE_SUFFIXES):
            yield _found(projects / name, status, kind=FileKind.OTHER, root=root)
    for name in listing.folders:
        yield from _find_project(projects / name, root)


def _find_project(project: Path, root: Path) -> Iterator[LogFile | Skipped]:
    listing = list_folder(project)
    yield from listing.skipped
    for name, status in listing.files.items():
        kind = _kind_in_project(name)
        if kind is not None:
            session = session_of(name, kind, folders=())
            yield _found(project / name, status, kind=kind, root=root, session=session)
    for name in listing.folders:
        if name != "memory":
            yield from _find_beside(project / name, root)


def _kind_in_project(name: str) -> FileKind | None:
    kind = kind_of(name, "")
    if kind in (FileKind.SUBAGENT, FileKind.META, FileKind.PROJECT_INDEX):
        return kind
    return FileKind.TRANSCRIPT if name.endswith(LINE_SUFFIXES) else None


def _find_beside(side_folder: Path, root: Path) -> Iterator[LogFile | Skipped]:
    """The folder beside a transcript: subagents at any depth, workflows, spilled output."""
    session = _if_session_id(side_folder.name)
    for folder, listing in walk(side_folder, max_depth=_SESSION_FOLDER_DEPTH):
        yield from listing.skipped
        for name, status in listing.files.items():
            kind = _kind_beside(name, listing.inside)
            if kind is not None:
                yield _found(folder / name, status, kind=kind, root=root, session=session)


def _kind_beside(name: str, inside: tuple[str, ...]) -> FileKind | None:
    if "tool-results" in inside:
        return FileKind.TOOL_RESULT
    return kind_of(name, "") or (FileKind.OTHER if name.endswith(LINE_SUFFIXES) else None)


def _find_registry(root: Path) -> Iterator[LogFile | Skipped]:
    listing = list_folder(root / "sessions", may_be_link=True)
    yield from listing.skipped
    for name, status in listing.files.items():
        if _REGISTRY_NAME.fullmatch(name):
            yield _found(root / "sessions" / name, status, kind=FileKind.REGISTRY, root=root)


def _found(
    path: Path, status: os.stat_result, *, kind: FileKind, root: Path, session: str | None = None
) -> LogFile:
    return log_file(path, status, kind=kind, agent="claude", root=root, session=session)


def _transcripts_named(session_id: str, root: Path) -> Iterator[tuple[Path, os.stat_result]]:
    projects = root / "projects"
    for name in list_folder(projects, may_be_link=True).folders:
        path = projects / name / f"{session_id}.jsonl"
        status = stat_regular(path)
        if not isinstance(status, Skipped):
            yield path, status


def _project_name(working_dir: str, env: Mapping[str, str]) -> str:
    chosen = env.get("CLAUDE_CODE_PROJECT_DIR_NAME", "")
    if env.get("CLAUDE_CONFIG_DIR") and _HOST_CHOSEN_NAME.fullmatch(chosen):
        return chosen
    return slug(working_dir)
