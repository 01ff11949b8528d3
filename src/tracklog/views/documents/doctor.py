"""What the doctor found as the fields of a JSON document."""

from __future__ import annotations

from typing import Any

import msgspec

from tracklog.app.doctor.examine import Examination
from tracklog.views.documents.places import skipped_rows


def doctor_document(found: Examination) -> dict[str, Any]:
    """The document of `doctor`, as docs/cli.md names its fields."""
    return {
        "checks": [check._asdict() for check in found.checks],
        "coverage": msgspec.to_builtins(found.coverage),
        "unknown": msgspec.to_builtins(found.unknown),
        "broken": found.broken,
        "skipped": skipped_rows(found.skipped),
    }
