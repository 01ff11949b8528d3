"""Refuse to go on with a session that another process has open: both would write into one log."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from tracklog.errors import UserError
from tracklog.store.home import Home


def refuse_if_open(agent: str, session: str, *, env: Mapping[str, str], home: Home) -> None:
    """Raise UserError if a living process has this session open."""
    from tracklog.live.writers import writer_of  # slow to load, and most runs go on with nothing

    writer = writer_of(agent, session, env=env, home=home)
    if writer is None:
        return
    since = datetime.fromtimestamp(writer.since_ms / 1000).astimezone()
    raise UserError(
        f"{session} is open in process {writer.pid}, which runs since {since:%Y-%m-%d %H:%M:%S}: two processes would write "
        f"into one log; end that process, go on in a copy with `tracklog fork {session}`, or pass --force"
    )
