"""What was rendered is kept for the next time, up to a number of letters."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from hashlib import blake2b
from threading import Lock

from markupsafe import Markup


class Remembered:
    """Renderings by what they were made of; those not asked for the longest go first. Many threads may ask."""

    def __init__(self, most_letters: int) -> None:
        self._most = most_letters
        self._made: OrderedDict[Hashable, Markup] = OrderedDict()
        self._letters = 0
        self._lock = Lock()

    def get(self, text: str, manner: Hashable, make: Callable[[], Markup]) -> Markup:
        """The rendering of `text` in this manner; made if it is not there."""
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
        """How many are kept."""
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
    """What tells a text from every other."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
