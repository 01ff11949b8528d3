"""Answer `tracklog usage`, without loading its options (cli/fast_path.py), as tables, JSON or CSV.

Rules
  1. RFC 4180: commas, CRLF, quotes where they are needed. A heading always; a total never, for who adds up a column.
  2. A spreadsheet must not evaluate text from a log: text that may begin a formula gets an apostrophe before it.
     Numbers are ours and stay numbers.
  3. Text is made safe for a terminal too: nobody knows where a CSV is looked at.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from tracklog.app.scope.filters import Filters
from tracklog.app.usage import UsageQuery, UsageResult, spent
from tracklog.clock import name_of
from tracklog.model.usage import UsageReport, UsageRow
from tracklog.views.cli.output.stderr_talk import STDERR
from tracklog.views.documents.usage import (
    Order,
    RowSelection,
    UsageProvenance,
    listed,
    usage_document,
    usage_row,
)
from tracklog.views.text.numbers import Basis
from tracklog.views.text.printing import answer, answer_json, cell, count

SHOWN = 30


class Form(NamedTuple):
    """The form of the answer."""

    as_json: bool = False
    as_csv: bool = False
    basis: Basis = "ours"
    by: Order | None = None
    is_reversed: bool = False
    limit: int | None = None
    as_of: str | None = None  # the day as it was given


def answer_usage(
    asked: UsageQuery,
    form: Form,
    *,
    roots: Sequence[Path] = (),
    agent: str | None = None,
    home: Path | None = None,
    syncs: bool = True,
) -> UsageReport:
    """Print what was spent, and return it."""
    now = datetime.now(UTC)
    found = spent(roots, agent=agent, home=home, asked=asked, syncs=syncs, talk=STDERR)
    manner = UsageProvenance(asked.rule, form.basis, name_of(asked.zone), asked.as_model, form.as_of)
    most = form.limit if form.limit or form.as_json or form.as_csv else SHOWN
    rows = listed(found.report, by=form.by, basis=form.basis, is_reversed=form.is_reversed, limit=most)
    if form.as_json:
        answer_json(
            usage_document(found.report, rows.rows, manner, now=now, with_uncertain=asked.with_uncertain)
        )
    elif form.as_csv:
        answer_csv(rows.rows, form.basis)
    elif is_empty(found.report):
        _show_that_there_is_none(found, roots, agent=agent, filters=asked.filters, home=home)
    else:
        _show(found, rows, asked, manner, now=now)
    return found.report


def is_empty(report: UsageReport) -> bool:
    """Whether nothing was spent, as far as any log tells."""
    return not report.rows and not report.total.requests and not report.hidden


def _show(
    found: UsageResult, rows: RowSelection, asked: UsageQuery, manner: UsageProvenance, *, now: datetime
) -> None:
    # --json and --csv need no rich
    from tracklog.views.cli.commands.money.usage_table import TableContext, show, show_uncertain

    show(found.report, rows, TableContext(asked.group, manner, asked.zone, now, found.projects))
    if asked.with_uncertain:
        show_uncertain(found.report.uncertain)


def _show_that_there_is_none(
    found: UsageResult, roots: Sequence[Path], *, agent: str | None, filters: Filters, home: Path | None
) -> None:
    if found.n_sessions and not filters.asks:
        answer(f"No request in {count(found.n_sessions, 'session')}.")
        return
    from tracklog.views.cli.commands.read.places import show_no_session  # seldom needed

    show_no_session(roots, agent=agent, filters=filters, home=home)


_LISTS = ("models",)


def answer_csv(rows: Sequence[UsageRow], basis: Basis) -> None:
    """The rows, one to a line, below their headings."""
    out = csv.writer(sys.stdout)
    out.writerow(_flat(usage_row(UsageRow(key=""), basis)))
    for row in rows:
        out.writerow([cell(value) for value in _flat(usage_row(row, basis)).values()])


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    """Bounds as two columns each, lists as words."""
    bounds = row.pop("bounds")
    for name in _LISTS:
        row[name] = " ".join(row[name])
    for name, (low, high) in bounds.items():
        row[f"{name}_low"], row[f"{name}_high"] = low, high
    return row
