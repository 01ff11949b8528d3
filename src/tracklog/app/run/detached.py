"""Start a child that goes on when we are gone: in a process of its own, with all its limits.

Rules
  1. The caller learns the session's id, or why nothing could be started, and is free.
  2. The process that stays has no terminal; it writes the result into our home, readable by its user alone.
"""

from __future__ import annotations

import json
import os
import select
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tracklog.app.run.child import Confirm, trusted
from tracklog.app.talk import Talk
from tracklog.errors import UserError
from tracklog.home import Home, make_private_folder, write_private
from tracklog.model.run_request import RunRequest
from tracklog.run.launch import start
from tracklog.run.parent import remember_our_parent
from tracklog.run.prepare import new_run
from tracklog.run.process.prestart import discard_prestarted

if TYPE_CHECKING:
    from tracklog.app.run.child import Child, Wait

_NAMED_S = 30.0  # for Codex to name its thread
_LOOK_S = 0.05


class DetachedChild(NamedTuple):
    """A child that goes on by itself, and where its result will be."""

    run: str
    agent: str
    session_id: str | None
    transcript_path: str | None
    pid: int | None
    result_path: str


def start_detached(
    request: RunRequest, home: Home, *, confirm: Confirm, wait: Wait, talk: Talk
) -> DetachedChild:
    """Start a child from a process of its own, which waits for it by `wait`."""
    request = trusted(request, home, confirm=confirm, talk=talk)
    for folder in (home.path, home.runs, home.runs / "results"):  # what cannot be written then is said now
        make_private_folder(folder)
    discard_prestarted()  # they are our children, not those of the process that stays
    sys.stdout.flush()
    sys.stderr.flush()
    reading, writing = os.pipe()
    if (pid := os.fork()) == 0:
        os.close(reading)
        _stay_behind(request, home, writing, wait)
    os.close(writing)
    os.waitpid(pid, 0)
    document = _read(reading)
    if "error" in document:
        raise UserError(document["error"])
    return DetachedChild(**document)


def _read(reading: int) -> dict[str, Any]:
    """The document that the other process writes; raises UserError if it died before."""
    parts = []
    deadline = time.monotonic() + _NAMED_S + 5
    while select.select([reading], [], [], max(deadline - time.monotonic(), 0))[0]:
        part = os.read(reading, 1 << 16)
        if not part:
            break
        parts.append(part)
    os.close(reading)
    try:
        document: dict[str, Any] = json.loads(b"".join(parts))
    except ValueError as error:
        raise UserError("the run could not be detached: its process ended before it began") from error
    return document


def _stay_behind(request: RunRequest, home: Home, writing: int, wait: Wait) -> None:
    """The other process; never returns."""
    try:
        remember_our_parent(os.environ, home=home)  # it is no ancestor of the process that stays
        os.setsid()
        if os.fork():
            os._exit(0)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nowhere, descriptor)
        _run(request, home, writing, wait)
    finally:  # a door: whatever went wrong, this process must not go on as the one that it was forked from
        os._exit(1)


def _run(request: RunRequest, home: Home, writing: int, wait: Wait) -> None:
    run = new_run()

    def begin() -> Child:
        try:
            child = start(request, home=home, run=run)
        except UserError as error:
            os.write(writing, json.dumps({"error": str(error)}).encode())
            raise
        os.write(writing, json.dumps(_introduction(child, home)).encode())
        os.close(writing)
        return child

    result = wait(begin)
    write_private(_result_path(home, run), json.dumps(result.document).encode())
    os._exit(result.code)


def _introduction(child: Child, home: Home) -> dict[str, Any]:
    """The fields of DetachedChild; or an error if the child ended before it began."""
    deadline = time.monotonic() + _NAMED_S
    while (child.session is None or child.pid is None) and time.monotonic() < deadline:
        if (result := child.wait(_LOOK_S)) is not None and child.pid is None:
            return {"error": result.why}
        if result is not None:
            break
    path = child.transcript_path
    found = DetachedChild(
        child.run,
        child.agent,
        child.session,
        str(path) if path else None,
        child.pid,
        str(_result_path(home, child.run)),
    )
    return found._asdict()


def _result_path(home: Home, run: str) -> Path:
    """Where the result of a detached run is written when it is over."""
    return home.runs / "results" / f"{run}.json"
