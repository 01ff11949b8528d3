"""Build a new index from the logs and the archive, compare it with the old one, and replace the old one.

Rules
  1. The archive describes itself: each of its files says which log it holds. A log that is still at its source is
     read from there, any other from the archive.
  2. The old index stays until the new one has every log and every session that the old one had, to the last byte
     that was read. If the user forces a replacement that has less, the old one is kept under another name.
  3. Work on a damaged index goes on: the damaged one is set aside, and a new one takes over the archive.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from tracklog.agents.discovery import roots_at
from tracklog.archive import tables
from tracklog.archive.files import ArchiveEntry, archived_logs
from tracklog.home import Home, held_lock
from tracklog.index.ingest import OnRead
from tracklog.index.orphaned_archives import marks_in
from tracklog.index.refresh import RefreshSteps, Stage, ignore, refresh
from tracklog.index.sync import OnPlan
from tracklog.sessions.tables_write import session_names
from tracklog.sources.log_file import FileKind, Root, Skipped
from tracklog.store import catalogue
from tracklog.store.database import (
    DamagedIndex,
    Database,
    opened,
    put_setting,
    removed_at_last,
    set_aside,
    setting,
    swap,
)
from tracklog.store.values import KnownFile

ADOPTED = "adopted"  # the setting that says that the archive was taken over
_ASIDE = "index.rebuilding.db"


@dataclass
class Rebuilt:
    """How the new index compares with the old one."""

    n_logs: int = 0
    n_sessions: int = 0
    n_kept: int = 0  # logs that only the archive has
    missing_logs: list[str] = field(default_factory=list)  # that the old one knew
    missing_sessions: list[str] = field(default_factory=list)
    damaged_logs: list[Skipped] = field(default_factory=list)  # of which the old one knew more, and why
    old_index: Path | None = None  # where it is kept, if it knew more and was replaced
    problems: list[str] = field(default_factory=list)

    @property
    def is_complete(self) -> bool:
        """Whether the new index has all that the old one had."""
        return not (self.missing_logs or self.missing_sessions or self.damaged_logs)


def rebuild(
    home: Home,
    roots: Sequence[Root],
    *,
    is_forced: bool = False,
    on_plan: OnPlan = ignore,
    on_read: OnRead = ignore,
) -> Rebuilt:
    """Build a new index; it replaces the old one if it is complete, or if `is_forced`."""

    def on_stage(stage: Stage) -> AbstractContextManager[tuple[OnPlan, OnRead]]:
        return nullcontext((on_plan, on_read) if stage == "indexing" else (ignore, ignore))

    home.make()
    aside = Home(home.path, index_name=_ASIDE)
    with held_lock(home), removed_at_last(aside):
        known, sessions, archives = _known_before(home)
        with opened(aside) as database:
            adopt_archive(database)
            with database.transaction() as db:
                put_setting(db, "archive", "on" if archives else "off")
            everywhere = [*roots, *known_roots(database, but=roots)]
            done = refresh(database, everywhere, RefreshSteps(), on_stage=on_stage).synced
            rebuilt = _compared(database, known, sessions)
            rebuilt.problems = done.problems
        if is_forced and not rebuilt.is_complete:
            rebuilt.old_index = set_aside(home, called="replaced")
        if rebuilt.is_complete or is_forced:
            swap(aside, home)
    return rebuilt


def known_roots(database: Database, *, but: Sequence[Root] = ()) -> list[Root]:
    """The roots of all logs in the index: they are searched, too, whatever roots the caller gives."""
    asked = {root.path for root in but}
    folders = sorted({Path(row.root) for row in catalogue.all_files(database.db)} - asked)
    return [root for folder in folders if folder.is_dir() for root in roots_at(folder)]


def adopt_archive(database: Database) -> None:
    """Add all logs of the archive to the index, as unread; those whose source is gone count."""
    by_path: dict[str, list[ArchiveEntry]] = defaultdict(list)
    for found in archived_logs(database.home.archive):
        by_path[str(found.about["path"])].append(found)
    with database.transaction() as db:
        for path, generations in by_path.items():
            generations.sort(key=_rank)
            _adopt(database, path, generations)
        put_setting(db, ADOPTED, "yes")


def _rank(found: ArchiveEntry) -> tuple[bool, int, str]:
    """Sort key: logs that are past come first, the newest generation of the others last."""
    return found.about.get("state") != "past", _generation(found), found.archived.name


def _generation(found: ArchiveEntry) -> int:
    return int(found.about.get("generation") or 1)


def _adopt(database: Database, path: str, generations: list[ArchiveEntry]) -> None:
    newest = generations[-1]
    about, at = newest.about, newest.archived
    is_past = about.get("state") == "past" or not at.contents_bytes  # nothing is not kept
    head, tail = marks_in(database.home.archive, at)
    kind = about.get("kind")
    number = catalogue.add_file(
        database.db,
        {
            "path": path,
            "root": str(about.get("root") or path.rpartition("/")[0]),
            "agent": about.get("agent"),
            "kind": kind if kind in set(FileKind) else str(FileKind.OTHER),
            "own_session": about.get("session"),
            "state": "past" if is_past else "kept",
            "device": 0,
            "inode": 0,
            "mtime_ns": int(about.get("mtime_ns") or 0),
            "ctime_ns": 0,
            "generation": _generation(newest),
            "contents_bytes": at.contents_bytes,
            "head": head,
            "tail": tail,
        },
    )
    for one in generations:
        tables.put_generation(database.db, number, _generation(one), one.archived)


def _known_before(home: Home) -> tuple[dict[str, KnownFile], set[tuple[str, str]], bool]:
    """The logs and sessions of the old index, as far as it can still be read."""
    if not home.has_index():
        return {}, set(), True
    try:
        with opened(home) as database:
            logs = {row.path: row for row in catalogue.all_files(database.db) if row.contents_bytes}
            return logs, session_names(database.db), setting(database.db, "archive") != "off"
    except DamagedIndex:
        return {}, set(), True


def _compared(database: Database, known: Mapping[str, KnownFile], sessions: set[tuple[str, str]]) -> Rebuilt:
    rows = catalogue.all_files(database.db)
    names = session_names(database.db)
    return Rebuilt(
        n_logs=len(rows),
        n_sessions=len(names),
        n_kept=sum(row.state == "kept" for row in rows),
        missing_logs=sorted(known.keys() - {row.path for row in rows}),
        missing_sessions=sorted(session for _, session in sessions - names),
        damaged_logs=[
            Skipped(Path(row.path), why)
            for row in rows
            if row.path in known and (why := _why_less(known[row.path], row)) is not None
        ],
    )


def _why_less(before: KnownFile, now: KnownFile) -> str | None:
    """Why less of a log is known than before; None: it is not less, or there is no more at its source."""
    if now.problem is not None and (before.problem is None or now.position < before.position):
        return now.problem  # the old index may know of the damage, too, and still have read the log before it
    if now.state == "kept" and now.contents_bytes < before.contents_bytes:
        return f"{now.contents_bytes:,} of {before.contents_bytes:,} bytes are left in the archive"
    return None


Result = TypeVar("Result")
OnDamage = Callable[[DamagedIndex, Path], None]


def with_index(home: Home, work: Callable[[Database], Result], *, on_damage: OnDamage) -> Result:
    """Do `work` as the only writer of the index, and return its result. Raises Busy if another process writes it."""
    home.make()
    with held_lock(home):
        try:
            return _work_on(home, work)
        except DamagedIndex as damage:
            on_damage(damage, set_aside(home))
        return _work_on(home, work)


def _work_on(home: Home, work: Callable[[Database], Result]) -> Result:
    with opened(home) as database:
        if setting(database.db, ADOPTED) is None:  # it is new, or the process that made it was stopped
            adopt_archive(database)
            roots = known_roots(database)
            if roots:
                refresh(database, roots, RefreshSteps(with_rows=False))
        return work(database)
