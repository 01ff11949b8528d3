"""What `tracklog usage` answers, kept apart from its options, as it is asked again and again (quick.py)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from tracklog.model.ledger_values import Report
from tracklog.sources.zones import name_of
from tracklog.views.cli.filters import Filters
from tracklog.views.cli.printing import answer, answer_json, count
from tracklog.views.cli.usage_numbers import Basis
from tracklog.views.cli.usage_reading import Asked, Spent, spent
from tracklog.views.cli.usage_rows import Listed, Manner, Order, document, listed

SHOWN = 30


class Form(NamedTuple):
    """How the answer is wanted."""

    as_json: bool = False
    as_csv: bool = False
    basis: Basis = "ours"
    by: Order | None = None
    is_reversed: bool = False
    limit: int | None = None
    as_of: str | None = None  # the day as it was given


def answer_usage(
    asked: Asked,
    form: Form,
    *,
    roots: Sequence[Path] = (),
    agent: str | None = None,
    home: Path | None = None,
    syncs: bool = True,
) -> Report:
    """Says what was spent, and gives it back."""
    now = datetime.now(UTC)
    found = spent(roots, agent=agent, home=home, asked=asked, syncs=syncs)
    manner = Manner(asked.rule, form.basis, name_of(asked.zone), asked.as_model, form.as_of)
    most = form.limit if form.limit or form.as_json or form.as_csv else SHOWN
    rows = listed(found.report, by=form.by, basis=form.basis, is_reversed=form.is_reversed, limit=most)
    if form.as_json:
        answer_json(document(found.report, rows.rows, manner, now=now, with_uncertain=asked.with_uncertain))
    elif form.as_csv:
        from tracklog.views.cli.usage_csv import answer_csv

        answer_csv(rows.rows, form.basis)
    elif is_empty(found.report):
        _show_that_there_is_none(found, roots, agent=agent, filters=asked.filters, home=home)
    else:
        _show(found, rows, asked, manner, now=now)
    return found.report


def is_empty(report: Report) -> bool:
    """Whether nothing was spent, as far as any log tells."""
    return not report.rows and not report.total.requests and not report.hidden


def _show(found: Spent, rows: Listed, asked: Asked, manner: Manner, *, now: datetime) -> None:
    from tracklog.views.cli.usage_table import Look, show, show_uncertain

    show(found.report, rows, Look(asked.group, manner, asked.zone, now, found.projects))
    if asked.with_uncertain:
        show_uncertain(found.report.uncertain)


def _show_that_there_is_none(
    found: Spent, roots: Sequence[Path], *, agent: str | None, filters: Filters, home: Path | None
) -> None:
    if found.n_sessions and not filters.asks:
        answer(f"No request in {count(found.n_sessions, 'session')}.")
        return
    from tracklog.views.cli.stories import Stories  # only here: it loads the whole model

    Stories(roots, agent=agent, filters=filters, home=home).show_that_there_is_none()
