"""Cache of rendered HTML, limited by its number of letters."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from hashlib import blake2b
from threading import Lock

from markupsafe import Markup


class Remembered:
    """A thread-safe LRU cache of renderings, by the text that they were made of."""

    def __init__(self, most_letters: int) -> None:
        self._most = most_letters
        self._made: OrderedDict[Hashable, Markup] = OrderedDict()
        self._letters = 0
        self._lock = Lock()

    def get(self, text: str, manner: Hashable, make: Callable[[], Markup]) -> Markup:
        """The rendering of `text` in this manner, made by `make` if it is not cached."""
        key = (mark_of(text), manner)
        with self._lock:
            if (made := self._made.get(key)) is not None:
                self._made.move_to_end(key)
                return made
        made = make()
        self._keep(key, made)
        return made

    @property
    def letters(self) -> int:
        """Number of cached letters."""
        return self._letters

    def _keep(self, key: Hashable, made: Markup) -> None:
        with self._lock:
            if key in self._made or len(made) > self._most // 8:
                return
            self._made[key] = made
            self._letters += len(made)
            while self._letters > self._most:
                self._letters -= len(self._made.popitem(last=False)[1])


def mark_of(text: str) -> bytes:
    """A hash that identifies a text."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
