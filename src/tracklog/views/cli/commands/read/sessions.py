"""`tracklog sessions`: which sessions there are, the newest first."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from tracklog.app.index.open import indexed
from tracklog.app.prices import load_prices
from tracklog.app.scope.filters import Filters, moment_of
from tracklog.app.session_costs import add_costs
from tracklog.views.cli.options import reading_options, sync_option
from tracklog.views.cli.output.stderr_talk import STDERR
from tracklog.views.documents.sessions import Row, cost_in, period_cost_in, session_row
from tracklog.views.text.numbers import when
from tracklog.views.text.printing import answer_json, count, excerpt, short, short_id, short_model

if TYPE_CHECKING:
    from tracklog.reading.session_files import SessionFiles


_SHOWN = 30
_WIDE = 110  # columns from which on agent and model have room
_LONGEST_TITLE = 80


@click.command
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    help=f"At most so many: {_SHOWN} unless told otherwise, with --json all.",
)
@sync_option
@reading_options
def sessions(
    limit: int | None,
    syncs: bool,
    agent: str | None,
    filters: Filters,
    roots: tuple[Path, ...],
    home: Path | None,
    as_json: bool,
) -> None:
    """Which sessions there are, the newest first.

    Shows when each was last alive, its project and title, how many turns and tool calls it has (in brackets those that
    failed), what it cost (≥ where that is a lower bound: `usage` says why), and the beginning of its id, which the
    other commands take. With --since or --until the cost is what was spent in that period, and is called so. The index answers if there is one, else the logs are read. Times are local.

    \b
    tracklog sessions --since 7d
    tracklog sessions --project . --model opus
    """
    most = limit if limit or as_json else _SHOWN
    listed = _from_index(roots, agent, filters, most, home, syncs=syncs)
    if listed is None:
        listed = _from_logs(roots, agent, filters, most, home)
    if as_json:
        answer_json({"sessions": listed.rows})
    elif listed.rows:
        _show(listed.rows, filters)
        _show_rest(listed, is_filtered=filters.asks)
    else:
        from tracklog.app.scope.read_sessions import Stories

        Stories(roots, agent=agent, filters=filters, home=home).show_that_there_is_none()


class SessionPage(NamedTuple):
    """The newest sessions, and how many more there are, or may be."""

    rows: list[Row]
    n_more: int
    is_sure: bool = True


def _from_index(
    roots: Sequence[Path],
    agent: str | None,
    filters: Filters,
    most: int | None,
    home: Path | None,
    *,
    syncs: bool,
) -> SessionPage | None:
    """The list as the index tells it; None if there is none, or it knows nothing of what is meant."""
    with indexed(roots, home=home, talk=STDERR, syncs=syncs) as known:
        if known is None:
            return None
    from tracklog.app.index.open_ledger import indexed_ledger
    from tracklog.views.cli.commands.read.indexed_sessions import IndexedStories

    prices = load_prices(home)
    with indexed_ledger(roots, home=home, prices=prices, talk=STDERR, syncs=False) as index:
        if index is None:
            return None
        stories = IndexedStories(index._replace(look=known.look), agent=agent, filters=filters)
        if stories.is_empty:
            return None
        stories.say_what_is_not_readable()
        fitting = sorted(stories.rows(), key=lambda one: -_seconds(one[1]))
        rows = stories.rows_of([one for one, _ in fitting[:most]])
        stories.add_costs(rows, prices)
    return SessionPage(rows, len(fitting) - len(rows))


def _from_logs(
    roots: Sequence[Path], agent: str | None, filters: Filters, most: int | None, home: Path | None
) -> SessionPage:
    from tracklog.app.scope.read_sessions import Stories

    stories = Stories(roots, agent=agent, filters=filters, home=home)
    newest = Newest(most)
    for story in stories.each(until=newest.is_complete_before):
        newest.add(session_row(story, only_here=stories.is_only_here(story)))
    rows = newest.rows()
    add_costs(rows, stories, home, filters)
    n_all = newest.n_seen if newest.saw_all else len(stories.groups)
    return SessionPage(rows, n_all - len(rows), is_sure=newest.saw_all)


class Newest:
    """The rows of the sessions that were last alive, and the knowledge of when there can be no newer one."""

    def __init__(self, most: int | None) -> None:
        self._most = most
        self._rows: list[tuple[float, int, Row]] = []  # a heap where they are bounded
        self.n_seen = 0
        self.saw_all = True

    def add(self, row: Row) -> None:
        """Keeps a row if it is among the newest."""
        self.n_seen += 1
        entry = (_seconds(row["last_at"]), -self.n_seen, row)
        if self._most is None or len(self._rows) < self._most:
            heapq.heappush(self._rows, entry)
        else:
            heapq.heappushpop(self._rows, entry)

    def is_complete_before(self, files: SessionFiles) -> bool:
        """Whether all that were changed no later than these files are too old: nothing is written before it happens."""
        if self._most is None or len(self._rows) < self._most or files.changed_ns / 1e9 >= self._rows[0][0]:
            return False
        self.saw_all = False
        return True

    def rows(self) -> list[Row]:
        """The newest first."""
        return [row for _, _, row in sorted(self._rows, key=lambda entry: entry[:2], reverse=True)]


def _seconds(at: str | None) -> float:
    moment = moment_of(at)
    return moment.timestamp() if moment else 0.0


def _show(rows: Sequence[Row], filters: Filters) -> None:
    from tracklog.views.cli.output.drawing import console, painted, table

    now = datetime.now(UTC)
    is_wide = console().width >= _WIDE
    cost = "period cost" if filters.has_period else "cost"
    names = ["when", "project", "title", "agent", "model", "turns", "calls", cost, "id"]
    kept = [name for name in names if is_wide or name not in ("agent", "model")]
    lines = [[painted(name, "dim") for name in kept]]
    for row in rows:
        cells = _cells(row, now=now, longest_project=18 if is_wide else 12)
        lines.append([painted(*cells[name]) for name in kept])
    sides = "".join(">" if name in ("turns", "calls", cost) else "<" for name in kept)
    table(lines, sides, gives_way=kept.index("title"), indent=0, keeps_the_end=False)


def _cells(row: Row, *, now: datetime, longest_project: int) -> dict[str, tuple[str, str]]:
    errors = f" ({row['errors']})" if row["errors"] else ""
    return {
        "when": (when(row["last_at"], now=now), ""),
        "project": (short(row["project"] or "", longest_project), ""),
        "title": (excerpt(row["title"] or "(no title)", _LONGEST_TITLE), "bold"),
        "agent": (row["agent"], "dim"),
        "model": (", ".join(short(short_model(model), 24) for model in row["models"][:2]), "dim"),
        "turns": (f"{row['turns']:,}", ""),
        "calls": (f"{row['calls']:,}{errors}", "red" if errors else ""),
        "cost": (cost_in(row), ""),
        "period cost": (period_cost_in(row), ""),
        "id": (short_id(row["id"]), "cyan"),
    }


def _show_rest(listed: SessionPage, *, is_filtered: bool) -> None:
    from tracklog.views.cli.output.drawing import line, painted

    if not listed.is_sure and is_filtered:
        line(painted("… and perhaps older ones: --limit N shows more", "dim"))
    elif listed.n_more > 0:
        line(painted(f"… and {count(listed.n_more, 'older session')}: --limit N shows more", "dim"))
