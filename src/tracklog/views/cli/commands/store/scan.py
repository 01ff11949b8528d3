"""`tracklog scan`: secrets that stand in the logs, by kind and place, never their values."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tracklog.app.index.open import Index, indexed, why_there_is_none
from tracklog.app.secrets import ScanQuery, ScanResult
from tracklog.errors import NOT_FINE, UserError
from tracklog.home import Home, tracklog_home
from tracklog.views.cli.options import A_PATH, shared_options, since_option, sync_option
from tracklog.views.cli.output.stderr_talk import STDERR
from tracklog.views.text.printing import answer_json

if TYPE_CHECKING:
    from tracklog.secrets.allowlist import AllowList
    from tracklog.secrets.scan import Looking, Scan
    from tracklog.secrets.tables import LoggedSecret, Which
    from tracklog.sources.log_file import LogFile, Skipped
    from tracklog.store.database import Database


@click.command
@click.argument("paths", nargs=-1, type=A_PATH, metavar="[PATH]...")
@click.option(
    "--kind", "kinds", multiple=True, metavar="KIND", help="Only secrets of this kind. May be repeated."
)
@click.option(
    "--since",
    callback=since_option,
    metavar="WHEN",
    help="Only logs that were written to since then: a day, a time, or 7d, 12h, 30m.",
)
@click.option("--all", "shows_all", is_flag=True, help="Show all places, not only the first 40.")
@click.option(
    "--allow",
    "to_allow",
    metavar="WHAT",
    help="Leave aside from now on: a hash that was shown, a log or a folder of logs, or LOG:LINE.",
)
@click.option("--disallow", "to_disallow", metavar="WHAT", help="Leave it aside no more.")
@click.option("--why", metavar="TEXT", help="With --allow: the reason, for whoever reads the list.")
@click.option("--allowed", "lists_allowed", is_flag=True, help="List what is left aside.")
@shared_options
@sync_option
def scan(
    paths: tuple[Path, ...],
    kinds: tuple[str, ...],
    since: datetime | None,
    shows_all: bool,
    to_allow: str | None,
    to_disallow: str | None,
    why: str | None,
    lists_allowed: bool,
    syncs: bool,
    agent: str | None,
    roots: tuple[Path, ...],
    home: Path | None,
    as_json: bool,
) -> None:
    """Secrets that stand in the logs, by kind and place.

    Never shows a value: a hash, keyed with a key of this machine, tells one from another. Without PATH all logs are
    looked through, those of the archive too, from the second time on only what is new; a log or a folder that is named
    is looked through from its beginning to its end. Exits with 1 if a secret was found, and also if something could
    not be looked through, as nobody knows then. What may stay is left aside by its hash or its place.

    \b
    tracklog scan --since 7d
    tracklog scan --kind github-pat ~/.claude/projects
    tracklog scan --allow 0f3a9c5e --why 'the key of our test server'
    """
    ours = Home(tracklog_home(home))
    if why is not None and to_allow is None:
        raise click.UsageError("--why says why something is allowed: give --allow, too.")
    if lists_allowed or to_allow is not None or to_disallow is not None:
        from tracklog.views.cli.commands.store.scan_allow import change_and_list

        if paths or (to_allow is not None and to_disallow is not None):
            raise click.UsageError("Give one of PATH, --allow, --disallow.")
        change_and_list(ours, to_allow=to_allow, to_disallow=to_disallow, why=why or "", as_json=as_json)
        return
    from tracklog.secrets.allowlist import allow_list

    allowed = allow_list(ours)  # before the work: a list that cannot be read ends all
    looking = _looking(ours, kinds)
    asked = ScanQuery(agent, roots, home, since)
    found = _in_files(paths, asked, looking) if paths else _in_index(asked, looking, syncs=syncs)
    result = _without_values(_sifted(found, allowed, kinds), looking)
    if as_json:
        answer_json(_document(result, looking))
    else:
        from tracklog.views.cli.commands.store.scan_text import show_scan

        show_scan(result, shows_all=shows_all)
    if not result.is_clean:
        raise click.exceptions.Exit(NOT_FINE)


def _looking(home: Home, kinds: Sequence[str]) -> Looking:
    from tracklog.secrets.redact import redaction_key
    from tracklog.secrets.scan import Looking

    looking = Looking(redaction_key(home))
    known = {rule.kind for rule in looking.book.rules}
    if unknown := next((kind for kind in kinds if kind not in known), None):
        from difflib import get_close_matches

        near = ", ".join(get_close_matches(unknown, known, n=5, cutoff=0.5))
        raise UserError(f"no rule is called {unknown!r}" + (f"; near it: {near}" if near else ""))
    return looking


def _in_files(paths: Sequence[Path], asked: ScanQuery, looking: Looking) -> ScanResult:
    """Looks through what is named, without the index."""
    from tracklog.app.scope.resolve import find_logs
    from tracklog.secrets.scan import is_harmless

    found = find_logs(paths, agent=asked.agent)
    files = [file for file in found.files if asked.since_ns is None or file.mtime_ns >= asked.since_ns]
    scanned = _scan_files(files, looking)
    skipped = [*found.skipped, *scanned.not_scanned]
    named = set(paths)
    scanned_paths = {os.path.realpath(file.path) for file in files}
    roots = [root.path for root in found.roots]
    unscanned = [one for one in skipped if not is_harmless(one, scanned_paths, roots) or one.path in named]
    return ScanResult(scanned.standing, skipped, len(unscanned), len(files), scanned.n_bytes, scanned.n_bytes)


def _scan_files(files: Sequence[LogFile], looking: Looking) -> Scan:
    from tracklog.secrets.scan import scan_files
    from tracklog.views.cli.output.progress import progress_of_unknown

    with progress_of_unknown("scanning") as (set_total, tell):
        return scan_files(files, looking, on_plan=set_total, on_read=tell)


def _in_index(asked: ScanQuery, looking: Looking, *, syncs: bool) -> ScanResult:
    """Looks through what is new, and answers from the index; what it does not keep is looked through each time."""
    from tracklog.secrets.tables import Which, extent, not_scanned, standing

    with indexed(asked.roots, home=asked.home, talk=STDERR, syncs=syncs, settles=False, makes=syncs) as index:
        if index is None:
            raise why_there_is_none(asked.home)
        which = Which(index.scope, asked.agent, asked.since_ns)
        n_new = _scan_what_is_new(index.database, which, looking)
        skipped, beyond, scanned_paths = _beyond(index, asked, looking) if syncs else ([], None, set())
        roots = [root.path for root in index.roots]
        db = index.database.db
        unscanned = _as_skipped(not_scanned(db, which, rules=looking.rules))
        found = standing(db, which, rules=looking.rules)
        known = extent(db, which)
    from tracklog.secrets.scan import is_harmless

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


def _scan_what_is_new(database: Database, which: Which, looking: Looking) -> int:
    """Only who finds something new takes the lock of the index."""
    from tracklog.secrets.tables import has_past, to_scan

    if not to_scan(database.db, which, rules=looking.rules) and not has_past(database.db):
        return 0
    from tracklog.app.index.update import written
    from tracklog.secrets.scan import scan_index
    from tracklog.views.cli.output.progress import progress_of_unknown

    def work(ours: Database) -> int:
        with progress_of_unknown("scanning") as (set_total, tell):
            return scan_index(ours, which, looking, on_plan=set_total, on_read=tell)

    return written(database.home, work, talk=STDERR)


def _beyond(index: Index, asked: ScanQuery, looking: Looking) -> tuple[list[Skipped], Scan, set[str]]:
    """What stands in the roots and not in the index: left alone, out of reach, or not kept there; and all paths."""
    from tracklog.agents.discovery import find_all
    from tracklog.secrets.scan import out_of_reach
    from tracklog.sources.log_file import LogFile, Skipped
    from tracklog.store.catalogue import numbers

    found = list(find_all(index.roots))
    files = [one for one in found if isinstance(one, LogFile) and _is_meant(one, asked)]
    known = numbers(index.database.db)
    scan = _scan_files([file for file in files if str(file.path) not in known], looking)
    unread = out_of_reach(index.database, files)
    skipped = [one for one in found if isinstance(one, Skipped)]
    paths = {os.path.realpath(one.path) for one in found if isinstance(one, LogFile)}
    return skipped, scan._replace(not_scanned=[*scan.not_scanned, *unread]), paths


def _is_meant(file: LogFile, asked: ScanQuery) -> bool:
    is_theirs = asked.agent is None or file.agent in (None, asked.agent)
    return is_theirs and (asked.since_ns is None or file.mtime_ns >= asked.since_ns)


def _as_skipped(rows: Sequence[tuple[str, str]]) -> list[Skipped]:
    from tracklog.sources.log_file import Skipped

    return [Skipped(Path(path), why) for path, why in rows]


def _sifted(found: ScanResult, allowed: AllowList, kinds: Sequence[str]) -> ScanResult:
    """Without what is allowed, and without the kinds that are not asked for."""
    meant = [one for one in found.standing if not kinds or one.kind in kinds]
    left = [one for one in meant if not allowed.allows(one.hash, os.path.abspath(one.path), one.line)]
    return found._replace(standing=left, n_allowed=len(meant) - len(left))


def _without_values(result: ScanResult, looking: Looking) -> ScanResult:
    """A secret may also stand in the name of a log, of its folder, or of its session."""
    standing = [
        one._replace(
            path=looking.shown(one.path), session=looking.shown(one.session) if one.session else None
        )
        for one in result.standing
    ]
    skipped = [one._replace(path=Path(looking.shown(str(one.path)))) for one in result.skipped]
    return result._replace(standing=standing, skipped=skipped)


def _document(result: ScanResult, looking: Looking) -> dict[str, Any]:
    from tracklog.views.cli.commands.read.places import skipped_rows

    return {
        "findings": [_finding(one) for one in result.standing],
        "skipped": skipped_rows(result.skipped),
        "scanned": {"files": result.n_files, "bytes": result.n_bytes, "new_bytes": result.n_new_bytes},
        "rules": looking.book.version,
        "allowed": result.n_allowed,
    }


def _finding(one: LoggedSecret) -> dict[str, Any]:
    return {
        "kind": one.kind,
        "path": one.path,
        "line": one.line,
        "count": one.times,
        "hash": one.hash,
        "session": one.session,
        "agent": one.agent,
        "only_here": one.only_here,
    }
