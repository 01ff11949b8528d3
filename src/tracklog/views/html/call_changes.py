"""How many lines a call added and removed, for its one line in a list."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Raw

from tracklog.records.base import opened
from tracklog.views.html.call_diffs import diffs_of_call
from tracklog.views.html.diffs import changed_counts

NOT_MADE = frozenset(
    {"error", "denied", "blocked", "sibling_error"}
)  # verdicts of calls that changed nothing
_EDITORS = frozenset({"Edit", "MultiEdit", "Write", "NotebookEdit", "apply_patch"})
_LARGEST = 500_000  # bytes that are looked at for it


class Counts(NamedTuple):
    """How many lines came and went."""

    added: int
    removed: int


def changes_of(name: str, given: Raw, report: Raw) -> Counts | None:
    """The lines that came and went; None where a call changes no file, or nobody knows what it did."""
    if name not in _EDITORS or len(report) + len(given) > _LARGEST:
        return None
    told = opened(report)
    if isinstance(told, dict) and (patch := told.get("structuredPatch")):
        return Counts(*changed_counts(patch))
    if told is None and name != "apply_patch":
        return None
    views = [one.view for one in diffs_of_call(opened(given), told)]
    return Counts(sum(view.added for view in views), sum(view.removed for view in views)) if views else None
