"""The guard of every request: it checks host, origin and credentials, and adds headers to responses.

Rules
  1. Nothing is done for a request before all of this is checked: it names this server, it comes from no other site, it
     has the token or our cookie. Only the sign-in page needs neither.
  2. Every response has the headers of docs/security.md#headers, whatever made it. None redirects elsewhere.
  3. A wrong token costs time, a right one never does.
  4. Internal errors are printed on stderr, never sent to the client.
  5. A page of another site can make a browser send us requests, and by rebinding its own name to this machine even read
     the answers. It cannot choose Host, Origin and Sec-Fetch-Site: all three are checked on every request.
  6. A header that occurs twice, or that we do not understand, is refused. Nothing is guessed.
  7. Pages at other ports of this machine are other sites, even if browsers call them `same-site`.
"""

from __future__ import annotations

import asyncio
import sys
import traceback
from collections.abc import Iterable, Sequence
from urllib.parse import parse_qs

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tracklog.views.text.printing import safe_lines
from tracklog.views.web.server.plain_answers import RefusedRequest, plain_page, refusal_answer
from tracklog.views.web.server.sign_in import GOOD_FOR_S, SIGN_IN, SignInKeys

METHODS = ("GET", "HEAD", "POST")
LONGEST_TARGET = 8_192
LARGEST_HEAD = 32_768  # cookies of every other server on this machine come along
MOST_HEADERS = 100
_NAVIGATION = (b"navigate", b"document")


class RequestHeaders:
    """The headers of a request."""

    def __init__(self, scope: Scope) -> None:
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.target: bytes = scope["raw_path"]
        self.query: bytes = scope["query_string"]
        self.headers: Sequence[tuple[bytes, bytes]] = scope["headers"]

    def all(self, name: bytes) -> list[bytes]:
        """Every value of a header."""
        return [value for key, value in self.headers if key == name]

    def one(self, name: bytes) -> bytes | None:
        """The value of a header that occurs exactly once."""
        values = self.all(name)
        return values[0] if len(values) == 1 else None

    @property
    def is_navigation(self) -> bool:
        """Whether a browser opens this as a top-level page, not in a frame."""
        return (self.one(b"sec-fetch-mode"), self.one(b"sec-fetch-dest")) == _NAVIGATION

    @property
    def is_sign_in(self) -> bool:
        return self.path == SIGN_IN

    @property
    def methods(self) -> Sequence[str]:
        """The methods that the guard allows for this address."""
        return METHODS[:2] if self.is_sign_in else METHODS

    @property
    def has_body(self) -> bool:
        return bool(self.all(b"transfer-encoding")) or self.all(b"content-length") not in ([], [b"0"])

    @property
    def is_ahead_of_time(self) -> bool:
        """Whether this is a prefetch of the browser."""
        names = (b"sec-purpose", b"purpose", b"x-purpose", b"x-moz")
        return any(word in value.lower() for name in names for value in self.all(name) for word in _GUESSES)

    @property
    def is_surely_from_us(self) -> bool:
        """Whether a browser states that one of our own pages sent this (`refusal_of` has excluded others)."""
        return self.one(b"origin") is not None or self.one(b"sec-fetch-site") == b"same-origin"


_GUESSES = (b"prefetch", b"prerender", b"preview")


def refusal_of(asked: RequestHeaders, hosts: Sequence[str]) -> RefusedRequest | None:
    """Why a request is refused whatever its credentials; None if it is not."""
    return (
        _by_host(asked, hosts)
        or _by_size(asked)
        or _by_length(asked)
        or _by_method(asked)
        or _by_origin(asked)
        or _by_fetch_site(asked)
    )


def _by_host(asked: RequestHeaders, hosts: Sequence[str]) -> RefusedRequest | None:
    host = asked.one(b"host")
    if host is not None and host in {one.encode() for one in hosts}:
        return None
    return RefusedRequest(
        403,
        "Not this server",
        f"This is tracklog. It answers to {', '.join(hosts)} and to no other name.",
    )


def _by_size(asked: RequestHeaders) -> RefusedRequest | None:
    if not asked.target.startswith(b"/"):
        return RefusedRequest(400, "No address", "An address here begins with a slash.")
    if len(asked.target) + len(asked.query) > LONGEST_TARGET:
        return RefusedRequest(414, "Address too long", f"An address may have {LONGEST_TARGET:,} bytes.")
    size = sum(len(name) + len(value) for name, value in asked.headers)
    if size > LARGEST_HEAD or len(asked.headers) > MOST_HEADERS:
        return RefusedRequest(431, "Headers too large", "Remove cookies of other servers on this machine.")
    return None


def _by_length(asked: RequestHeaders) -> RefusedRequest | None:
    if asked.all(b"content-length") and asked.all(b"transfer-encoding"):
        return RefusedRequest(
            400, "Two lengths", "What is sent here has a length or comes in pieces, not both."
        )
    return None


