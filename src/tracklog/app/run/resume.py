"""Go on with a session: find it, and the client's own command that a person goes on with."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from tracklog.app.scope.filters import Filters
from tracklog.app.scope.read_sessions import SessionReader
from tracklog.app.talk import Talk
from tracklog.errors import NotThere, UserError
from tracklog.home import Home
from tracklog.model.run_request import Agent, is_session_name
from tracklog.model.session import Session
from tracklog.run import find_logs, prepare


def session_to_continue(name: str, *, agent: str | None, home: Path | None, talk: Talk) -> Session:
    """The session with this name; raises NotThere if only the archive has its log."""
    reader = SessionReader((), agent=agent, filters=Filters(), home=home, talk=talk)
    session = reader.named(name)
    if reader.is_only_here(session):
        raise NotThere(
            f"only the archive has {session.id}: `tracklog restore {session.id}` puts it back first"
        )
    return session


def newest_session(agent: Agent, cwd: Path) -> str:
    """The id of the newest session of an agent in a folder, by its logs; raises UserError if it has none."""
    found = find_logs.newest_session(agent, cwd)
    if found is None:
        raise UserError(f"no session of {agent} in {cwd} to go on with")
    return found


def interactive_command(
    session: Session,
    home: Home,
    *,
    client: str | None = None,
    arguments: Sequence[str] = (),
    is_forced: bool = False,
) -> list[str]:
    """The client's command that goes on with a session in a terminal; refused if a living process has the session open."""
    if not is_session_name(session.id):
        raise UserError(f"{session.id!r} is no session id that a client could go on with")
    if not is_forced:
        prepare.refuse_if_open(session.agent, session.id, env=os.environ, home=home)
    words = prepare.interactive_command(session.agent, session.id, client=client, env=os.environ)
    return [*words, *arguments]
