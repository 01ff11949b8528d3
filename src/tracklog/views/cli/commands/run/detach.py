"""A run that goes on when we are gone: by a process of its own, with all its limits.

Rules
  1. Who starts it is told the session's id, then is free. What cannot be started is told at once, as ever.
  2. The one that stays behind has no terminal; its result is written into our home, for us alone.
"""

from __future__ import annotations

import json
import os
import select
import sys
import time
from pathlib import Path
from typing import Any

from tracklog.errors import UserError
from tracklog.home import Home, make_private_folder, write_private
from tracklog.model.run_request import RunRequest
from tracklog.run.child import Child
from tracklog.run.launch import start
from tracklog.run.parent import remember_our_parent
from tracklog.run.process.prestart import discard_prestarted
from tracklog.views.cli.commands.run.await_child import awaited, signals_heard
from tracklog.views.text.printing import answer, answer_json

_NAMED_S = 30.0  # for Codex to say what its thread is called
_LOOK_S = 0.05


def start_detached(request: RunRequest, ours: Home, *, as_json: bool) -> None:
    """Starts the child from a process of its own; prints how to find it."""
    for folder in (ours.path, ours.runs, ours.runs / "results"):  # what cannot be written then is said now
        make_private_folder(folder)
    discard_prestarted()  # they are our children, not those of the process that stays
    remember_our_parent(os.environ, home=ours)  # who started us is no ancestor of the process that stays
    sys.stdout.flush()
    sys.stderr.flush()
    reading, writing = os.pipe()
    if (pid := os.fork()) == 0:
        os.close(reading)
        _stay_behind(request, ours, writing)
    os.close(writing)
    os.waitpid(pid, 0)
    told = _told(reading)
    if "error" in told:
        raise UserError(told["error"])
    if as_json:
        answer_json(told)
    else:
        answer(str(told["session_id"] or told["run"]))


def _told(reading: int) -> dict[str, Any]:
    """What the other process says: one document, or nothing if it died."""
    parts = []
    deadline = time.monotonic() + _NAMED_S + 5
    while select.select([reading], [], [], max(deadline - time.monotonic(), 0))[0]:
        part = os.read(reading, 1 << 16)
        if not part:
            break
        parts.append(part)
    os.close(reading)
    try:
        told: dict[str, Any] = json.loads(b"".join(parts))
    except ValueError as error:
        raise UserError("the run could not be detached: its process ended before it began") from error
    return told


def _stay_behind(request: RunRequest, ours: Home, writing: int) -> None:
    """The other process. It never comes back."""
    try:
        os.setsid()
        if os.fork():
            os._exit(0)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nowhere, descriptor)
        _run(request, ours, writing)
    finally:  # a door: whatever went wrong, this process must not go on as the one that it was forked from
        os._exit(1)


def _run(request: RunRequest, ours: Home, writing: int) -> None:
    with signals_heard() as heard:
        try:
            child = start(request, home=ours)
        except UserError as error:
            os.write(writing, json.dumps({"error": str(error)}).encode())
            return
        os.write(writing, json.dumps(_introduction(child, ours)).encode())
        os.close(writing)
        result = awaited(child, heard)
    write_private(result_path(ours, child.run), json.dumps(result.document).encode())
    os._exit(result.code)


def _introduction(child: Child, ours: Home) -> dict[str, Any]:
    deadline = time.monotonic() + _NAMED_S
    while (child.session is None or child.pid is None) and time.monotonic() < deadline:
        if (result := child.wait(_LOOK_S)) is not None and child.pid is None:
            return {"error": result.why}
        if result is not None:
            break
    path = child.transcript_path
    return {
        "run": child.run,
        "agent": child.agent,
        "session_id": child.session,
        "transcript_path": str(path) if path else None,
        "pid": child.pid,
        "result_path": str(result_path(ours, child.run)),
    }


def result_path(ours: Home, run: str) -> Path:
    """Where the result of a detached run is written to when it is over."""
    return ours.runs / "results" / f"{run}.json"
