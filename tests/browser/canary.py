"""A server that nobody should ever ask: it remembers who did."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Canary(ThreadingHTTPServer):
    """Counts what reaches it."""

    def __init__(self, page: str) -> None:
        super().__init__(("127.0.0.1", 0), _Asked)
        self.page = page.encode()
        self.asked: list[str] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Asked(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        assert isinstance(self.server, Canary)
        self.server.asked.append(self.path)
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(self.server.page)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(self.server.page)

    do_POST = do_HEAD = do_OPTIONS = do_GET  # noqa: N815 (as the library calls them)

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing: what counts is kept."""


@contextmanager
def canary_at_work(*, page: str = "") -> Iterator[Canary]:
    """A canary in a thread of its own; whoever asks gets this page."""
    canary = Canary(page)
    threading.Thread(target=canary.serve_forever, daemon=True).start()
    try:
        yield canary
    finally:
        canary.shutdown()
        canary.server_close()
