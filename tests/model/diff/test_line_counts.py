from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec import Raw

from tracklog.model.diff.calls import LineCounts, line_counts

PATCH = [{"oldStart": 1, "newStart": 1, "lines": ["-a", "+b", "+c"]}]
CODEX = "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** Add File: b.py\n+1\n+2\n*** End Patch"


def raw(value: Any) -> Raw:
    return Raw(json.dumps(value).encode())


@pytest.mark.parametrize(
    ("name", "given", "report", "counts"),
    [
        ("Edit", {"file_path": "/a"}, {"structuredPatch": PATCH}, LineCounts(2, 1)),
        (
            "Write",
            {"file_path": "/a", "content": "1\n2\n"},
            {"type": "create", "content": "1\n2\n"},
            LineCounts(2, 0),
        ),
        ("apply_patch", {"input": CODEX}, None, LineCounts(3, 1)),
        ("apply_patch", CODEX, None, LineCounts(3, 1)),
        ("Edit", {"file_path": "/a", "old_string": "x", "new_string": "y"}, None, None),
        ("Bash", {"command": "ls"}, {"structuredPatch": PATCH}, None),
        ("Edit", 7, [], None),
    ],
)
def test_lines_are_counted_where_a_result_tells_of_them(
    name: str, given: Any, report: Any, counts: LineCounts | None
) -> None:
    assert line_counts(name, raw(given), raw(report) if report is not None else Raw()) == counts


def test_a_huge_report_is_not_looked_at() -> None:
    huge = raw({"structuredPatch": PATCH, "x": "y" * 600_000})
    assert line_counts("Edit", raw({}), huge) is None
