"""`tracklog restore`: puts a deleted session back to where it stood."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from tracklog.agents.supported import support_for
from tracklog.app.index.open import Index, indexed
from tracklog.app.scope.resolve import ResolvedLogs, session_named
from tracklog.archive.locate import known_log
from tracklog.archive.restore import Restored, lost_logs, plan_restore
from tracklog.archive.restore import restore as put_back
from tracklog.archive.tables import archived
from tracklog.errors import NotThere
from tracklog.store.catalogue import all_files
from tracklog.store.values import KnownFile
from tracklog.views.cli.options import A_PATH, shared_options
from tracklog.views.cli.output.stderr_talk import STDERR
from tracklog.views.text.numbers import moment_in_seconds
from tracklog.views.text.printing import answer, answer_json, count, safe, size, talk, tilde

_DAY_NS = 86_400_000_000_000


@click.command
@click.argument("session")
@click.option(
    "--to", type=A_PATH, metavar="DIR", help="Put it there, as in the agent's home, not where it stood."
)
@click.option("--dry-run", is_flag=True, help="Say what would be written, and write nothing.")
@shared_options
def restore(
    session: str,
    to: Path | None,
    dry_run: bool,
    agent: str | None,
    roots: tuple[Path, ...],
    home: Path | None,
    as_json: bool,
) -> None:
    """Put a deleted session back to where it stood.

    All its logs that are gone come back from the archive: the transcript, its subagents, long outputs of tools. The
    agent can resume it then. Nothing is ever written over: if a file stands at one of the places, nothing is written
    at all. SESSION is an id, the start of one, or the path of a log.

    \b
    tracklog restore 12812c74
    tracklog restore 12812c74 --to /tmp/home
    """
    with indexed(roots, home=home, talk=STDERR, settles=False) as index:
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
    if as_json:
        answer_json(_document(rows[0], plan, dry_run=dry_run))
    else:
        _show(rows[0], plan, dry_run=dry_run)


def _rows_of(text: str, index: Index, *, agent: str | None, is_everywhere: bool) -> list[KnownFile]:
    """The logs of the session that is meant."""
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


def _document(row: KnownFile, plan: Sequence[Restored], *, dry_run: bool) -> dict[str, Any]:
    return {
        "session": row.session,
        "agent": row.agent,
        "restored": not dry_run,
        "files": [
            {
                "path": str(one.path),
                "kind": one.log.kind,
                "bytes": one.log.archived.contents_bytes,
                "modified_at": moment_in_seconds(one.mtime_ns),
            }
            for one in plan
        ],
    }


def _show(row: KnownFile, plan: Sequence[Restored], *, dry_run: bool) -> None:
    client, total = support_for(row.agent), size(sum(one.log.archived.contents_bytes for one in plan))
    answer(f"{'would put back' if dry_run else 'put back'} {count(len(plan), 'file')}, {total}")
    for one in plan:
        answer(f"  {safe(tilde(one.path))}")
    if any(one.mtime_ns != one.log.mtime_ns for one in plan):
        talk(
            f"tracklog: as old as they are, {client.label} would delete them at its next start: their time is now"
        )
    if client.resume_words and row.session and not dry_run:
        answer(f"{' '.join(client.resume_words)} {safe(row.session)}   (in the folder that it ran in)")
