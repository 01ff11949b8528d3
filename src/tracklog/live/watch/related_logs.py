"""The sessions around each watched one whose requests may stand in its logs, too.

What is grouped and read for one session serves all others of its folder, until a log changes.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from tracklog.agents.headers import head_of
from tracklog.agents.supported import support_for
from tracklog.live.watch.files import WatchedFiles
from tracklog.reading.family import Relatives, family
from tracklog.reading.session_files import SessionFiles, group
from tracklog.sources.log_file import MAIN_KINDS, FileKind, LogFile

_THREADS = MAIN_KINDS | {FileKind.SUBAGENT}


class Surroundings:
    """Looks up related sessions among the logs that are watched."""

    def __init__(self, files: WatchedFiles) -> None:
        self._files = files
        self._of_change = -1
        self._in_folder: dict[Path, list[LogFile]] = defaultdict(list)
        self._named: dict[str, list[LogFile]] = defaultdict(list)
        self._relatives: dict[frozenset[Path], Relatives] = {}

    def related_to(self, session: SessionFiles) -> list[SessionFiles]:
        """The sessions that may share lines with one: those of its folder, or those that its log names."""
        self._bring_up_to_date()
        if support_for(session.agent).log_names_sources:
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
            if file.session and support_for(file.agent).log_names_sources:
                self._named[file.session].append(file)
