"""What use cases tell people, on stderr: a line each, and a progress bar on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

from tracklog.views.text.printing import talk

if TYPE_CHECKING:  # every fast command loads this module
    from tracklog.app.talk import Progress, Talk

WORTH_SHOWING = 20_000_000  # bytes; less is done before the eye has found the bar


class _StderrTalk:
    """Shows messages and progress beside the answer."""

    def say(self, text: str) -> None:
        talk(text)

    def progress(self, label: str) -> AbstractContextManager[Progress]:
        return progress_of_unknown(label)


STDERR: Talk = _StderrTalk()


@contextmanager
def progress(what: str, total: int, *, done: Callable[[], int]) -> Iterator[None]:
    """Shows, while the block runs, how many of `total` bytes are done, the rate, and the time left.

    `done` is asked ten times a second from another thread: the work itself is not slowed by telling.
    """
    if total < WORTH_SHOWING or not sys.stderr.isatty():
        yield
        return
    from tracklog.views.cli.output.drawing import PolledProgress  # only long work on a terminal draws

    with PolledProgress(what, total, done=done):
        yield


@contextmanager
def progress_of_unknown(what: str) -> Iterator[tuple[Callable[[int], None], Callable[[int], None]]]:
    """The same for work that finds out on the way how much there is: gives what to call with the total, and with parts."""
    done = 0
    bar = None

    def tell(n_bytes: int) -> None:
        nonlocal done
        done += n_bytes

    def begin(total: int) -> None:
        nonlocal bar
        if bar is None:
            bar = progress(what, total, done=lambda: done)
            bar.__enter__()

    try:
        yield begin, tell
    finally:
        if bar is not None:
            bar.__exit__(None, None, None)
