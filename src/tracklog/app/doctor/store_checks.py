"""Check the index and the archive, and whether the system reports changes or they have to be looked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from tracklog.app.doctor.checks import Check
from tracklog.app.doctor.deletion import deletion_check, deletions, retentions
from tracklog.app.scope.resolve import ResolvedLogs
from tracklog.archive.tables import ArchivedLog, archived_rows, folders_of
from tracklog.home import Home, tilde
from tracklog.index.tables_health import ArchiveSums
from tracklog.live.watch.files import WatchedFiles
from tracklog.model.ids import id_start
from tracklog.model.wording import count, percent, size
from tracklog.reading.verify import why_not_given_back
from tracklog.sources.log_file import AGENTS, Agent, LogFile, Root
from tracklog.sources.tail.hints import most_watches
from tracklog.store.database import DamagedIndex, Database, StoreError, reading, setting
from tracklog.store.file_stamps import stamps
from tracklog.store.integrity import has_our_values, is_sound

_NAMED = 5
_REBUILD = "tracklog rebuild makes it anew from the logs and the archive"


def store_checks(found: ResolvedLogs, home: Path, *, roots: str, now_ns: int) -> list[Check]:
    """What is about to be deleted, and how the index and the archive are; `roots` as options of a command."""

    def deletion(folders: Mapping[Agent, Iterable[str]], logs: Sequence[ArchivedLog]) -> Check:
        kept = retentions(found.roots, lambda agent: map(Path, folders.get(agent, ())))
        archived = {log.path for log in logs if log.is_current and not log.is_pruned}
        due = deletions(found.files, kept, now_ns=now_ns, archived=archived)
        return deletion_check(due, kept, [root.agent for root in found.roots], roots=roots)

    try:
        with reading(Home(home)) as database:
            if database is None:
                nothing = Check("index", "ok", "not made yet: every answer is read from the logs")
                return [deletion({}, []), nothing]
            logs = archived_rows(database.db, with_pruned=True)
            folders = {agent: folders_of(database.db, agent) for agent in AGENTS}
            return [
                deletion(folders, logs),
                _index(database, found.files),
                _archive(database.home, logs),
            ]
    except DamagedIndex as damage:
        return [deletion({}, []), Check("index", "fail", str(damage), _REBUILD)]
    except StoreError as error:
        return [deletion({}, []), Check("index", "fail", str(error), "free it, or --home")]


def archive_check(held: ArchiveSums) -> Check:
    """What the archive holds, as far as its list tells."""
    if not held.logs:
        return Check("archive", "ok", "holds nothing: a session that is deleted is gone")
    share = percent(held.stored_bytes, held.contents_bytes)
    of_them = f"{count(held.logs, 'log')} in {size(held.stored_bytes)}, {share} of them"
    return Check("archive", "ok", f"{of_them}; {held.only_here:,} only here")


def _index(database: Database, files: Sequence[LogFile]) -> Check:
    if not (is_sound(database.db) and has_our_values(database.db)):
        return Check("index", "fail", f"{tilde(database.home.index)} is damaged", _REBUILD)
    known = {path: tuple(stamp) for path, *stamp in stamps(database.db)}
    waiting = [file for file in files if known.get(str(file.path)) != file.stamp]
    there = f"{size(database.home.index.stat().st_size)}, sound"
    if setting(database.db, "read_by") == "older":
        evidence = f"{there}, made by an older tracklog, which read less of long outputs and forks"
        return Check("index", "warn", evidence, "tracklog rebuild reads all logs and the archive again")
    if not waiting:
        return Check("index", "ok", f"{there}, nothing to be read")
    return Check("index", "ok", f"{there}; {count(len(waiting), 'log')} to be read at the next answer")


def _archive(home: Home, logs: Sequence[ArchivedLog]) -> Check:
    held = [log for log in logs if not log.is_pruned]
    bad = [(log, why) for log in held if (why := _why_bad(home, log)) is not None]
    lost = [(log, why) for log, why in bad if log.is_current and log.state == "kept"]
    if lost:
        return _lost(home, lost)
    if bad:
        evidence = f"{count(len(bad), 'file')} missing or damaged; {tilde(bad[0][0].path)}: {bad[0][1]}"
        advice = "tracklog index --full archives again what stands at its source"
        return Check("archive", "warn", evidence, advice)
    sums = ArchiveSums(
        logs=len(held),
        contents_bytes=sum(log.archived.contents_bytes for log in held),
        stored_bytes=sum(log.archived.stored_bytes for log in held),
        only_here=sum(log.is_current and log.state == "kept" for log in held),
    )
    return archive_check(sums)


def _why_bad(home: Home, log: ArchivedLog) -> str | None:
    """Why a copy cannot be used. Where the source exists, it must only exist; `verify` compares the bytes."""
    if log.is_only_here:
        return why_not_given_back(home.archive, log)
    return None if (home.archive / log.archived.name).exists() else "does not exist"


def _lost(home: Home, lost: Sequence[tuple[ArchivedLog, str]]) -> Check:
    """Logs whose only copy cannot be read: only a backup of the archive helps."""
    names = dict.fromkeys(id_start(log.session) if log.session else tilde(log.path) for log, _ in lost)
    shown = ", ".join(list(names)[:_NAMED]) + (" …" if len(names) > _NAMED else "")
    log, why = lost[0]
    evidence = f"{count(len(lost), 'log')} that stood nowhere else cannot be read: of {shown} ({why})"
    file = tilde(home.archive / log.archived.name)
    return Check("archive", "fail", evidence, f"put {file} back from a backup; without one it is lost")


_PLENTY = 524_288


def live_check(roots: Sequence[Root]) -> Check:
    """Watches all folders for a moment, as `top` and `watch` do."""
    with closing(WatchedFiles(roots)) as files:
        files.begin()
        n_folders, why = files.n_folders, files.why_without_hints
    if not n_folders and why is None:
        return Check("live", "ok", "no folder to watch yet")
    allowed = most_watches()
    limit = f", which allows {allowed:,}" if allowed is not None else ""
    if why is None:
        return Check("live", "ok", f"{count(n_folders, 'folder')} watched by the system{limit}")
    return Check("live", "warn", f"{why}: changes are seen by looking, a second later", _advice(why, allowed))


def _advice(why: str, allowed: int | None) -> str:
    if "network" in why:
        return "nothing to do: nothing is lost"
    if "open files" in why:  # the limit of watchers, not of watched folders
        return "sudo sysctl fs.inotify.max_user_instances=1024"
    return f"sudo sysctl fs.inotify.max_user_watches={max(_PLENTY, 2 * (allowed or 0))}"
