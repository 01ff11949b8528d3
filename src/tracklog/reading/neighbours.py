"""Find the sessions around a log: its project folder or home, listed once for many lookups.

Rules
  1. A listing is reused only while it is valid: the times of the folders, and the sizes, times and inodes of the files
     are unchanged. A folder that changed just before it was listed is listed again.
  2. The files of the requested session are checked at every lookup. In a large folder the other files are checked no
     more often than costs a tenth of the time, so that reading all of it stays linear; what another session appends in
     between (20 ms in a folder of 1,000 logs) is seen at the next check.
  3. Listings are never changed, so threads may share them.
"""

from __future__ import annotations

import os
import time
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path

from tracklog.agents.discovery import find_all, find_at, roots_at
from tracklog.agents.supported import support_for
from tracklog.reading.family import Relatives
from tracklog.reading.session_files import SessionFiles, group
from tracklog.sources.folders import noted_folders
from tracklog.sources.log_file import LogFile, Skipped, are_as_listed, now_ns, settled_times

_FEW = 64  # so many files are checked at every lookup
_SHARE = 10  # comparing all files of a large folder takes at most one part in so many of the time
_MOST_LISTINGS = 8
_listings: OrderedDict[tuple[str, str], _Listing] = OrderedDict()  # by the working directory and the folder


class Neighbours:
    """A set of sessions in which one is looked up with its family."""

    def __init__(self, found: Iterable[LogFile | Skipped]) -> None:
        self.sessions = group(found)
        self.relatives = Relatives(self.sessions)

    def session_with(self, file: LogFile) -> SessionFiles | None:
        """The session to which a log belongs."""
        session = self._by_path.get(str(file.path))
        return self._by_real_path.get(os.path.realpath(file.path)) if session is None else session

    @cached_property
    def _by_path(self) -> dict[str, SessionFiles]:
        return {str(file.path): session for session in self.sessions for file in session.files}

    @cached_property
    def _by_real_path(self) -> dict[str, SessionFiles]:
        return {os.path.realpath(path): session for path, session in self._by_path.items()}


class _Listing:
    """A folder as it was when it was listed."""

    def __init__(self, folder: Path) -> None:
        began_ns = now_ns()
        with noted_folders() as folders:
            self.found = list(find_at(folder))
        self.neighbours = Neighbours(self.found)
        self._folders = settled_times(folders, began_ns)
        self._files = {str(file.path): file for file in self.found if isinstance(file, LogFile)}
        self._next_look = 0.0

    def is_true_for(self, file: LogFile) -> bool:
        """Whether the folders, and the files of the session with this log, are as they were listed."""
        if not are_as_listed(self._folders, ()):
            return False
        session = self.neighbours.session_with(file)
        ours = session.files if session is not None else ()
        return are_as_listed({}, (self._files[str(one.path)] for one in ours)) and self._are_others_true()

    def _are_others_true(self) -> bool:
        began = time.monotonic()
        if began < self._next_look:
            return True
        is_true = are_as_listed({}, self._files.values())
        ended = time.monotonic()
        if len(self._files) > _FEW:
            self._next_look = ended + _SHARE * (ended - began)
        return is_true


def neighbours_of(file: LogFile, *, roots: Sequence[Path] = ()) -> Neighbours:
    """The sessions that may hold the rest of a log's session and its family; with `roots`, all below these."""
    if roots:
        return Neighbours(find_all(root for one in roots for root in roots_at(one)))
    logs = support_for(file.agent).logs
    listing, elsewhere = _listing_of(logs.folder_around(file), file), list(logs.elsewhere(file))
    return Neighbours([*listing.found, *elsewhere]) if elsewhere else listing.neighbours


def _listing_of(folder: Path, file: LogFile) -> _Listing:
    key = os.getcwd() if not folder.is_absolute() else "", str(folder)
    known = _listings.get(key)
    if known is None or not known.is_true_for(file):
        known = _listings[key] = _Listing(folder)
        while len(_listings) > _MOST_LISTINGS:
            _listings.popitem(last=False)
    return known
