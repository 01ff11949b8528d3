"""One connection, and how long it may keep us waiting.

Rules of this room
  1. Who connects must say within five seconds what it wants, and again for every further request.
  2. There is always room for one more: if too many are connected, the one that has been idle longest must go.
  3. What is no HTTP gets the same headers as every other answer (guard.py).
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from tracklog.views.web.guard import HEADERS

HEAD_WITHIN_S = 5.0
MOST_CONNECTIONS = 512


class Connection(H11Protocol):
    """HTTP/1.1 as uvicorn speaks it, with limits."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._waiting: asyncio.TimerHandle | None = None
        self._since = self.loop.time()  # when it was last heard of

    @property
    def is_idle(self) -> bool:
        """Whether nothing is being answered here."""
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
        """Says that this was no request of HTTP, in the words and with the status of who found out."""
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
