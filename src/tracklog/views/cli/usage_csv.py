"""Rows for a spreadsheet.

Rules of this room
  1. RFC 4180: commas, CRLF, quotes where they are needed. A heading always; a total never, for who adds up a column.
  2. A spreadsheet must not compute what stands in a log: text that may begin a formula gets an apostrophe before it.
     Numbers are ours and stay numbers.
  3. Text is made safe for a terminal too: nobody knows where a CSV is looked at.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Sequence
from typing import Any

from tracklog.model.ledger_values import Row
from tracklog.views.cli.printing import safe
from tracklog.views.cli.usage_numbers import Basis
from tracklog.views.cli.usage_rows import usage_row

_BEGINS_A_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_LISTS = ("models",)


def answer_csv(rows: Sequence[Row], basis: Basis) -> None:
    """The rows, one to a line, below their headings."""
    out = csv.writer(sys.stdout)
    out.writerow(_flat(usage_row(Row(key=""), basis)))
    for row in rows:
        out.writerow([cell(value) for value in _flat(usage_row(row, basis)).values()])


def cell(value: object) -> str | int | float:
    """A value as a spreadsheet may have it."""
    if value is None:
        return ""
    if isinstance(value, int | float):
        return value
    text = str(value)
    may_compute = text.startswith(_BEGINS_A_FORMULA) or text.lstrip().startswith(_BEGINS_A_FORMULA)
    return f"'{safe(text)}" if may_compute else safe(text)


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    """Bounds as two columns each, lists as words."""
    bounds = row.pop("bounds")
    for name in _LISTS:
        row[name] = " ".join(row[name])
    for name, (low, high) in bounds.items():
        row[f"{name}_low"], row[f"{name}_high"] = low, high
    return row
