"""Rules for which sessions are listed: not those that could not be read, nor those without a word.

What a person calls a project.
"""

from __future__ import annotations

import re

from tracklog.model.session import Problem, Session


def last_part(folder: str) -> str:
    """The name of a folder, of whatever system."""
    return re.split(r"[/\\]", folder.rstrip("/\\"))[-1] or folder


def project_of(session: Session) -> str | None:
    """What a person calls the project: the last part of the folder that the session works in."""
    return last_part(session.cwd) if session.cwd else None


NOT_READABLE = "not readable"


def is_listed(session: Session) -> bool:
    """Whether a list of sessions has it."""
    return not is_unread(session) and not is_only_warmups(session)


def is_about_a_file(problem: Problem) -> bool:
    """Whether a log, or the rest of it, could not be read at all."""
    return problem.what.startswith(NOT_READABLE)


def is_unread(session: Session) -> bool:
    """Whether a session is known by nothing but files that cannot be read."""
    is_silent = not session.turns and not session.requests and not session.calls and session.last_at is None
    return is_silent and any(map(is_about_a_file, session.problems))


def is_only_warmups(session: Session) -> bool:
    """Whether a client only wrote to be ready, and nothing was ever said."""
    others = session.threads[1:]
    is_silent = not session.main.turns and not session.main.requests
    return is_silent and bool(others) and all(thread.is_warmup for thread in others)
