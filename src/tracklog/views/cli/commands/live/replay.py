"""`tracklog replay`: plays recorded sessions into a fake home, as their clients wrote them."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

import click

from tracklog.app.replay import Replay, ReplayQuery, ReplayStep, replayed
from tracklog.clock import moment_text
from tracklog.home import tilde
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
    asked = ReplayQuery(
        sessions,
        directory,
        speed=speed,
        as_id=as_id,
        is_torn=is_torn,
        registers=registers,
        hooks=hooks,
        spool=spool,
        keeps_times=keeps_times,
        longest_pause_s=longest_pause_s,
    )
    playing = replayed(asked, roots, agent=agent, home=home, talk=STDERR)
    if as_json:
        for step in playing.steps:
            _answer_now(json.dumps(_row(step)))
    else:
        _show(playing)


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


def _show(playing: Replay) -> None:
    target = playing.target
    talk(f"replaying {count(playing.n_sessions, 'session')} into {tilde(target)}; Ctrl-C stops")
    done = Counter(step.what for step in playing.steps)
    answer(
        f"replayed {count(done['ended'], 'session')} into {safe(tilde(target))}: "
        f"{count(done['wrote'], 'write')}, {count(done['hook'], 'hook call')}, "
        f"{count(done['registry'], 'change')} of the registry"
    )
    if playing.spool is not None:
        answer(f"  the hook calls are in {safe(tilde(playing.spool))}")
