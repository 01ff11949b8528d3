"""What other programs, other users and forged requests get from a server that runs: nothing. With a browser: tests/browser."""

from __future__ import annotations

import os
import re
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import psutil
import pytest
from starlette.routing import Route

from tests.browser.raw_http import Reply, exchange, request
from tests.cases import for_each
from tests.views.cli.command import tracklog
from tests.views.web.served import Served, until
from tests.views.web.served import served as serve
from tracklog.views.web.server.routes import routes
from tracklog.views.web.server.sign_in import cookie_name as name_of_cookie

pytestmark = pytest.mark.xdist_group("forged requests")  # they share a server

EVERY_KIND = [
    "/", "/sessions", "/calls", "/search?q=x", "/doctor", "/s/claude/{id}", "/raw/claude/{id}?line=1",
    "/picture/claude/{id}?line=1&n=1", "/static/base.css", "/_/board", "/_/foot", "/_/events", "/_/search?q=x",
    "/_/palette?q=x", "/_/s/claude/{id}/rows", "/_/s/claude/{id}/call?id=x", "/_/s/claude/{id}/find?q=x",
    "/_/s/claude/{id}/raw?seq=1", "/api/v1/sessions", "/api/v1/nothing", "/nothing", "/favicon.ico",
]  # fmt: skip
ID = "11111111-aaaa-4aaa-8aaa-111111111111"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serve(tmp_path_factory.mktemp("small"), "--no-open", "--port", "0") as started:
        until(lambda: b"up to date" in started.get("/_/foot").body)
        yield started


def bearer(served: Served) -> tuple[str, str]:
    return ("Authorization", f"Bearer {served.token}")


def assert_is_dressed(reply: Reply) -> None:
    """Every answer has the headers, whatever it says; none leads elsewhere."""
    assert reply.all("content-security-policy") in ([POLICY], ["default-src 'none'; sandbox"])
    assert {name: reply.all(name) for name in ("x-content-type-options", "referrer-policy")} == {
        "x-content-type-options": ["nosniff"],
        "referrer-policy": ["no-referrer"],
    }
    assert reply.all("cross-origin-opener-policy") == ["same-origin"]
    assert reply.all("cross-origin-resource-policy") == ["same-origin"]
    assert all("no-store" in value for value in reply.all("cache-control"))
    assert [name for name, _ in reply.headers if name.startswith("access-control")] == []
    assert reply.all("location") == []
    assert b"Traceback" not in reply.body


class Case(NamedTuple):
    """One request that must not be let in."""

    name: str
    status: tuple[int, ...]
    headers: tuple[tuple[str, str], ...] = ()
    target: str = "/"
    method: str = "GET"
    host: str | None = None
    body: bytes = b""
    signed_in: bool = True


