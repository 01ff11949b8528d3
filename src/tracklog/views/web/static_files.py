"""The files of ours that pages are made of: styles, scripts, the icon.

Rules of this room
  1. What is served was listed at the start: a name is looked up in a table, and never becomes a path.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from tracklog.views.web.frame import STATIC

TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


class StaticFile(NamedTuple):
    """A file as it is served."""

    body: bytes
    media_type: str


@cache
def files() -> dict[str, StaticFile]:
    """Every file of ours by its name, read once."""
    found = sorted(path for path in STATIC.iterdir() if path.suffix in TYPES and path.is_file())
    return {path.name: StaticFile(path.read_bytes(), TYPES[path.suffix]) for path in found}


def static(request: Request) -> Response:
    """One file by its exact name."""
    found = files().get(request.path_params["name"])
    if found is None:
        return PlainTextResponse("There is no such file.\n", status_code=404)
    return Response(found.body, media_type=found.media_type)
