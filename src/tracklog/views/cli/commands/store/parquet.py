"""`tracklog parquet`: the views of the index as files that other tools read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tracklog.app.sql import write_views
from tracklog.home import tilde
from tracklog.views.cli.options import A_PATH, home_option, json_option, root_option, sync_option
from tracklog.views.cli.output.stderr_talk import STDERR
from tracklog.views.text.printing import answer, answer_json, size

if TYPE_CHECKING:
    from tracklog.app.sql import Written


@click.command
@click.argument("folder", type=A_PATH, metavar="DIR")
@sync_option
@root_option
@home_option
@json_option
def parquet(folder: Path, syncs: bool, roots: tuple[Path, ...], home: Path | None, as_json: bool) -> None:
    """Write the views of the index as Parquet files.

    Each view that `tracklog sql --schema` lists becomes a folder in DIR, parted by agent and month. DIR is made, or
    replaced if an earlier run made it; anything else in it is refused. Needs the extra tracklog[duckdb].

    \b
    tracklog parquet out/
    duckdb -c "select model, count(*) from 'out/ledger/**/*.parquet' group by 1"
    """
    written = write_views(folder, roots, home=home, syncs=syncs, talk=STDERR)
    if as_json:
        views = [
            {"name": one.view, "rows": one.rows, "files": one.files, "bytes": one.bytes} for one in written
        ]
        answer_json({"path": str(folder.resolve()), "views": views})
    else:
        _show(written, folder)


def _show(written: list[Written], folder: Path) -> None:
    from tracklog.views.cli.output.drawing import table  # --json needs no rich

    rows = [(one.view, f"{one.rows:,}", f"{one.files:,}", size(one.bytes)) for one in written]
    table([("view", "rows", "files", "size"), *rows], "<>>>", gives_way=0, indent=0)
    answer(f"Written to {tilde(folder.resolve())}: {size(sum(one.bytes for one in written))}.")
