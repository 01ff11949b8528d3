from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Message

from tests.cases import for_each
from tests.views.web.asking import Answer, app_of, ask, scope_of
from tracklog.home import Home
from tracklog.views.web.server import access_control
from tracklog.views.web.server.access_control import (
    _WRONG_COSTS_S,
    CONTENT_POLICY,
    HEADERS,
    LARGEST_BODY,
    Guard,
)
from tracklog.views.web.server.sign_in import Codes, SignInKeys, local_hosts

PORT = 7717
HOST = f"127.0.0.1:{PORT}"
ORIGIN = f"http://{HOST}"
TOKEN = "a5" * 32
BEARER = {"Host": HOST, "Authorization": f"Bearer {TOKEN}"}
PLACES = [
    "/",
    "/s/claude/x",
    "/_/events",
    "/_/board",
    "/static/base.css",
    "/api/v1/sessions",
    "/nowhere",
    "/sign-in",
]


async def _page(request: Request) -> Response:
    return PlainTextResponse("in")


async def _echo(request: Request) -> Response:
    return PlainTextResponse(await request.body())


def _stream(request: Request) -> Response:
    return StreamingResponse(iter(["one", "two"]), media_type="text/event-stream")


def _fails(request: Request) -> Response:
    raise RuntimeError("a secret: \x1b[31mred")


def _away(request: Request) -> Response:
    return RedirectResponse("http://elsewhere.example/")


def _boxed(request: Request) -> Response:
    return PlainTextResponse("<script>", headers={"content-security-policy": "sandbox"})


def _loose(request: Request) -> Response:
    loose = {
        "content-security-policy": "default-src *",
        "cache-control": "public, max-age=99",
        "access-control-allow-origin": "*",
        "server": "x",
    }
    return PlainTextResponse("in", headers=loose)


ROUTES = [
    Route("/", _page),
    Route("/answer", _echo, methods=["POST"]),
    Route("/_/events", _stream),
    Route("/static/base.css", _page),
    Route("/api/v1/sessions", _page),
    Route("/fails", _fails),
    Route("/away", _away),
    Route("/boxed", _boxed),
    Route("/loose", _loose),
]


@pytest.fixture
def keys(tmp_path: Path) -> SignInKeys:
    return SignInKeys(local_hosts(PORT), "tracklog_1", TOKEN, Codes(Home(tmp_path)))


@pytest.fixture
def app(keys: SignInKeys) -> Guard:
    return Guard(app_of(ROUTES), keys)


def cookie_of(keys: SignInKeys) -> dict[str, str]:
    """A browser that has signed in."""
    return {"Host": HOST, "Cookie": f"other=1; {keys.set_cookie().partition(';')[0]}; more=2"}


def status(app: Guard, target: str = "/", headers: Mapping[str, str] | Iterable[tuple[str, str]] = ()) -> int:
    return ask(app, "GET", target, headers=headers).status


# --- the token


@pytest.mark.parametrize("target", [place for place in PLACES if place != "/sign-in"])
def test_without_a_token_nothing_is_there_for_anybody(app: Guard, target: str) -> None:
    answer = ask(app, "GET", target, headers={"Host": HOST})
    assert (answer.status, answer.header("www-authenticate")) == (401, 'Bearer realm="tracklog"')


def test_who_has_the_token_or_the_cookie_is_let_in(app: Guard, keys: SignInKeys) -> None:
    assert [status(app, "/", BEARER), status(app, "/", cookie_of(keys))] == [200, 200]
    assert status(app, "/", BEARER | {"Authorization": f"bearer {TOKEN}"}) == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": "Bearer "},
        {"Authorization": "Bearer"},
        {"Authorization": f"Bearer {TOKEN[:-1]}"},
        {"Authorization": f"Bearer {TOKEN}0"},
        {"Authorization": f"Bearer {TOKEN.upper()}"},
        {"Authorization": f"Basic {TOKEN}"},
        {"Authorization": TOKEN},
        {"Cookie": f"tracklog_1={TOKEN}"},
        {"Cookie": "tracklog_1="},
        {"Cookie": "tracklog_1"},
        {"Cookie": f"tracklog_2={TOKEN}"},
        {"X-Token": TOKEN},
    ],
    ids=str,
)
def test_what_is_not_quite_the_token_is_none(app: Guard, headers: dict[str, str]) -> None:
    assert status(app, "/", {"Host": HOST, **headers}) == 401


