"""Rows of an answer as documents and spreadsheets may have them.

Rules
  1. Bytes are hexadecimal digits. Only the texts that SQLite itself cannot hold, those with half a character, are kept
     as bytes in the index: they become texts again.
  2. JSON has no number for what is endless or none: null.
"""

from __future__ import annotations

import csv
import json
import math
import sys
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

from tracklog.app.sql import Answered, half_text
from tracklog.views.text.printing import SCHEMA_VERSION, cell


def answer_json_answer(found: Answered) -> None:
    """The whole answer as one JSON document, a row on each line."""
    write = sys.stdout.write
    write(
        f'{{\n  "schema_version": {SCHEMA_VERSION},\n  "columns": {json.dumps(found.columns)},\n  "rows": ['
    )
    gap = "\n"
    for row in found.rows:
        write(f"{gap}    {json.dumps([plain(value) for value in row])}")
        gap = ",\n"
    end = "" if gap == "\n" else "\n  "
    write(f'{end}],\n  "truncated": {json.dumps(found.is_truncated)}\n}}\n')


def answer_csv(found: Answered) -> None:
    """The rows, one to a line, below their headings."""
    out = csv.writer(sys.stdout)
    out.writerow([cell(name) for name in found.columns])
    for row in found.rows:
        out.writerow([cell(flat(plain(value))) for value in row])


def flat(value: Any) -> Any:
    """A plain value on its own; a list or an object as JSON."""
    return json.dumps(value) if isinstance(value, list | dict) else value


def plain(value: Any) -> Any:
    """A value as JSON knows it."""
    if isinstance(value, bytes | bytearray | memoryview):
        return half_text(bytes(value)) or bytes(value).hex()
    if isinstance(value, Decimal):
        value = float(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    return value.isoformat() if isinstance(value, date | datetime | time) else str(value)
