"""Server-sent events: one stream for each browser, which resumes where it was interrupted.

Rules
  1. Events are kept once, in a ring buffer. A listener is only its position in it: one that does not read costs no more
     memory, and delays no other.
  2. A returning client sends the id of its last event, and gets all later ones; if the ring no longer has them, or
     another server numbered them, it gets `reset`, and loads everything again.
  3. Events say that something changed, in numbers and names. A client that wants the new state requests it.
"""

from __future__ import annotations

import asyncio

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from tracklog.app.live.event_hub import Hub, Listener
from tracklog.views.web.site import site_of

_LAST_WORDS_S = 0.3  # so long may a stream take to end when the server does
_HEARTBEAT = b": still here\n\n"


class EventStream(Response):
    """A response that streams events until the client leaves."""

    media_type = "text/event-stream"

    def __init__(self, hub: Hub, listener: Listener, first: bytes) -> None:
        super().__init__(headers={"cache-control": "no-store", "x-accel-buffering": "no"})
        del self.headers["content-length"]
        self._hub = hub
        self._listener = listener
        self._first = first

    async def __call__(
        self,
        scope: Scope,  # noqa: ARG002 - the shape of an ASGI application
        receive: Receive,
        send: Send,
    ) -> None:
        """Sends events until the client leaves or the server ends."""
        telling = asyncio.ensure_future(self._tell(send))
        leaving = asyncio.ensure_future(self._left(receive))
        try:
            await asyncio.wait({telling, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._hub.leave(self._listener)
            telling.cancel()
            leaving.cancel()
            ends = await asyncio.gather(telling, leaving, return_exceptions=True)
        for end in ends:
            if isinstance(end, Exception) and not isinstance(end, OSError):  # that is how a client leaves
                raise end

    async def _left(self, receive: Receive) -> None:
        """Waits until the client is gone, or until an ending server has given it enough time to read."""
        leaving = asyncio.ensure_future(_gone(receive))
        ending = asyncio.ensure_future(self._listener.is_over.wait())
        try:
            await asyncio.wait({leaving, ending}, return_when=asyncio.FIRST_COMPLETED)
            if ending.done():
                await asyncio.wait({leaving}, timeout=_LAST_WORDS_S)
        finally:
            leaving.cancel()
            ending.cancel()

    async def _tell(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        await _write(send, self._first)
        bell = self._listener.bell
        while not self._hub.is_closed:
            bell.clear()
            if news := self._hub.news(self._listener):
                await _write(send, news)  # returns when the client has room for more
                continue
            try:
                async with asyncio.timeout(self._hub.heartbeat_s):
                    await bell.wait()
            except TimeoutError:
                await _write(send, _HEARTBEAT)
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _write(send: Send, data: bytes) -> None:
    await send({"type": "http.response.body", "body": data, "more_body": True})


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def stream(request: Request) -> Response:
    """`/_/events`: the stream of events."""
    if request.method == "HEAD":  # it gets the headers only, and must not wait for the end
        return Response(media_type=EventStream.media_type)
    hub = site_of(request).events
    joined = hub.join(request.headers.get("last-event-id"))
    if joined is None:
        return PlainTextResponse("too many pages listen already; close some\n", status_code=503)
    return EventStream(hub, *joined)
