from __future__ import annotations

import asyncio
import os
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.routing import Route

from tests.views.web.asking import Answer, app_of, ask
from tests.views.web.live_site import soon
from tracklog.app.live.event_hub import MOST_LISTENERS, Hub
from tracklog.views.web.server import sse


class _Site:
    """As much of a site as a stream asks for."""

    def __init__(self, hub: Hub) -> None:
        self.events = hub


def app(hub: Hub) -> Starlette:
    return app_of([Route("/_/events", sse.stream)], _Site(hub))


def heard(hub: Hub, last_id: str | None = None, *, until: str) -> Answer:
    headers = {"Last-Event-ID": last_id} if last_id is not None else {}
    return ask(app(hub), "GET", "/_/events", headers=headers, enough=lambda body: until.encode() in body)


def names(answer: Answer) -> list[str]:
    return re.findall(r"^event: (\w+)$", answer.text, re.M)


def test_a_stream_begins_with_hello_and_where_it_stands() -> None:
    hub = Hub()
    hub.publish("board", {"version": 1})
    answer = heard(hub, until="hello")
    assert (answer.status, answer.header("content-type")) == (200, "text/event-stream; charset=utf-8")
    assert (answer.header("cache-control"), answer.header("content-length")) == ("no-store", None)
    assert answer.text == (
        f'retry: 1000\nevent: hello\nid: {hub.epoch}-1\ndata: {{"epoch":"{hub.epoch}","n":1}}\n\n'
    )


def test_who_asks_for_the_head_alone_gets_it_and_listens_to_nothing() -> None:
    hub = Hub()
    answer = ask(app(hub), "HEAD", "/_/events")
    assert (answer.status, answer.header("content-type")) == (200, "text/event-stream; charset=utf-8")
    assert hub.n_listeners == 0


def test_who_comes_back_hears_what_was_told_meanwhile() -> None:
    hub = Hub()
    for n in range(5):
        hub.publish("append", {"lines": n})
    answer = heard(hub, f"{hub.epoch}-2", until='"lines":4')
    assert re.findall(r"^data: (.*)$", answer.text, re.M)[1:] == ['{"lines":2}', '{"lines":3}', '{"lines":4}']
    assert re.findall(r"^id: \w+-(\d+)$", answer.text, re.M) == ["2", "3", "4", "5"]


def test_who_has_heard_all_is_told_nothing_again() -> None:
    hub = Hub()
    hub.publish("append", {"lines": 1})
    threading.Timer(0.2, hub.publish, ("board", {})).start()
    assert names(heard(hub, f"{hub.epoch}-1", until="board")) == ["hello", "board"]


def test_what_the_ring_has_lost_is_a_reset() -> None:
    hub = Hub(kept=3)
    for n in range(5):
        hub.publish("append", {"lines": n})
    assert names(heard(hub, f"{hub.epoch}-1", until="reset")) == ["hello", "reset"]
    assert names(heard(hub, f"{hub.epoch}-2", until='"lines":4')) == ["hello"] + ["append"] * 3


def test_another_servers_numbers_and_nonsense_are_a_reset() -> None:
    hub = Hub()
    hub.publish("append", {"lines": 1})
    for id in (
        f"{'0' * 16}-1",
        f"{hub.epoch}-99",
        f"{hub.epoch}--1",
        "",
        "x",
        f"{hub.epoch}-{'9' * 30}",
        "é",
    ):
        assert names(heard(hub, id, until="reset")) == ["hello", "reset"], id


def test_what_a_log_says_cannot_break_out_of_its_event() -> None:
    hub = Hub()
    hub.publish("append", {"session": "a\n\nevent: board\ndata: {}\n\n\u2028é\r"})
    answer = heard(hub, f"{hub.epoch}-0", until="append")
    assert names(answer) == ["hello", "append"]
    assert answer.text.isascii()


def test_a_quiet_stream_has_a_heartbeat() -> None:
    assert ": still here\n\n" in heard(Hub(heartbeat_s=0.05), until="still here").text


def test_streams_end_when_the_hub_is_closed() -> None:
    hub = Hub()
    threading.Timer(0.1, hub.close).start()
    began = time.monotonic()
    answer = ask(app(hub), "GET", "/_/events")
    assert names(answer) == ["hello"]
    assert time.monotonic() - began < 15  # a heartbeat
    assert hub.n_listeners == 0


