"""Requests written byte by byte: what no browser would send, and what another program may."""

from __future__ import annotations

import errno
import socket
from typing import NamedTuple

PATIENCE_S = 60.0
_REFUSED = (errno.EPIPE, errno.ECONNRESET, errno.ENOTCONN)


class Reply(NamedTuple):
    """What came back; status 0 if nothing did."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def all(self, name: str) -> list[str]:
        """Every value of a header."""
        return [value for key, value in self.headers if key == name.lower()]


def exchange(port: int, data: bytes, *, patience_s: float = PATIENCE_S, ends: bool = False) -> Reply:
    """Sends the bytes, and reads until the other side is done; `ends`: nothing more will be sent, and that is said."""
    with socket.create_connection(("127.0.0.1", port), timeout=patience_s) as one:
        try:
            one.sendall(data)
            if ends:
                one.shutdown(socket.SHUT_WR)
        except OSError as error:  # refused before all was sent: an answer may be there
            if error.errno not in _REFUSED:
                raise
        return parsed(_received(one))


def request(
    port: int,
    target: str = "/",
    *,
    method: str = "GET",
    headers: list[tuple[str, str]] | None = None,
    body: bytes = b"",
    host: str | None = None,
) -> Reply:
    """One request; Host is ours unless the headers hold one, or `host` is empty."""
    named = [] if host == "" else [("Host", host or f"127.0.0.1:{port}")]
    given = headers or []
    if any(key.lower() == "host" for key, _ in given):
        named = []
    lines = [f"{method} {target} HTTP/1.1", *(f"{key}: {value}" for key, value in [*named, *given])]
    if body and not any(key.lower() in ("content-length", "transfer-encoding") for key, _ in given):
        lines.append(f"Content-Length: {len(body)}")
    lines += ["Connection: close", "", ""]
    return exchange(port, "\r\n".join(lines).encode("utf-8", "surrogateescape") + body)


def _received(one: socket.socket) -> bytes:
    data = b""
    while True:
        try:
            part = one.recv(65_536)
        except OSError as error:
            if error.errno not in _REFUSED:
                raise
            return data
        if not part:
            return data
        data += part


def parsed(data: bytes) -> Reply:
    """The first answer in the bytes."""
    head, _, body = data.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    words = lines[0].split(" ", 2)
    if len(words) < 2 or not words[1].isdigit():
        return Reply(0, [], data)
    pairs = (line.partition(":") for line in lines[1:])
    return Reply(int(words[1]), [(key.strip().lower(), value.strip()) for key, _, value in pairs], body)
