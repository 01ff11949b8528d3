"""Find the state of the server from a request."""

from __future__ import annotations

from typing import cast

from starlette.requests import HTTPConnection

from tracklog.app.live.site import Site as Site


def site_of(connection: HTTPConnection) -> Site:
    """The site of a request."""
    return cast(Site, connection.app.state.site)
