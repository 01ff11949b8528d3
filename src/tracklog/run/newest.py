"""The newest session of a folder: what `--continue` goes on with.

The client's own `--continue` passes over headless sessions; ours does not, as those are what `run` makes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from tracklog.pipeline.heads import head_of
from tracklog.run.wishes import Agent
from tracklog.sources.claude_code import resolved
from tracklog.sources.found import FileKind, LogFile, Root
from tracklog.sources.homes import claude_homes, codex_homes
from tracklog.sources.places import find_all
from tracklog.sources.slug import project_dirs_for


def newest_session(agent: Agent, cwd: Path, env: Mapping[str, str] | None = None) -> str | None:
    """Its id; None if the folder has none."""
    env = os.environ if env is None else env
    found = _of_claude(cwd, env) if agent == "claude" else _of_codex(cwd, env)
    return next(found, None)


def _of_claude(cwd: Path, env: Mapping[str, str]) -> Iterator[str]:
    folders = [folder for home in claude_homes(env) for folder in project_dirs_for(home, resolved(cwd))]
    roots = [Root(folder, None) for folder in folders]
    logs = [file for file in _transcripts(roots) if file.path.parent in folders]
    yield from (file.session for file in logs if file.session is not None)


def _of_codex(cwd: Path, env: Mapping[str, str]) -> Iterator[str]:
    wanted = resolved(cwd)
    for file in _transcripts([Root(home, "codex", "sessions") for home in codex_homes(env)]):
        head = head_of(file)
        if (
            file.session is not None
            and head.cwd is not None
            and resolved(head.cwd) == wanted
            and not head.parent
        ):
            yield file.session


def _transcripts(roots: list[Root]) -> list[LogFile]:
    found = (file for file in find_all(roots) if isinstance(file, LogFile))
    logs = [file for file in found if file.kind is FileKind.TRANSCRIPT and file.size]
    return sorted(logs, key=lambda file: -file.mtime_ns)
