"""Run one child to its end: see that its folder is trusted, start it, wait for its result.

Rules
  1. What the folder's own settings would execute is confirmed before anything starts, or nothing does.
  2. How to wait is up to the caller, as signals and a terminal are: it gets the function that starts the child.
  3. Loads only what starts the client; what understands it is loaded while the client starts.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tracklog.app.talk import Talk
from tracklog.errors import NotThere
from tracklog.home import Home, tilde
from tracklog.model.run_request import RunRequest
from tracklog.run.launch import start
from tracklog.run.prepare import ask_for_trust, new_run
from tracklog.run.request import AGENTS as AGENTS
from tracklog.run.request import checked as checked
from tracklog.run.request import fenced, with_context
from tracklog.run.trust import Risk as Risk
from tracklog.run.trust import Untrusted, trust

if TYPE_CHECKING:
    from tracklog.run.child import Child as Child
    from tracklog.run.result import Result as Result
    from tracklog.run.stream import RunEvent as RunEvent

    Wait = Callable[[Callable[[], Child]], Result]  # starts a child by what it gets, and waits for its result
Confirm = Callable[[Sequence[Risk]], bool]  # whether a person trusts a folder that has these risks


def run_child(
    request: RunRequest,
    home: Home,
    *,
    confirm: Confirm,
    wait: Wait,
    talk: Talk,
    in_worktree: bool = False,
) -> Result:
    """Run a child, in a git worktree of its own if wanted. Raises Untrusted for a folder that nobody trusts."""
    request = trusted(request, home, confirm=confirm, talk=talk)
    run = new_run()
    if in_worktree:
        return _run_in_worktree(request, home, run, confirm=confirm, wait=wait, talk=talk)
    return wait(lambda: start(request, home=home, run=run))


def trusted(request: RunRequest, home: Home, *, confirm: Confirm, talk: Talk) -> RunRequest:
    """The request, if its folder may be worked in; raises Untrusted if a person does not confirm it."""
    try:
        ask_for_trust(request, home, os.environ)
    except Untrusted as error:
        if not confirm(error.risks):
            raise
        # these, and not what may come later
        note = trust(home, Path(request.trusted_as or request.cwd), error.risks)
        if note is not None:
            talk.say(f"tracklog: {note}")
    return request


def with_final_texts(prompt: str, sessions: Sequence[str], home: Path | None, *, talk: Talk) -> str:
    """The prompt with the final texts of other sessions before it, as data."""
    if not sessions:
        return prompt
    from tracklog.app.scope.filters import Filters  # slow to load, and most prompts have nothing before them
    from tracklog.app.scope.read_sessions import SessionReader

    reader = SessionReader((), agent=None, filters=Filters(), home=home, talk=talk)
    parts = []
    for name in sessions:
        session = reader.named(name)
        if session.final is None or not session.final.text.strip():
            raise NotThere(f"the last request of {name} has no text to begin from")
        parts.append(fenced(session.id, session.final.final_text))
    return with_context(prompt, parts)


def _run_in_worktree(
    request: RunRequest, home: Home, run: str, *, confirm: Confirm, wait: Wait, talk: Talk
) -> Result:
    """Run a child in a worktree, which is kept if the child changed something."""
    from tracklog.run.worktree import add, leave  # most runs have none

    worktree = add(Path(request.cwd), home, run)
    if worktree.note:
        talk.say(f"tracklog: {worktree.note}")
    try:
        apart = request._replace(cwd=worktree.cwd, trusted_as=request.cwd)
        # what is committed may be something else
        apart = trusted(apart, home, confirm=confirm, talk=talk)
        result = wait(lambda: start(apart, home=home, run=run))
    finally:
        left = leave(worktree)
        if left["kept"]:
            talk.say(f"tracklog: the work is in {tilde(left['path'])}, branch {left['branch']}")
    return type(result)({**result.document, "worktree": left})
