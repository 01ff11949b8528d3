"""Which reply a request gets, and the ids and numbers that go with it.

Rules of this room
  1. A thread is known by the last mark `[name]` in the person's text; its k-th request gets its k-th reply. A reply of
     which nothing is left, because this client offers none of its tools, is passed over.
     Requests beyond the script get `CLOSING`, so that a client which asks once more still ends.
  2. Ids and numbers are made from (seed, thread, k): the same scenario gives the same ones in any order of arrival.
"""

from __future__ import annotations

import dataclasses
import hashlib
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.lab.words import CLOSING, MAIN, Block, Call, Freeform, IfOffered, Reply, Settled

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


@dataclass(frozen=True)
class Turn:
    """What one request gets: whose it is, the how-manieth, the reply and its blocks with every choice made."""

    thread: str
    k: int
    reply: Reply
    blocks: tuple[Settled, ...]


class Script:
    """Hands out replies, thread by thread; safe for requests that arrive at once."""

    def __init__(self, seed: str, threads: Mapping[str, Sequence[Reply]]) -> None:
        self.seed = seed
        self._threads = threads
        self._asked: dict[str, int] = {}
        self._lock = threading.Lock()

    def next(self, person_text: str, offered: set[str]) -> Turn:
        """The turn for a request whose user messages hold this text, from a client that offers these tools."""
        thread = self._thread_of(person_text)
        replies = self._threads.get(thread, ())
        while (k := self._count(thread)) < len(replies):
            blocks = settled(replies[k].blocks, offered)
            if blocks or not replies[k].blocks:
                return Turn(thread, k, replies[k], blocks)
        return Turn(thread, k, CLOSING, settled(CLOSING.blocks, offered))

    def aside(self, kind: str, reply: Reply) -> Turn:
        """A turn for a request outside the story: a title, a summary, a web search."""
        thread = f"({kind})"
        return Turn(thread, self._count(thread), reply, settled(reply.blocks, set()))

    def token(self, turn: Turn, what: str, length: int = 22) -> str:
        """Letters and digits that belong to this turn alone."""
        number = int.from_bytes(self._digest(turn, what), "big")
        letters = []
        for _ in range(length):
            number, rest = divmod(number, len(ALPHABET))
            letters.append(ALPHABET[rest])
        return "".join(letters)

    def number(self, turn: Turn, what: str, low: int, high: int) -> int:
        """A number in [low, high) that belongs to this turn alone."""
        return low + int.from_bytes(self._digest(turn, what)[:4], "big") % (high - low)

    def _thread_of(self, person_text: str) -> str:
        last = max(self._threads, key=lambda thread: person_text.rfind(f"[{thread}]"), default=MAIN)
        return last if f"[{last}]" in person_text else MAIN

    def _digest(self, turn: Turn, what: str) -> bytes:
        return hashlib.sha256(f"{self.seed}/{turn.thread}/{turn.k}/{what}".encode()).digest()

    def _count(self, thread: str) -> int:
        with self._lock:
            k = self._asked.get(thread, 0)
            self._asked[thread] = k + 1
            return k


def settled(blocks: Sequence[Block], offered: set[str]) -> tuple[Settled, ...]:
    """The blocks with every choice made: each call has the one name that this client offers."""
    choices: list[Settled] = []
    for block in blocks:
        if isinstance(block, IfOffered):
            fitting = [c for c in block.calls if offered.intersection(c.names)]
            choices.extend(_named(c, offered) for c in fitting[:1])
        elif isinstance(block, (Call, Freeform)):
            choices.append(_named(block, offered))
        else:
            choices.append(block)
    return tuple(choices)


def _named(wish: Call | Freeform, offered: set[str]) -> Call | Freeform:
    name = next((n for n in wish.names if n in offered), wish.names[0])
    return dataclasses.replace(wish, names=(name,))


def filled(value: Any, holes: Mapping[str, str]) -> Any:
    """The value with every `{{hole}}` in its strings filled, at any depth."""
    if isinstance(value, str):
        for name, text in holes.items():
            value = value.replace("{{" + name + "}}", text)
        return value
    if isinstance(value, Mapping):
        return {filled(k, holes): filled(v, holes) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(filled(v, holes) for v in value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.replace(
            value, **{f.name: filled(getattr(value, f.name), holes) for f in dataclasses.fields(value)}
        )
    return value
