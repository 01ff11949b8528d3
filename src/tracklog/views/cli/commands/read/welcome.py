"""Bare `tracklog` and `tracklog demo`: an overview of your logs, or of a sample home.

On a terminal bare `tracklog` goes on and serves the same in the browser, as `tracklog serve` does.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click
import msgspec

from tracklog.app.demo import Sample, write_sample, write_sample_in
from tracklog.app.doctor.examine import survey_logs
from tracklog.app.scope.resolve import ResolvedLogs, find_logs
from tracklog.errors import NotThere, UserError
from tracklog.home import tilde, tracklog_home
from tracklog.views.cli.commands.read.places import show_nothing_found, show_places
from tracklog.views.cli.commands.store import doctor
from tracklog.views.cli.options import A_PATH, home_option, json_option
from tracklog.views.cli.output.drawing import line, painted
from tracklog.views.cli.output.stderr_talk import STDERR
from tracklog.views.documents.places import place_rows
from tracklog.views.text.printing import answer, answer_json, count, roots_for_the_shell, safe, size, talk

# Lazy imports: what comes after the first answer: the server, the index.

AT_A_GLANCE = 64_000_000  # bytes that are read for a first look; `doctor` reads everything


def show_at_a_glance(found: ResolvedLogs, commands: Sequence[tuple[str, str]]) -> None:
    """Places, coverage and commands to go on with."""
    show_places(found)
    seen = found.newest(AT_A_GLANCE)
    line()
    line(painted("understood", "bold"), _of_what(seen, found))
    doctor.show_in_short(survey_logs(seen, talk=STDERR).coverage)
    line()
    line(painted("next", "bold"))
    for command, what in commands:
        answer(f"  {safe(command)}")  # never broken into lines: it is there to be copied
        line(painted(f"      {what}", "dim"))


def _of_what(seen: ResolvedLogs, found: ResolvedLogs) -> str:
    if len(seen.files) == len(found.files):
        return ""
    return (
        f"  in the newest {size(seen.bytes)}, {count(len(seen.files), 'file')}; `tracklog doctor` reads all"
    )


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


def overview(roots: Sequence[Path], *, home: Path | None, as_json: bool) -> None:
    """The answer to `tracklog` without a command."""
    found = find_logs(roots)
    if as_json:
        rows = survey_logs(found.newest(AT_A_GLANCE), talk=STDERR).coverage
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
    from tracklog.views.cli.commands.live.serve import port_of_environment, serve_until_told

    answer("")
    try:
        serve_until_told(tuple(roots), home=home, port=port_of_environment())
    except UserError as error:  # a home that cannot be written to is no reason to fail here
        talk(f"tracklog: {error}")


def _index(roots: Sequence[Path], home: Path | None) -> None:
    """Reads what is new into the index, so that all that is asked next is answered at once."""
    from tracklog.app.index.open import index_totals

    try:
        known = index_totals(roots, home=home, talk=STDERR)
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
