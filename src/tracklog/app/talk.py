"""What a use case tells people while it works: messages, and how far long work is.

Rules
  1. An answer is returned, never said. What is said is for people alone, and may be lost.
  2. A text is as it came: who shows it makes it safe.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

OnBytes = Callable[[int], None]


class Talk(Protocol):
    """Where messages and progress go."""

    def say(self, text: str) -> None:
        """Show one line."""

    def progress(self, label: str) -> AbstractContextManager[tuple[OnBytes, OnBytes]]:
        """Show, while the block runs, how much is done; gives what to call with the total, and with each part."""


class _Quiet:
    """Shows nothing."""

    def say(self, text: str) -> None:
        pass

    @contextmanager
    def progress(self, label: str) -> Iterator[tuple[OnBytes, OnBytes]]:  # noqa: ARG002 (as the protocol has it)
        yield _ignore, _ignore


def _ignore(n_bytes: int) -> None:
    pass


QUIET: Talk = _Quiet()