def _by_method(asked: RequestHeaders) -> RefusedRequest | None:
    if asked.method in asked.methods:
        return None
    return RefusedRequest(405, "No such method", f"Here is only {', '.join(asked.methods)}.")


def _by_origin(asked: RequestHeaders) -> RefusedRequest | None:
    origins = asked.all(b"origin")
    if not origins or origins == [b"http://" + (asked.one(b"host") or b"")]:
        return None
    return RefusedRequest(403, "From another site", "Only pages of tracklog itself may ask this server.")


def _by_fetch_site(asked: RequestHeaders) -> RefusedRequest | None:
    sites = asked.all(b"sec-fetch-site")
    if sites in ([], [b"same-origin"]):
        return None
    if sites == [b"none"] and asked.one(b"sec-fetch-mode") in (None, b"navigate"):
        return None  # typed, or opened from a bookmark or from outside of the browser
    is_opened = asked.is_navigation and asked.method in ("GET", "HEAD") and len(sites) == 1
    if asked.is_sign_in and is_opened:
        return None  # a link in a mail or a terminal in the browser: what counts is the code
    return RefusedRequest(
        403,
        "From another site",
        "A page of another site led here. Only pages of tracklog itself may do that.",
        leads_on=is_opened,
    )


CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
SANDBOX = "default-src 'none'; sandbox"
HEADERS = {
    "content-security-policy": CONTENT_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
    "permissions-policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
    "cache-control": "no-store",
}
LARGEST_BODY = 65_536
SLOWEST_BODY_S = 10.0
_WRONG_COSTS_S = 0.3
_MOST_WAITING = 16
_MOST_COOKIES = 8  # of one name: another server at this address may have set more
_NOT_SIGNED_IN = RefusedRequest(
    401,
    "Not signed in",
    "Open the link that `tracklog serve` printed. Run `tracklog serve` again for a new one: it works once.",
)
_SPENT = RefusedRequest(
    403,
    "This link is spent",
    f"A link to sign in works once, for {GOOD_FOR_S // 60} minutes. Run `tracklog serve` again in a terminal: "
    "it prints a new one.",
)
_TOO_MANY = RefusedRequest(429, "Too many wrong tokens", "Try again in a moment.")
_TOO_LARGE = RefusedRequest(413, "Too large", f"What is sent here may have {LARGEST_BODY:,} bytes.")
_TOO_SLOW = RefusedRequest(
    408, "Too slow", f"What is sent here must arrive within {SLOWEST_BODY_S:g} seconds."
)
_BROKEN_OFF = RefusedRequest(400, "Broken off", "What was sent here did not arrive whole.")
_NOT_FROM_US = RefusedRequest(
    403, "From nowhere", "A browser must say that a page of tracklog itself sends this."
)
_NOT_NOW = RefusedRequest(503, "Not ahead of time", "A link to sign in is opened by its reader alone.")
_OUR_MISTAKE = RefusedRequest(
    500,
    "A mistake of tracklog's",
    "What went wrong is printed where `tracklog serve` runs. Please report it.",
)


