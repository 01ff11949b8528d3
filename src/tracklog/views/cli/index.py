"""`tracklog index`: what is new in the logs is read into the index, and their bytes go to the archive."""

from __future__ import annotations

from pathlib import Path

import click

from tracklog.views.cli.indexing import bring_up_to_date
from tracklog.views.cli.options import shared_options


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
    bring_up_to_date(roots, agent=agent, home=home, as_json=as_json, is_full=is_full, archives=archives)
