"""Which session started which with `run`: rows for scripts and words for people.

Rules
  1. Ids may always be shown. A run's name, given by a user, is shown only if its session is among the requested ones.
  2. Text of the register is made safe like all other text.
"""

from __future__ import annotations

from typing import Any

from tracklog.live.run_entries import RunEntry, RunOrigin
from tracklog.views.text.printing import safe, short_id

_LONGEST_WORD = 20  # letters of a word from the register


def origin_row(origin: RunOrigin | None) -> dict[str, Any] | None:
    """The origin of a session, for scripts."""
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
    """The origin of a session in words: `run from claude 3f2a1b2c (fork of 9e8d7c6b)`."""
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
    """A name of a run for people: by its session, or by its own id until it has one."""
    return safe(f"{run.agent[:_LONGEST_WORD]} {short_id(run.session or run.id)}")
