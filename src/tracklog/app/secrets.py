"""Find secrets in logs: in those of the index what is new, in files that are named all; and leave aside what is allowed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from tracklog.agents.discovery import find_all
from tracklog.app.index.open import Index, indexed, why_there_is_none
from tracklog.app.scope.resolve import find_logs
from tracklog.app.talk import QUIET, Talk
from tracklog.errors import NotThere, UserError
from tracklog.home import Home, tracklog_home
from tracklog.secrets.allowlist import LIST_NAME, AllowList, allow, allow_list, disallow, meant
from tracklog.secrets.allowlist import Allowance as Allowance
from tracklog.secrets.find import find
from tracklog.secrets.redact import hash_of, redaction_key
from tracklog.secrets.scan import Looking, Scan, is_harmless, out_of_reach, scan_files, scan_index
from tracklog.secrets.tables import LoggedSecret as LoggedSecret
from tracklog.secrets.tables import Which, extent, has_past, not_scanned, standing, to_scan
from tracklog.sources.log_file import LogFile, Skipped
from tracklog.store.catalogue import numbers
from tracklog.store.database import Database


class ScanResult(NamedTuple):
    """What a scan found, and what it could not look at."""

    standing: list[LoggedSecret]
    skipped: list[Skipped]
    n_unscanned: int  # of the skipped, those of which nobody knows whether they are clean
    n_files: int
    n_bytes: int
    n_new_bytes: int
    n_allowed: int = 0
    rules: str = ""  # the version of the rules by which it was found

    @property
    def is_clean(self) -> bool:
        """Whether nothing was found, and all was looked at."""
        return not self.standing and not self.n_unscanned


class ScanQuery(NamedTuple):
    """Which logs to look through and for which secrets, and tracklog's home."""

    agent: str | None
    roots: tuple[Path, ...]
    home: Path | None
    since: datetime | None
    kinds: Sequence[str] = ()  # of secrets; none means all

    @property
    def since_ns(self) -> int | None:
        """The moment as files have it."""
        return None if self.since is None else int(self.since.timestamp() * 1_000_000_000)


def scan_logs(asked: ScanQuery, paths: Sequence[Path], *, syncs: bool, talk: Talk = QUIET) -> ScanResult:
    """Secrets in the given logs and folders, or in all; the result holds none of their values."""

    ours = Home(tracklog_home(asked.home))
    allowed = allow_list(ours)  # before the work: a list that cannot be read ends all
    looking = _looking(ours, asked.kinds)
    found = _in_files(paths, asked, looking, talk) if paths else _in_index(asked, looking, talk, syncs=syncs)
    result = _without_values(_sifted(found, allowed, asked.kinds), looking)
    return result._replace(rules=looking.book.version)


def _looking(home: Home, kinds: Sequence[str]) -> Looking:

    looking = Looking(redaction_key(home))
    known = {rule.kind for rule in looking.book.rules}
    if unknown := next((kind for kind in kinds if kind not in known), None):
        from difflib import get_close_matches  # only for an error

        near = ", ".join(get_close_matches(unknown, known, n=5, cutoff=0.5))
        raise UserError(f"no rule is called {unknown!r}" + (f"; near it: {near}" if near else ""))
    return looking


def _in_files(paths: Sequence[Path], asked: ScanQuery, looking: Looking, talk: Talk) -> ScanResult:
    """Looks through what is named, without the index."""

    found = find_logs(paths, agent=asked.agent)
    files = [file for file in found.files if asked.since_ns is None or file.mtime_ns >= asked.since_ns]
    scanned = _scan_files(files, looking, talk)
    skipped = [*found.skipped, *scanned.not_scanned]
    named = set(paths)
    scanned_paths = {os.path.realpath(file.path) for file in files}
    roots = [root.path for root in found.roots]
    unscanned = [one for one in skipped if not is_harmless(one, scanned_paths, roots) or one.path in named]
    return ScanResult(scanned.standing, skipped, len(unscanned), len(files), scanned.n_bytes, scanned.n_bytes)


def _scan_files(files: Sequence[LogFile], looking: Looking, talk: Talk) -> Scan:

    with talk.progress("scanning") as (set_total, tell):
        return scan_files(files, looking, on_plan=set_total, on_read=tell)


