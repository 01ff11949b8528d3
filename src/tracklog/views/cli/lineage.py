"""Who started whom across `run`, in rows for scripts and in words for people.

Rules of this room
  1. Ids may always be named. The name that somebody gave to a run is shown only if its session is among those asked for.
  2. What stands in the register is made safe like everything else.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tracklog.live.runs import Origin, Run, runs
from tracklog.store.home import Home
from tracklog.views.cli.own_home import tracklog_home
from tracklog.views.cli.printing import excerpt, safe, short_id

if TYPE_CHECKING:
    from tracklog.model.session import Session
    from tracklog.views.cli.stories import Stories

_SHOWN = 5  # runs on one line; the rest is counted
_LONGEST_NAME = 60
_LONGEST_WORD = 20  # of a word that the register should know


class Lineage(NamedTuple):
    """Who started a session, whom it started, and who goes on with it."""

    origin: Origin | None
    started: list[Run]
    continued: list[Run]
    names: dict[str, str]  # what runs are called, of those whose session is among those asked for

    def rows(self) -> dict[str, Any]:
        """The fields of the document of `show`."""
        return {
            "started_by": origin_row(self.origin),
            "started": [run_row(run) for run in self.started],
            "continued_by": [run_row(run) for run in self.continued],
        }

    def lines(self) -> Iterator[str]:
        """The lines in the head of a conversation."""
        if self.origin is not None:
            yield f"started by {origin_words(self.origin)}"
        if self.started:
            yield f"started: {self._listed(self.started)}"
        if self.continued:
            yield f"continued by: {self._listed(self.continued)}"

    def leaf_rows(self) -> list[dict[str, Any]]:
        """The runs of a session as `agents` lists them."""
        return [
            {
                **run_row(run),
                "state": run.state(),
                "cost_micro_usd": run.cost_micro_usd,
                "name": self.names.get(run.id),
            }
            for run in self.started
        ]

    def leaf_words(self, run: Run) -> str:
        """A run in the tree of `agents`: how it was started, what became of it, what it cost."""
        words = (run.agent, _state_words(run), _money(run), f"← {run.started.how}")
        name = excerpt(self.names.get(run.id, ""), _LONGEST_NAME)
        return "  ".join(filter(None, [*(safe(word[:_LONGEST_WORD]) for word in words), name]))

    def _listed(self, all_runs: list[Run]) -> str:
        told = [f"{run_name(run)} ({_told(run)})" for run in all_runs[:_SHOWN]]
        n_more = len(all_runs) - len(told)
        return ", ".join([*told, *([f"{n_more} more"] if n_more else [])])


def lineage_of(session: Session, stories: Stories, home: Path | None) -> Lineage:
    """What the register of runs tells of a session."""
    known = runs(Home(tracklog_home(home)))
    started = known.children_of(session.agent, session.id)
    continued = [
        run
        for run in known.going_on_from(session.agent, session.id)
        if run.id not in {one.id for one in started}
    ]
    return Lineage(
        origin=known.origin_of(session.agent, session.id),
        started=started,
        continued=continued,
        names=dict(_names(started, stories)),
    )


def _names(started: Iterable[Run], stories: Stories) -> Iterator[tuple[str, str]]:
    asked = {(one.agent, one.id) for one in stories.groups}
    tops = [os.path.join(root.path, "") for root in stories.found.roots]
    for run in started:
        path = run.transcript_path or ""
        is_asked = (run.agent, run.session) in asked or any(path.startswith(top) for top in tops)
        if run.started.name and is_asked:
            yield run.id, run.started.name


def origin_row(origin: Origin | None) -> dict[str, Any] | None:
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


def origin_words(origin: Origin) -> str:
    """Who started a session: `run from claude 3f2a1b2c (fork of 9e8d7c6b)`."""
    agent, how = (origin.agent or "")[:_LONGEST_WORD], origin.how[:_LONGEST_WORD]
    by = f" from {agent} {short_id(origin.session)}" if origin.session else ""
    goes_on = f" ({how} of {short_id(origin.source)})" if origin.source else ""
    return safe(f"run{by}{goes_on}")


def run_row(run: Run) -> dict[str, Any]:
    """A run, for scripts."""
    return {
        "run": run.id,
        "agent": run.agent,
        "session": run.session,
        "how": run.started.how,
        "at": run.started.at or None,
        "ended_by": run.ended_by,
    }


def run_name(run: Run) -> str:
    """A run as people call it: by its session, or by its own id until that has one."""
    return safe(f"{run.agent[:_LONGEST_WORD]} {short_id(run.session or run.id)}")


def _told(run: Run) -> str:
    how = "" if run.started.how == "run" else run.started.how
    return ", ".join(safe(part[:_LONGEST_WORD]) for part in (how, _state_words(run), _money(run)) if part)


def _state_words(run: Run) -> str:
    return run.ended_by or run.state()


def _money(run: Run) -> str:
    cost = run.cost_micro_usd
    return "" if cost is None else f"${cost / 1e6:,.2f}"
