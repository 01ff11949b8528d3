"""`tracklog final`: the last answer of a session; stdout has the answer and nothing else."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tracklog.app.scope.filters import Filters
from tracklog.app.scope.read_sessions import SessionQuery
from tracklog.app.session.final import PATIENCE_S, StopPayload, stop_payload, why_no_answer
from tracklog.app.session.final import final as last_answer
from tracklog.errors import NOT_FINE, NotThere, why_failed
from tracklog.views.cli.options import reading_options
from tracklog.views.cli.output.stderr_talk import STDERR
from tracklog.views.documents.final import final_document
from tracklog.views.text.printing import answer, answer_json, safe_lines, talk


@click.command
@click.argument("session")
@click.option(
    "--last-text", is_flag=True, help="If the last request has no text, go back to the last one that has."
)
@click.option("--all-text", is_flag=True, help="All blocks of text of the answer, not only the last one.")
@click.option(
    "--wait", is_flag=True, help=f"Wait up to {PATIENCE_S:g} s for an answer that is still being written."
)
@click.option(
    "--stop-payload",
    "stop_payload_file",
    metavar="FILE",
    help="What the Stop hook got on stdin (- for stdin): its answer is taken where the log has none yet.",
)
@reading_options
def final(
    session: str,
    last_text: bool,
    all_text: bool,
    wait: bool,
    stop_payload_file: str | None,
    agent: str | None,
    filters: Filters,
    roots: tuple[Path, ...],
    home: Path | None,
    as_json: bool,
) -> None:
    """The last answer of a session, and nothing else.

    SESSION is an id, the start of one, a file, or @last. Prints what the client gives as the result: the `result` line
    where a log has one, else the last block of text of the last request on the branch on which the session goes on;
    --all-text prints all blocks of that request. Exits with 1 if there is none. In JSON `source` says whether it stands in the log or comes
    from the payload.

    \b
    tracklog final @last
    tracklog final 3f2a --wait --json
    tracklog final 3f2a --stop-payload - < payload.json
    """
    payload = _read_payload(stop_payload_file) if stop_payload_file else None
    found = last_answer(
        SessionQuery(session, roots, agent, filters, home),
        payload,
        patience=PATIENCE_S if wait else 0.0,
        last_text=last_text,
        all_text=all_text,
        talk=STDERR,
    )
    if as_json:
        answer_json(final_document(found))
    elif found.text is not None:
        answer("\n".join(safe_lines(found.text)))
    if found.text is None:
        talk(f"tracklog: {why_no_answer(session, found.whole_session, last_text=last_text)}")
        raise click.exceptions.Exit(NOT_FINE)


def _read_payload(name: str) -> StopPayload:
    try:
        raw = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise NotThere(f"cannot read {name}: {why_failed(error)}") from error
    return stop_payload(raw, name)
