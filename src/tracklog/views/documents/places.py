"""The documents about all logs: where they are and what was left alone (`places`), and their examination (`doctor`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tracklog.app.logs.places import Skipped, log_folders
from tracklog.app.scope.resolve import ResolvedLogs

if TYPE_CHECKING:  # `places` needs no doctor
    from tracklog.app.doctor.examine import Examination


def places_document(found: ResolvedLogs) -> dict[str, Any]:
    """The document of `places`."""
    return {"places": place_rows(found), "skipped": skipped_rows(found.skipped)}


def place_rows(found: ResolvedLogs) -> list[dict[str, object]]:
    """The places as the contract names their fields."""
    return [{**row._asdict(), "path": str(row.path), "kind": row.kind.value} for row in log_folders(found)]


def skipped_rows(skipped: Iterable[Skipped]) -> list[dict[str, str]]:
    """What was left alone, as the contract names its fields."""
    return [{"path": str(one.path), "why": one.why} for one in skipped]


def doctor_document(found: Examination) -> dict[str, Any]:
    """The document of `doctor`, as docs/cli.md names its fields."""
    from msgspec import to_builtins  # `places` opens no log and needs none of it

    return {
        "checks": [check._asdict() for check in found.checks],
        "coverage": to_builtins(found.coverage),
        "unknown": to_builtins(found.unknown),
        "broken": found.broken,
        "skipped": skipped_rows(found.skipped),
    }
