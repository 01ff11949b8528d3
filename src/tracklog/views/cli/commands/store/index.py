"""`tracklog index` and `tracklog rebuild`: update the index and the archive, or make a new index."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tracklog.app.index.open import asked_roots
from tracklog.errors import NOT_FINE
from tracklog.home import Home, tilde, tracklog_home
from tracklog.views.cli.commands.store.index_update import update
from tracklog.views.cli.options import shared_options
from tracklog.views.cli.output.stderr_talk import STDERR
from tracklog.views.text.printing import answer, answer_json, count, safe, talk

if TYPE_CHECKING:
    from tracklog.app.index.update import Rebuilt


@click.command
@click.option(
    "--full",
    "is_full",
    is_flag=True,
    help="Look at the bytes of every log, also where nothing seems to have changed.",
)
@click.option(
    "--archive/--no-archive",
    "archives",
    default=None,
    help="Whether copies of the logs are kept, from now on. They are, unless told otherwise.",
)
@shared_options
def index(
    is_full: bool,
    archives: bool | None,
    agent: str | None,
    roots: tuple[Path, ...],
    home: Path | None,
    as_json: bool,
) -> None:
    """Read what is new in the logs into the index, and their bytes into the archive.

    The first time everything is read, the newest sessions first; from then on only what was written since. It may be
    interrupted at any time and goes on where it was. Sessions that an agent deletes live on in the archive.

    \b
    tracklog index
    tracklog index --root /backup/claude
    """
    update(roots, agent=agent, home=home, as_json=as_json, is_full=is_full, archives=archives)


_SHOWN = 10


@click.command
@click.option(
    "--force", "is_forced", is_flag=True, help="Take the new index even if it knows less than the old one."
)
@shared_options
@click.pass_context
def rebuild(
    ctx: click.Context,
    is_forced: bool,
    agent: str | None,
    roots: tuple[Path, ...],
    home: Path | None,
    as_json: bool,
) -> None:
    """Make the index anew from the logs and the archive.

    The new one is made aside and compared: it takes the place of the old one if it knows every log and every session
    that the old one knew, to the last byte. Else the old one stays, what is missing or damaged is said, and the exit
    code is 1; with --force the new one takes its place, and the old one is kept beside it. Nothing is ever deleted from
    the archive.
    """
    from tracklog.app.index.update import rebuild_index  # all readers come with it

    began, meant = time.monotonic(), asked_roots(roots, agent=agent, home=home)
    made = rebuild_index(Home(tracklog_home(home)), meant, is_forced=is_forced, talk=STDERR)
    is_taken = made.is_complete or is_forced
    if as_json:
        answer_json(
            {
                "logs": made.n_logs,
                "sessions": made.n_sessions,
                "kept_logs": made.n_kept,
                "missing_logs": made.missing_logs,
                "missing_sessions": made.missing_sessions,
                "damaged_logs": [{"path": str(one.path), "why": one.why} for one in made.damaged_logs],
                "old_index": str(made.old_index) if made.old_index else None,
                "replaced": is_taken,
                "problems": made.problems,
                "seconds": round(time.monotonic() - began, 3),
            }
        )
    else:
        _show(made, is_taken=is_taken)
    if not is_taken:
        ctx.exit(NOT_FINE)


def _show(made: Rebuilt, *, is_taken: bool) -> None:
    for problem in made.problems:
        talk(f"tracklog: {problem}")
    kept = f", {made.n_kept:,} of them only in the archive" if made.n_kept else ""
    answer(f"{count(made.n_sessions, 'session')} in {count(made.n_logs, 'log')}{kept}.")
    for what, missing in (("log", made.missing_logs), ("session", made.missing_sessions)):
        if missing:
            answer(f"The old index knew {count(len(missing), what)} more:")
            for name in missing[:_SHOWN]:
                answer(f"  {safe(name)}")
    if made.damaged_logs:
        answer(f"The old index knew more of {count(len(made.damaged_logs), 'log')}:")
        for one in made.damaged_logs[:_SHOWN]:
            answer(f"  {safe(tilde(one.path))}: {safe(one.why)}")
    if made.old_index is not None:
        answer(f"The old index is now {safe(made.old_index.name)}.")
    if not is_taken:
        answer("The old index stays. --force takes the new one all the same.")
