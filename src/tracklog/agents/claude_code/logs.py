"""The logs of Claude Code: which of them form a session, and what differs in reading them (`agents/base.py`).

Rules
  1. Where a path states the session, no file is opened. Else only the first lines of a file are read.
  2. The same session id in several folders or roots is one session; `/clear` gives a new id, so a new session.
  3. A file beside a subagent's log belongs to the subagent's session: by its name, or by its folder.
  4. What only one of the methods needs is imported there: most answers need little of it.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tracklog.agents.base import (
    AgentLogs,
    HeadOf,
    LogOwner,
    OutputRead,
    Retention,
    SessionFiles,
    SharedIds,
)
from tracklog.agents.claude_code import places
from tracklog.model.ids import ThreadId
from tracklog.sources.log_file import MAIN_KINDS, THREAD_KINDS, FileKind, LogFile, Root

if TYPE_CHECKING:
    from tracklog.model.lineage.trace import Trace
    from tracklog.model.records import Piece, Record

# Lazy imports: lists and sums know the logs from the index, and need only names and places.

_ORDER = {
    FileKind.TRANSCRIPT: 0,
    FileKind.DOCUMENT: 0,
    FileKind.SUBAGENT: 1,
    FileKind.META: 2,
    FileKind.JOURNAL: 3,
    FileKind.WORKFLOW: 4,
    FileKind.TITLE: 5,
    FileKind.TOOL_RESULT: 6,
    FileKind.OTHER: 7,
}
_AGENT_FILE = re.compile(r"agent-(.+?)(?:\.meta)?\.jsonl?(?:\.zst)?")


class ClaudeLogs(AgentLogs):
    """The logs of Claude Code."""

    has_output_files = True
    has_subagent_files = True
    path_names_session = True
    tells_reasoning = False

    def sessions_in(self, files: Sequence[LogFile], head_of: HeadOf) -> Iterator[SessionFiles]:
        transcripts = {
            (file.path.parent, file.session) for file in files if file.kind in MAIN_KINDS and file.size
        }
        settled = [
            _with_session(file, transcripts, head_of)
            for file in files
            if file.session or file.kind in THREAD_KINDS
        ]
        nameless = [file for file in files if not file.session and file.kind not in THREAD_KINDS]
        if nameless:
            by_place = _sessions_by_place(settled)
            settled += [_beside(file, by_place) for file in nameless]
        members: dict[str, list[LogFile]] = defaultdict(list)
        for file in settled:
            if file.session:
                members[file.session.lower()].append(file)
        for ours in members.values():
            ours.sort(key=lambda file: (_ORDER[file.kind], str(file.path)))
            if any(
                file.kind in THREAD_KINDS and file.size for file in ours
            ):  # a stub is none, nor what a deleted one left
                yield SessionFiles(ours[0].session or "", "claude", tuple(ours))

    def owner_of(self, file: LogFile, has_transcript: Callable[[str], bool]) -> LogOwner:
        return LogOwner(self.session_of(file, has_transcript) or file.path.stem, self.thread_of(file))

    def session_of(self, file: LogFile, has_transcript: Callable[[str], bool]) -> str | None:
        if file.session:
            return file.session
        from tracklog.agents.headers import head_of

        head = head_of(file)
        return next(filter(has_transcript, head.named), head.session)

    def thread_of(self, file: LogFile) -> ThreadId:
        named = _AGENT_FILE.fullmatch(file.path.name)
        return ThreadId(named[1]) if named else super().thread_of(file)  # a journal is its workflow's

    def homes_of(self, logs: Iterable[Path]) -> list[Path]:
        return places.homes_of(logs)

    def folder_around(self, file: LogFile) -> Path:
        folder = file.path.parent
        inside = [at for at in (folder, *folder.parents) if at.name == "subagents"]
        return inside[-1].parent.parent if inside else folder

    def elsewhere(self, file: LogFile) -> Iterator[LogFile]:
        """The logs of the same session in other projects of its home: one that was resumed elsewhere has some there."""
        project = self.folder_around(file)
        here = Path(os.path.abspath(project))
        home = here.parent
        if home.name != "projects":
            return
        from tracklog.agents.discovery import find_one

        session = file.path.relative_to(project).parts[0].removesuffix(".jsonl")
        root = Root(agent="claude", path=home.parent, part="projects")
        for other in sorted(home.iterdir()):
            if other != here:
                for path in (other / f"{session}.jsonl", *_all_below(other / session)):
                    if (found := find_one(str(path), [root])) is not None:
                        yield found

    def project_of(self, file: LogFile) -> str | Path:
        """The name of the project's folder, as several homes may have it; for other folders the whole path."""
        folder = file.path.parent
        return folder.name if folder.parent.name == "projects" else folder

    def project_folders(self, home: Path, cwd: str | os.PathLike[str]) -> list[Path]:
        return places.project_dirs_for(home, places.resolved(cwd))

    def transcript_path(
        self,
        session: str,
        cwd: str | os.PathLike[str],
        *,
        root: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
    ) -> Path:
        return places.transcript_path(session, cwd, root=root, env=env)

    def shared_ids(self, file: LogFile) -> SharedIds:
        from tracklog.agents.claude_code.lineage import shared_ids

        return shared_ids(file)

    def ids_inside(self, file: LogFile) -> Iterator[bytes]:
        from tracklog.agents.claude_code.lineage import ids_inside

        return ids_inside(file)

    @property
    def look_at(self) -> Callable[[Trace, Piece], None]:
        from tracklog.agents.claude_code.lineage import look_at

        return look_at

    @property
    def version_of(self) -> Callable[[Record], str | None]:
        from tracklog.agents.claude_code.records import version_of

        return version_of

    def side_folder(self, log: LogFile) -> Path | None:
        from tracklog.agents.claude_code.output_files import session_folder

        return session_folder(log)

    def output_path(self, log: LogFile, name: str) -> Path | None:
        from tracklog.agents.claude_code.output_files import output_path

        return output_path(log, name)

    def read_output(self, path: Path, most: int) -> OutputRead | None:
        from tracklog.agents.claude_code.output_files import read_output

        return read_output(path, most)

    def retention(self, home: Path, *, projects: Iterable[Path] = ()) -> Retention:
        from tracklog.agents.claude_code.retention import retention

        return retention(home, projects=projects)


def _with_session(file: LogFile, transcripts: set[tuple[Path, str | None]], head_of: HeadOf) -> LogFile:
    """A subagent of 2.0.x at a resume first names a session that never comes to be: one with a transcript counts."""
    if file.session:
        return file
    head = head_of(file)
    real = (name for name in head.named if (file.path.parent, name) in transcripts)
    return file._replace(session=next(real, head.session))


def _sessions_by_place(files: list[LogFile]) -> dict[Path, str]:
    """The session of each subagent's file, by its path without suffixes, and by its folder."""
    agents = [file for file in files if file.kind is FileKind.SUBAGENT and file.session]
    by_folder = {file.path.parent: file.session or "" for file in agents}
    return by_folder | {_stem(file.path): file.session or "" for file in agents}


def _beside(file: LogFile, by_place: dict[Path, str]) -> LogFile:
    """A file that names no session, with that of the subagent of the same name; a journal with that of its folder."""
    place = _stem(file.path) if file.kind is FileKind.META else file.path.parent
    return file._replace(session=by_place.get(place))


def _stem(path: Path) -> Path:
    return path.with_name(path.name.partition(".")[0])


def _all_below(folder: Path) -> Sequence[Path]:
    return sorted(folder.rglob("*")) if folder.is_dir() else ()
