"""Run the server: take its port, print the link, answer until a signal ends it.

Rules
  1. It listens on this machine only, unless explicitly told otherwise.
  2. The port is bound first, then the link is printed, then it listens: a link never leads to another server. A taken
     port is reported, and no other is used instead.
  3. It ends within a second, even if clients are still connected.
  4. A client must send its request within five seconds of connecting, and each further one likewise.
  5. There is always room for one more connection: if there are too many, the longest idle one is closed.
  6. A request that is no HTTP gets the same headers as every other response (server/access_control.py).
"""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from tracklog.errors import INTERRUPTED
from tracklog.home import Home
from tracklog.views.text.printing import answer, answer_json, in_colour, talk
from tracklog.views.web.server.access_control import HEADERS, LARGEST_HEAD, LONGEST_TARGET
from tracklog.views.web.server.browser import Opening, opens_here
from tracklog.views.web.server.listen import (
    BACKLOG,
    Instance,
    address_of,
    bound,
    hosts_of,
    instance_of,
    listen,
    registered,
    running,
)
from tracklog.views.web.server.sign_in import GOOD_FOR_S, Codes, SignInKeys, cookie_name, link_to, token_of

if TYPE_CHECKING:
    from tracklog.app.live.site import Root, Site


HEAD_WITHIN_S = 5.0
MOST_CONNECTIONS = 512


