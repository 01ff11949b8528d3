"""`tracklog search`: where something was said, done or printed before."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import click

from tracklog.app.index.open import indexed, why_there_is_none
from tracklog.app.scope.filters import Filters, moment_meant
from tracklog.errors import NOT_FINE
from tracklog.search.query import Filter, Query, parse
from tracklog.views.cli.options import reading_options, sync_option
from tracklog.views.cli.output.stderr_talk import STDERR
from tracklog.views.documents.search import hit_row
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
    now = datetime.now(UTC)
    query = parse(" ".join(words), partial(moment_meant, now=now), as_pattern=as_pattern)
    query = with_options(query, agent=agent, filters=filters)
    with indexed(
        roots, home=home, talk=STDERR, syncs=syncs, settles=query.needs_sessions, makes=syncs
    ) as index:
        if index is None:
            raise why_there_is_none(home)
        # only here: a query that is wrong, or `--help`, needs no reader of logs
        from tracklog.search.find import find

        found = find(
            index.database,
            query,
            scope=index.scope,
            limit=limit,
            by="relevance" if by == "relevance" else "time",
        )
        if as_json:
            rows = [hit_row(shown) for shown in found.hits]
            answer_json({"total": found.total, "exact": found.is_exact, "hits": rows})
        elif found.hits:
            from tracklog.views.cli.commands.read.search_text import show_hits  # only here: it draws

            show_hits(index.database.db, found, now=now)
    if found.n_gone:
        talk(f"tracklog: {count(found.n_gone, 'hit')} no longer to be read at the place that the index knows")
    if not found.hits:
        _end_with_nothing(is_exact=found.is_exact, as_json=as_json)


def with_options(query: Query, *, agent: str | None, filters: Filters) -> Query:
    """The query with what the options ask for, too."""
    given = {"agent": agent, "project": filters.project, "model": filters.model}
    added = [Filter(key, value) for key, value in given.items() if value is not None]
    since = [_ms(filters.since), query.since_ms]
    until = [_ms(filters.until), query.until_ms]
    return query._replace(
        filters=(*query.filters, *added),
        since_ms=max((ms for ms in since if ms is not None), default=None),
        until_ms=min((ms for ms in until if ms is not None), default=None),
    )


def _ms(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp() * 1000)


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
