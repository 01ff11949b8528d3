"""The foot of a page alone: what a page that is open already asks for when the index has gone on."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import HTMLResponse

from tracklog.views.web.frame import fragment
from tracklog.views.web.site import site_of


def foot(request: Request) -> HTMLResponse:
    """How the index stands now."""
    site = site_of(request)
    return fragment("_foot.html", foot=site.indexing.status(), waiting=site.live.waiting())
