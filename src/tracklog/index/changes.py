"""Compare the logs on disk with the index: which are new, grown, rewritten, moved or gone.

Rules
  1. If size, times and inode are unchanged, nothing of the file is read. Otherwise marks of its bytes decide
     (sources/tail/identity.py).
  2. A log is where its bytes are. A log under another path (renamed, moved to another folder, compressed) is the
     same log; a path with other bytes is a rewritten log.
  3. A log that is gone stays in the index, unless another log on disk holds all that it held.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from tracklog.agents.supported import support_for
from tracklog.archive.locate import known_log
from tracklog.sources.files import NotReadable, chunks
from tracklog.sources.log_file import COMPRESSED, LINE_SUFFIXES, THREAD_KINDS, FileKind, LogFile, plain_name
from tracklog.sources.tail.identity import GOES_ON, HEAD_BYTES, bytes_at, is_gone, length_of, mark_of
from tracklog.store.file_stamps import OUT_OF_REACH
from tracklog.store.values import Archived, KnownFile

What = Literal["grown", "rewritten", "touched"]
Name = tuple[str | None, str | None]  # agent and session
KinOf = Callable[[str, str], Iterable[str]]  # from agent and session to the ids of sessions

_PLAIN = re.compile(r"[A-Za-z0-9_.-]+")  # what JSON escapes nothing of


@dataclass
class Changes:
    """The logs of some roots, by what happened to them."""

    new: list[LogFile] = field(default_factory=list)
    changed: list[tuple[KnownFile, LogFile, What]] = field(default_factory=list)
    moved: list[tuple[KnownFile, LogFile]] = field(default_factory=list)  # also in `changed` if they grew
    back: list[KnownFile] = field(default_factory=list)  # kept ones that are at their path again
    kept: list[KnownFile] = field(default_factory=list)  # that are gone
    past: list[KnownFile] = field(default_factory=list)  # that are gone, and all they held is elsewhere
    same: list[tuple[KnownFile, LogFile]] = field(default_factory=list)

    @property
    def is_nothing(self) -> bool:
        """Whether nothing changed."""
        return not (self.new or self.changed or self.moved or self.back or self.kept or self.past)


def changes_in(
    found: Iterable[LogFile],
    known: Sequence[KnownFile],
    *,
    is_full: bool = False,
    kin_of: KinOf | None = None,
) -> Changes:
    """Compare the logs on disk with `known`, the logs that the index has in the searched places.

    `kin_of` returns the sessions that share history with one: a copy under another name may be among their logs.
    """
    changes = Changes()
    here = {str(file.path): file for file in found}
    by_path = {file.path: file for file in known}
    strangers = [file for path, file in here.items() if path not in by_path]
    homeless = [file for file in known if file.path not in here or _has_another_inode(file, here[file.path])]
    moves = _moves(strangers, homeless, here)
    for file in strangers:
        if file.path in moves:
            _moved(changes, moves[file.path], file)
        else:
            changes.new.append(file)
    gone_elsewhere = {row.id for row in moves.values()}
    for path, row in by_path.items():
        if path in here:
            if row.id in gone_elsewhere:
                changes.new.append(here[path])
            else:
                _compare(changes, row, here[path], is_full=is_full)
        elif row.id not in gone_elsewhere and row.state == "here" and _is_away(path, here):
            changes.kept.append(row)
    _find_what_is_past(changes, here, known, kin_of)
    return changes


def _compare(changes: Changes, row: KnownFile, file: LogFile, *, is_full: bool) -> None:
    if row.state == "here" and not is_full and _is_untouched(row, file):
        changes.same.append((row, file))
        return
    what = what_happened(row, file)
    if row.state == "kept":
        if what is None:  # the file there is not readable: the archive is read until it is
            return
        changes.back.append(row)
    if what is None:
        changes.same.append((row, file))
    else:
        changes.changed.append((row, file, what))


def _moved(changes: Changes, row: KnownFile, file: LogFile) -> None:
    changes.moved.append((row, file))
    what = what_happened(row, file)
    changes.changed.append((row, file, what or "touched"))


def _is_untouched(row: KnownFile, file: LogFile) -> bool:
    return row.stamp == file.stamp and row.device == file.device


def _has_another_inode(row: KnownFile, file: LogFile) -> bool:
    return row.state == "kept" or not row.identity.is_at(file.device, file.inode)


def what_happened(row: KnownFile, file: LogFile) -> What | None:
    """What happened to a log whose size, times or inode differ; None if it cannot be read now."""
    try:
        answer = row.identity.compare(file)
    except NotReadable:
        return None
    if answer not in GOES_ON:
        return None if answer == "gone" else "rewritten"
    is_unread = row.size < 0 or row.ctime_ns == OUT_OF_REACH  # or not to its end
    return "grown" if is_unread or answer == "grown" else "touched"


def _moves(
    strangers: Sequence[LogFile], homeless: Sequence[KnownFile], here: Collection[str]
) -> dict[Path, KnownFile]:
    """Which unknown paths hold which known logs: by inode, else by the bytes."""
    moves: dict[Path, KnownFile] = {}
    taken: set[int] = set()
    by_inode = {(row.device, row.inode): row for row in homeless if row.state == "here"}
    for file in strangers:
        row = by_inode.get((file.device, file.inode))
        if row is not None and row.id not in taken and _is_alike(file, row) and _has_head(file, row):
            moves[file.path] = row
            taken.add(row.id)
    by_head: dict[bytes, list[KnownFile]] = defaultdict(list)
    for row in homeless:
        if row.id not in taken and row.head and row.contents_bytes and _is_away(row.path, here):
            by_head[row.head].append(row)
    for file in strangers if by_head else ():
        if file.path not in moves:
            held = next(
                (row for row in _holding(file, by_head) if row.id not in taken and _is_alike(file, row)), None
            )
            if held is not None:
                moves[file.path] = held
                taken.add(held.id)
    return moves


def _is_alike(file: LogFile, row: KnownFile) -> bool:
    """Whether it would be read as before: in another agent's home, or as something else, it is a new log."""
    return file.agent is None or (file.agent, file.kind) == (row.agent, row.kind)


