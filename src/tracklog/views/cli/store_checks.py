"""What `tracklog doctor` looks at in the index and the archive, and what the agents are about to delete."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from tracklog.pipeline.deletions import Deletion, Retention, deletions, retention
from tracklog.pipeline.verify import why_not_given_back
from tracklog.sources.found import LogFile
from tracklog.store.archive_rows import ArchivedLog, archived_rows, folders_of
from tracklog.store.database import Damaged, Database, StoreError, reading
from tracklog.store.home import Home
from tracklog.store.settings import setting
from tracklog.store.soundness import has_our_values, is_sound
from tracklog.store.stamps import stamps
from tracklog.views.cli.check import Check
from tracklog.views.cli.choosing import Found
from tracklog.views.cli.printing import count, percent, short_id, size, tilde

_SOON_DAYS = 7
_NAMED = 5
_REBUILD = "tracklog rebuild makes it anew from the logs and the archive"


def store_checks(found: Found, home: Path, *, roots: str, now_ns: int) -> list[Check]:
    """What is about to be deleted, and how the index and the archive are; `roots` as they can be typed."""
    try:
        with reading(Home(home)) as database:
            if database is None:
                nothing = Check("index", "ok", "not made yet: every answer is read from the logs")
                return [_deletion(found, [], [], roots=roots, now_ns=now_ns), nothing]
            logs = archived_rows(database.db, with_pruned=True)
            folders = [Path(folder) for folder in folders_of(database.db, "claude")]
            return [
                _deletion(found, folders, logs, roots=roots, now_ns=now_ns),
                _index(database, found.files),
                _archive(database.home, logs),
            ]
    except Damaged as damage:
        return [
            _deletion(found, [], [], roots=roots, now_ns=now_ns),
            Check("index", "fail", str(damage), _REBUILD),
        ]
    except StoreError as error:
        return [
            _deletion(found, [], [], roots=roots, now_ns=now_ns),
            Check("index", "fail", str(error), "free it, or --home"),
        ]


def _deletion(
    found: Found, folders: list[Path], logs: Sequence[ArchivedLog], *, roots: str, now_ns: int
) -> Check:
    homes = [root.path for root in found.roots if root.agent == "claude"]
    kept = {home: retention(home, projects=folders) for home in homes}
    paused = next((one for one in kept.values() if one.why_paused), None)
    if paused is not None:
        evidence = f"cleanupPeriodDays in {tilde(paused.said_by or '')}: {paused.why_paused}"
        return Check("deletion", "warn", evidence, "set it to the number of days to keep, 3650 for ten years")
    due = deletions(found.files, kept, now_ns=now_ns, within_days=_SOON_DAYS)
    if not due:
        return Check("deletion", "ok", _nothing_due(found, kept))
    archived = {log.path for log in logs if log.is_current and not log.is_pruned}
    lost = [one for one in due if str(one.path) not in archived]
    evidence = f"{_due(due)}{'' if lost else '; the archive has them all'}"
    if not lost:
        return Check("deletion", "ok", evidence)
    only = "" if len(lost) == len(due) else f"; {count(len(lost), 'session')} of them not in the archive"
    return Check("deletion", "warn", evidence + only, f"tracklog index{roots} keeps copies of them")


def _nothing_due(found: Found, kept: dict[Path, Retention]) -> str:
    if not kept:
        is_codex = any(root.agent == "codex" for root in found.roots)
        return "Codex deletes no sessions by itself" if is_codex else "no agent deletes logs there"
    days = min(one.days for one in kept.values())
    return f"nothing within {_SOON_DAYS} days: Claude Code keeps sessions for {count(days, 'day')}"


def _due(due: Sequence[Deletion]) -> str:
    next_one = datetime.fromtimestamp(due[0].at_ns // 10**9, UTC)
    when = f"{next_one:%Y-%m-%d %H:%M}"
    return f"Claude Code deletes {count(len(due), 'session')} within {_SOON_DAYS} days, the next at its start after {when}"


def _index(database: Database, files: Sequence[LogFile]) -> Check:
    if not (is_sound(database.db) and has_our_values(database.db)):
        return Check("index", "fail", f"{tilde(database.home.index)} is damaged", _REBUILD)
    known = {path: tuple(stamp) for path, *stamp in stamps(database.db)}
    waiting = [
        file
        for file in files
        if known.get(str(file.path)) != (file.size, file.mtime_ns, file.ctime_ns, file.inode)
    ]
    there = f"{size(database.home.index.stat().st_size)}, sound"
    if setting(database.db, "read_by") == "older":
        evidence = f"{there}, made by an older tracklog, which read less of long outputs and forks"
        return Check("index", "warn", evidence, "tracklog rebuild reads all logs and the archive again")
    if not waiting:
        return Check("index", "ok", f"{there}, nothing to be read")
    return Check("index", "ok", f"{there}; {count(len(waiting), 'log')} to be read at the next answer")


def _archive(home: Home, logs: Sequence[ArchivedLog]) -> Check:
    held = [log for log in logs if not log.is_pruned]
    if not held:
        return Check("archive", "ok", "holds nothing: a session that is deleted is gone")
    bad = [(log, why) for log in held if (why := _why_bad(home, log)) is not None]
    lost = [(log, why) for log, why in bad if log.is_current and log.state == "kept"]
    if lost:
        return _lost(home, lost)
    if bad:
        evidence = f"{count(len(bad), 'file')} missing or damaged; {tilde(bad[0][0].path)}: {bad[0][1]}"
        advice = "tracklog index --full archives again what stands at its source"
        return Check("archive", "warn", evidence, advice)
    contents = sum(log.archived.contents_bytes for log in held)
    stored = sum(log.archived.stored_bytes for log in held)
    only = sum(log.is_current and log.state == "kept" for log in held)
    evidence = f"{count(len(held), 'log')} in {size(stored)}, {percent(stored, contents)} of them; {only:,} only here"
    return Check("archive", "ok", evidence)


def _why_bad(home: Home, log: ArchivedLog) -> str | None:
    """What stands at its source needs no more than to be there; `verify` compares the bytes."""
    if log.is_only_here:
        return why_not_given_back(home.archive, log)
    return None if (home.archive / log.archived.name).exists() else "does not exist"


def _lost(home: Home, lost: Sequence[tuple[ArchivedLog, str]]) -> Check:
    """What stood nowhere else and cannot be given back: only a copy of the archive helps."""
    names = dict.fromkeys(short_id(log.session) if log.session else tilde(log.path) for log, _ in lost)
    shown = ", ".join(list(names)[:_NAMED]) + (" …" if len(names) > _NAMED else "")
    log, why = lost[0]
    evidence = f"{count(len(lost), 'log')} that stood nowhere else cannot be read: of {shown} ({why})"
    file = tilde(home.archive / log.archived.name)
    return Check("archive", "fail", evidence, f"put {file} back from a backup; without one it is lost")