def test_two_tokens_are_none_even_if_one_is_right(app: Guard) -> None:
    pairs = [("Host", HOST), ("Authorization", f"Bearer {TOKEN}"), ("Authorization", "Bearer x")]
    assert status(app, "/", pairs) == 401


def test_a_wrong_token_is_not_made_good_by_the_cookie(app: Guard, keys: SignInKeys) -> None:
    assert status(app, "/", cookie_of(keys) | {"Authorization": "Bearer x"}) == 401


def test_a_token_in_the_address_is_none(app: Guard) -> None:
    assert status(app, f"/?token={TOKEN}&code={TOKEN}", {"Host": HOST}) == 401


def test_another_server_that_sets_a_cookie_of_our_name_locks_nobody_out(app: Guard, keys: SignInKeys) -> None:
    ours = cookie_of(keys)["Cookie"]
    assert status(app, "/", {"Host": HOST, "Cookie": f"tracklog_1=theirs; {ours}"}) == 200


@pytest.fixture
def _slow_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access_control, "_WRONG_COSTS_S", _WRONG_COSTS_S)


@pytest.mark.usefixtures("_slow_refusals")
def test_who_guesses_waits_and_the_right_token_never_does(app: Guard) -> None:
    async def send_many() -> tuple[int, int, list[int]]:
        guesses = [asyncio.create_task(_status_of(app, f"Bearer {n}")) for n in range(40)]
        await asyncio.sleep(0)
        right = await _status_of(app, f"Bearer {TOKEN}")
        n_still_waiting = sum(not guess.done() for guess in guesses)
        return right, n_still_waiting, await asyncio.gather(*guesses)

    right, n_still_waiting, wrong = asyncio.run(send_many())
    assert (right, n_still_waiting, sorted(wrong)) == (200, 16, [401] * 16 + [429] * 24)


async def _status_of(app: Guard, authorization: str) -> int:
    found: list[int] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            found.append(message["status"])

    scope = scope_of("GET", "/static/base.css", headers={"Host": HOST, "Authorization": authorization})
    await app(scope, receive, send)
    return found[0]


# --- the host


@pytest.mark.parametrize("host", [HOST, f"localhost:{PORT}", f"[::1]:{PORT}"])
def test_our_three_names_are_answered_to(app: Guard, host: str) -> None:
    assert status(app, "/", BEARER | {"Host": host}) == 200


@for_each("target", PLACES)
@pytest.mark.parametrize(
    "host",
    [
        "",
        "127.0.0.1",
        "localhost",
        "127.0.0.1:7718",
        "127.0.0.1:07717",
        "127.0.0.1:7717.",
        "localhost.:7717",
        "LOCALHOST:7717",
        "evil.example:7717",
        "127.0.0.1.evil.example:7717",
        "evil.example@127.0.0.1:7717",
        "127.0.0.1:7717@evil.example",
        "127.0.0.1:7717, evil.example",
        "127.0.0.1:7717/",
        "0.0.0.0:7717",
        "127.1:7717",
        "2130706433:7717",
        "::1:7717",
        "[::]:7717",
        "http://127.0.0.1:7717",
        "127.0.0.1:7717\x00",
    ],
)
def test_a_name_that_is_not_ours_is_refused_everywhere_even_with_the_token(
    app: Guard, target: str, host: str
) -> None:
    answer = ask(app, "GET", target, headers=BEARER | {"Host": host})
    assert answer.status == 403
    assert HEADERS.items() <= dict(answer.headers).items()