def test_too_many_streams_are_refused() -> None:
    hub = Hub()

    async def crowded() -> None:
        for _ in range(MOST_LISTENERS):
            assert hub.join(None) is not None
        assert hub.join(None) is None

    asyncio.run(crowded())
    answer = ask(app(hub), "GET", "/_/events")
    assert (answer.status, answer.text) == (503, "too many pages listen already; close some\n")


def test_events_come_in_the_order_in_which_many_threads_tell_them() -> None:
    hub = Hub()

    def tell() -> None:
        for _ in range(200):
            hub.publish("append", {})

    threads = [threading.Thread(target=tell) for _ in range(4)]
    for one in threads:
        one.start()
    answer = heard(hub, f"{hub.epoch}-0", until=f"{hub.epoch}-800")
    for one in threads:
        one.join()
    ids = [int(n) for n in re.findall(r"^id: \w+-(\d+)$", answer.text, re.M)]
    assert ids == list(range(801))


@contextmanager
def served(hub: Hub) -> Iterator[int]:
    """A real server on loopback, with so little room for what is sent that who does not read is felt at once."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 8 << 10)
    listener.bind(("127.0.0.1", 0))
    listener.listen(256)
    config = uvicorn.Config(app(hub), log_level="critical", lifespan="off", timeout_graceful_shutdown=2)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        hub.close()
        server.should_exit = True
        thread.join(20)
        assert not thread.is_alive()
        listener.close()


def joined(port: int, *, room: int | None = None) -> socket.socket:
    client = socket.socket()
    if room is not None:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
    client.settimeout(20)
    client.connect(("127.0.0.1", port))
    client.sendall(b"GET /_/events HTTP/1.1\r\nHost: x\r\n\r\n")
    return client


class _Reader:
    """Reads one stream in its own thread, to the last event or the end."""

    def __init__(self, client: socket.socket, last: bytes) -> None:
        self.at = 0.0
        self._client = client
        self._last = last
        self.thread = threading.Thread(target=self._read)
        self.thread.start()

    def _read(self) -> None:
        kept = b""
        while part := self._client.recv(1 << 16):
            kept = kept[-len(self._last) :] + part
            if self._last in kept:
                self.at = time.monotonic()
                return


TEXT = {"session": "s" * 4000}


def test_ten_who_do_not_read_hold_up_none_of_ninety_who_do() -> None:
    hub = Hub()
    with served(hub) as port:
        stalled = [joined(port, room=4 << 10) for _ in range(10)]
        clients = [joined(port) for _ in range(90)]
        soon(lambda: hub.n_listeners == 100)
        readers = [_Reader(one, f"id: {hub.epoch}-200\n".encode()) for one in clients]
        for _ in range(200):
            hub.publish("append", TEXT)
            time.sleep(0.002)
        for reader in readers:
            reader.thread.join(60)
        assert {reader.at > 0 for reader in readers} == {True}
        assert hub.n_listeners == 100
        hub.close()
        soon(lambda: hub.n_listeners == 0)
        for one in (*clients, *stalled):
            one.close()


def test_who_does_not_read_costs_no_memory_and_is_told_reset_when_it_does() -> None:
    hub = Hub()
    with served(hub) as port:
        stalled = [joined(port, room=4 << 10) for _ in range(10)]
        client = joined(port)
        soon(lambda: hub.n_listeners == 11)
        reader = _Reader(client, f"id: {hub.epoch}-6000\n".encode())
        for n in range(1, 6_001):
            hub.publish("append", TEXT)
            time.sleep(0.001 if n % 20 == 0 else 0)
            if n == 2_500:
                before = _resident()
        reader.thread.join(60)
        assert reader.at > 0
        assert _resident() - before < 48 << 20  # kept for each that is stalled, it would be 140 MB
        assert b"event: reset" in _read_on(stalled[0])
        for one in (client, *stalled):
            one.close()


def _read_on(client: socket.socket) -> bytes:
    """What comes to who begins to read after all."""
    got = b""
    while b"event: reset" not in got:
        part = client.recv(1 << 16)
        if not part:
            return got
        got = (got + part)[-100_000:]
    return got


def _resident() -> int:
    with open("/proc/self/statm", "rb") as facts:
        return int(facts.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_a_loop_that_is_gone_hinders_nobody() -> None:
    hub = Hub()

    async def join() -> Any:
        return hub.join(None)

    asyncio.run(join())
    hub.publish("board", {})
    assert names(heard(hub, f"{hub.epoch}-0", until="board")) == ["hello", "board"]