class Connection(H11Protocol):
    """A connection of uvicorn's HTTP/1.1, with limits."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._waiting: asyncio.TimerHandle | None = None
        self._since = self.loop.time()  # when data last came

    @property
    def is_idle(self) -> bool:
        """Whether no request is being answered."""
        is_answered = self.cycle is None or self.cycle.response_complete
        return is_answered and not self.transport.is_closing()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait_for_a_request()
        if len(self.connections) > MOST_CONNECTIONS:
            self._make_room()

    def data_received(self, data: bytes) -> None:
        self._since = self.loop.time()
        super().data_received(data)
        if not self.is_idle:
            self._wait_no_longer()
        elif self._waiting is None and self.timeout_keep_alive_task is None:
            self._wait_for_a_request()

    def connection_lost(self, exc: Exception | None) -> None:
        self._wait_no_longer()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Responds that this is no HTTP request, with the parser's message and status."""
        error = sys.exception()
        status = getattr(error, "error_status_hint", 400)
        if "Host: header" in str(error):  # h11 counts that header itself, and never lets two of them through
            status, msg = 403, "A request names its host, once."
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.abort()
            return
        headers = {**HEADERS, "content-type": "text/plain; charset=utf-8", "connection": "close"}
        body = f"{msg}\n".encode()
        for event in (
            h11.Response(status_code=status, headers=list(headers.items())),
            h11.Data(data=body),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _wait_for_a_request(self) -> None:
        self._waiting = self.loop.call_later(HEAD_WITHIN_S, self.transport.abort)

    def _wait_no_longer(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _make_room(self) -> None:
        others = [one for one in self.connections if isinstance(one, Connection) and one is not self]
        idle = [one for one in others if one.is_idle]
        goes = min(idle, key=lambda one: one._since) if idle else self
        goes.transport.abort()


_CUT_OFF_S = 0.6  # after the signal to end: clients that do not read are not waited for
_KEEP_ALIVE_S = 15
_STARTED_WITHIN_S = 20.0  # so long may a browser take to open the link, before the terminal is given back
_TURN_S = 0.001  # for which a thread may compute while others wait: pages go on beside the API


class ServeOptions(NamedTuple):
    """Options of `serve`."""

    home: Home
    given: tuple[Path, ...]  # the folders that were asked for; none: the agents' own
    roots: list[Root]
    host: str = "127.0.0.1"
    port: int | None = None
    opens: bool = True
    is_for_the_network: bool = False
    as_json: bool = False


def serve(wish: ServeOptions) -> int:
    """Serves until a signal comes; returns the exit code. If a server runs already, prints a new link to it instead."""
    address = address_of(wish.host, is_for_the_network=wish.is_for_the_network)
    if (found := running(wish.home, wish.given, port=wish.port or None)) is not None:
        _lead_to(found, wish)
        return 0
    token = token_of(wish.home)
    if token.why_new is not None:
        talk(f"tracklog: the token was replaced ({token.why_new}); clients must read it anew")
    with bound(address, wish.port, wish.home) as listener:
        port: int = listener.getsockname()[1]
        name = cookie_name(wish.home.path, port)
        keys = SignInKeys(hosts_of(address, port), name, token.value, Codes(wish.home))
        ours = instance_of(keys.hosts[0], port, wish.given)
        with registered(wish.home, ours):
            return _served(wish, keys, listener, ours)


def _lead_to(found: Instance, wish: ServeOptions) -> None:
    codes = Codes(wish.home)
    code = codes.make()
    link = link_to(found.host, code)
    _print(link, found, wish)
    talk(f"tracklog: process {found.pid} serves this already; the link to it works once")
    if wish.opens and opens_here():
        opening = Opening(link, wish.home, is_used=lambda: not codes.is_known(code), say=_say)
        opening.wait(_STARTED_WITHIN_S)
        opening.close()


def _print(link: str, instance: Instance, wish: ServeOptions) -> None:
    """Prints the link, first and at once."""
    if wish.as_json:
        answer_json({"url": link, "port": instance.port, "pid": instance.pid, "home": str(wish.home.path)})
    else:
        answer(link)
    sys.stdout.flush()


def _served(wish: ServeOptions, keys: SignInKeys, listener: socket.socket, ours: Instance) -> int:
    code = keys.codes.make()
    link = link_to(keys.hosts[0], code)
    _print(link, ours, wish)
    from tracklog.app.live.site import closing_site, site_over  # only now: the link is printed at once

    try:
        listen(listener, wish.home)
        _talk_about(wish, keys)
        with closing_site(site_over(wish.home, wish.roots)) as site:
            return _answer_all(wish, site, keys, listener, link=link, code=code)
    finally:
        keys.codes.forget(code)  # nobody may use it at another server


def _answer_all(
    wish: ServeOptions, site: Site, keys: SignInKeys, listener: socket.socket, *, link: str, code: str
) -> int:
    from tracklog.views.web.server.routes import make_app  # only now: the link is printed at once

    sys.setswitchinterval(_TURN_S)
    server = make_server(make_app(site, keys), on_end=site.events.close)
    site.start()
    opening = None
    if wish.opens and opens_here():
        opening = Opening(link, wish.home, is_used=lambda: not keys.codes.is_known(code), say=_say)
    try:
        asyncio.run(server.serve(sockets=[listener]))
    finally:
        if opening is not None:
            opening.close()
    return INTERRUPTED if server.ended_by == signal.SIGINT else 0


class Server(uvicorn.Server):
    """A uvicorn server that ends on a signal, and does not raise it again."""

    def __init__(self, config: uvicorn.Config, on_end: Callable[[], None]) -> None:
        super().__init__(config)
        self.ended_by: int | None = None
        self._on_end = on_end

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handles signals while it serves."""
        heard = [signal.SIGINT, signal.SIGTERM]
        if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # as nohup has it
            heard.append(signal.SIGHUP)
        before = {one: signal.signal(one, self.handle_exit) for one in heard}
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002 (uvicorn's signature)
        """Ends all streams, and after a moment all connections."""
        if self.ended_by is None:
            self.ended_by = sig
            self._on_end()
            loop = asyncio.get_running_loop()
            loop.call_soon_threadsafe(loop.call_later, _CUT_OFF_S, self._cut_off)
        self.should_exit = True

    def _cut_off(self) -> None:
        for connection in list(self.server_state.connections):
            if connection.transport is not None:
                connection.transport.abort()


def make_server(app: ASGIApp, *, on_end: Callable[[], None]) -> Server:
    """A server with our settings: no log, no extra headers, short timeouts."""
    config = uvicorn.Config(
        app,
        http=Connection,
        ws="none",
        lifespan="off",
        loop="asyncio",
        log_config=None,
        log_level="critical",  # what went wrong in a request is said by the guard
        access_log=False,
        server_header=False,
        proxy_headers=False,
        backlog=BACKLOG,
        h11_max_incomplete_event_size=LARGEST_HEAD + LONGEST_TARGET,
        timeout_keep_alive=_KEEP_ALIVE_S,
        timeout_graceful_shutdown=1,
    )
    return Server(config, on_end)


def _talk_about(wish: ServeOptions, keys: SignInKeys) -> None:
    talk(f"tracklog: serving at http://{keys.hosts[0]}/ until Ctrl-C")
    talk(f"tracklog: the link works once, for {GOOD_FOR_S // 60} minutes; `tracklog serve` prints another")
    if wish.is_for_the_network:
        warning = (
            "tracklog: DANGER: others on your network can reach this server, and read what is sent over it: "
            f"it answers to {', '.join(keys.hosts)}"
        )
        if in_colour(sys.stderr):
            sys.stderr.write("\x1b[31m")
        talk(warning)
        if in_colour(sys.stderr):
            sys.stderr.write("\x1b[0m")


def _say(words: str) -> None:
    talk(f"tracklog: {words}")
