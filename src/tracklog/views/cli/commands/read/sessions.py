"""`tracklog sessions`: which sessions there are, the newest first."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import click

from tracklog.app.scope.filters import Filters
from tracklog.app.sessions import CostSum, SessionList, SessionsQuery, SessionSummary, list_sessions
from tracklog.views.cli.options import reading_options, sync_option
from tracklog.views.cli.output.stderr_talk import STDERR
from tracklog.views.documents.sessions import cost_words, sessions_document
from tracklog.views.text.numbers import when
from tracklog.views.text.printing import answer_json, count, excerpt, short, short_id, short_model

# Lazy imports: rich takes longer to load than most answers, and --json needs none of it.

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
    found = list_sessions(SessionsQuery(roots, agent, filters, most, home, syncs), STDERR)
    if as_json:
        answer_json(sessions_document(found))
    elif found.sessions:
        _show(found.sessions, filters)
        _show_rest(found, is_filtered=filters.asks)
    else:
        from tracklog.views.cli.commands.read.places import show_no_session  # seldom needed

        show_no_session(roots, agent=agent, filters=filters, home=home)


def _show(sessions: Sequence[SessionSummary], filters: Filters) -> None:
    from tracklog.views.cli.output.drawing import console, painted, table

    now = datetime.now(UTC)
    is_wide = console().width >= _WIDE
    cost = "period cost" if filters.has_period else "cost"
    names = ["when", "project", "title", "agent", "model", "turns", "calls", cost, "id"]
    kept = [name for name in names if is_wide or name not in ("agent", "model")]
    lines = [[painted(name, "dim") for name in kept]]
    for one in sessions:
        cells = _cells(one, now=now, longest_project=18 if is_wide else 12)
        lines.append([painted(*cells[name]) for name in kept])
    sides = "".join(">" if name in ("turns", "calls", cost) else "<" for name in kept)
    table(lines, sides, gives_way=kept.index("title"), indent=0, keeps_the_end=False)


def _cells(one: SessionSummary, *, now: datetime, longest_project: int) -> dict[str, tuple[str, str]]:
    errors = f" ({one.errors})" if one.errors else ""
    return {
        "when": (when(one.last_at, now=now), ""),
        "project": (short(one.project or "", longest_project), ""),
        "title": (excerpt(one.title or "(no title)", _LONGEST_TITLE), "bold"),
        "agent": (one.agent, "dim"),
        "model": (", ".join(short(short_model(model), 24) for model in one.models[:2]), "dim"),
        "turns": (f"{one.turns:,}", ""),
        "calls": (f"{one.calls:,}{errors}", "red" if errors else ""),
        "cost": (cost_words(one.cost), ""),
        "period cost": (cost_words(one.period_cost or CostSum()), ""),
        "id": (short_id(one.id), "cyan"),
    }


def _show_rest(found: SessionList, *, is_filtered: bool) -> None:
    from tracklog.views.cli.output.drawing import line, painted

    if not found.is_sure and is_filtered:
        line(painted("… and perhaps older ones: --limit N shows more", "dim"))
    elif found.n_more > 0:
        line(painted(f"… and {count(found.n_more, 'older session')}: --limit N shows more", "dim"))
