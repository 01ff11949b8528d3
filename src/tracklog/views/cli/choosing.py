"""From what a person asked for to the files that are meant."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from tracklog.errors import UserError
from tracklog.sources.folders import roots_at
from tracklog.sources.found import LogFile, Root, Skipped
from tracklog.sources.places import default_roots, find_all, resolve_session
from tracklog.sources.reasons import why_failed
from tracklog.views.cli.ending import NotThere


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
    """The files and all logs in the folders that are given, or, if none is, in the homes of the agents."""
    for path in given:
        _refuse_if_out_of_reach(path)
    roots = [root for path in given for root in roots_at(path)] if given else default_roots(os.environ)
    fitting = [root for root in roots if root.agent in (None, agent or root.agent)]
    return _sorted_out(find_all(fitting), fitting, agent=agent)


def session_named(text: str, found: Found) -> list[LogFile]:
    """The files of the one session a person means, the best first, each with its agent if it can be told."""
    matches = [_named(file) for file in resolve_session(text, found.files)]
    refuse_if_of_several(text, [file.agent for file in matches if file.size])
    return matches


def refuse_if_of_several(text: str, agents: Iterable[str | None]) -> None:
    """What is the name of a session of one agent and of another is never guessed."""
    whose = sorted({agent for agent in agents if agent})
    if len(whose) > 1:
        raise UserError(
            f"{text!r} is a session of {' and one of '.join(whose)}: choose with --agent, or name the file"
        )


def tracklog_home(given: Path | None) -> Path:
    """Where our own files live: as told, else where the system keeps data of users."""
    if given is not None:
        return given.absolute()
    from platformdirs import user_data_path

    return user_data_path("tracklog")


def _refuse_if_out_of_reach(path: Path) -> None:
    try:
        if stat.S_ISDIR(os.stat(path).st_mode):
            os.scandir(path).close()
    except OSError as error:
        raise NotThere(f"cannot read {path}: {why_failed(error)}") from error


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
