"""Asks an ASGI application in this process, as a server would: no sockets, no lifespan, every header as it was sent.

    answer = ask(app_of([Route("/", board)], site), "GET", "/?q=x", headers={"Host": "127.0.0.1:7717"})
    answer.status, answer.text, answer.header("content-type")

Headers are a mapping or, where one must come twice, a list of pairs; bytes are taken as they are. A stream that does
not end by itself is left when `enough(body so far)` says so.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote_to_bytes

from starlette.applications import Starlette
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Message, Scope

Headers = Mapping[str, str] | Iterable[tuple[str | bytes, str | bytes]]
SECONDS = 30.0  # no answer takes longer, unless it hangs


@dataclass
class Answer:
    """What came back."""

    status: int = 0
    headers: list[tuple[str, str]] = field(
        default_factory=list
    )  # names in lower case, in the order they came
    body: bytes = b""

    @property
    def text(self) -> str:
        return self.body.decode()

    def json(self) -> Any:
        return json.loads(self.body)

    def all(self, name: str) -> list[str]:
        """Every value of a header."""
        return [value for key, value in self.headers if key == name.lower()]

    def header(self, name: str) -> str | None:
        """The value of a header that is there once, or not at all."""
        values = self.all(name)
        assert len(values) < 2, f"{name} came {len(values)} times: {values}"
        return values[0] if values else None


def app_of(routes: Sequence[BaseRoute], site: object = None) -> Starlette:
    """An application of these routes alone, without a guard."""
    app = Starlette(routes=list(routes))
    app.router.redirect_slashes = False
    app.state.site = site
    return app


def ask(
    app: ASGIApp,
    method: str,
    target: str,
    *,
    headers: Headers = (),
    body: bytes | Sequence[bytes] = b"",
    enough: Callable[[bytes], bool] | None = None,
    http_version: str = "1.1",
) -> Answer:
    """Sends one request; a body given as several pieces comes in several pieces."""
    scope = scope_of(method, target, headers=headers, http_version=http_version)
    pieces = [body] if isinstance(body, bytes) else list(body)
    return asyncio.run(asyncio.wait_for(_asked(app, scope, pieces, enough), SECONDS))


def scope_of(method: str, target: str, *, headers: Headers = (), http_version: str = "1.1") -> Scope:
    """The request as a server hands it on."""
    path, _, query = target.partition("?")
    pairs = headers.items() if isinstance(headers, Mapping) else headers
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": http_version,
        "method": method,
        "scheme": "http",
        "path": unquote_to_bytes(path).decode("utf-8", "replace"),
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(_bytes(name).lower(), _bytes(value)) for name, value in pairs],
        "client": ("127.0.0.1", 50000),
        "server": ("127.0.0.1", 7717),
    }


async def _asked(
    app: ASGIApp, scope: Scope, pieces: list[bytes], enough: Callable[[bytes], bool] | None
) -> Answer:
    answer, left = Answer(), asyncio.Event()
    coming = [
        {"type": "http.request", "body": piece, "more_body": n < len(pieces)}
        for n, piece in enumerate(pieces, 1)
    ]

    async def receive() -> Message:
        if coming:
            return coming.pop(0)
        await left.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            assert not answer.status, "the answer began twice"
            answer.status = message["status"]
            answer.headers = [
                (k.decode("latin-1").lower(), v.decode("latin-1")) for k, v in message["headers"]
            ]
        elif message["type"] == "http.response.body":
            answer.body += message.get("body", b"")
            if not message.get("more_body", False) or (enough is not None and enough(answer.body)):
                left.set()

    await app(scope, receive, send)
    return answer


def _bytes(value: str | bytes) -> bytes:
    return value if isinstance(value, bytes) else value.encode("latin-1")
