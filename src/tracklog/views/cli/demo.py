"""`tracklog demo`: writes the sample home and shows it."""

from __future__ import annotations

from pathlib import Path

import click

from tracklog.views.cli.choosing import find_logs
from tracklog.views.cli.glance import show_at_a_glance
from tracklog.views.cli.options import A_PATH, home_option, json_option
from tracklog.views.cli.own_home import tracklog_home
from tracklog.views.cli.printing import answer, answer_json, count, roots_for_the_shell, safe, size, tilde
from tracklog.views.cli.sample import Sample, write_sample, write_sample_in


@click.command
@click.argument("directory", required=False, type=A_PATH, metavar="[DIR]")
@home_option
@json_option
def demo(directory: Path | None, home: Path | None, as_json: bool) -> None:
    """Write a small sample home to try everything on.

    Real logs of several versions of Claude Code and Codex: parallel tools, failing tools, edits, subagents. Without
    DIR they are written to tracklog's own home. A folder that holds other files is refused.
    """
    sample = write_sample(directory.absolute()) if directory else write_sample_in(tracklog_home(home))
    if as_json:
        roots = [str(root) for root in sample.roots]
        answer_json({"path": str(sample.path), "files": sample.files, "bytes": sample.bytes, "roots": roots})
    else:
        answer(
            f"The sample home is in {safe(tilde(sample.path))}: {count(sample.files, 'file')}, {size(sample.bytes)}"
        )
        answer("")
        show_sample(sample)


def show_sample(sample: Sample) -> None:
    """What is in the sample, and what to try on it."""
    show_at_a_glance(find_logs(sample.roots), commands_for(sample))


def commands_for(sample: Sample) -> list[tuple[str, str]]:
    """Commands that work on the sample as they stand."""
    roots = roots_for_the_shell(sample.roots)
    return [
        (f"tracklog serve{roots}", "all of it in the browser"),
        (f"tracklog sessions{roots}", "the sessions in it"),
        (f"tracklog show @last{roots}", "the newest conversation, with the fate of every tool call"),
        (f"tracklog calls{roots}", "every tool call, how it ended, and the lines that prove it"),
        (f"tracklog usage model{roots}", "what it cost, by model, and how sure that is"),
        (f"tracklog doctor{roots}", "how much of it is understood"),
        (f"tracklog verify{roots}", "proof that reading loses nothing"),
    ]
