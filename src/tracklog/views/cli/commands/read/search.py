"""`tracklog search`: where something was said, done or printed before."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from tracklog.app.scope.filters import Filters
from tracklog.app.search import SearchQuery
from tracklog.app.search import search as find_texts
from tracklog.errors import NOT_FINE
from tracklog.views.cli.options import reading_options, sync_option
from tracklog.views.cli.output.stderr_talk import STDERR
from tracklog.views.documents.search import search_document
from tracklog.views.text.printing import answer_json, count, talk

_SHOWN = 20
_MOST = 1_000


@click.command(
    context_settings={"ignore_unknown_options": True}
)  # `-word` is no option, but leaves out a word
@click.argument("words", metavar="QUERY…", nargs=-1, required=True)
@click.option(
    "--limit",
    type=click.IntRange(1, _MOST),
    default=_SHOWN,
    show_default=True,
    metavar="N",
    help="At most so many hits.",
)
@click.option(
    "--by",
    type=click.Choice(["time", "relevance"]),
    default="time",
    show_default=True,
    help="The newest first, or the best of the newest 5,000.",
)
@click.option("--regex", "as_pattern", is_flag=True, help="QUERY is one regular expression.")
@reading_options
@sync_option
def search(
    words: tuple[str, ...],
    limit: int,
    by: str,
    as_pattern: bool,
    syncs: bool,
    agent: str | None,
    filters: Filters,
    roots: tuple[Path, ...],
    home: Path | None,
    as_json: bool,
) -> None:
    """Find what was said, done or printed: in prompts, answers, inputs, results, titles.

    All words must be there; "a phrase" stands in quotes, time* is a beginning, -word leaves out, OR joins two.
    Identifiers and paths are found by their parts. Filters: tool: verdict: agent: project: path: model: session: role:
    since: until:, each as often as needed and with a minus for what is not wanted; re:/…/ is a regular expression.
    Needs the index, and makes it if there is none. Exit code 1 if nothing is found. All of it: docs/search.md.

    \b
    tracklog search rate limit -test
    tracklog search '"no such file" tool:Bash verdict:error since:7d'
    tracklog search --regex 'E\\d{4}: .+ not found'
    """
    _refuse_options(words)
    query = SearchQuery(
        text=" ".join(words),
        roots=roots,
        agent=agent,
        filters=filters,
        limit=limit,
        by="relevance" if by == "relevance" else "time",
        is_pattern=as_pattern,
        home=home,
        syncs=syncs,
    )
    found = find_texts(query, STDERR)
    if as_json:
        answer_json(search_document(found))
    elif found.hits:
        from tracklog.views.cli.commands.read.search_text import show_hits  # only here: it draws

        show_hits(found, now=datetime.now(UTC))
    if found.n_gone:
        talk(f"tracklog: {count(found.n_gone, 'hit')} no longer to be read at the place that the index knows")
    if not found.hits:
        _end_with_nothing(is_exact=found.is_exact, as_json=as_json)


def _refuse_options(words: tuple[str, ...]) -> None:
    """What looks like an option and is none was not meant to be found."""
    strange = next((word for word in words if word.startswith("--") and word.strip("-")), None)
    if strange is not None:
        raise click.NoSuchOption(strange, ctx=click.get_current_context())


def _end_with_nothing(*, is_exact: bool, as_json: bool) -> None:
    if not as_json:
        said = "nothing found" if is_exact else "nothing found in the time there was"
        talk(f"tracklog: {said}")
    click.get_current_context().exit(NOT_FINE)