def _has_head(file: LogFile, row: KnownFile) -> bool:
    """A new file may have been given the inode of one that was deleted."""
    if row.head is None:
        return row.contents_bytes == 0
    try:
        return mark_of(bytes_at(file, 0, length_of(row.head))) == row.head
    except NotReadable:
        return False


def _holding(file: LogFile, by_head: dict[bytes, list[KnownFile]]) -> list[KnownFile]:
    """The known logs whose bytes a file begins with, the longest first."""
    try:
        head = bytes_at(file, 0, HEAD_BYTES)
        marks = {mark_of(head[:n]) for n in {length_of(mark) for mark in by_head}}
        rows = [row for mark in marks for row in by_head.get(mark, ())]
        held = [row for row in rows if row.identity.compare(file) in GOES_ON]
    except NotReadable:
        return []
    return sorted(held, key=lambda row: (-row.contents_bytes, row.path))


def _find_what_is_past(
    changes: Changes, here: dict[str, LogFile], known: Sequence[KnownFile], kin_of: KinOf | None
) -> None:
    """Find logs that are gone, now or before, but whose contents another log on disk holds."""
    away = [*changes.kept, *(row for row in known if row.state == "kept" and row.path not in here)]
    moved = {row.id for row, _ in changes.moved}
    by_head: dict[bytes, list[KnownFile]] = defaultdict(list)
    for row in away:
        if row.head and row.contents_bytes and row.id not in moved:
            by_head[row.head].append(row)
    if not by_head:
        return
    arrived = [*changes.new, *(file for _, file, _ in changes.changed)]
    names = {name for row in changes.kept for name in _related(row, kin_of)}
    beside = [
        here[row.path]
        for row in known
        if row.path in here and (row.head in by_head or not names.isdisjoint(_names(row)))
    ]
    past = {row.id: row for file in (*arrived, *beside) for row in _holding(file, by_head)}
    changes.past = sorted(past.values(), key=lambda row: row.path)
    changes.kept = [row for row in changes.kept if row.id not in past]


def _related(row: KnownFile, kin_of: KinOf | None) -> set[Name]:
    """The sessions that may hold the bytes of a log again: its own, and those with the same beginning."""
    names = _names(row)
    if kin_of is not None:
        names |= {(agent, id) for agent, name in names if agent and name for id in kin_of(agent, name)}
    return names


def _names(row: KnownFile) -> set[Name]:
    """The session that a log was given to, and the one that it names itself."""
    return {(row.agent, name) for name in (row.session, row.own_session) if name} or {(row.agent, None)}


def _is_away(path: str, here: Collection[str]) -> bool:
    """Whether the log is gone, or is a compressed copy that is ignored next to the uncompressed file."""
    return (path.endswith(COMPRESSED) and plain_name(path) in here) or is_gone(path)


class OutputChanges:
    """Output files whose text is another one now, and the logs that were read with the former.

    Clients write the output file first, and then the line that names it. So a log is read again only if the part of it
    that the index has read names the file: its bytes are searched, its lines are not parsed.
    """

    def __init__(self) -> None:
        self._names: dict[str, set[str]] = defaultdict(set)  # by the folder of their session
        self.moved: set[str] = set()  # the new paths of all logs that moved

    def add(self, row: KnownFile) -> None:
        """Notes that a file appeared, changed or vanished; only those with output count."""
        if row.kind == FileKind.TOOL_RESULT:
            self._note(row.path)

    def move(self, row: KnownFile, file: LogFile) -> None:
        """Notes that a file has another path now, unless the log of its session moved with it."""
        if row.kind != FileKind.TOOL_RESULT:
            return
        folder = file.path.parent.parent
        is_with_log = any(f"{folder}{suffix}" in self.moved for suffix in LINE_SUFFIXES)
        if not is_with_log or os.path.basename(row.path) != file.path.name:
            self._note(row.path)
            self._note(str(file.path))

    def _note(self, path: str) -> None:
        folder, name = os.path.split(path)
        self._names[os.path.dirname(folder)].add(name)

    def logs(
        self, known: Iterable[KnownFile], archived: dict[int, Archived], archive: Path
    ) -> Iterator[KnownFile]:
        """The logs whose lines that were read before name one of these files."""
        around = tuple({f"{os.path.dirname(folder)}/" for folder in self._names})
        for row in known:
            if row.contents_bytes and row.kind in THREAD_KINDS and row.path.startswith(around):
                log = known_log(row, archived.get(row.id), archive)._replace(until=row.contents_bytes)
                names = self._names.get(str(support_for(log.agent).logs.side_folder(log)))
                if names and _has_any(log, names):
                    yield row


def _has_any(log: LogFile, names: Collection[str]) -> bool:
    """Whether a log names a file; one that cannot be read now is left as it is."""
    if not all(map(_PLAIN.fullmatch, names)):
        return True
    wanted = [name.encode() for name in names]
    before, n_before = b"", max(map(len, wanted)) - 1
    try:
        for chunk in chunks(log):
            held = before + chunk
            if any(name in held for name in wanted):
                return True
            before = held[-n_before:] if n_before else b""
    except NotReadable:
        return False
    return False
