"""Find new and changed logs soon and cheaply: by hints from the system, and by polling where hints may be lost.

Rules
  1. Polling a folder or a file is one `stat`: no file is opened, and only folders that changed are listed.
  2. Logs that changed lately are polled often, the others seldom, and all folders as often as a small share of the time allows.
  3. Without hints from the system, or with too few, everything is polled more often: a change is seen a second later.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tracklog.agents.discovery import find_all, find_one
from tracklog.agents.headers import head_of
from tracklog.agents.registry import identified
from tracklog.agents.supported import support_for
from tracklog.reading.family import Relatives, family
from tracklog.reading.session_files import SessionFiles, group
from tracklog.sources.folders import list_folder, noted_folders
from tracklog.sources.log_file import MAIN_KINDS, FileKind, FileStamp, LogFile, Root, Skipped
from tracklog.sources.tail.hints import Hints

Clock = Callable[[], float]
_TICK_S = 0.2
_LATELY_S = 600.0  # what changed since then is looked at often
_MOST_LATELY = 500


class PollIntervals(NamedTuple):
    """Seconds between two looks."""

    lately: float  # at logs that changed lately, and the files beside them
    near: float  # at the folders of these logs
    folders: float
    everything: float


WITH_HINTS = PollIntervals(1.0, 3.0, 10.0, 60.0)
WITHOUT_HINTS = PollIntervals(0.2, 0.5, 1.0, 10.0)
_SHARE_WITH_HINTS, _SHARE_WITHOUT = (
    500,
    100,
)  # the share of the time that looking at all folders may take
_NOT_THERE = -1
_THREADS = MAIN_KINDS | {FileKind.SUBAGENT}
_TOO_FEW = "the system watches only"


class WatchedFiles:
    """The logs below some roots, and which of them changed."""

    def __init__(
        self, roots: Sequence[Root], *, beside: Iterable[Path] = (), clock: Clock = time.monotonic
    ) -> None:
        self._roots = list(roots)
        self._tops = _tops_of(self._roots)
        self._beside = list(beside)  # folders whose hints wake us, and nothing else
        self._clock = clock
        self.known: dict[str, LogFile] = {}  # by path
        self.n_changes = 0  # how often `known` changed
        self._folders: dict[str, int] = {}
        self._lately: dict[str, float] = {}  # by path: when it last changed
        self._looked = dict.fromkeys(PollIntervals._fields, 0.0)
        self._folders_s = 0.0  # how long the last look at all of them took
        self._hints = Hints(())
        self.beside_is_due = True  # a hint named the folders beside, or it is time to look there

    @property
    def why_without_hints(self) -> str | None:
        """Why the system gives no hints, if it gives none."""
        return self._hints.problem

    @property
    def n_folders(self) -> int:
        """The number of folders to watch."""
        listened = tuple(f"{folder}/" for folder in self._hints.folders)
        return sum(f"{one}/".startswith(listened) for one, at in self._folders.items() if at != _NOT_THERE)

    def begin(self) -> list[LogFile]:
        """Return every log there is now; from here on `wait` returns only changes."""
        self._listen()  # before the first look, so that no change in between is missed
        self._list()
        now, wall = self._clock(), time.time()
        for path, file in self.known.items():
            age_s = wall - file.mtime_ns / 1e9
            if age_s < _LATELY_S:
                self._lately[path] = now - max(age_s, 0.0)
        self._looked = dict.fromkeys(PollIntervals._fields, now)
        self._count_watches()
        return list(self.known.values())

    def wait(self, timeout_s: float = _TICK_S) -> list[LogFile]:
        """The logs that changed or appeared, at the latest when the time is over; logs that are gone have size -1.

        Hints arrive with a delay: with a timeout of 0 none is heard, and logs that changed lately are polled instead.
        """
        heard = self._hints.wait(timeout_s)
        self.beside_is_due = any(map(self._is_beside, heard))
        changed = {str(file.path): file for path in heard for file in self._changed_at(path)}
        changed |= {str(file.path): file for file in self._in_new_tops()}
        changed |= {str(file.path): file for file in self._due(is_waiting=timeout_s > 0)}
        now = self._clock()
        self._lately.update((path, now) for path in changed)
        return list(changed.values())

    def close(self) -> None:
        """Stop listening to the system."""
        self._hints.close()

    def _due(self, *, is_waiting: bool) -> Iterator[LogFile]:
        pace = WITHOUT_HINTS if self._hints.problem else WITH_HINTS
        share = _SHARE_WITHOUT if self._hints.problem else _SHARE_WITH_HINTS
        if self._is_time("everything", pace.everything):
            self._count_watches()
            yield from self._changed_among(list(self.known))
        elif self._is_time("lately", pace.lately if is_waiting else 0.0):
            self.beside_is_due = True
            self._forget_quiet_ones()
            yield from self._changed_among(list(self._lately))
        if self._is_time("folders", max(pace.folders, self._folders_s * share)):
            began = time.perf_counter()
            changed = self._changed_folders(self._folders)
            self._folders_s = time.perf_counter() - began
            yield from self._new_in_all(changed)
        elif self._is_time("near", pace.near):
            yield from self._new_in_all(self._changed_folders(self._near()))

    def _near(self) -> set[str]:
        """The folders of logs that changed lately, their parents, and the top folders."""
        own = {os.path.dirname(path) for path in self._lately}
        above = {os.path.dirname(folder) for folder in own}
        return own | above | {str(top) for top in self._tops} | {str(root.path) for root in self._roots}

    def _changed_folders(self, folders: Iterable[str]) -> list[str]:
        return [one for one in folders if one in self._folders and _time_of(one) != self._folders[one]]

    def _new_in_all(self, folders: Iterable[str]) -> Iterator[LogFile]:
        return (file for folder in folders for file in self._new_in(folder))

    def _is_time(self, what: str, every_s: float) -> bool:
        now = self._clock()
        if now - self._looked[what] < every_s:
            return False
        self._looked[what] = now
        return True

    def _forget_quiet_ones(self) -> None:
        now = self._clock()
        newest = sorted(self._lately, key=self._lately.__getitem__, reverse=True)[:_MOST_LATELY]
        self._lately = {path: self._lately[path] for path in newest if now - self._lately[path] < _LATELY_S}

    def _changed_among(self, paths: Iterable[str]) -> Iterator[LogFile]:
        return (file for path in paths if (file := self._if_changed(path)) is not None)

    def _if_changed(self, path: str) -> LogFile | None:
        file = self.known.get(path)
        if file is None:
            return None
        try:
            status = os.lstat(path)
        except OSError:
            del self.known[path]
            self.n_changes += 1
            self._lately.pop(path, None)
            return file._replace(size=-1)
        stamp = FileStamp.of(status)
        if stamp == file.stamp:
            return None
        self.known[path] = grown = file._replace(**stamp._asdict(), device=status.st_dev)
        self.n_changes += 1
        return grown

    def _changed_at(self, path: str) -> Iterable[LogFile]:
        """The changed log at the path of a hint; for a new folder, the logs in it."""
        if path in self.known:
            return self._changed_among([path])
        if self._is_beside(path):
            return ()
        if os.path.isdir(path) and not os.path.islink(path):
            return () if path in self._folders else self._new_in(path)
        file = self._found(path)
        return (file,) if file is not None else ()

    def _is_beside(self, path: str) -> bool:
        return any(path.startswith(f"{folder}/") for folder in self._beside)

    def _found(self, path: str) -> LogFile | None:
        file = find_one(path, self._roots)
        return self._note(file) if file is not None else None

    def _note(self, file: LogFile) -> LogFile:
        path = str(file.path)
        self.known[path] = file = identified(file)
        self.n_changes += 1
        return file

    def _new_in(self, folder: str) -> list[LogFile]:
        """The new logs in a folder and in unlisted folders below it; all logs of a new part of a home."""
        at, tops = Path(folder), self._tops
        if any(top.parent == at and self._is_unlisted(top) for top in tops):
            return self._list()
        is_deep = any(top == at or top in at.parents for top in tops)
        return [file for path in self._unknown_below(folder, deep=is_deep) if (file := self._found(path))]

    def _is_unlisted(self, top: Path) -> bool:
        return self._folders.get(str(top), _NOT_THERE) == _NOT_THERE and top.is_dir()

    def _unknown_below(self, folder: str, *, deep: bool) -> Iterator[str]:
        unlisted = [Path(folder)]
        while unlisted:
            at = unlisted.pop()
            with noted_folders() as noted:
                listing = list_folder(at, may_be_link=True)
            self._folders.update(noted)
            if noted.get(str(at)) == _NOT_THERE and at not in self._tops:
                del self._folders[str(at)]
            names = (str(at / name) for name in listing.files)
            yield from (path for path in names if path not in self.known)
            if deep:
                unlisted += [at / name for name in listing.folders if str(at / name) not in self._folders]

    def _list(self) -> list[LogFile]:
        """List all roots and return the new logs; known logs keep their stamps, so that their changes are still found."""
        with noted_folders() as noted:
            found = [file for file in find_all(self._roots) if not isinstance(file, Skipped)]
        new = [file for file in found if str(file.path) not in self.known]
        self._folders = noted
        self._listen()
        return [self._note(file) for file in new]

    def _in_new_tops(self) -> list[LogFile]:
        """The logs in top folders that appeared since: a client makes those of its home when it first needs them."""
        if not self._listen():
            return []
        self.beside_is_due = True
        return self._list()

    def _listen(self) -> bool:
        """Ask for hints of all folders that exist now; return whether they are others than before."""
        watched = [folder for folder in (*self._tops, *self._beside) if os.path.isdir(folder)]
        if watched == self._hints.folders or self._hints.problem:
            return False
        self._hints.close()
        self._hints = Hints(watched)
        return True

    def _count_watches(self) -> None:
        """Note a problem if the system watches fewer folders than there are: changes there give no hint."""
        watched, n_folders = self._hints.n_watched(), self.n_folders
        if watched is not None and watched < n_folders:
            self._hints.problem = f"{_TOO_FEW} {watched:,} of {n_folders:,} folders"
        elif (self._hints.problem or "").startswith(_TOO_FEW):
            self._hints.problem = None


class RelatedLogs:
    """The sessions whose requests may be in the logs of a watched one, too.

    Caches what is grouped and read for one session for all others of its folder, until a log changes.
    """

    def __init__(self, files: WatchedFiles) -> None:
        self._files = files
        self._of_change = -1
        self._in_folder: dict[Path, list[LogFile]] = defaultdict(list)
        self._named: dict[str, list[LogFile]] = defaultdict(list)
        self._relatives: dict[frozenset[Path], Relatives] = {}

    def related_to(self, session: SessionFiles) -> list[SessionFiles]:
        """The sessions that may share lines with one: those of its folder, or those that its log names."""
        self._bring_up_to_date()
        if support_for(session.agent).logs.says_copies:
            sources = {source for file in session.mains for source in head_of(file).sources}
            around = [file for source in sources for file in self._named.get(source, ())]
            return family(session, group([*around, *session.files])) if around else []
        folders = frozenset(file.path.parent for file in session.mains)
        if folders not in self._relatives:
            near = [file for folder in folders for file in self._in_folder.get(folder, ())]
            self._relatives[folders] = Relatives(group(near))
        return self._relatives[folders].of(session)

    def _bring_up_to_date(self) -> None:
        if self._of_change == self._files.n_changes:
            return
        self._of_change = self._files.n_changes
        for cache in (self._in_folder, self._named, self._relatives):
            cache.clear()
        for file in self._files.known.values():
            if file.kind in _THREADS:
                self._in_folder[file.path.parent].append(file)
            if file.session and support_for(file.agent).logs.says_copies:
                self._named[file.session].append(file)


def _tops_of(roots: Sequence[Root]) -> list[Path]:
    """The folders that are watched with all below them: of a home only the parts that hold logs."""
    parts = [
        root.path / part
        for root in roots
        if root.agent is not None
        for part in ("projects", "sessions", "archived_sessions")
    ]
    return parts + [root.path for root in roots if root.agent is None]


def _time_of(folder: str) -> int:
    try:
        return os.stat(folder).st_mtime_ns
    except OSError:
        return _NOT_THERE
