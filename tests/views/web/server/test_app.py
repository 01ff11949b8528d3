from __future__ import annotations

from pathlib import Path
from time import sleep

import pytest
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from tests.views.web.asking import Answer, ask
from tracklog.app.live.site import site_over
from tracklog.errors import NotThere, UserError
from tracklog.home import Busy, Home
from tracklog.store.database import DamagedIndex, StoreError
from tracklog.views.web.server.access_control import Guard
from tracklog.views.web.server.routes import make_app, unguarded_app
from tracklog.views.web.server.sign_in import Codes, SignInKeys, local_hosts
from tracklog.views.web.site import Site, site_of

HOSTILE = "<script>alert(1)</script>\x1b[31m"


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return site_over(Home(tmp_path), [])


def answer_to(error: Exception, site: Site, path: str = "/x") -> Answer:
    def fails(request: Request) -> Response:
        raise error

    return ask(unguarded_app(site, [Route(path, fails)]), "GET", path)


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (UserError("no such thing: name another"), 400, "No such thing: name another."),
        (NotThere("the session x is not there"), 404, "The session x is not there."),
        (DamagedIndex("the index is damaged: rebuild"), 503, "The index is damaged: rebuild."),
        (StoreError("no space is left"), 503, "No space is left."),
        (Busy(), 503, "Another process writes the index now. Load this page again in a moment."),
        (HTTPException(404), 404, "There is no page at this address."),
        (HTTPException(404, "no such session"), 404, "no such session"),
        (HTTPException(418), 418, ""),
    ],
    ids=repr,
)
def test_what_went_wrong_is_a_page_a_line_or_a_document(
    site: Site, error: Exception, status: int, said: str
) -> None:
    page, part, api = (answer_to(error, site, path) for path in ("/x", "/_/x", "/api/v1/x"))
    assert [page.status, part.status, api.status] == [status] * 3
    assert (page.header("content-type"), said in page.text, "<nav" in page.text) == (
        "text/html; charset=utf-8",
        True,
        True,
    )
    assert (part.header("content-type"), said in part.text, "<" in part.text) == (
        "text/plain; charset=utf-8",
        True,
        False,
    )
    assert api.json() == {"schema_version": 1, "error": said or "I'm a teapot", "status": status}


def test_an_index_that_cannot_be_used_is_looked_after_at_once(site: Site) -> None:
    assert site.indexing.status().behind_ms == 0
    answer_to(DamagedIndex("the index is damaged: rebuild"), site)
    sleep(0.01)
    assert site.indexing.status().behind_ms > 0


def test_what_a_log_says_in_an_error_is_shown_and_not_obeyed(site: Site) -> None:
    for error in (UserError(HOSTILE), NotThere(HOSTILE), HTTPException(404, HOSTILE)):
        answer = answer_to(error, site)
        assert ("<script>alert" in answer.text, "&lt;script&gt;alert(1)" in answer.text) == (False, True)


def test_an_unknown_address_leads_to_the_nearest_pages(site: Site) -> None:
    app = unguarded_app(site, [])
    near = ask(app, "GET", "/sesions")
    far = ask(app, "GET", "/zzzzzzzz")
    assert (near.status, far.status) == (404, 404)
    main = near.text.partition("<main")[2].partition("</main>")[0]
    assert ('href="/sessions"' in main, 'href="/doctor"' in main) == (True, False)
    main = far.text.partition("<main")[2].partition("</main>")[0]
    assert ('href="/sessions"' in main, 'href="/doctor"' in main) == (True, True)


def test_an_address_with_a_slash_too_many_leads_nowhere_by_itself(site: Site) -> None:
    def fine(request: Request) -> Response:
        return PlainTextResponse("fine")

    app = unguarded_app(site, [Route("/x", fine), Route("/y/", fine)])
    assert [ask(app, "GET", path).status for path in ("/x", "/x/", "/y", "/y/")] == [200, 404, 404, 200]


def test_a_mistake_of_ours_is_a_page_that_does_not_tell_what_it_was(site: Site) -> None:
    app = unguarded_app(site, [Route("/x", _fails)])
    keys = SignInKeys(local_hosts(1), "c", "0" * 64, Codes(Home(site.home.path)))
    headers = {"Host": "127.0.0.1:1", "Authorization": f"Bearer {'0' * 64}"}
    answer = ask(Guard(app, keys), "GET", "/x", headers=headers)
    assert (answer.status, "tracklog serve" in answer.text, "not to be told" in answer.text) == (
        500,
        True,
        False,
    )


def _fails(request: Request) -> Response:
    raise RuntimeError("not to be told")


def test_where_the_frame_itself_fails_there_is_still_a_page(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    site.indexing = None  # type: ignore[assignment]
    answer = answer_to(UserError(f"told {HOSTILE}"), site)
    assert (answer.status, "Told &lt;script&gt;" in answer.text) == (400, True)
    assert "AttributeError" in capsys.readouterr().err


def test_the_whole_application_stands_behind_the_guard(site: Site) -> None:
    keys = SignInKeys(local_hosts(1), "c", "0" * 64, Codes(Home(site.home.path)))
    app = make_app(site, keys)
    assert ask(app, "GET", "/doctor", headers={"Host": "127.0.0.1:1"}).status == 401
    assert ask(app, "GET", "/doctor", headers={"Host": "evil.example"}).status == 403


def test_every_request_finds_the_site(site: Site) -> None:
    def where(request: Request) -> Response:
        return PlainTextResponse(str(site_of(request).home.path))

    assert ask(unguarded_app(site, [Route("/x", where)]), "GET", "/x").text == str(site.home.path)
