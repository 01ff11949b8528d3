"""Rules that lists, reports and search share: which sessions are listed, and what they say of one.

Not listed: sessions that could not be read, and those without a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from tracklog.model.session import Problem, Request, Session


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


def facts_of(session: Session) -> dict[str, Any]:
    """The values of a session that lists show, except its costs."""
    calls = [call for call in session.calls_by_thread if not call.is_inherited]
    return {
        "path": session.paths[0] if session.paths else None,
        "title": session.title,
        "project": project_of(session),
        "cwd": session.cwd,
        "branch": session.branch,
        "models": session.models,
        "versions": session.versions,
        "entrypoint": session.entrypoint,
        "started_at": session.started_at,
        "last_at": session.last_at,
        "state": session.state,
        "evidence": list(session.life.evidence),
        "turns": sum(not turn.is_inherited for turn in session.turns),
        "requests": n_requests(request for request in session.requests if not request.is_inherited),
        "calls": len(calls),
        "errors": sum(call.verdict == "error" for call in calls),
        "threads": len(session.threads),
    }


def n_requests(requests: Iterable[Request]) -> int:
    """The number of requests that an API answered."""
    return sum(not request.is_synthetic for request in requests)


def is_tool(name: str, wanted: str) -> bool:
    """Whether a call's tool is meant: by its name, or all tools of an MCP server."""
    meant, name = wanted.lower(), name.lower()
    return name == meant or (meant.startswith("mcp__") and name.startswith(f"{meant.rstrip('_')}__"))
