"""`tracklog path`: the file that a session is written to."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from tracklog.sources.claude_code import resolved, transcript_path
from tracklog.sources.found import UUID, FileKind, LogFile
from tracklog.sources.slug import project_dirs_for
from tracklog.views.cli.choosing import Found, find_logs, session_named
from tracklog.views.cli.ending import NotThere
from tracklog.views.cli.options import A_PATH, shared_options
from tracklog.views.cli.own_home import tracklog_home
from tracklog.views.cli.printing import answer, answer_json, safe

_WHOLE_ID = re.compile(UUID)
_MAIN_KINDS = (FileKind.TRANSCRIPT, FileKind.DOCUMENT)


@click.command
@click.argument("session")
@click.option(
    "--cwd",
    type=A_PATH,
    metavar="DIR",
    help="The session's working directory: says where a session that is not there yet will be written.",
)
@shared_options
def path(
    session: str,
    cwd: Path | None,
    agent: str | None,
    roots: tuple[Path, ...],
    home: Path | None,
    as_json: bool,
) -> None:
    """The file that a session is written to.

    SESSION is an id, the start of one, a file, or @last. With --cwd and a whole id the answer is also given for a
    session of Claude Code that has not begun: the path where it will be written. Exits with 1 if there is no such
    session.
    """
    found = find_logs(roots, agent=agent)
    matches = _of_project(session_named(session, found), cwd)
    if not any(file.kind in _MAIN_KINDS for file in matches):  # perhaps the archive has it
        found = find_logs(roots, agent=agent, home=tracklog_home(home))
        matches = _of_project(session_named(session, found), cwd)
    if matches:
        best = matches[0]
        _answer(best.path.absolute(), agent=best.agent, exists=best.stored is None, as_json=as_json)
    elif cwd is not None and agent != "codex" and _WHOLE_ID.fullmatch(session):
        expected = transcript_path(session, cwd, root=_claude_home(found))
        _answer(expected, agent="claude", exists=False, as_json=as_json)
    else:
        if as_json:
            answer_json({"path": None, "agent": None, "exists": False})
        raise NotThere(
            f"no session {session}: `tracklog places` shows where logs are, --root looks elsewhere"
        )


def _of_project(matches: Sequence[LogFile], cwd: Path | None) -> list[LogFile]:
    """A session may stand in several projects; the one of the working directory comes first."""
    if cwd is None:
        return list(matches)
    where = resolved(cwd)
    own = {folder for root in {file.root for file in matches} for folder in project_dirs_for(root, where)}
    return sorted(matches, key=lambda file: (file.size == 0, file.path.parent not in own))


def _claude_home(found: Found) -> Path | None:
    """The first home that Claude Code may write to; None for the usual one."""
    return next((root.path for root in found.roots if root.agent != "codex"), None)


def _answer(where: Path, *, agent: str | None, exists: bool, as_json: bool) -> None:
    if as_json:
        answer_json({"path": str(where), "agent": agent, "exists": exists})
    elif sys.stdout.isatty():
        answer(safe(str(where)))
    else:
        sys.stdout.buffer.write(os.fsencode(where) + b"\n")  # for scripts: the very bytes
