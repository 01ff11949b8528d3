"""The JSON document of `final`."""

from __future__ import annotations

from tracklog.app.session.final import FinalAnswer


def final_document(found: FinalAnswer) -> dict[str, str | None]:
    """The document of `final`."""
    return {
        "session": found.session,
        "text": found.text,
        "source": found.source,
        "request": found.request,
    }
