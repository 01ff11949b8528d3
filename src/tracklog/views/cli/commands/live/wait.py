"""`tracklog wait`: block until a session's turn has ended, then print its answer."""

from __future__ import annotations

from pathlib import Path

import click

from tracklog.app.live.wait import state_facts, wait_for_turn
from tracklog.app.scope.read_sessions import SessionQuery
from tracklog.errors import NOT_FINE, TIME_IS_OVER
from tracklog.views.cli.commands.run.options import Seconds
from tracklog.views.cli.options import shared_options
from tracklog.views.cli.output.stderr_talk import STDERR
from tracklog.views.documents.final import final_document
from tracklog.views.text.printing import answer, answer_json, safe_lines, talk


@click.command
@click.argument("session")
@click.option(
    "--timeout",
    "timeout_s",
    type=Seconds(may_be_none=True),
    metavar="TIME",
    help="Give up after 90s, 15m, 2h.",
)
@click.option(
    "--or-waiting", is_flag=True, help="Come back also when it waits for a permission, an answer or a plan."
)
@shared_options
def wait(
    session: str,
    timeout_s: float | None,
    or_waiting: bool,
    agent: str | None,
    roots: tuple[Path, ...],
    home: Path | None,
    as_json: bool,
) -> None:
    """Block until a session's turn has ended; print its answer.

    SESSION is an id, the start of one, a file, or @last; or the id of a run. A session that a run has started is waited
    for before it has a log, too. It comes back at once if nothing is being done. Exits with 0 when the turn ended, with 1 if the process was killed meanwhile, or it waits for you and --or-waiting was given,
    with 124 when the time is over.

    \b
    tracklog wait @last
    tracklog wait 3f2a --timeout 600 --json
    """
    query = SessionQuery(session, roots, agent, home=home)
    end = wait_for_turn(query, timeout_s=timeout_s, or_waiting=or_waiting, talk=STDERR)
    state, text = end.state.state, end.answer.text
    if as_json:
        answer_json({**final_document(end.answer), **state_facts(end.state)})
    elif text is not None:
        answer("\n".join(safe_lines(text)))
    if not end.is_over:
        talk(f"tracklog: still {state} after {timeout_s:g} s")
        raise click.exceptions.Exit(TIME_IS_OVER)
    if text is None and state not in ("crashed", "waiting"):
        talk("tracklog: the turn ended without an answer")
        raise click.exceptions.Exit(NOT_FINE)
    if state in ("crashed", "waiting"):
        talk(f"tracklog: the session {'has crashed' if state == 'crashed' else 'waits for you'}")
        raise click.exceptions.Exit(NOT_FINE)