def _in_index(asked: ScanQuery, looking: Looking, talk: Talk, *, syncs: bool) -> ScanResult:
    """Looks through what is new, and answers from the index; what it does not keep is looked through each time."""

    with indexed(asked.roots, home=asked.home, talk=talk, syncs=syncs, settles=False, makes=syncs) as index:
        if index is None:
            raise why_there_is_none(asked.home)
        which = Which(index.scope, asked.agent, asked.since_ns)
        n_new = _scan_what_is_new(index.database, which, looking, talk)
        skipped, beyond, scanned_paths = _beyond(index, asked, looking, talk) if syncs else ([], None, set())
        roots = [root.path for root in index.roots]
        db = index.database.db
        unscanned = _as_skipped(not_scanned(db, which, rules=looking.rules))
        found = standing(db, which, rules=looking.rules)
        known = extent(db, which)

    if beyond is not None:
        found = sorted([*found, *beyond.standing], key=lambda one: (one.path, one.line, one.kind))
        unscanned += beyond.not_scanned
    harmful = {
        one.path: one
        for one in (*skipped, *unscanned)
        if one in unscanned or not is_harmless(one, scanned_paths, roots)
    }
    n_beyond = beyond.n_bytes if beyond is not None else 0
    return ScanResult(
        standing=found,
        skipped=[*(one for one in skipped if one.path not in harmful), *harmful.values()],
        n_unscanned=len(harmful),
        n_files=known.files + (beyond.n_files if beyond is not None else 0),
        n_bytes=known.bytes + n_beyond,
        n_new_bytes=n_new + n_beyond,
    )


def _scan_what_is_new(database: Database, which: Which, looking: Looking, talk: Talk) -> int:
    """Only who finds something new takes the lock of the index."""

    if not to_scan(database.db, which, rules=looking.rules) and not has_past(database.db):
        return 0
    from tracklog.app.index.update import written  # all readers come with it

    def work(ours: Database) -> int:
        with talk.progress("scanning") as (set_total, tell):
            return scan_index(ours, which, looking, on_plan=set_total, on_read=tell)

    return written(database.home, work, talk=talk)


def _beyond(
    index: Index, asked: ScanQuery, looking: Looking, talk: Talk
) -> tuple[list[Skipped], Scan, set[str]]:
    """What is in the roots and not in the index: left alone, out of reach, or not kept; and all paths."""

    found = list(find_all(index.roots))
    files = [one for one in found if isinstance(one, LogFile) and _is_meant(one, asked)]
    known = numbers(index.database.db)
    scan = _scan_files([file for file in files if str(file.path) not in known], looking, talk)
    unread = out_of_reach(index.database, files)
    skipped = [one for one in found if isinstance(one, Skipped)]
    paths = {os.path.realpath(one.path) for one in found if isinstance(one, LogFile)}
    return skipped, scan._replace(not_scanned=[*scan.not_scanned, *unread]), paths


def _is_meant(file: LogFile, asked: ScanQuery) -> bool:
    is_theirs = asked.agent is None or file.agent in (None, asked.agent)
    return is_theirs and (asked.since_ns is None or file.mtime_ns >= asked.since_ns)


def _as_skipped(rows: Sequence[tuple[str, str]]) -> list[Skipped]:

    return [Skipped(Path(path), why) for path, why in rows]


def _sifted(found: ScanResult, allowed: AllowList, kinds: Sequence[str]) -> ScanResult:
    """Without what is allowed, and without the kinds that are not asked for."""
    meant = [one for one in found.standing if not kinds or one.kind in kinds]
    left = [one for one in meant if not allowed.allows(one.hash, os.path.abspath(one.path), one.line)]
    return found._replace(standing=left, n_allowed=len(meant) - len(left))


def _without_values(result: ScanResult, looking: Looking) -> ScanResult:
    """Mask secrets in the names of logs, folders and sessions, too."""
    standing = [
        one._replace(
            path=looking.shown(one.path), session=looking.shown(one.session) if one.session else None
        )
        for one in result.standing
    ]
    skipped = [one._replace(path=Path(looking.shown(str(one.path)))) for one in result.skipped]
    return result._replace(standing=standing, skipped=skipped)


def allow_secret(home: Home, words: str, *, why: str, talk: Talk = QUIET) -> bool:
    """Leave aside what a person means: a hash, a log, a folder of logs, or LOG:LINE. False if it was already."""

    _refuse_a_value(words, home)
    one = meant(words)
    if one.path is not None and not os.path.lexists(one.path) and not _is_known(one.path, home, talk):
        raise UserError(f"{words} is neither a hash that `tracklog scan` shows nor a log")
    return allow(home, one._replace(why=why))


def disallow_secret(home: Home, words: str) -> None:
    """Leave it aside no more."""

    if not disallow(home, meant(words)):
        raise NotThere(f"{words} is not allowed: `tracklog scan --allowed` lists what is")


def allowances(home: Home) -> Sequence[Allowance]:
    """All that is left aside."""

    return allow_list(home).entries


def allowlist_path(home: Home) -> Path:
    """Where the list is kept."""

    return home.path / LIST_NAME


def _refuse_a_value(words: str, home: Home) -> None:
    """The list holds no values, and neither does what we say."""

    for one in find(os.fsencode(words)).found:
        if one.value == os.fsencode(words):
            hash = hash_of(redaction_key(home), one.value)
            raise UserError(f"that is a secret itself, which is not written down: its hash is {hash[:8]}")


def _is_known(path: str, home: Home, talk: Talk) -> bool:
    """Whether the index knows such a log, or logs below such a folder: their source may be gone."""

    with indexed((), home=home.path, talk=talk, syncs=False, settles=False) as index:
        known = numbers(index.database.db) if index is not None else {}
    return any(one == path or one.startswith(f"{path}/") for one in known)
