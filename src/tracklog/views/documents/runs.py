"""Who started whom across `run`, in rows for scripts and in words for people.

Rules of this room
  1. Ids may always be named. The name that somebody gave to a run is shown only if its session is among those asked for.
  2. What stands in the register is made safe like everything else.
"""

from __future__ import annotations

from typing import Any

from tracklog.live.run_entries import RunEntry, RunOrigin
from tracklog.views.text.printing import safe, short_id

_LONGEST_WORD = 20  # of a word that the register should know


def origin_row(origin: RunOrigin | None) -> dict[str, Any] | None:
    """Who started a session, for scripts."""
    if origin is None:
        return None
    return {
        "run": origin.run,
        "how": origin.how,
        "agent": origin.agent,
        "session": origin.session,
        "from": origin.source,
    }


def origin_words(origin: RunOrigin) -> str:
    """Who started a session: `run from claude 3f2a1b2c (fork of 9e8d7c6b)`."""
    agent, how = (origin.agent or "")[:_LONGEST_WORD], origin.how[:_LONGEST_WORD]
    by = f" from {agent} {short_id(origin.session)}" if origin.session else ""
    goes_on = f" ({how} of {short_id(origin.source)})" if origin.source else ""
    return safe(f"run{by}{goes_on}")


def run_row(run: RunEntry) -> dict[str, Any]:
    """A run, for scripts."""
    return {
        "run": run.id,
        "agent": run.agent,
        "session": run.session,
        "how": run.started.how,
        "at": run.started.at or None,
        "ended_by": run.ended_by,
    }


def run_name(run: RunEntry) -> str:
    """A run as people call it: by its session, or by its own id until that has one."""
    return safe(f"{run.agent[:_LONGEST_WORD]} {short_id(run.session or run.id)}")