CASES = [
    # Names of the host: a page that rebinds its own name to this machine sends that name.
    Case("host-rebound", (403,), host="evil.test:{port}"),
    Case("host-rebound-bare", (403,), host="evil.test"),
    Case("host-without-port", (403,), host="127.0.0.1"),
    Case("host-of-another-port", (403,), host="127.0.0.1:1"),
    Case("host-missing", (400, 403), host=""),
    Case("host-empty", (400, 403), headers=(("Host", ""),)),
    Case("host-twice", (400, 403), headers=(("Host", "127.0.0.1:{port}"), ("Host", "127.0.0.1:{port}"))),
    Case("host-twice-evil-last", (400, 403), headers=(("Host", "127.0.0.1:{port}"), ("Host", "evil.test"))),
    Case("host-with-user", (400, 403), host="127.0.0.1:{port}@evil.test"),
    Case("host-with-path", (400, 403), host="127.0.0.1:{port}/evil.test"),
    Case("host-with-dot", (403,), host="localhost.:{port}"),
    Case("host-longer", (403,), host="127.0.0.1:{port}.evil.test"),
    Case("host-as-a-number", (403,), host="2130706433:{port}"),
    Case("host-short", (403,), host="127.1:{port}"),
    Case("host-of-all", (403,), host="0.0.0.0:{port}"),
    Case("host-forwarded", (403,), host="evil.test", headers=(("X-Forwarded-Host", "127.0.0.1:{port}"),)),
    Case("host-in-the-target", (400, 403), target="http://127.0.0.1:{port}/", host="evil.test"),
    Case("target-of-elsewhere", (400, 403, 404), target="http://evil.test/"),
    # Where it comes from: pages of other sites cannot choose these.
    Case("origin-null", (403,), headers=(("Origin", "null"),)),
    Case("origin-evil", (403,), headers=(("Origin", "http://evil.test"),)),
    Case("origin-of-another-port", (403,), headers=(("Origin", "http://127.0.0.1:1"),)),
    Case("origin-without-port", (403,), headers=(("Origin", "http://127.0.0.1"),)),
    Case("origin-of-another-scheme", (403,), headers=(("Origin", "https://127.0.0.1:{port}"),)),
    Case("origin-of-a-file", (403,), headers=(("Origin", "file://"),)),
    Case("origin-of-an-extension", (403,), headers=(("Origin", "chrome-extension://abcdefghijklmnop"),)),
    Case("origin-longer", (403,), headers=(("Origin", "http://127.0.0.1:{port}.evil.test"),)),
    Case("origin-with-user", (403,), headers=(("Origin", "http://127.0.0.1:{port}@evil.test"),)),
    Case("origin-with-path", (403,), headers=(("Origin", "http://127.0.0.1:{port}/"),)),
    Case("origin-empty", (403,), headers=(("Origin", ""),)),
    Case("origin-nonsense", (403,), headers=(("Origin", "::::"),)),
    Case("origin-twice", (403,), headers=(("Origin", "http://127.0.0.1:{port}"), ("Origin", "null"))),
    Case("origin-list", (403,), headers=(("Origin", "http://127.0.0.1:{port}, http://evil.test"),)),
    Case("origin-of-the-other-name", (403,), headers=(("Origin", "http://localhost:{port}"),)),
    Case("site-cross", (403,), headers=(("Sec-Fetch-Site", "cross-site"),)),
    Case("site-same-site", (403,), headers=(("Sec-Fetch-Site", "same-site"),)),
    Case("site-none-but-fetched", (403,), headers=(("Sec-Fetch-Site", "none"), ("Sec-Fetch-Mode", "cors"))),
    Case("site-nonsense", (403,), headers=(("Sec-Fetch-Site", "same-origin, cross-site"),)),
    Case("site-twice", (403,), headers=(("Sec-Fetch-Site", "same-origin"), ("Sec-Fetch-Site", "cross-site"))),
    Case("site-in-a-frame", (403,), headers=(("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Dest", "iframe"))),
    # Keys.
    Case("key-none", (401,), signed_in=False),
    Case("key-empty", (401,), signed_in=False, headers=(("Authorization", "Bearer "),)),
    Case("key-wrong", (401,), signed_in=False, headers=(("Authorization", f"Bearer {'0' * 64}"),)),
    Case("key-half", (401,), signed_in=False, headers=(("Authorization", "Bearer {half}"),)),
    Case("key-longer", (401,), signed_in=False, headers=(("Authorization", "Bearer {token}0"),)),
    Case("key-in-capitals", (401,), signed_in=False, headers=(("Authorization", "Bearer {TOKEN}"),)),
    Case("key-as-basic", (401,), signed_in=False, headers=(("Authorization", "Basic {token}"),)),
    Case("key-in-the-address", (401,), signed_in=False, target="/?token={token}&code={token}"),
    Case("key-in-a-cookie", (401,), signed_in=False, headers=(("Cookie", "{cookie}={token}"),)),
    Case("key-twice", (401,), headers=(("Authorization", "Bearer {token}"),)),
    Case("cookie-of-another-name", (401,), signed_in=False, headers=(("Cookie", "tracklog={token}"),)),
    Case("cookie-wrong", (401,), signed_in=False, headers=(("Cookie", "{cookie}=AAAA"),)),
    Case("cookie-not-ascii", (401,), signed_in=False, headers=(("Cookie", "{cookie}=\u00e9\u4e2d"),)),
    Case("code-wrong", (403,), signed_in=False, target="/sign-in?code=AAAA"),
    Case("code-none", (403,), signed_in=False, target="/sign-in"),
    Case("code-twice", (403,), signed_in=False, target="/sign-in?code=a&code=b"),
    Case("code-as-path", (403,), signed_in=False, target="/sign-in?code=../../token"),
    Case("code-posted", (405,), signed_in=False, target="/sign-in?code=a", method="POST"),
    # Methods.
    Case("put", (405,), method="PUT"),
    Case("delete", (405,), method="DELETE", target="/s/claude/" + ID),
    Case("trace", (405,), method="TRACE"),
    Case("connect", (400, 403, 405), method="CONNECT", target="127.0.0.1:{port}"),
    Case("preflight", (403, 405), method="OPTIONS", headers=(("Access-Control-Request-Method", "POST"), ("Origin", "http://evil.test"))),
    Case("unknown-method", (400, 405), method="SEARCH"),
    Case("post-to-a-page", (403, 405), method="POST", body=b"a=b"),
    Case("websocket", (400, 403, 404, 426), target="/_/events", headers=(("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Key", "x"), ("Sec-WebSocket-Version", "13"), ("Origin", "http://evil.test"))),
    # Sizes.
    Case("body-too-large", (413,), method="POST", target="/answer", body=b"a" * 70_000),
    Case("body-said-too-large", (413,), method="POST", target="/answer", headers=(("Content-Length", "99999999999"),)),
    Case("body-of-negative-length", (400,), method="POST", target="/answer", headers=(("Content-Length", "-1"),)),
    Case("body-of-two-lengths", (400,), method="POST", target="/answer", headers=(("Content-Length", "1"), ("Content-Length", "2")), body=b"ab"),
    Case("body-in-pieces-too-large", (413,), method="POST", target="/answer", headers=(("Transfer-Encoding", "chunked"),), body=b"8000\r\n" + b"a" * 0x8000 + b"\r\n" + b"8001\r\n" + b"a" * 0x8001 + b"\r\n0\r\n\r\n"),
    Case("body-in-broken-pieces", (400,), method="POST", target="/answer", headers=(("Transfer-Encoding", "chunked"),), body=b"zz\r\nabc\r\n0\r\n\r\n"),
    Case("address-too-long", (400, 414), target="/search?q=" + "a" * 9_000),
    Case("headers-too-large", (400, 431), headers=(("X-Large", "a" * 60_000),)),
    Case("headers-too-many", (400, 431), headers=tuple((f"X-{n}", "a") for n in range(150))),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_request_that_is_not_ours_is_refused(served: Served, case: Case) -> None:
    known = {
        "port": served.port,
        "token": served.token,
        "TOKEN": served.token.upper(),
        "half": served.token[:32],
        "cookie": cookie_name(served),
    }
    headers = [(name, value.format(**known)) for name, value in case.headers]
    if case.signed_in:
        headers.append(bearer(served))
    host = case.host.format(**known) if case.host else case.host
    target = case.target.format(**known)
    reply = request(served.port, target, method=case.method, headers=headers, host=host, body=case.body)
    assert reply.status in case.status, reply
    assert_is_dressed(reply)
    assert served.token.encode() not in reply.body
    assert reply.all("set-cookie") == []


def cookie_name(served: Served) -> str:
    return name_of_cookie(served.own, served.port)


@pytest.mark.parametrize("target", EVERY_KIND)
def test_every_address_refuses_who_has_no_token_names_another_host_or_comes_from_elsewhere(
    served: Served, target: str
) -> None:
    target = target.format(id=ID)
    tried = {
        "nothing": request(served.port, target),
        "host": request(served.port, target, headers=[bearer(served)], host="evil.test"),
        "origin": request(served.port, target, headers=[bearer(served), ("Origin", "http://evil.test")]),
        "site": request(served.port, target, headers=[bearer(served), ("Sec-Fetch-Site", "cross-site")]),
    }
    assert {name: reply.status for name, reply in tried.items()} == {
        "nothing": 401,
        "host": 403,
        "origin": 403,
        "site": 403,
    }
    for reply in tried.values():
        assert_is_dressed(reply)


@pytest.mark.parametrize("target", [one for one in EVERY_KIND if one != "/_/events"])
def test_every_address_answers_who_has_the_token_with_the_headers(served: Served, target: str) -> None:
    reply = request(served.port, target.format(id=ID), headers=[bearer(served)])
    expected = (404,) if "nothing" in target or "favicon" in target else (200, 404)
    assert reply.status in expected, reply.body[:500]
    assert_is_dressed(reply)


def test_localhost_and_the_loopback_of_version_six_are_names_of_ours(served: Served) -> None:
    for host in (f"localhost:{served.port}", f"[::1]:{served.port}"):
        assert request(served.port, headers=[bearer(served)], host=host).status == 200


PASSWD = re.compile(rb"root:[^:]*:0:0")
PATHS = [
    "../../../../../../../../etc/passwd",
    "..%2f..%2f..%2f..%2f..%2fetc%2fpasswd",
    "/etc/passwd",
    "%0d%0aX-Evil:1",
]
MORE_PATHS = [
    "..", "../..", "%2e%2e/%2e%2e/etc/passwd", "%252e%252e%252fetc%252fpasswd", "..%5c..%5cetc%5cpasswd", "//etc/passwd",
    "file:///etc/passwd", "%00", "x%00.css", "....//....//etc/passwd", "%c0%ae%c0%ae/etc/passwd", "~root", "$(id)", "%ff%fe", "a" * 4_000,
]  # fmt: skip
# Every address that is answered, with the names of all that it may be asked.
ASKED: dict[str, str] = {
    "/": "all",
    "/sessions": "q project agent model tool verdict state since until sort after",
    "/calls": "tool verdict project agent session since until min_ms took copies sort after",
    "/search": "q by page secrets",
    "/doctor": "",
    "/s/{agent}/{id:path}": "at line line=1&file turn call thread branch open open=r1&lines find all left want",
    "/raw/{agent}/{id:path}": "seq line line=1&file call thread secrets",
    "/picture/{agent}/{id:path}": "seq seq=1&n file call thread",
    "/answer": "run id verdict",
    "/static/{name:path}": "",
    "/_/board": "all",
    "/_/foot": "",
    "/_/events": "",
    "/_/search": "q by page secrets",
    "/_/palette": "q",
    "/_/s/{agent}/{id:path}/rows": "from n all left want file call thread branch",
    "/_/s/{agent}/{id:path}/call": "seq seq=1&n seq=1&lines file call thread branch",
    "/_/s/{agent}/{id:path}/now": "at file call thread branch",
    "/_/s/{agent}/{id:path}/turns": "at file call thread",
    "/_/s/{agent}/{id:path}/where": "line line=1&file turn call thread",
    "/_/s/{agent}/{id:path}/raw": "seq line line=1&file call thread secrets",
    "/_/s/{agent}/{id:path}/find": "q q=x&from file call thread",
    "/_/s/{agent}/{id:path}/text": "id id=r1.0&seq id=r1.0&from call thread",
    "/_/s/{agent}/{id:path}/next": "what what=error&after what=prompt&before what=error&left call thread branch",
    "/api/v1": "",
    "/api/v1/index": "",
    "/api/v1/{name}": "project limit tool",
    "/api/v1/{name}/{what}": "agent slow",
}
KNOWN = {"agent": "claude", "id": ID, "name": "calls", "what": ID}


def _places() -> Iterator[str]:
    """Each part of each address in turn, to be tried with anything; the others are as they should be."""
    yield "/{}"
    for address, names in ASKED.items():
        plain = address.replace(":path", "")
        parts = re.findall(r"{(\w+)}", plain)
        for part in parts:
            yield plain.format(**{**KNOWN, part: "{}"})
        yield from (f"{plain.format(**KNOWN)}?{name}={{}}" for name in names.split())


PLACES = list(_places())


def test_every_address_is_among_those_that_are_tried() -> None:
    assert [route.path for route in routes() if isinstance(route, Route)] == list(ASKED)


@for_each("place", PLACES)
def test_no_parameter_leads_out_of_the_logs(served: Served, place: str) -> None:
    for trick in _tricks(place):
        reply = request(served.port, place.replace("{}", trick), headers=[bearer(served)])
        assert reply.status in (200, 400, 404, 409, 414), (trick, reply)
        assert not PASSWD.search(reply.body), trick
        assert reply.all("x-evil") == []
        assert_is_dressed(reply)


def _tricks(place: str) -> list[str]:
    """All of them within a path; for a parameter those that would harm most, and every fifth of the others."""
    if "?" not in place or os.environ.get("TRACKLOG_TEST_SOAK") == "1":
        return [*PATHS, *MORE_PATHS]
    return [*PATHS, *MORE_PATHS[PLACES.index(place) % 5 :: 5]]


NUMBERS = [
    "-1",
    "0",
    "1e9",
    "99999999999999999999999",
    "NaN",
    "0x10",
    "1.5",
    "",
    "%D9%A3",
    "%C2%B2",
    "r%C2%B2.1",
    "1;drop",
    "' or 1=1 --",
]
COUNTED = [
    place
    for place in PLACES
    if re.search(r"\b(from|n|line|seq|at|turn|want|page|limit|min_ms|after|id)=\{\}", place)
]


@for_each("place", COUNTED)
def test_no_number_makes_a_mistake_of_ours_or_a_huge_answer(served: Served, place: str) -> None:
    for number in NUMBERS:
        reply = request(
            served.port,
            place.replace("{}", number.replace(" ", "%20")),
            headers=[bearer(served)],
        )
        assert reply.status in (200, 400, 404, 409), (number, reply)
        assert len(reply.body) < 1_000_000


GARBAGE = {
    "nonsense": b"\x00\xff\xfe garbage\r\n\r\n",
    "tls": bytes.fromhex("16030100c8010000c40303") + b"\x00" * 190,
    "http2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "http09": b"GET /\r\n\r\n",
    "bare-newlines": b"GET / HTTP/1.1\nHost: x\n\n",
    "space-in-name": b"GET / HTTP/1.1\r\nHost : x\r\n\r\n",
    "folded": b"GET / HTTP/1.1\r\nHost: x\r\n y\r\n\r\n",
    "two-ways-of-length": b"POST /answer HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nG",
    "endless-line": b"GET /" + b"a" * 200_000,
}


@pytest.mark.parametrize("name", GARBAGE)
def test_what_is_no_request_gets_no_page_and_harms_nobody(served: Served, name: str) -> None:
    reply = exchange(served.port, GARBAGE[name], ends=True)
    assert reply.status in (0, 400, 403, 405, 414, 431), reply
    assert request(served.port, "/_/foot", headers=[bearer(served)]).status == 200


def test_a_request_behind_another_is_judged_by_itself(served: Served) -> None:
    good = f"GET /_/foot HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nAuthorization: Bearer {served.token}\r\n\r\n"
    evil = f"GET /_/foot HTTP/1.1\r\nHost: evil.test\r\nAuthorization: Bearer {served.token}\r\nConnection: close\r\n\r\n"
    bare = f"GET /_/foot HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nConnection: close\r\n\r\n"
    for second, status in ((evil, b"403"), (bare, b"401")):
        assert _statuses(served, good + second) == [b"200", status]


def _statuses(served: Served, said: str) -> list[bytes]:
    """Of all answers on one connection, until the server ends it."""
    with socket.create_connection(("127.0.0.1", served.port), timeout=10) as one:
        one.sendall(said.encode())
        data = b""
        while part := one.recv(65_536):
            data += part
    return re.findall(rb"HTTP/1\.1 (\d+)", data)


SMUGGLED = {
    "behind-a-refusal": ("GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n", [b"401"]),
    "in-a-body-that-is-not-read": (
        "POST /answer HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: {n}\r\n\r\n",
        [b"401"],
    ),
    "in-the-body-of-a-sign-in": (
        "GET /sign-in?code=x HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: {n}\r\n\r\n",
        [b"403"],
    ),
    "in-a-body-that-is-read": (
        "POST /answer HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n"
        "Connection: close\r\nContent-Length: {n}\r\n\r\n",
        [b"400"],
    ),
    "behind-two-ways-of-length": (
        "POST /answer HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n"
        "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        [b"400"],
    ),
}


@pytest.mark.parametrize("name", SMUGGLED)
def test_a_request_that_is_smuggled_along_is_never_answered(served: Served, name: str) -> None:
    head, expected = SMUGGLED[name]
    hidden = f"GET /_/foot HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nAuthorization: Bearer {served.token}\r\n\r\n"
    said = head.format(port=served.port, token=served.token, n=len(hidden)) + hidden
    assert _statuses(served, said) == expected


def test_guessing_tokens_is_slow_and_hinders_nobody_who_has_it(served: Served) -> None:
    def guess(n: int) -> int:
        return request(served.port, headers=[("Authorization", f"Bearer {n:064x}")]).status

    with ThreadPoolExecutor(20) as pool:
        began = time.monotonic()
        guesses = pool.map(guess, range(200))
        answers = [request(served.port, "/_/foot", headers=[bearer(served)]).status for _ in range(10)]
        statuses = set(guesses)
    took_s = time.monotonic() - began
    assert answers == [200] * 10
    assert statuses <= {401, 429}
    assert took_s < 60


def test_the_server_listens_on_loopback_alone(served: Served) -> None:
    family = [
        psutil.Process(served.process.pid),
        *psutil.Process(served.process.pid).children(recursive=True),
    ]
    listening = {
        (one.laddr.ip, one.laddr.port)
        for process in family
        for one in process.net_connections("inet")
        if one.status in (psutil.CONN_LISTEN, psutil.CONN_NONE)
    }
    assert listening == {("127.0.0.1", served.port)}


def test_nothing_leaves_the_machine(served: Served) -> None:
    peers = {
        one.raddr.ip
        for process in (psutil.Process(served.process.pid),)
        for one in process.net_connections("inet")
        if one.raddr
    }
    assert peers <= {"127.0.0.1", "::1"}


def test_the_token_is_for_its_user_alone_and_is_not_printed(served: Served) -> None:
    place = served.own / "token"
    assert (place.stat().st_mode & 0o777, place.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert len(bytes.fromhex(served.token)) == 32
    assert served.token not in served.link
    assert served.token not in (served.own.parent / "stderr.txt").read_text()


def test_a_link_signs_in_once_with_a_cookie_that_scripts_cannot_read(served: Served) -> None:
    link = _another_link(served)
    target = link.removeprefix(f"http://{served.host}")
    first, second = (request(served.port, target) for _ in range(2))
    assert (first.status, second.status) == (200, 403)
    (cookie,) = first.all("set-cookie")
    name, _, rest = cookie.partition("=")
    assert name == cookie_name(served)
    assert {part.strip().lower() for part in rest.split(";")[1:]} == {"path=/", "httponly", "samesite=strict"}
    value = rest.partition(";")[0]
    assert request(served.port, "/", headers=[("Cookie", f"{name}={value}")]).status == 200
    assert value != served.token
    assert served.token.encode() not in first.body


def test_of_many_who_open_a_link_at_once_one_is_signed_in(served: Served) -> None:
    target = _another_link(served).removeprefix(f"http://{served.host}")
    with ThreadPoolExecutor(50) as pool:
        replies = list(pool.map(lambda _: request(served.port, target), range(50)))
    statuses = [reply.status for reply in replies]
    assert (statuses.count(200), set(statuses) <= {200, 403, 429}) == (1, True)
    assert sum(len(reply.all("set-cookie")) for reply in replies) == 1


def test_a_link_that_a_browser_looks_at_ahead_of_time_still_works(served: Served) -> None:
    target = _another_link(served).removeprefix(f"http://{served.host}")
    ahead = request(served.port, target, headers=[("Sec-Purpose", "prefetch;prerender")])
    assert (ahead.status, ahead.all("set-cookie")) == (503, [])
    assert request(served.port, target).status == 200


def test_a_cookie_alone_posts_nothing_unless_a_page_of_ours_sends_it(served: Served) -> None:
    (cookie,) = request(served.port, _another_link(served).removeprefix(f"http://{served.host}")).all(
        "set-cookie"
    )
    sent = [("Cookie", cookie.partition(";")[0]), ("Content-Type", "application/x-www-form-urlencoded")]
    assert request(served.port, "/answer", method="POST", headers=sent, body=b"a=b").status == 403
    for more in (("Origin", "null"), ("Origin", "http://evil.test"), ("Sec-Fetch-Site", "same-site")):
        reply = request(served.port, "/answer", method="POST", headers=[*sent, more], body=b"a=b")
        assert reply.status == 403


def _another_link(served: Served) -> str:
    words = ("serve", "--no-open", "--port", str(served.port))
    done = tracklog(*words, home=served.own.parent, env={"TRACKLOG_HOME": str(served.own)})
    assert done.code == 0, done.err
    return done.out.split()[0]
