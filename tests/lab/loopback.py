"""A server on loopback that a scripted API builds on: threads, an ephemeral port, streams that can break.

Rules of this room
  1. Only 127.0.0.1, only a port the system chose, only as long as the `with` block.
  2. A stream is sent in chunks as it happens, so that a cut or a pause is a real one for the client.
  3. A client that hangs up is normal (it was interrupted or killed) and ends the answer, never the server.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, ClassVar, Self

from tests.lab.words import Json, Reply

HOLD_LIMIT_S = 20.0


@dataclass
class Exchange:
    """One request and what it was answered: the truth that accounting is measured against."""

    n: int
    thread: str
    k: int
    kind: str  # story, helper, summary, web_search, warmup, …
    model: str
    message_id: str
    request_id: str
    blocks: list[str] = field(default_factory=list)
    usage: Json = field(default_factory=dict)  # as sent at the end; empty if the end was never sent
    began: Json = field(default_factory=dict)  # usage as sent at the beginning (Anthropic)
    meant: Json = field(default_factory=dict)  # what the end says, or would have said; empty for errors
    outcome: str = "open"  # complete, cut, held, error, hung_up


class Hold:
    """A pause in a stream, until the client is gone."""


class Cut:
    """The connection breaks here."""


Part = Json | Hold | Cut


class ScriptedApi(ABC):
    """What both scripted APIs share: the address, the log of exchanges, the sign that a stream is held."""

    models: ClassVar[Json]  # the answer to any GET: clients ask which models there are

    def __init__(self) -> None:
        self.exchanges: list[Exchange] = []
        self.requests: list[Json] = []
        self.strays: list[str] = []  # hosts outside loopback that the client tried to reach through us
        self.held = threading.Event()
        self.lock = threading.Lock()
        api = self

        class OurDoor(Door):
            owner = api

        self._server = _Server(("127.0.0.1", 0), OurDoor)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        """The address to give to the client."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @abstractmethod
    def post(self, path: str, request: Json, door: Door) -> None:
        """Answers a POST through the door."""

    def record(self, exchange: Exchange, request: Json) -> None:
        """Puts an exchange into the log, before it is answered."""
        with self.lock:
            exchange.n = len(self.exchanges) + 1
            self.exchanges.append(exchange)
            self.requests.append(request)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away between two requests is no error; anything else is ours and shows."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class Door(BaseHTTPRequestHandler):
    """The HTTP side: JSON answers, errors, and event streams."""

    protocol_version = "HTTP/1.1"
    owner: ScriptedApi

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the API keeps its own log."""

    def do_CONNECT(self) -> None:
        """The way out, which is closed: the clients have this server as their proxy.

        1.0.60 asks for a tunnel even to loopback. That is a tunnel to us: the same connection goes on.
        """
        if self.path.startswith("127.0.0.1:"):
            self.send_response_only(200)
            self.end_headers()
            self.close_connection = False
            return
        self.owner.strays.append(self.path)
        self.send_json({}, 403)

    def do_HEAD(self) -> None:
        self.send_json({})

    def do_GET(self) -> None:
        self.send_json(self.owner.models)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        try:
            self.owner.post(self.path, json.loads(body or b"{}"), self)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def send_json(self, document: Json, status: int = 200, *, headers: Json | None = None) -> None:
        """One JSON document."""
        body = b"" if self.command == "HEAD" else json.dumps(document).encode()
        self._head(status, "application/json", headers or {})
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def send_stream(self, parts: Iterator[Part], exchange: Exchange, *, headers: Json | None = None) -> None:
        """Server-sent events, part by part; notes in the exchange how far they came."""
        self._head(200, "text/event-stream", headers or {})
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        try:
            for part in parts:
                if isinstance(part, Cut | Hold):
                    exchange.outcome = "held" if isinstance(part, Hold) else "cut"
                    self._break(part)
                    return
                self._chunk(f"event: {part['type']}\ndata: {json.dumps(part)}\n\n".encode())
            self._chunk(b"")
            exchange.outcome = "complete"
        except (BrokenPipeError, ConnectionResetError):
            exchange.outcome = "held" if exchange.outcome == "held" else "hung_up"
            self.close_connection = True

    def fail(self, reply: Reply, document: Json, exchange: Exchange) -> None:
        """An API error."""
        exchange.outcome = "error"
        self.send_json(
            document, reply.status, headers={"retry-after": "0", "request-id": exchange.request_id}
        )

    def _head(self, status: int, kind: str, headers: Json) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        for name, value in headers.items():
            self.send_header(name, str(value))

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
        self.wfile.flush()

    def _break(self, part: Cut | Hold) -> None:
        self.close_connection = True
        if isinstance(part, Hold):
            self.owner.held.set()
            self._until_gone()

    def _until_gone(self) -> None:
        """Waits for the client to hang up; a comment line now and then finds that out."""
        for _ in range(int(HOLD_LIMIT_S / 0.1)):
            time.sleep(0.1)
            self._chunk(b": waiting\n\n")