def test_a_request_without_a_host_or_with_two_is_refused(app: Guard) -> None:
    token = ("Authorization", f"Bearer {TOKEN}")
    assert ask(app, "GET", "/", headers=[token], http_version="1.0").status == 403
    assert status(app, "/", [("Host", HOST), ("Host", HOST), token]) == 403
    assert status(app, "/", [("Host", HOST), ("Host", "evil.example"), token]) == 403


def test_other_headers_do_not_speak_for_the_host(app: Guard) -> None:
    forged = {"X-Forwarded-Host": HOST, "Forwarded": f"host={HOST}", "X-Original-Host": HOST}
    assert status(app, "/", BEARER | {"Host": "evil.example"} | forged) == 403


# --- where it comes from


@for_each("target", PLACES)
@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "",
        "http://evil.example",
        "https://127.0.0.1:7717",
        "http://127.0.0.1",
        "http://127.0.0.1:7718",
        "http://localhost:7717",
        "http://127.0.0.1:7717/",
        "http://127.0.0.1:7717.evil.example",
        "http://evil.example, http://127.0.0.1:7717",
        "http://127.0.0.1:7717 http://evil.example",
        "HTTP://127.0.0.1:7717",
        "file://",
        "chrome-extension://abcdef",
        "http://[::1]:7717",
        "\xff\xfe",
    ],
)
def test_another_origin_is_refused_on_a_get_too(
    app: Guard, keys: SignInKeys, target: str, origin: str
) -> None:
    assert status(app, target, cookie_of(keys) | {"Origin": origin}) == 403
    assert status(app, target, BEARER | {"Origin": origin}) == 403


def test_two_origins_are_refused_even_if_both_are_ours(app: Guard) -> None:
    assert status(app, "/", [*BEARER.items(), ("Origin", ORIGIN), ("Origin", ORIGIN)]) == 403


def test_our_own_pages_may_ask(app: Guard, keys: SignInKeys) -> None:
    fetched = {"Origin": ORIGIN, "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors"}
    assert status(app, "/", cookie_of(keys) | fetched) == 200
    other = {"Host": f"localhost:{PORT}", "Origin": f"http://localhost:{PORT}"}
    assert status(app, "/", BEARER | other) == 200


@for_each("target", [place for place in PLACES if place != "/sign-in"])
@pytest.mark.parametrize("site", ["cross-site", "same-site", "", "SAME-ORIGIN", "same-origin, none", "x"])
@pytest.mark.parametrize("mode", ["navigate", "no-cors", "cors", "websocket", None])
def test_another_site_is_refused_on_a_get_too(
    app: Guard, keys: SignInKeys, target: str, site: str, mode: str | None
) -> None:
    fetched = {"Sec-Fetch-Site": site} | ({"Sec-Fetch-Mode": mode} if mode else {})
    assert status(app, target, cookie_of(keys) | fetched) == 403


@pytest.mark.parametrize(
    ("mode", "expected"), [("navigate", 200), (None, 200), ("cors", 403), ("no-cors", 403)]
)
def test_an_address_that_was_typed_is_fine_but_no_fetch_is_typed(
    app: Guard, keys: SignInKeys, mode: str | None, expected: int
) -> None:
    fetched = {"Sec-Fetch-Site": "none"} | ({"Sec-Fetch-Mode": mode} if mode else {})
    assert status(app, "/", cookie_of(keys) | fetched) == expected


def test_who_follows_a_link_from_another_site_can_go_on_by_a_click(app: Guard, keys: SignInKeys) -> None:
    led = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    answer = ask(app, "GET", "/", headers=cookie_of(keys) | led)
    assert (answer.status, '<a href="">Go on' in answer.text) == (403, True)
    framed = ask(app, "GET", "/", headers=cookie_of(keys) | led | {"Sec-Fetch-Dest": "iframe"})
    assert (framed.status, '<a href="">' in framed.text) == (403, False)


