"""Bare `tracklog`: where your logs are, how much of them is understood, and what to try next.

On a terminal it goes on and serves the same in the browser, as `tracklog serve` does.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from tracklog.errors import UserError
from tracklog.views.cli.choosing import find_logs
from tracklog.views.cli.demo import show_sample
from tracklog.views.cli.doctor import survey_of
from tracklog.views.cli.ending import NotThere
from tracklog.views.cli.glance import newest, show_at_a_glance
from tracklog.views.cli.own_home import tracklog_home
from tracklog.views.cli.places import place_rows, show_nothing_found
from tracklog.views.cli.printing import (
    answer,
    answer_json,
    count,
    roots_for_the_shell,
    safe,
    size,
    talk,
    tilde,
)
from tracklog.views.cli.sample import Sample, write_sample_in


def overview(roots: Sequence[Path], *, home: Path | None, as_json: bool) -> None:
    """The answer to `tracklog` without a command."""
    found = find_logs(roots)
    if as_json:
        rows = survey_of(newest(found)).coverage
        answer_json({"places": place_rows(found), "coverage": msgspec.to_builtins(rows)})
    elif found.files:
        show_at_a_glance(found, _next_commands(roots))
        if sys.stdout.isatty():
            _serve(roots, home)
        else:
            _index(roots, home)
    else:
        show_nothing_found(found, default=not roots)
        sample = None if roots else _show_on_the_sample(home)
        if sample is not None and sys.stdout.isatty():
            _serve(sample.roots, home)


def _serve(roots: Sequence[Path], home: Path | None) -> None:
    """Shows it in the browser, until Ctrl-C; the index is made meanwhile."""
    from tracklog.views.cli.serve import port_of_environment, serve_until_told

    answer("")
    try:
        serve_until_told(tuple(roots), home=home, port=port_of_environment())
    except UserError as error:  # a home that cannot be written to is no reason to fail here
        talk(f"tracklog: {error}")


def _index(roots: Sequence[Path], home: Path | None) -> None:
    """Reads what is new into the index, so that all that is asked next is answered at once."""
    from tracklog.store.totals import totals
    from tracklog.views.cli.indexed import indexed

    try:
        with indexed(roots, home=home, makes=True) as index:
            known = totals(index.database.db, index.scope) if index is not None else None
    except (UserError, NotThere) as error:  # a home that cannot be written to is no reason to fail here
        talk(f"tracklog: {error}")
        return
    if known is not None:
        answer("")
        answer(
            f"Indexed: {count(known.sessions, 'session')}, {size(known.bytes)}"
            + (f", {known.only_here:,} of them only in the archive" if known.only_here else "")
            + "; what the agents delete is kept."
        )


def _next_commands(roots: Sequence[Path]) -> list[tuple[str, str]]:
    given = roots_for_the_shell(roots)
    return [
        (f"tracklog serve{given}", "all of it in the browser: who needs you, every session, search"),
        (f"tracklog sessions{given}", "all sessions, the newest first"),
        (f"tracklog show @last{given}", "the newest conversation, with the fate of every tool call"),
        (f"tracklog search WORDS{given}", "where it was said, in prompts, answers, inputs and results"),
        (f"tracklog usage{given}", "what it cost, day by day, and how sure that is"),
        (f"tracklog doctor{given}", "health of all logs, and what is unknown in them"),
        (f"tracklog verify{given}", "proof that reading loses nothing"),
        ("tracklog --help", "all commands"),
    ]


def _show_on_the_sample(home: Path | None) -> Sample | None:
    try:
        sample = write_sample_in(tracklog_home(home))
    except UserError as error:  # a home that cannot be written to is no reason to fail here
        talk(f"tracklog: {error}")
        return None
    answer("")
    answer(f"Until then, the sample home in {safe(tilde(sample.path))}:")
    answer("")
    show_sample(sample)
    return sample
