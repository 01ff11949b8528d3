"""Restore the logs of a deleted session from the archive."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tracklog.agents.supported import support_for
from tracklog.app.index.open import Index, indexed
from tracklog.app.scope.resolve import ResolvedLogs, session_named
from tracklog.app.talk import QUIET, Talk
from tracklog.archive.locate import known_log
from tracklog.archive.restore import Restored, lost_logs, plan_restore
from tracklog.archive.restore import restore as put_back
from tracklog.archive.tables import archived
from tracklog.errors import NotThere
from tracklog.store.catalogue import all_files
from tracklog.store.values import KnownFile

_DAY_NS = 86_400_000_000_000


class RestoredFile(NamedTuple):
    """A file that is put back."""

    path: Path
    kind: str
    n_bytes: int
    mtime_ns: int
    is_made_new: bool  # its agent would delete it at its next start if it were as old as it is


class RestoredSession(NamedTuple):
    """A session that is put back, and how to go on with it."""

    session: str | None
    agent: str | None
    client: str
    resume_words: Sequence[str]  # of a command that its id ends; none if its client has no such
    files: list[RestoredFile]


def restore_session(
    session: str,
    roots: Sequence[Path],
    *,
    agent: str | None,
    home: Path | None,
    to: Path | None,
    dry_run: bool,
    talk: Talk = QUIET,
) -> RestoredSession:
    """Restore the missing logs of a session to their paths, or below `to`; with `dry_run` only list them."""
    with indexed(roots, home=home, talk=talk, settles=False) as index:
        if index is None:
            raise NotThere("there is no archive yet: `tracklog index` makes it")
        rows = _rows_of(session, index, agent=agent, is_everywhere=not roots)
        lost = lost_logs(index.database, [row.id for row in rows])
        if not lost:
            raise NotThere(f"all logs of {session} stand where they stood: there is nothing to restore")
        now_ns = time.time_ns()
        plan = plan_restore(lost, to=to, kept_since_ns=_kept_since(rows[0], now_ns, to), now_ns=now_ns)
        if not dry_run:
            put_back(index.database, plan, to=to)
    best, client = rows[0], support_for(rows[0].agent)
    return RestoredSession(best.session, best.agent, client.label, client.resume_words, [*map(_file, plan)])


def _file(one: Restored) -> RestoredFile:
    log = one.log
    is_made_new = one.mtime_ns != log.mtime_ns
    return RestoredFile(one.path, log.kind, log.archived.contents_bytes, one.mtime_ns, is_made_new)


def _rows_of(text: str, index: Index, *, agent: str | None, is_everywhere: bool) -> list[KnownFile]:
    """The logs of the session that the user names."""
    database = index.database
    known = [
        row
        for row in all_files(database.db)
        if (is_everywhere or index.scope.holds(row.path)) and agent in (None, row.agent)
    ]
    at = archived(database.db)
    files = [
        known_log(row, at.get(row.id), database.home.archive)._replace(session=row.own_session or row.session)
        for row in known
    ]
    matches = session_named(text, ResolvedLogs(files, [], index.roots))
    if not matches:
        raise NotThere(f"no session {text} in the archive: `tracklog sessions` lists all there are")
    best = next(row for row in known if row.path == str(matches[0].path))
    if best.session is None:
        return [best]
    return [best, *(row for row in known if _is_of(row, best) and row is not best)]


def _is_of(row: KnownFile, best: KnownFile) -> bool:
    return (row.agent, row.session) == (best.agent, best.session)


def _kept_since(row: KnownFile, now_ns: int, to: Path | None) -> int | None:
    """Its client would delete what is older than this at its next start, if it deletes any; a day is left for that."""
    kept = support_for(row.agent).logs.retention(Path(row.root)) if to is None else None
    return None if kept is None else now_ns - max(kept.days - 1, 0) * _DAY_NS
