"""The application: the table of all addresses, error responses, static files, and the guard.

Rules
  1. Static files were listed at the start: a name is looked up in a table, and never becomes a path.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from functools import cache
from html import escape
from http import HTTPStatus
from typing import NamedTuple

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from tracklog.app.live.site import StoreError
from tracklog.errors import NotThere, UserError
from tracklog.home import Busy
from tracklog.views.text.printing import safe
from tracklog.views.web import api, frame
from tracklog.views.web.frame import NAV, STATIC, NextLink, problem, sendable, text_answer
from tracklog.views.web.pages.board import answer as board_answer
from tracklog.views.web.pages.board import page
from tracklog.views.web.pages.calls import page as calls_page
from tracklog.views.web.pages.doctor import page as doctor_page
from tracklog.views.web.pages.search import page as search_page
from tracklog.views.web.pages.session import lines, rows
from tracklog.views.web.pages.session import page as session_page
from tracklog.views.web.pages.sessions import page as sessions_page
from tracklog.views.web.server import sse
from tracklog.views.web.server.access_control import Guard, say_what_went_wrong
from tracklog.views.web.server.plain_answers import (
    error_document,
    is_for_programs,
    is_of_the_api,
    phrase,
    plain_page,
)
from tracklog.views.web.server.sign_in import SignInKeys
from tracklog.views.web.site import Site, site_of

_WORDS = {
    404: ("Nothing is here", "There is no page at this address."),
    405: ("No such method", "This address is asked in another way."),
    413: ("Too large", "More was sent than this address takes."),
}
_OUR_MISTAKE = (
    "A mistake of tracklog's",
    "What went wrong is printed where `tracklog serve` runs. Please report it. The logs are as they were; "
    "`tracklog doctor` says whether they can be read.",
)


def make_app(site: Site, keys: SignInKeys) -> ASGIApp:
    """The whole application, behind its guard."""

    return Guard(unguarded_app(site, routes()), keys)


def unguarded_app(site: Site, routes: Sequence[BaseRoute]) -> Starlette:
    """An application of some routes, with its error responses."""
    app = Starlette(
        routes=list(routes),
        exception_handlers={
            HTTPException: _by_status,
            NotThere: _not_there,
            UserError: _wrong_use,
            StoreError: _store_trouble,
            Busy: _busy,
            Exception: _our_mistake,
        },
    )
    app.router.redirect_slashes = False  # nothing here redirects
    app.state.site = site
    return app


def _by_status(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    status = error.status_code
    title, words = _WORDS.get(status, (phrase(status), ""))
    said = words if error.detail == HTTPStatus(status).phrase else error.detail
    answer = said_so(request, status, title, said, ways=_nearest(request.url.path) if status == 404 else ())
    answer.headers.update(error.headers or {})
    return answer


def _nearest(path: str) -> list[NextLink]:
    """The pages with the most similar addresses; if there are none, all pages."""
    words = {address: name for _, address, name in NAV}
    near = get_close_matches(f"/{path.strip('/').partition('/')[0]}", words, n=3, cutoff=0.5)
    return [NextLink(address, words[address]) for address in near or words]


def _not_there(request: Request, error: Exception) -> Response:
    return said_so(request, 404, "Not there", _sentence(error), ways=[NextLink("/sessions", "All sessions")])


def _wrong_use(request: Request, error: Exception) -> Response:
    return said_so(request, 400, "Not understood", _sentence(error))


def _store_trouble(request: Request, error: Exception) -> Response:
    site_of(request).indexing.nudge()  # the background indexing sets a damaged index aside, and rebuilds it
    return said_so(
        request, 503, "The index cannot be used", _sentence(error), ways=[NextLink("/doctor", "Doctor")]
    )


def _busy(request: Request, error: Exception) -> Response:  # noqa: ARG001 (it says nothing more)
    words = "Another process writes the index now. Load this page again in a moment."
    return said_so(request, 503, "The index is being written", words)


def _our_mistake(request: Request, error: Exception) -> Response:  # noqa: ARG001 (the guard says it on stderr)
    return said_so(request, 500, *_OUR_MISTAKE)


def _sentence(error: Exception) -> str:
    words = safe(str(error))
    return f"{words[:1].upper()}{words[1:]}."


def said_so(
    request: Request, status: int, title: str, text: str, *, ways: Sequence[NextLink] = ()
) -> Response:
    """The response to an error, in the form that is expected at its address."""
    path = request.url.path
    if is_of_the_api(path):
        return error_document(status, text or title)
    if is_for_programs(path):
        return text_answer(f"{title}: {text}\n" if text else f"{title}\n", status=status)
    try:
        return problem(request, status, title, text, ways=ways)
    except Exception:  # a door: the frame itself fails, and what went wrong must be told nevertheless
        say_what_went_wrong()
        return plain_page(status, escape(title), f"<p>{escape(sendable(text).decode())}</p>")


TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


class StaticFile(NamedTuple):
    """A static file as it is served."""

    body: bytes
    media_type: str


@cache
def files() -> dict[str, StaticFile]:
    """All static files by name, read once."""
    found = sorted(path for path in STATIC.iterdir() if path.suffix in TYPES and path.is_file())
    return {path.name: StaticFile(path.read_bytes(), TYPES[path.suffix]) for path in found}


def static(request: Request) -> Response:
    """The static file with exactly this name."""
    found = files().get(request.path_params["name"])
    if found is None:
        return PlainTextResponse("There is no such file.\n", status_code=404)
    return Response(found.body, media_type=found.media_type)


def routes() -> list[BaseRoute]:
    """The table of all addresses."""
    return [
        Route("/", page.board),
        Route("/sessions", sessions_page.sessions),
        Route("/calls", calls_page.calls),
        Route("/search", search_page.search),
        Route("/doctor", doctor_page.doctor),
        Route("/s/{agent}/{id:path}", session_page.session),
        Route("/raw/{agent}/{id:path}", lines.raw),
        Route("/picture/{agent}/{id:path}", lines.picture),
        Route("/answer", board_answer.answer, methods=["GET", "POST"]),
        Route("/static/{name:path}", static),
        Route("/_/board", page.rows),
        Route("/_/foot", frame.foot),
        Route("/_/events", sse.stream),
        Route("/_/search", search_page.results),
        Route("/_/palette", search_page.palette),
        Route("/_/s/{agent}/{id:path}/rows", rows.rows),
        Route("/_/s/{agent}/{id:path}/call", rows.call),
        Route("/_/s/{agent}/{id:path}/now", session_page.now),
        Route("/_/s/{agent}/{id:path}/turns", session_page.turns),
        Route("/_/s/{agent}/{id:path}/where", session_page.where),
        Route("/_/s/{agent}/{id:path}/raw", lines.raw_line),
        Route("/_/s/{agent}/{id:path}/find", lines.find),
        Route("/_/s/{agent}/{id:path}/text", lines.text),
        Route("/_/s/{agent}/{id:path}/next", rows.next_line),
        *api.routes(),
    ]
