"""The logs of Codex: which of them form a session, and how they are read differently (`agents/base.py`).

Rules
  1. A session is its root thread and all threads below it, also where the root's own file is gone.
  2. A rollout with two files (archived, compressed) is read once: the longer one.
  3. Codex deletes nothing by itself: it moves sessions to `archived_sessions` and may compress them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tracklog.agents.base import AgentLogs, Head, HeadOf, LogOwner, SessionFiles
from tracklog.agents.codex.places import rollout_name
from tracklog.model.ids import MAIN, ThreadId
from tracklog.sources.files import NotReadable, chunks
from tracklog.sources.log_file import MAIN_KINDS, LogFile, is_compressed, plain_name

if TYPE_CHECKING:
    from tracklog.model.lineage.trace import Trace
    from tracklog.model.records import Piece, Record

# Lazy imports: lists and sums know the logs from the index, and need only names and places.


class CodexLogs(AgentLogs):
    """The logs of Codex."""

    has_id_per_thread = True
    says_copies = True
    translator_has_state = True

    def sessions_in(self, files: Sequence[LogFile], head_of: HeadOf) -> Iterator[SessionFiles]:
        from tracklog.agents.codex.lineage import with_reviewed

        rollouts = _each_once(file for file in files if file.kind in MAIN_KINDS)
        heads = [(file, head_of(file)) for file in rollouts]
        heads = with_reviewed([(file, head) for file, head in heads if head.session or file.session])
        threads = {(head.session or file.session or "").lower(): head for file, head in heads}
        names = {
            name.rollout.lower(): name.thread for file, _ in heads if (name := rollout_name(file.path.name))
        }
        members: dict[str, list[tuple[LogFile, Head]]] = defaultdict(list)
        for file, head in heads:
            root = _root_of(head.session or file.session or "", threads)
            members[root.lower()].append((file, head))
        for root, ours in members.items():
            yield _session(root, ours, names)

    def owner_of(self, file: LogFile, has_transcript: Callable[[str], bool]) -> LogOwner:  # noqa: ARG002
        from tracklog.agents.headers import head_of

        head = head_of(file)
        thread = head.session or file.session or file.path.stem
        above = head.root or head.parent
        return LogOwner(thread, ThreadId(thread) if above else MAIN, above)

    def thread_of(self, file: LogFile) -> ThreadId:
        return ThreadId(file.session or file.path.stem)

    def folder_around(self, file: LogFile) -> Path:
        return file.root  # rollouts are in folders by date

    @property
    def look_at(self) -> Callable[[Trace, Piece], None]:
        from tracklog.agents.codex.lineage import look_at

        return look_at

    @property
    def version_of(self) -> Callable[[Record], str | None]:
        from tracklog.agents.codex.records import version_of

        return version_of


def _session(root: str, ours: list[tuple[LogFile, Head]], rollouts: dict[str, str]) -> SessionFiles:
    def rank(member: tuple[LogFile, Head]) -> tuple[bool, str, str]:
        file, head = member
        return (head.session or file.session or "").lower() != root, file.path.name, str(file.path)

    ours.sort(key=rank)
    named = [rollouts.get(source.lower(), source) for _, head in ours for source in head.sources]
    sources = dict.fromkeys(source for source in named if source.lower() != root)
    files = tuple(file._replace(session=head.session or file.session) for file, head in ours)
    return SessionFiles(_as_written(root, ours), "codex", files, tuple(sources))


def _as_written(root: str, ours: list[tuple[LogFile, Head]]) -> str:
    names = [
        name for file, head in ours for name in (head.session, file.session, head.root, head.parent) if name
    ]
    return next((name for name in names if name.lower() == root), root)


def _root_of(thread: str, threads: dict[str, Head]) -> str:
    """The thread at the top, as far as heads tell; a parent whose file is gone is known by its name alone."""
    seen: set[str] = set()
    while thread.lower() not in seen:
        seen.add(thread.lower())
        head = threads.get(thread.lower())
        thread = (head and (head.root or head.parent)) or thread
    return thread


def _each_once(files: Iterator[LogFile]) -> Iterator[LogFile]:
    copies: dict[str, list[LogFile]] = defaultdict(list)
    for file in files:
        copies[plain_name(file.path.name)].append(file)
    for same in copies.values():
        if len(same) == 1 or not rollout_name(same[0].path.name):
            yield from same
        else:
            yield max(same, key=lambda file: (_length(file), str(file.path)))


def _length(file: LogFile) -> int:
    if file.stored is not None or not is_compressed(file.path):
        return file.size
    try:
        return sum(map(len, chunks(file)))
    except NotReadable:
        return 0
