"""`tracklog restore`: put a deleted session back in its place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tracklog.app.restore import RestoredSession, restore_session
from tracklog.home import tilde
from tracklog.views.cli.options import A_PATH, shared_options
from tracklog.views.cli.output.stderr_talk import STDERR
from tracklog.views.text.numbers import moment_in_seconds
from tracklog.views.text.printing import answer, answer_json, count, safe, size, talk


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
    done = restore_session(session, roots, agent=agent, home=home, to=to, dry_run=dry_run, talk=STDERR)
    if as_json:
        answer_json(_document(done, dry_run=dry_run))
    else:
        _show(done, dry_run=dry_run)


def _document(done: RestoredSession, *, dry_run: bool) -> dict[str, Any]:
    return {
        "session": done.session,
        "agent": done.agent,
        "restored": not dry_run,
        "files": [
            {
                "path": str(one.path),
                "kind": one.kind,
                "bytes": one.n_bytes,
                "modified_at": moment_in_seconds(one.mtime_ns),
            }
            for one in done.files
        ],
    }


def _show(done: RestoredSession, *, dry_run: bool) -> None:
    total = size(sum(one.n_bytes for one in done.files))
    answer(f"{'would put back' if dry_run else 'put back'} {count(len(done.files), 'file')}, {total}")
    for one in done.files:
        answer(f"  {safe(tilde(one.path))}")
    if any(one.is_made_new for one in done.files):
        talk(
            f"tracklog: as old as they are, {done.client} would delete them at its next start: their time is now"
        )
    if done.resume_words and done.session and not dry_run:
        answer(f"{' '.join(done.resume_words)} {safe(done.session)}   (in the folder that it ran in)")
