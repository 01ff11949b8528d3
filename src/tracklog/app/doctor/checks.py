"""What the doctor looks at in logs and homes, each check a small function: what it saw, and what to do about it.

Rules
  1. A check states evidence, not opinions; advice is a command that works as it is, or an action; it is empty
     where all is well.
  2. What a log holds never makes a check fail: the worst that it can do is `warn`. `fail` is for what keeps
     tracklog itself from working safely.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from tracklog.agents.supported import SUPPORTED
from tracklog.app.doctor.coverage import Share, by_agent, version_key, versions_of
from tracklog.app.scope.resolve import ResolvedLogs
from tracklog.home import tilde
from tracklog.model.wording import count, for_the_shell, percent, size
from tracklog.reading.survey import Strange, Survey
from tracklog.sources.log_file import Skipped
from tracklog.store.database import has_full_text_search


class Check(NamedTuple):
    """One thing that was looked at."""

    name: str
    state: Literal["ok", "warn", "fail"]
    evidence: str
    advice: str = ""


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


def log_checks(found: ResolvedLogs, survey: Survey, *, roots: str, n_kept: int) -> list[Check]:
    """How the logs are, the most general first; `roots` as options of a command.

    `n_kept` is how many logs that stood there only the archive has.
    """
    return [
        _homes(found, n_kept),
        *_readings(survey),
        _unknown_kinds(survey.unknown),
        _unnamed_keys(survey.unknown),
        _broken_lines(survey),
        _unread_files(survey.skipped, roots),
        _left_alone(found.skipped, roots),
        *_versions(survey),
    ]


def own_checks(home: Path) -> list[Check]:
    """Whether tracklog itself can work safely here."""
    return [_sqlite(), _own_home(home)]


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