class Guard:
    """ASGI middleware that lets in requests with the token or cookie and from no other site."""

    def __init__(self, app: ASGIApp, keys: SignInKeys) -> None:
        self._app = app
        self._keys = keys
        self._n_waiting = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles one request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await self._answer(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        leaving = _Leaving(send)
        try:
            await self._judge(RequestHeaders(scope), scope, receive, leaving)
        except Exception:  # a door: one request that fails is said where the server runs, and harms no other
            say_what_went_wrong()
            if not leaving.has_begun:
                await refusal_answer(_OUR_MISTAKE, scope["path"])(scope, receive, leaving)

    async def _judge(self, asked: RequestHeaders, scope: Scope, receive: Receive, leaving: _Leaving) -> None:
        refusal = refusal_of(asked, self._keys.hosts)
        if refusal is None and asked.is_sign_in:
            await self._sign_in(asked, scope, receive, leaving)
            return
        refusal = refusal or await self._refusal_by_key(asked)
        if refusal is None and asked.has_body:
            body = await _whole_body(asked, receive)
            if isinstance(body, RefusedRequest):
                refusal = body
            else:
                receive = _Received(body, receive)
        if refusal is not None:
            await _refuse(refusal, asked, scope, receive, leaving)
        else:
            await self._app(scope, receive, leaving)

    async def _refusal_by_key(self, asked: RequestHeaders) -> RefusedRequest | None:
        tokens, cookies = _bearers(asked), _cookies(asked, self._keys.cookie)
        has_token = len(tokens) == 1 and self._keys.is_token(tokens[0])
        has_cookie = not tokens and any(map(self._keys.is_cookie, cookies))
        if has_token or (has_cookie and (asked.method != "POST" or asked.is_surely_from_us)):
            return None
        if has_cookie:
            return _NOT_FROM_US
        is_wrong = bool(tokens or cookies)
        return (await self._wrong() if is_wrong else None) or _NOT_SIGNED_IN

    async def _wrong(self) -> RefusedRequest | None:
        """Delays a wrong guess; refuses it if too many are delayed already."""
        if self._n_waiting >= _MOST_WAITING:
            return _TOO_MANY
        self._n_waiting += 1
        try:
            await asyncio.sleep(_WRONG_COSTS_S)
        finally:
            self._n_waiting -= 1
        return None

    async def _sign_in(
        self, asked: RequestHeaders, scope: Scope, receive: Receive, leaving: _Leaving
    ) -> None:
        """Exchanges a code for a cookie; only here does a GET change anything."""
        codes = parse_qs(asked.query.decode("latin-1")).get("code", [])
        if asked.is_ahead_of_time or asked.method == "HEAD":  # neither is the reader's own wish
            await _refuse(_NOT_NOW, asked, scope, receive, leaving)
            return
        is_in = any(map(self._keys.is_cookie, _cookies(asked, self._keys.cookie)))
        is_good = len(codes) == 1 and self._keys.codes.use(codes[0])
        if not is_good and not is_in:
            await _refuse(await self._wrong() or _SPENT, asked, scope, receive, leaving)
            return
        answer = plain_page(200, "Signed in", '<p><a href="/">To the board</a></p>', goes_to="/")
        if is_good:  # else the page was loaded again
            answer.headers["set-cookie"] = self._keys.set_cookie()
        await answer(scope, receive, leaving)


class _Leaving:
    """Sends a response with the headers that every response has."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.has_begun = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            _dress(message)
            self.has_begun = True
        await self._send(message)


def _dress(message: Message) -> None:
    if 300 <= message["status"] < 400:
        raise RuntimeError(f"an answer led elsewhere, with {message['status']}: nothing here may")
    headers = MutableHeaders(scope=message)
    is_boxed = "sandbox" in headers.get("content-security-policy", "")
    for name in [name for name in headers if name.startswith("access-control-") or name == "server"]:
        del headers[name]
    for name, value in HEADERS.items():
        del headers[name]
        headers[name] = value
    if is_boxed:  # what a log holds, handed out as it is: stricter than any page of ours
        headers["content-security-policy"] = SANDBOX


class _Received:
    """Replays the body that was read, then receives what follows."""

    def __init__(self, body: bytes, receive: Receive) -> None:
        self._body: bytes | None = body
        self._receive = receive

    async def __call__(self) -> Message:
        body, self._body = self._body, None
        if body is None:
            return await self._receive()
        return {"type": "http.request", "body": body, "more_body": False}


async def _whole_body(asked: RequestHeaders, receive: Receive) -> bytes | RefusedRequest:
    """The body of a request, unless it is too large or too slow."""
    stated = [length for length in asked.all(b"content-length") if length.isdigit()]
    if any(len(length) > 9 or int(length) > LARGEST_BODY for length in stated):
        return _TOO_LARGE
    body = bytearray()
    try:
        async with asyncio.timeout(SLOWEST_BODY_S):
            while (message := await receive())["type"] == "http.request":
                body += message.get("body", b"")
                if len(body) > LARGEST_BODY:
                    return _TOO_LARGE
                if not message.get("more_body", False):
                    return bytes(body)
    except TimeoutError:
        return _TOO_SLOW
    return _BROKEN_OFF


async def _refuse(
    refusal: RefusedRequest, asked: RequestHeaders, scope: Scope, receive: Receive, leaving: _Leaving
) -> None:
    answer = refusal_answer(refusal, asked.path)
    if refusal.status == 401:
        answer.headers["www-authenticate"] = 'Bearer realm="tracklog"'
    if refusal.status == 405:
        answer.headers["allow"] = ", ".join(asked.methods)
    if refusal.status in (429, 503):
        answer.headers["retry-after"] = "1"
    answer.headers["connection"] = "close"  # a body or more requests after it are not even read
    await answer(scope, receive, leaving)


def _bearers(asked: RequestHeaders) -> list[bytes]:
    """The tokens in a request; any other authorization counts as a wrong one."""
    return [
        value[7:].strip() if value[:7].lower() == b"bearer " else b"" for value in asked.all(b"authorization")
    ]


def _cookies(asked: RequestHeaders, name: str) -> list[bytes]:
    wanted = name.encode() + b"="
    pairs: Iterable[bytes] = (pair.strip() for value in asked.all(b"cookie") for pair in value.split(b";"))
    return [pair[len(wanted) :] for pair in pairs if pair.startswith(wanted)][:_MOST_COOKIES]


def say_what_went_wrong() -> None:
    """Prints the current traceback on stderr, made safe for a terminal: it may quote a log."""
    for line in safe_lines(traceback.format_exc().rstrip("\n")):
        sys.stderr.write(f"{line}\n")
    sys.stderr.flush()
