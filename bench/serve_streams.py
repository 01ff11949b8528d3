"""A hundred pages that listen, ten of which do not read: what the others notice of it, and what it costs.

Rules of this room
  1. A stalled client reads the first words and then nothing more; its buffers are as small as the system lets them be.
  2. News are made by a log that grows: what is measured is the whole way, from the line to the stream.
"""

from __future__ import annotations

import json
import selectors
import socket
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psutil

from tests.browser.serving import Served

Json = dict[str, Any]
N_CLIENTS, N_STALLED, N_LINES = 100, 10, 200
_GAP_S = 0.05


def listen(served: Served, *, is_stalled: bool = False) -> socket.socket:
    """A client of `/_/events` that has said what it wants."""
    one = socket.socket()
    if is_stalled:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1_024)
    one.connect(("127.0.0.1", served.port))
    head = f"GET /_/events HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nAuthorization: Bearer {served.token}\r\n\r\n"
    one.sendall(head.encode())
    one.settimeout(10)
    if b"200" not in one.recv(64):
        raise SystemExit("bench.serve: no stream")
    one.setblocking(False)
    return one


def measure(served: Served, log: Path, session: str, *, n_stalled: int = N_STALLED) -> Json:
    """Appends lines and hears of them on every stream that reads."""
    process = psutil.Process(served.process.pid)
    with ExitStack() as stack:
        readers = [stack.enter_context(listen(served)) for _ in range(N_CLIENTS - n_stalled)]
        for _ in range(n_stalled):
            stack.enter_context(listen(served, is_stalled=True))
        time.sleep(0.5)
        before = process.memory_info().rss
        late_ms = sorted(_appended(readers, log, session))
        after = process.memory_info().rss
    return {
        "clients": N_CLIENTS,
        "stalled": n_stalled,
        "heard": len(late_ms),
        "p50_ms": round(late_ms[len(late_ms) // 2], 1),
        "p99_ms": round(late_ms[int(len(late_ms) * 0.99)], 1),
        "max_ms": round(late_ms[-1], 1),
        "before_mb": round(before / 1e6, 1),
        "after_mb": round(after / 1e6, 1),
    }


def _appended(readers: list[socket.socket], log: Path, session: str) -> list[float]:
    late_ms: list[float] = []
    with selectors.DefaultSelector() as selector:
        for one in readers:
            selector.register(one, selectors.EVENT_READ)
        for n in range(N_LINES):
            _drain(selector)
            wrote = time.perf_counter()
            with log.open("ab") as stream:
                stream.write(line(session, f"news {n}"))
            late_ms += _heard(selector, wrote, n_readers=len(readers))
            time.sleep(_GAP_S)
    return late_ms


def _drain(selector: selectors.BaseSelector) -> None:
    while ready := selector.select(0):
        for key, _ in ready:
            assert isinstance(key.fileobj, socket.socket)
            key.fileobj.recv(65_536)


def _heard(selector: selectors.BaseSelector, wrote: float, *, n_readers: int) -> list[float]:
    """How late each stream told of the line."""
    late: dict[int, float] = {}
    while len(late) < n_readers and time.perf_counter() - wrote < 3.0:
        for key, _ in selector.select(0.2):
            assert isinstance(key.fileobj, socket.socket)
            if b"event: append" in key.fileobj.recv(65_536):
                late.setdefault(key.fd, (time.perf_counter() - wrote) * 1000)
    return [*late.values(), *[3_000.0] * (n_readers - len(late))]


def line(session: str, words: str) -> bytes:
    """A line that the model says."""
    said = {
        "id": f"msg_{words}",
        "role": "assistant",
        "model": "claude-opus-4-6",
        "content": [{"type": "text", "text": words}],
    }
    now = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
    record = {
        "type": "assistant",
        "uuid": words,
        "parentUuid": None,
        "sessionId": session,
        "timestamp": now,
        "cwd": "/home/dev/live",
    }
    return json.dumps(record | {"version": "2.1.325", "message": said}).encode() + b"\n"
