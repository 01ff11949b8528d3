"""What a use case says while it works: one line for people, and how far it is. Views pass in where it goes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

Progress = tuple[Callable[[int], None], Callable[[int], None]]  # to be called with the total, and with parts


class Talk(Protocol):
    """Where a use case's messages and its progress go."""

    def say(self, text: str) -> None:
        """One line beside the answer, for people."""

    def progress(self, label: str) -> AbstractContextManager[Progress]:
        """Show progress while the block runs: gives what to call with the total bytes, and with parts."""


class _Quiet:
    def say(self, text: str) -> None:
        pass

    @contextmanager
    def progress(self, label: str) -> Iterator[Progress]:  # noqa: ARG002 (nothing is shown)
        yield _ignore, _ignore


def _ignore(n_bytes: int) -> None:
    pass


QUIET: Talk = _Quiet()
