"""What was heard of a child, for whoever listens: the last few thousand things, in order, until it is over."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from tracklog.run.streams import Heard, HeardFrom

_KEPT = 4096


class Events:
    """Told by one thread, listened to by any; who listens slowly misses some."""

    def __init__(self) -> None:
        self._kept: deque[Heard] = deque(maxlen=_KEPT)
        self._n_told = 0
        self._is_over = False
        self._news = threading.Condition()
        self._callbacks: list[Callable[[], None]] = []
        self.last: Heard | None = None  # of the client itself

    def tell(self, source: HeardFrom, what: str, document: Mapping[str, Any]) -> None:
        """One thing more."""
        with self._news:
            heard = Heard(time.time_ns() // 1_000_000, source, what, document)
            self.last = self.last if source == "keeper" else heard
            self._kept.append(heard)
            self._n_told += 1
            self._notify()

    def end(self) -> None:
        """Nothing more will come."""
        with self._news:
            self._is_over = True
            self._notify()

    def all(self) -> Iterator[Heard]:
        """Everything from the first thing on, until it is over."""
        n = 0
        while True:
            new, n = self._behind(n)
            if not new:
                return
            yield from new

    async def all_async(self) -> AsyncIterator[Heard]:
        """The same without a thread that waits."""
        from asyncio import Event, get_running_loop

        loop, news = get_running_loop(), Event()

        def wake() -> None:
            with suppress(RuntimeError):  # the loop is closed: nobody listens any more
                loop.call_soon_threadsafe(news.set)

        with self._news:
            self._callbacks.append(wake)
        try:
            n, is_over = 0, False
            while not is_over:
                with self._news:
                    is_over, (new, n) = self._is_over, self._newer(n)
                for heard in new:
                    yield heard
                if not new and not is_over:
                    await news.wait()
                news.clear()
        finally:
            with self._news:
                self._callbacks.remove(wake)

    def _notify(self) -> None:
        self._news.notify_all()
        for callback in self._callbacks:
            callback()

    def _newer(self, n: int) -> tuple[list[Heard], int]:
        first = self._n_told - len(self._kept)
        return list(self._kept)[max(n - first, 0) :], self._n_told

    def _behind(self, n: int) -> tuple[list[Heard], int]:
        """What came behind the first n, as soon as there is something; nothing when it is over."""
        with self._news:
            self._news.wait_for(lambda: self._n_told > n or self._is_over)
            return self._newer(n)
