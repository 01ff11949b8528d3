"""Ends a process by SIGKILL at a point of its work that can be named again: the n-th time that it touches the disk."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tracklog.archive import files
from tracklog.index import ingest, record_changes
from tracklog.store import database


class Countdown:
    """Kills this process when it has been asked often enough."""

    def __init__(self, n: int) -> None:
        self._left = n

    def tick(self) -> None:
        """One step nearer."""
        self._left -= 1
        if self._left < 0:
            os.kill(os.getpid(), signal.SIGKILL)


def killed_at(n: int, work: Callable[[], object]) -> bool:
    """Does the work in a process of its own, which dies at its n-th point; whether it did, or had ended before."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            with deadly(Countdown(n)):
                work()
            status = 0
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, "the work failed"
    return os.WIFSIGNALED(status)


@contextmanager
def deadly(countdown: Countdown) -> Iterator[None]:
    """Between any two writings to the index or the archive, and within them, the countdown goes on."""
    transaction = database.Database.transaction
    end, put = files.Appender.end, files.Appender._put
    describe = files.describe_again

    @contextmanager
    def watched_transaction(self: database.Database) -> Iterator[Any]:
        countdown.tick()
        with transaction(self) as db:
            yield db
            countdown.tick()
        countdown.tick()

    def watched_end(self: files.Appender, **said: bool) -> Any:
        countdown.tick()
        done = end(self, **said)
        countdown.tick()
        return done

    def watched_put(self: files.Appender, piece: bytes) -> None:
        countdown.tick()
        put(self, piece)
        self._stream.flush()
        countdown.tick()

    def watched_describe(*given: Any, **named: Any) -> Any:
        countdown.tick()
        done = describe(*given, **named)
        countdown.tick()
        return done

    database.Database.transaction = watched_transaction  # type: ignore[method-assign]
    files.Appender.end = watched_end  # type: ignore[method-assign]
    files.Appender._put = watched_put  # type: ignore[assignment,method-assign]
    setattr(record_changes, "describe_again", watched_describe)  # noqa: B010 - where it is used, not where it is made
    commit_s, ingest._COMMIT_S = ingest._COMMIT_S, 0.0  # a commit for each log
    try:
        yield
    finally:  # only reached when the work ended; the process ends too
        ingest._COMMIT_S = commit_s
