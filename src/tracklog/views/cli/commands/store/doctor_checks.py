"""What `tracklog doctor` looks at, each check a small function: what it saw, and what to do about it.

Rules of this room
  1. A check states evidence, not opinions; advice is a command that works as it stands, or an action; it is empty
     where all is well.
  2. What a log holds never makes a check fail: the worst that it can do is `warn`. `fail` is for what keeps
     tracklog itself from working safely.

What `tracklog doctor` looks at in the index and the archive, and what the agents are about to delete.

What `tracklog doctor` says of watching: whether the system tells us of changes, or whether we have to look.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from tracklog.agents.base import Retention
from tracklog.agents.supported import SUPPORTED, support_for
from tracklog.app.doctor import (
    SOON_DAYS,
    AgentHome,
    Check,
    DueDeletion,
    Share,
    by_agent,
    deletions,
    retentions,
    version_key,
    versions_of,
)
from tracklog.app.scope.resolve import ResolvedLogs
from tracklog.archive.tables import ArchivedLog, archived_rows, folders_of
from tracklog.home import Home, tilde
from tracklog.live.watch.files import WatchedFiles
from tracklog.reading.survey import Strange, Survey
from tracklog.reading.verify import why_not_given_back
from tracklog.sources.log_file import AGENTS, Agent, LogFile, Root, Skipped
from tracklog.sources.tail.hints import most_watches
from tracklog.store.database import DamagedIndex, Database, StoreError, has_full_text_search, reading, setting
from tracklog.store.file_stamps import stamps
from tracklog.store.integrity import has_our_values, is_sound
from tracklog.views.text.printing import count, for_the_shell, percent, roots_for_the_shell, short_id, size

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


_NAMED = 5
_REBUILD = "tracklog rebuild makes it anew from the logs and the archive"


def store_checks(found: ResolvedLogs, home: Path, *, roots: str, now_ns: int) -> list[Check]:
    """What is about to be deleted, and how the index and the archive are; `roots` as they can be typed."""
    try:
        with reading(Home(home)) as database:
            if database is None:
                nothing = Check("index", "ok", "not made yet: every answer is read from the logs")
                return [_deletion(found, {}, [], roots=roots, now_ns=now_ns), nothing]
            logs = archived_rows(database.db, with_pruned=True)
            folders = {agent: folders_of(database.db, agent) for agent in AGENTS}
            return [
                _deletion(found, folders, logs, roots=roots, now_ns=now_ns),
                _index(database, found.files),
                _archive(database.home, logs),
            ]
    except DamagedIndex as damage:
        return [
            _deletion(found, {}, [], roots=roots, now_ns=now_ns),
            Check("index", "fail", str(damage), _REBUILD),
        ]
    except StoreError as error:
        return [
            _deletion(found, {}, [], roots=roots, now_ns=now_ns),
            Check("index", "fail", str(error), "free it, or --home"),
        ]


def _deletion(
    found: ResolvedLogs,
    folders: Mapping[Agent, Iterable[str]],
    logs: Sequence[ArchivedLog],
    *,
    roots: str,
    now_ns: int,
) -> Check:
    kept = retentions(found.roots, lambda agent: map(Path, folders.get(agent, ())))
    paused = next((one for one in kept.values() if one.why_paused), None)
    if paused is not None:
        evidence = f"cleanupPeriodDays in {tilde(paused.said_by or '')}: {paused.why_paused}"
        return Check("deletion", "warn", evidence, "set it to the number of days to keep, 3650 for ten years")
    due = deletions(found.files, kept, now_ns=now_ns)
    if not due:
        return Check("deletion", "ok", _nothing_due(found, kept))
    archived = {log.path for log in logs if log.is_current and not log.is_pruned}
    lost = [one for one in due if one.path not in archived]
    evidence = f"{_due(due, kept)}{'' if lost else '; the archive has them all'}"
    if not lost:
        return Check("deletion", "ok", evidence)
    only = "" if len(lost) == len(due) else f"; {count(len(lost), 'session')} of them not in the archive"
    return Check("deletion", "warn", evidence + only, f"tracklog index{roots} keeps copies of them")


def _nothing_due(found: ResolvedLogs, kept: Mapping[AgentHome, Retention]) -> str:
    if not kept:
        names = _labels(root.agent for root in found.roots if root.agent is not None)
        return f"{names} deletes no sessions by itself" if names else "no agent deletes logs there"
    days = min(one.days for one in kept.values())
    names = _labels(agent for agent, _ in kept)
    return f"nothing within {SOON_DAYS} days: {names} keeps sessions for {count(days, 'day')}"


def _due(due: Sequence[DueDeletion], kept: Mapping[AgentHome, Retention]) -> str:
    next_one = datetime.fromtimestamp(due[0].at_ns // 10**9, UTC)
    when, names = f"{next_one:%Y-%m-%d %H:%M}", _labels(agent for agent, _ in kept)
    return f"{names} deletes {count(len(due), 'session')} within {SOON_DAYS} days, the next at its start after {when}"


def _labels(agents: Iterable[Agent]) -> str:
    return " and ".join(support_for(agent).label for agent in dict.fromkeys(agents))


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


_WELL_READ = 0.999
_SQLITE_NEEDED = (3, 40)
_NO_LOGS_THERE = frozenset(
    {
        "symbolic link",
        "FIFO",
        "socket",
        "character device",
        "block device",
        "another name of a file already found",
        "the same log stands uncompressed beside it",
    }
)


def all_checks(
    found: ResolvedLogs, survey: Survey, *, home: Path, given: Sequence[Path], n_kept: int = 0
) -> list[Check]:
    """Every check, in the order in which a person would ask; `given` are the folders to look in instead of homes.

    `n_kept` is how many logs that stood there only the archive has.
    """
    roots = roots_for_the_shell(given)
    return [
        _homes(found, n_kept),
        *_readings(survey),
        _unknown_kinds(survey.unknown),
        _unnamed_keys(survey.unknown),
        _broken_lines(survey),
        _unread_files(survey.skipped, roots),
        _left_alone(found.skipped, roots),
        *_versions(survey),
        *store_checks(found, home, roots=roots, now_ns=time.time_ns()),
        live_check(found.roots),
        _sqlite(),
        _own_home(home),
    ]


def _homes(found: ResolvedLogs, n_kept: int) -> Check:
    where = ", ".join(dict.fromkeys(tilde(root.path) for root in found.roots))
    if not found.files and n_kept:
        evidence = f"no logs in {where} any more; the archive has {count(n_kept, 'log')} of them"
        return Check("homes", "warn", evidence, "tracklog restore SESSION puts a session back")
    if not found.files:
        advice = "tracklog demo writes a sample home; --root DIR looks elsewhere"
        return Check("homes", "warn", f"no logs in {where}" if where else "no agent has a home here", advice)
    return Check("homes", "ok", f"{count(len(found.files), 'file')}, {size(found.bytes)} in {where}")


def _readings(survey: Survey) -> Iterator[Check]:
    for share in by_agent(survey.coverage):
        if share.agent is not None:
            yield _reading(share)
        else:
            lines = f"{count(share.all_lines, 'line')}, {size(share.all_bytes)} in files of unknown agents"
            yield Check(
                "unknown agents", "warn", lines, "nothing to do: every line is kept, and is `unknown`"
            )


def _reading(share: Share) -> Check:
    read, lines = share.lines["read"], share.all_lines
    evidence = (
        f"{percent(read, lines)} of {count(lines, 'line')},"
        f" {percent(share.bytes['read'], share.all_bytes)} of {size(share.all_bytes)} understood"
    )
    if read >= _WELL_READ * lines:
        return Check(f"reading {share.agent}", "ok", evidence)
    advice = "below 99.9 %: a newer client than this tracklog? see what is unknown or broken below"
    return Check(f"reading {share.agent}", "warn", evidence, advice)


def _unknown_kinds(unknown: Iterable[Strange]) -> Check:
    kinds = [strange for strange in unknown if strange.key is None and strange.agent]
    if not kinds:
        return Check("unknown kinds", "ok", "none")
    lines = count(sum(strange.count for strange in kinds), "line")
    advice = f"{_records_of(kinds[0].example)} --reading unknown shows the commonest"
    return Check("unknown kinds", "warn", f"{count(len(kinds), 'kind')} in {lines}", advice)


def _unnamed_keys(unknown: Iterable[Strange]) -> Check:
    keys = [strange for strange in unknown if strange.key is not None]
    if not keys:
        return Check("unnamed keys", "ok", "none")
    times = f"seen {count(sum(strange.count for strange in keys), 'time')}"
    advice = f"kept with their line; {_records_of(keys[0].example)} --extra shows the commonest"
    return Check("unnamed keys", "warn", f"{count(len(keys), 'key')}, {times}", advice)


def _broken_lines(survey: Survey) -> Check:
    n_broken = sum(row.lines for row in survey.coverage if row.reading == "broken")
    recovered = f"{count(survey.recovered, 'record')} recovered from damaged lines"
    if not n_broken:
        return Check("broken lines", "ok", recovered if survey.recovered else "none")
    evidence = f"{count(n_broken, 'piece')}, {recovered}; first at {tilde(survey.broken[0])}"
    advice = f"{_records_of(survey.broken[0])} --reading broken shows the first"
    return Check("broken lines", "warn", evidence, advice)


def _records_of(place: str) -> str:
    """The command that shows the file of a `path:line`."""
    return f"tracklog records {for_the_shell(place.rpartition(':')[0])}"


def _unread_files(refused: list[Skipped], roots: str) -> Check:
    if not refused:
        return Check("unreadable files", "ok", "none")
    first = f"{tilde(refused[0].path)}: {refused[0].why}"
    evidence = f"{count(len(refused), 'file')}; {first}"
    return Check("unreadable files", "warn", evidence, f"tracklog verify{roots} lists them")


def _left_alone(skipped: list[Skipped], roots: str) -> Check:
    if not skipped:
        return Check("skipped", "ok", "nothing")
    reasons = sorted({one.why for one in skipped})
    evidence = f"{count(len(skipped), 'name')} ({', '.join(reasons)})"
    if _NO_LOGS_THERE.issuperset(reasons):
        return Check("skipped", "ok", evidence)
    return Check("skipped", "warn", evidence, f"there may be logs: tracklog places{roots} lists the places")


def _versions(survey: Survey) -> Iterator[Check]:
    seen = {agent: versions_of(survey.coverage, agent) for agent in SUPPORTED}
    for agent, versions in seen.items():
        if versions or not any(seen.values()):
            yield _client_version(agent, versions, survey.unknown)


def _client_version(agent: str, versions: Sequence[str], unknown: Iterable[Strange]) -> Check:
    """Compare the newest client in the logs with the newest that this build was verified with."""
    name, verified = f"versions {agent}", SUPPORTED[agent].verified_release
    if not versions:
        return Check(name, "ok", f"this build is verified up to {verified}; no version seen in the logs")
    newest = versions[-1]
    evidence = (
        f"newest seen {newest}, of {count(len(versions), 'version')}; this build is verified up to {verified}"
    )
    if version_key(newest) <= version_key(verified):
        return Check(name, "ok", evidence)
    if not any(strange.agent == agent for strange in unknown):
        return Check(name, "ok", f"{evidence}: your client is newer, and nothing in its logs is unknown")
    advice = "update tracklog; until then what is unknown is kept and listed below"
    return Check(name, "warn", f"{evidence}: your client is newer", advice)


def _sqlite() -> Check:
    version, has_search = sqlite3.sqlite_version, has_full_text_search()
    if sqlite3.sqlite_version_info >= _SQLITE_NEEDED and has_search:
        return Check("sqlite", "ok", f"{version} with full-text search")
    advice = "use a Python whose SQLite is 3.40 or newer and has FTS5"
    return Check("sqlite", "warn", f"{version}, FTS5 {has_search}", advice)


def _own_home(home: Path) -> Check:
    name, where = "tracklog home", tilde(home)
    try:
        mode = os.stat(home).st_mode
    except FileNotFoundError:
        return Check(name, "ok", f"{where} is not there yet")
    except OSError as error:
        return Check(name, "fail", f"{where}: {error.strerror}", "name another one with --home")
    if not stat.S_ISDIR(mode) or not os.access(home, os.W_OK | os.X_OK):
        return Check(
            name, "fail", f"{where} is no folder that we may write to", "name another one with --home"
        )
    if mode & (stat.S_IWGRP | stat.S_IWOTH):
        return Check(name, "fail", f"others may write to {where}", f"chmod 700 {where}")
    if mode & 0o077:
        return Check(name, "warn", f"others may read {where}", f"chmod 700 {where}")
    return Check(name, "ok", f"{where}, for you alone")
