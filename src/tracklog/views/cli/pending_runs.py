"""Sessions that a run has started, also those that have no log yet, for the commands that look for one session."""

from __future__ import annotations

from tracklog.errors import UserError
from tracklog.live.runs import Run, runs
from tracklog.store.home import Home
from tracklog.views.cli.printing import short_id


def called_run(ours: Home, text: str, *, agent: str | None = None) -> Run | None:
    """The run that a person means by its own id, its session's, or the start of that. Raises UserError for several."""
    alike = [run for run in runs(ours).called(text) if agent in (None, run.agent)]
    going_on = [run for run in alike if run.state() == "running"]
    found = going_on or alike[-1:]
    if len(found) > 1:
        names = ", ".join(short_id(run.session or run.id) for run in found[:3])
        raise UserError(f"{text!r} may be one of {len(found)} runs ({names}…): give more of the id")
    return found[0] if found else None


def session_of_run(ours: Home, text: str) -> str | None:
    """The session of the run that has exactly this id."""
    run = runs(ours).get(text.lower())
    return run.session if run is not None else None


def pending_run(ours: Home, text: str, *, agent: str | None = None) -> Run | None:
    """The run that goes on and is called so."""
    run = called_run(ours, text, agent=agent)
    return run if run is not None and run.state() == "running" else None


def is_being_run(ours: Home, agent: str, session: str) -> bool:
    """Whether a run that goes on writes this session."""
    return any(run.state() == "running" for run in runs(ours).by_session(agent, session))


def why_not_there(ours: Home, text: str, *, agent: str | None = None) -> str:
    """Why no session of this name can be shown, and what to do."""
    run = called_run(ours, text, agent=agent)
    if run is None:
        return f"no session {text}: `tracklog sessions` lists them, --root looks elsewhere"
    match run.state():
        case "running":
            return f"the session of run {run.id} has no log yet: `tracklog wait {run.id}` waits for it"
        case "lost":
            return f"the run {run.id} was lost: its process is gone, and it left no log in these folders"
        case _:
            return f"the run {run.id} has ended ({run.ended_by}) and left no log in these folders"
