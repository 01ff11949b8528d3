"""Live events shared by all processes: one watches and writes the journal, all others follow that.

Rules
  1. The first process watches; when it ends, another takes over, and reports what came in between.
  2. The watch runs in a thread; its own consumer follows the journal like all others, so a slow one delays nobody.
  3. A journal belongs to some roots: a watch of others writes another one.
  4. Every event comes once and in the order of its number. A consumer that was away too long gets a gap event.
"""

from __future__ import annotations

import os
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from threading import Event, Thread
from types import TracebackType
from typing import Self

from tracklog.clock import nearest_moment_text
from tracklog.errors import UserError
from tracklog.home import Busy, Home, make_private_folder
from tracklog.live.journal import (
    Following,
    Journal,
    LiveEvent,
    kept_journal,
    last_number,
    read_before,
    write_before,
)
from tracklog.live.watch.index_sync import IndexSync
from tracklog.live.watch.watcher import Watch
from tracklog.sources.log_file import Root
from tracklog.store.file_stamps import root_key

_TICK_S = 0.2
_QUIET_TICK_S = 0.4  # between two looks while nothing changes; a hint still wakes at once
_QUIET_S = 20.0  # so long after the last change
_TRY_S = 1.0  # between two tries to take over
_SAVE_S = 30.0
_MOST_AT_ONCE = 500  # events
_PATIENCE_S = 30.0  # for the first look at everything


def live_events(
    roots: Sequence[Root], home: Home, *, after: int | None = None
) -> Generator[list[LiveEvent], None, None]:
    """Batches of events from now on, or behind a number; an empty list now and then while nothing happens."""
    make_private_folder(home.path)
    make_private_folder(home.live)
    folder = journal_of(home, roots)
    if after is not None and after > (last := last_number(folder)):
        raise UserError(f"there is no event {after} yet: the last one of these folders is {last}")
    following = Following(folder, after)
    while True:
        try:
            with kept_journal(folder) as journal, _Watching(roots, home, journal) as watching:
                yield from _followed(following, watching)
        except Busy:
            yield from _followed_for_a_while(following)


def journal_of(home: Home, roots: Sequence[Root]) -> Path:
    """The folder of the journal for some roots."""
    keys = "\n".join(sorted({root_key(root) for root in roots}))
    return home.live / blake2b(os.fsencode(keys), digest_size=8).hexdigest()


class _Watching:
    """A thread that watches and writes the journal, until it is stopped."""

    def __init__(self, roots: Sequence[Root], home: Home, journal: Journal) -> None:
        self._roots = roots
        self._home = home
        self._journal = journal
        self._error: BaseException | None = None
        self._is_over = Event()
        self._has_news = Event()
        self._thread = Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._has_news.wait(_PATIENCE_S)  # after the first look no event is missed
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_over.set()
        self._thread.join()

    def wait(self, timeout_s: float) -> bool:
        """Wait until an event is written; False if the time is over. Raises the error that ended the watch."""
        has_news = self._has_news.wait(timeout_s)
        if has_news:  # what is written from here on is new again
            self._has_news.clear()
        if self._error is not None:
            raise self._error
        return has_news

    def _run(self) -> None:
        try:
            self._watch()
        except BaseException as error:  # raised in `wait`
            self._error = error
        finally:
            self._has_news.set()

    def _watch(self) -> None:
        folder = self._journal.folder
        before = read_before(folder, Following(folder, after=0).more())
        reported = before.lines if before is not None else set()
        with (
            closing(Watch(self._roots, spool=self._home.spool, before=before)) as watch,
            closing(IndexSync(self._home, self._roots)) as index,
        ):
            watch.begin()
            self._write(watch.wait(0.0), reported)
            write_before(
                folder, watch.snapshot(self._journal.next_n - 1)
            )  # who is killed soon leaves it, too
            self._has_news.set()
            save_at, saved = time.monotonic() + _SAVE_S, (watch.n_changes, self._journal.next_n)
            changed_at, n_changes = time.monotonic(), watch.n_changes
            try:
                while not self._is_over.is_set():
                    is_quiet = time.monotonic() - changed_at > _QUIET_S
                    events = watch.wait(_QUIET_TICK_S if is_quiet else _TICK_S)
                    self._write(events, set())  # a line of this number is another one by now
                    if events or watch.n_changes != n_changes:
                        changed_at, n_changes = time.monotonic(), watch.n_changes
                    index.step(watch.n_changes)
                    now = watch.n_changes, self._journal.next_n
                    if now != saved and time.monotonic() >= save_at:
                        save_at, saved = time.monotonic() + _SAVE_S, now
                        write_before(folder, watch.snapshot(self._journal.next_n - 1))
            finally:
                write_before(folder, watch.snapshot(self._journal.next_n - 1))

    def _write(self, events: list[LiveEvent], reported: set[tuple[str, int, str]]) -> None:
        for event in events:
            if event.path is None or event.line is None or (event.path, event.line, event.at) not in reported:
                self._journal.write(event)
        if events:
            self._has_news.set()


def _followed(following: Following, watching: _Watching) -> Iterator[list[LiveEvent]]:
    yield from _batches(following)
    while True:
        if watching.wait(_TICK_S):
            yield from _batches(following)
        else:
            yield []


def _followed_for_a_while(following: Following) -> Iterator[list[LiveEvent]]:
    deadline = time.monotonic() + _TRY_S
    while time.monotonic() < deadline:
        before = following.last_n
        yield from _batches(following)
        if following.last_n == before:
            time.sleep(_TICK_S / 4)


def _batches(following: Following) -> Iterator[list[LiveEvent]]:
    """The added events in batches, so that a late consumer does not hold them all; at least one batch, maybe empty."""
    more = following.more()
    yield _batch_of(more, following)
    while events := _batch_of(more, following):
        yield events


def _batch_of(more: Iterator[LiveEvent], following: Following) -> list[LiveEvent]:
    lost = following.lost
    events = list(islice(more, _MOST_AT_ONCE))
    if following.lost > lost:
        gap = LiveEvent(
            n=events[0].n - 1,
            at=nearest_moment_text(time.time_ns() // 1_000_000),
            event="gap",
            data={"lost": following.lost - lost},
        )
        events.insert(0, gap)
    return events
