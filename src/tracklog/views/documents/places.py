"""The documents of places: where logs are, and what was left alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tracklog.app.logs.places import Skipped, log_folders
from tracklog.app.scope.resolve import ResolvedLogs


def places_document(found: ResolvedLogs) -> dict[str, Any]:
    """The document of `places`."""
    return {"places": place_rows(found), "skipped": skipped_rows(found.skipped)}


def place_rows(found: ResolvedLogs) -> list[dict[str, object]]:
    """The places as the contract names their fields."""
    return [{**row._asdict(), "path": str(row.path), "kind": row.kind.value} for row in log_folders(found)]


def skipped_rows(skipped: Iterable[Skipped]) -> list[dict[str, str]]:
    """What was left alone, as the contract names its fields."""
    return [{"path": str(one.path), "why": one.why} for one in skipped]