# --- what is sent


def post(app: Guard, headers: Mapping[str, str], body: bytes | list[bytes] = b"a=1") -> Answer:
    return ask(app, "POST", "/answer", headers=headers, body=body)


def test_a_post_with_the_cookie_must_come_from_our_own_page(app: Guard, keys: SignInKeys) -> None:
    sent = cookie_of(keys) | {"Content-Length": "3"}
    assert post(app, sent).status == 403
    assert post(app, sent | {"Sec-Fetch-Site": "none"}).status == 403
    assert post(app, sent | {"Sec-Fetch-Site": "cross-site"}).status == 403
    assert post(app, sent | {"Origin": "null"}).status == 403
    assert [
        post(app, sent | {"Origin": ORIGIN}).text,
        post(app, sent | {"Sec-Fetch-Site": "same-origin"}).text,
    ] == [
        "a=1",
        "a=1",
    ]


def test_a_post_with_the_token_needs_no_origin(app: Guard) -> None:
    assert post(app, BEARER | {"Content-Length": "3"}).text == "a=1"


@for_each("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "get", "X"])
@pytest.mark.parametrize("target", ["/", "/sign-in", "/api/v1/sessions"])
def test_other_methods_are_refused(app: Guard, method: str, target: str) -> None:
    assert ask(app, method, target, headers=BEARER).status == 405


def test_who_asks_in_a_wrong_way_is_told_the_right_ones(app: Guard) -> None:
    refused = [ask(app, "PUT", "/", headers=BEARER), ask(app, "POST", "/sign-in", headers=BEARER)]
    assert [one.header("allow") for one in refused] == ["GET, HEAD, POST", "GET, HEAD"]


def test_a_preflight_gets_no_permission(app: Guard) -> None:
    asked = {"Host": HOST, "Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}
    answer = ask(app, "OPTIONS", "/answer", headers=asked)
    assert (answer.status, [name for name, _ in answer.headers if name.startswith("access-")]) == (405, [])


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_body_that_is_too_large_is_refused_by_its_length_or_when_it_has_come(
    app: Guard, method: str
) -> None:
    said = BEARER | {"Content-Length": str(LARGEST_BODY + 1)}
    chunked = BEARER | {"Transfer-Encoding": "chunked"}
    pieces = [b"x" * 30_000] * 3
    answers = [
        ask(app, method, "/answer", headers=said),
        ask(app, method, "/answer", headers=BEARER | {"Content-Length": "9" * 40}),
        ask(app, method, "/answer", headers=chunked, body=pieces),
    ]
    assert [(one.status, one.header("connection")) for one in answers] == [(413, "close")] * 3


def test_a_body_that_is_just_small_enough_is_read_whole(app: Guard) -> None:
    body = b"x" * LARGEST_BODY
    assert post(app, BEARER | {"Transfer-Encoding": "chunked"}, [body[:7], body[7:]]).body == body


def test_who_has_no_token_is_not_listened_to(app: Guard) -> None:
    answer = post(app, {"Host": HOST, "Content-Length": str(LARGEST_BODY * 2)})
    assert (answer.status, answer.header("connection")) == (401, "close")


def test_a_body_with_two_ways_to_tell_its_end_is_refused(app: Guard) -> None:
    both = BEARER | {"Content-Length": "3", "Transfer-Encoding": "chunked"}
    answer = post(app, both)
    assert (answer.status, answer.header("connection")) == (400, "close")


@pytest.mark.parametrize(
    ("target", "headers"),
    [("/", {"Host": HOST}), ("/", {"Host": "evil.example"}), ("/sign-in?code=x", {"Host": HOST})],
)
def test_who_is_refused_must_connect_anew(app: Guard, target: str, headers: dict[str, str]) -> None:
    assert ask(app, "GET", target, headers=headers).header("connection") == "close"


def test_long_addresses_and_many_headers_are_refused(app: Guard) -> None:
    assert status(app, "/" + "a" * 8192, BEARER) == 414
    assert status(app, "/?" + "a" * 8192, BEARER) == 414
    assert status(app, "/", BEARER | {f"X-{n}": "1" for n in range(100)}) == 431
    assert status(app, "/", BEARER | {"X": "1" * 32_768}) == 431


@pytest.mark.parametrize(
    "target", ["http://127.0.0.1:7717/", "http://evil.example/", "*", "evil.example:443", ""]
)
def test_an_address_that_is_no_path_is_refused(app: Guard, target: str) -> None:
    assert status(app, target, BEARER) == 400


# --- signing in


def test_a_link_signs_in_once(app: Guard, keys: SignInKeys) -> None:
    code = keys.codes.make()
    first = ask(app, "GET", f"/sign-in?code={code}", headers={"Host": HOST})
    again = ask(app, "GET", f"/sign-in?code={code}", headers={"Host": HOST})
    assert (first.status, again.status) == (200, 403)
    assert '<meta http-equiv="refresh" content="0;url=/">' in first.text
    cookie = first.header("set-cookie") or ""
    name, _, rest = cookie.partition("=")
    assert (name, rest.partition("; ")[2]) == ("tracklog_1", "Path=/; HttpOnly; SameSite=Strict")
    assert TOKEN not in first.text + cookie
    assert code not in first.text + cookie
    assert again.all("set-cookie") == []
    assert "tracklog serve" in again.text
    assert status(app, "/", {"Host": HOST, "Cookie": cookie.partition(";")[0]}) == 200


def test_who_loads_the_page_again_is_led_on(app: Guard, keys: SignInKeys) -> None:
    answer = ask(app, "GET", "/sign-in?code=spent", headers=cookie_of(keys))
    assert (answer.status, answer.all("set-cookie")) == (200, [])


@pytest.mark.parametrize(
    "query", ["", "?code=", "?code=x", "?code=../../token", "?code=%00", "?code=" + "x" * 5000]
)
def test_a_wrong_code_is_refused(app: Guard, query: str) -> None:
    answer = ask(app, "GET", f"/sign-in{query}", headers={"Host": HOST})
    assert (answer.status, answer.all("set-cookie")) == (403, [])


def test_of_two_codes_none_is_used(app: Guard, keys: SignInKeys) -> None:
    one, two = keys.codes.make(), keys.codes.make()
    assert status(app, f"/sign-in?code={one}&code={two}", {"Host": HOST}) == 403
    assert keys.codes.use(one)
    assert keys.codes.use(two)


@pytest.mark.parametrize(
    ("method", "headers"),
    [
        ("HEAD", {}),
        ("GET", {"Sec-Purpose": "prefetch"}),
        ("GET", {"Sec-Purpose": "prefetch;prerender"}),
        ("GET", {"Purpose": "prefetch"}),
        ("GET", {"X-Moz": "prefetch"}),
        ("GET", {"X-Purpose": "preview"}),
        ("POST", {}),
        ("GET", {"Origin": "http://evil.example"}),
        ("GET", {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}),
        ("GET", {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}),
        ("GET", {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"}),
        ("GET", {"Host": "evil.example"}),
    ],
    ids=str,
)
def test_what_is_not_the_readers_own_wish_leaves_the_code_good(
    app: Guard, keys: SignInKeys, method: str, headers: dict[str, str]
) -> None:
    code = keys.codes.make()
    answer = ask(app, method, f"/sign-in?code={code}", headers={"Host": HOST, **headers})
    assert (answer.status >= 400, answer.all("set-cookie"), keys.codes.use(code)) == (True, [], True)


@pytest.mark.parametrize("site", ["none", "cross-site", "same-site", "same-origin"])
def test_a_link_may_be_opened_from_anywhere(app: Guard, keys: SignInKeys, site: str) -> None:
    opened = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert status(app, f"/sign-in?code={keys.codes.make()}", {"Host": HOST, **opened}) == 200


@pytest.mark.usefixtures("_slow_refusals")
def test_who_guesses_codes_waits_too(app: Guard) -> None:
    began = time.monotonic()
    assert status(app, "/sign-in?code=x", {"Host": HOST}) == 403
    assert time.monotonic() - began >= 0.3


# --- what leaves


@pytest.mark.parametrize(
    ("method", "target", "headers", "expected"),
    [
        ("GET", "/", BEARER, 200),
        ("HEAD", "/", BEARER, 200),
        ("GET", "/_/events", BEARER, 200),
        ("GET", "/nowhere", BEARER, 404),
        ("POST", "/", BEARER, 405),
        ("GET", "/fails", BEARER, 500),
        ("GET", "/away", BEARER, 500),
        ("GET", "/loose", BEARER, 200),
        ("GET", "/", {"Host": HOST}, 401),
        ("GET", "/", {"Host": "evil.example"}, 403),
        ("DELETE", "/", BEARER, 405),
        ("GET", "/sign-in", {"Host": HOST}, 403),
    ],
)
def test_every_answer_has_the_headers(
    app: Guard, method: str, target: str, headers: dict[str, str], expected: int
) -> None:
    answer = ask(app, method, target, headers=headers)
    assert (answer.status, {name: answer.header(name) for name in HEADERS}) == (expected, HEADERS)
    assert answer.header("content-security-policy") == CONTENT_POLICY
    assert answer.all("access-control-allow-origin") + answer.all("server") + answer.all("location") == []


def test_what_a_log_holds_is_handed_out_in_a_box(app: Guard) -> None:
    answer = ask(app, "GET", "/boxed", headers=BEARER)
    assert {name: answer.header(name) for name in HEADERS} == HEADERS | {
        "content-security-policy": "default-src 'none'; sandbox"
    }


def test_a_mistake_is_said_where_the_server_runs_and_not_to_who_asked(
    app: Guard, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = ask(app, "GET", "/fails", headers=BEARER)
    said = capsys.readouterr()
    assert (answer.status, "secret" in answer.text, "Traceback" in answer.text) == (500, False, False)
    assert ("Traceback" in said.err, "RuntimeError: a secret: \\x1b[31mred" in said.err) == (True, True)


def test_a_refusal_has_the_form_that_is_expected_at_its_address(app: Guard) -> None:
    api = ask(app, "GET", "/api/v1/sessions", headers={"Host": HOST})
    part = ask(app, "GET", "/_/board", headers={"Host": HOST})
    page = ask(app, "GET", "/", headers={"Host": HOST})
    assert (api.header("content-type"), list(api.json())) == (
        "application/json",
        ["schema_version", "error", "status"],
    )
    assert (part.header("content-type"), part.text.startswith("Not signed in: ")) == (
        "text/plain; charset=utf-8",
        True,
    )
    assert (page.header("content-type"), "<h1>Not signed in</h1>" in page.text) == (
        "text/html; charset=utf-8",
        True,
    )


def test_no_page_of_the_guard_repeats_what_was_asked(app: Guard) -> None:
    hostile = "/<script>alert(1)</script>?q=<script>"
    for headers in ({"Host": HOST}, {"Host": "<script>"}, {"Host": HOST, "Origin": "<script>"}):
        assert "<script>" not in ask(app, "GET", hostile, headers=headers).text


def test_a_websocket_is_closed_before_it_opens(app: Guard) -> None:
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(app({"type": "websocket", "path": "/", "headers": []}, receive, send))
    assert sent == [{"type": "websocket.close", "code": 1008}]


def test_the_documents_name_exactly_the_headers_that_every_answer_has() -> None:
    page = (Path(__file__).parents[4] / "docs/security.md").read_text()
    table = page.partition("\n## Headers\n")[2].partition("\n## ")[0]
    assert dict(re.findall(r"^\| `([^`]+)` \| `([^`]+)` \|$", table, re.MULTILINE)) == HEADERS
