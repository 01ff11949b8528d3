"""From what a person asked for to the files that are meant."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from tracklog.errors import UserError
from tracklog.sources.folders import file_at, roots_at
from tracklog.sources.found import LogFile, Root, Skipped
from tracklog.sources.places import default_roots, find_all


class Found(NamedTuple):
    """The logs, what was left alone, and where both were looked for."""

    files: list[LogFile]
    skipped: list[Skipped]
    roots: list[Root]

    @property
    def bytes(self) -> int:
        """How much there is to read."""
        return sum(file.size for file in self.files)


def find_logs(given: Sequence[Path], *, agent: str | None = None) -> Found:
    """All logs in the given folders, or, if none is given, in the homes of the agents."""
    roots = [root for path in given for root in roots_at(path)] if given else default_roots(os.environ)
    fitting = [root for root in roots if root.agent in (None, agent or root.agent)]
    return _sorted_out(find_all(fitting), fitting, agent=agent)


def find_logs_at(paths: Sequence[Path], *, agent: str | None = None) -> Found:
    """The files that the paths name, and all logs in the folders that they name."""
    for path in paths:
        if not os.path.lexists(path):
            raise UserError(f"{path} does not exist: name a log, or a folder of logs")
    roots = [root for path in paths if os.path.isdir(path) for root in roots_at(path)]
    found = list(find_all(roots))
    found += [file_at(path) for path in paths if not os.path.isdir(path)]
    return _sorted_out(_each_once(found), roots, agent=agent)


def tracklog_home(given: Path | None) -> Path:
    """Where our own files live: as told, else where the system keeps data of users."""
    if given is not None:
        return given.absolute()
    from platformdirs import user_data_path

    return user_data_path("tracklog")


def _sorted_out(found: Iterable[LogFile | Skipped], roots: list[Root], *, agent: str | None) -> Found:
    files: list[LogFile] = []
    skipped: list[Skipped] = []
    for one in found:
        if isinstance(one, Skipped):
            skipped.append(one)
        else:
            files.append(_named(one))
    return Found([file for file in files if agent in (None, file.agent)], skipped, roots)


def _named(file: LogFile) -> LogFile:
    if file.agent is not None:
        return file
    # imported here because only logs outside of the agents' homes must be opened to know whose they are
    from tracklog.pipeline.reading import identified

    return identified(file)


def _each_once(found: Iterable[LogFile | Skipped]) -> list[LogFile | Skipped]:
    once: dict[object, LogFile | Skipped] = {}
    for one in found:
        once.setdefault((one.device, one.inode) if isinstance(one, LogFile) else one, one)
    return list(once.values())
