"""Which session started which with `run`: rows for scripts and words for people.

Rules
  1. Ids may always be shown. A run's name, given by a user, is shown only if its session is among the requested ones.
  2. Text of the register is made safe like all other text.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tracklog.views.text.printing import excerpt, safe, short_id

if TYPE_CHECKING:
    from tracklog.app.scope.read_sessions import Lineage, RunEntry, RunOrigin

_LONGEST_WORD = 20  # of a word that the register should know
_LONGEST_NAME = 60
_SHOWN = 5  # runs on one line; the rest is counted


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


def lineage_row(lineage: Lineage) -> dict[str, Any]:
    """The fields of the document of `show`."""
    return {
        "started_by": origin_row(lineage.origin),
        "started": [run_row(run) for run in lineage.started],
        "continued_by": [run_row(run) for run in lineage.continued],
    }


def lineage_lines(lineage: Lineage) -> Iterator[str]:
    """The lines in the head of a conversation."""
    if lineage.origin is not None:
        yield f"started by {origin_words(lineage.origin)}"
    if lineage.started:
        yield f"started: {_listed(lineage.started)}"
    if lineage.continued:
        yield f"continued by: {_listed(lineage.continued)}"


def leaf_rows(lineage: Lineage) -> list[dict[str, Any]]:
    """The runs of a session as `agents` lists them."""
    return [
        {
            **run_row(run),
            "state": run.state(),
            "cost_micro_usd": run.cost_micro_usd,
            "name": lineage.names.get(run.id),
        }
        for run in lineage.started
    ]


def leaf_words(run: RunEntry, lineage: Lineage) -> str:
    """A run in the tree of `agents`: how it was started, what became of it, what it cost."""
    words = (run.agent, _state_words(run), _money(run), f"← {run.started.how}")
    name = excerpt(lineage.names.get(run.id, ""), _LONGEST_NAME)
    return "  ".join(filter(None, [*(safe(word[:_LONGEST_WORD]) for word in words), name]))


def _listed(all_runs: list[RunEntry]) -> str:
    shown = [f"{run_name(run)} ({_run_words(run)})" for run in all_runs[:_SHOWN]]
    n_more = len(all_runs) - len(shown)
    return ", ".join([*shown, *([f"{n_more} more"] if n_more else [])])


def _run_words(run: RunEntry) -> str:
    how = "" if run.started.how == "run" else run.started.how
    return ", ".join(safe(part[:_LONGEST_WORD]) for part in (how, _state_words(run), _money(run)) if part)


def _state_words(run: RunEntry) -> str:
    return run.ended_by or run.state()


def _money(run: RunEntry) -> str:
    cost = run.cost_micro_usd
    return "" if cost is None else f"${cost / 1e6:,.2f}"
