"""The logs that a watch follows, and of all others how far they were told.

Rules of this room
  1. A log that goes on is taken up where it was, also when it was forgotten meanwhile, or moved to another folder.
  2. A log that came while somebody watched is news from its first line on; one that is huge already is history.
  3. Weeks cost no more memory than a day: of a log that is quiet for a minute only its last lines are remembered, and of
     one that is quiet for half an hour only the number of its bytes is kept.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Mapping

from tracklog.pipeline.watch_tail import Tail
from tracklog.sources.found import LogFile

LONGEST = 64 << 20  # bytes of a log that came all at once: more of it is history, not news
_SWEEP_S = 600.0
_REST_S = 60.0
_QUIET_S = 1800.0


class FollowedLogs:
    """Tails of logs, by path; `sizes` is how far an earlier watch told them, if there was one."""

    def __init__(
        self, sizes: Mapping[str, int] | None = None, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock = clock
        self._is_first = sizes is None
        self._left_at = dict(sizes or {})  # how far those were told that are not followed now
        self._tails: dict[str, Tail] = {}
        self._changed_at: dict[str, float] = {}
        self._swept_at = self._rested_at = clock()

    def begin(self, found: Iterable[LogFile]) -> None:
        """What stands there when nobody watched before is no news."""
        if self._is_first:
            self._left_at = {str(file.path): file.size for file in found}

    def changed(self, file: LogFile) -> Tail | None:
        """The tail of a log that has changed; None if it is not followed yet."""
        path = str(file.path)
        tail = self._tails.get(path)
        if tail is not None:
            self._changed_at[path] = self._clock()
        return tail

    def take_up(self, file: LogFile) -> Tail | None:
        """Follows a log from where it was told; None if it went while others were read: it is followed elsewhere."""
        path = str(file.path)
        if not os.path.lexists(path):
            return None
        tail = self._moved_here(file)
        if tail is None:
            told = self._told_before(file)
            told = 0 if told is None and file.size <= LONGEST else told
            tail = Tail(file, told_to=told, clock=self._clock)
        self._left_at.pop(path, None)
        self._tails[path] = tail
        self._changed_at[path] = self._clock()
        return tail

    def undecided(self) -> list[Tail]:
        """The logs that are to be asked again soon, though nothing changes in them."""
        return [tail for tail in self._tails.values() if tail.is_undecided]

    def told(self, known: Mapping[str, LogFile]) -> dict[str, int]:
        """How far each log was told; of those that were not looked at, how long they are."""
        left_at = {path: self._left_at.get(path, file.size) for path, file in known.items()}
        return left_at | {path: tail.offset for path, tail in self._tails.items()}

    def sweep(self, known: Collection[str]) -> bool:
        """Forgets what is quiet or gone, every ten minutes, and says whether it did; lets quiet logs rest before."""
        now = self._clock()
        if now - self._rested_at >= _REST_S:
            self._rested_at = now
            self._rest_the_quiet(now)
        if now - self._swept_at < _SWEEP_S:
            return False
        self._swept_at = now
        for path, changed_at in list(self._changed_at.items()):
            if now - changed_at >= _QUIET_S:
                self._forget(path)
        self._left_at = {path: told for path, told in self._left_at.items() if path in known}
        return True

    def _rest_the_quiet(self, now: float) -> None:
        for path, changed_at in self._changed_at.items():
            if now - changed_at >= _REST_S:
                self._tails[path].rest()

    def _forget(self, path: str) -> None:
        del self._changed_at[path]
        self._left_at[path] = self._tails.pop(path).offset

    def _moved_here(self, file: LogFile) -> Tail | None:
        """The tail of a log that stood at another place, of which nothing is left there."""
        name = f"/{file.path.name}"
        for path, tail in self._tails.items():
            if (path.endswith(name) or tail.told_of(file) is not None) and not os.path.lexists(path):
                del self._tails[path], self._changed_at[path]
                tail.move_to(file)
                return tail
        return None

    def _told_before(self, file: LogFile) -> int | None:
        """How far a log was told that is not followed now, here or where it stood before; None if it is new."""
        put_aside = (told for tail in self._tails.values() if (told := tail.told_of(file)) is not None)
        told = next(put_aside, None)
        if told is None:
            told = self._left_at.get(str(file.path))
        name = f"/{file.path.name}"
        moved = (path for path in self._left_at if path.endswith(name) and not os.path.lexists(path))
        return next((self._left_at[path] for path in moved), None) if told is None else told
