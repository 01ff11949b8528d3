"""`tracklog replay`: plays recorded sessions into a fake home, as their clients wrote them."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import click

from tracklog.app.scope.filters import Filters
from tracklog.app.scope.read_sessions import Stories
from tracklog.clock import moment_text
from tracklog.errors import UserError
from tracklog.home import tilde, tracklog_home
from tracklog.reading.session_files import SessionFiles
from tracklog.replay.plan import ReplayStep
from tracklog.replay.play import replay as play
from tracklog.views.cli.options import A_PATH, agent_option, home_option, json_lines_option, root_option
from tracklog.views.cli.output.stderr_talk import STDERR
from tracklog.views.text.printing import answer, count, safe, talk

_AT_ONCE = "max"


def _speed(_: click.Context, __: click.Parameter, value: str) -> float | None:
    if value == _AT_ONCE:
        return None
    try:
        return float(value)
    except ValueError as error:
        raise click.BadParameter(f"{value!r} is no number; {_AT_ONCE} plays at once") from error


@click.command
@click.argument("sessions", nargs=-1, required=True, metavar="SESSION…")
@click.argument("directory", type=A_PATH, metavar="DIR")
@click.option(
    "--speed",
    callback=_speed,
    default="1",
    metavar="N",
    show_default=True,
    help="So many times as fast as it was; max: at once.",
)
@click.option("--as", "as_id", metavar="ID", help="Play it under another id (a UUID). For a single session.")
@click.option("--torn", "is_torn", is_flag=True, help="Tear writes at odd places, as a reader may meet them.")
@click.option(
    "--registry",
    "registers",
    is_flag=True,
    help="Let the sessions live: sessions/<pid>.json for Claude Code, a process that has the log open for Codex.",
)
@click.option("--hooks", is_flag=True, help="Call hooks, too: into the spool of DIR/tracklog, or of --spool.")
@click.option(
    "--spool",
    type=A_PATH,
    metavar="HOME",
    help="The tracklog home that gets the hook calls. Implies --hooks.",
)
@click.option("--keep-times", "keeps_times", is_flag=True, help="Leave the times in the lines as they are.")
@click.option(
    "--longest-pause",
    "longest_pause_s",
    type=click.FloatRange(min=0),
    metavar="S",
    help="Where nothing happened for longer than S seconds, leave the rest of the pause out.",
)
@agent_option
@root_option
@home_option
@json_lines_option
def replay(
    sessions: tuple[str, ...],
    directory: Path,
    speed: float | None,
    as_id: str | None,
    is_torn: bool,
    registers: bool,
    hooks: bool,
    spool: Path | None,
    keeps_times: bool,
    longest_pause_s: float | None,
    agent: str | None,
    roots: tuple[Path, ...],
    home: Path | None,
    as_json: bool,
) -> None:
    """Play a recorded session again, into a home of its own.

    Logs grow in DIR line by line, subagents appear, the registry and hooks follow, in real time or faster. Point
    anything that watches at DIR to see it at work, without an agent. All sessions start now, and their times are told
    anew. DIR must be empty, new, or made by an earlier replay: the homes of your agents are refused. SESSION is an id,
    the start of one, a file, or @last. Ctrl-C stops, and leaves whole lines.

    \b
    tracklog replay @last /tmp/fake --registry --hooks
    tracklog replay 12812c74 64c2b3d3 /tmp/fake --speed 10 --torn
    tracklog replay @last /tmp/fake --speed max
    """
    target = directory.absolute()
    spooled = _spool_of(target, spool, hooks=hooks)
    chosen = list(_chosen(sessions, Stories(roots, agent=agent, filters=Filters(), home=home, talk=STDERR)))
    steps = play(
        chosen,
        target,
        speed=speed,
        as_id=as_id,
        is_torn=is_torn,
        registers=registers,
        spool=spooled,
        keeps_times=keeps_times,
        longest_pause_s=longest_pause_s,
    )
    if as_json:
        for step in steps:
            _answer_now(json.dumps(_row(step)))
    else:
        _show(steps, chosen, target, spooled)


def _spool_of(target: Path, given: Path | None, *, hooks: bool) -> Path | None:
    if given is None:
        return target / "tracklog" if hooks else None
    if os.path.realpath(given) == os.path.realpath(tracklog_home(None)):
        raise UserError(
            f"{given} is your own tracklog home, where made-up hook calls would stand beside real ones: "
            "name another one with --spool"
        )
    return given.absolute()


def _chosen(names: Iterable[str], stories: Stories) -> Iterator[SessionFiles]:
    """The sessions that were named, each once."""
    seen = set()
    for name in names:
        files = stories.files_of(stories.named(name))[0]
        if (files.agent, files.id) not in seen:
            seen.add((files.agent, files.id))
            yield files


def _row(step: ReplayStep) -> dict[str, object]:
    return {
        "at": moment_text(step.at_ms),
        "step": step.what,
        "session": step.session,
        "path": str(step.path),
        "bytes": step.n_bytes,
        "detail": step.detail or None,
    }


def _answer_now(line: str) -> None:
    answer(line)
    sys.stdout.flush()  # others read along while it runs


def _show(
    steps: Iterator[ReplayStep], chosen: Sequence[SessionFiles], target: Path, spool: Path | None
) -> None:
    talk(f"replaying {count(len(chosen), 'session')} into {tilde(target)}; Ctrl-C stops")
    done = Counter(step.what for step in steps)
    answer(
        f"replayed {count(done['ended'], 'session')} into {safe(tilde(target))}: "
        f"{count(done['wrote'], 'write')}, {count(done['hook'], 'hook call')}, "
        f"{count(done['registry'], 'change')} of the registry"
    )
    if spool is not None:
        answer(f"  the hook calls are in {safe(tilde(spool))}")
