"""The hook that puts a client's permission requests here, and the answers to them.

Rules
  1. The first answer counts. It can be taken back until the hook has renamed its file; the hook makes the file 0400 when it
     has passed the answer on to the client. An answer that was not passed on in time is late.
  2. Nothing here decides: without an answer the client asks in its own way.
(docs/answer.md)
"""

from __future__ import annotations

import json
import math
import os
import shlex
import stat
import sys
import time
from pathlib import Path
from typing import Any, Literal

import tracklog
from tracklog.agents.hooks.command import MARK
from tracklog.errors import UserError
from tracklog.home import Home, open_private
from tracklog.liveness.permission_requests import (
    OpenPermissionRequest,
)

GUARD = '[ -x "$1" ] && [ -f "$4" ] && TRACKLOG_PPID=$PPID "$@" 2>/dev/null; exit 0'  # stdout is the answer
LONGEST_WAIT_S = 86_400.0  # a client counts milliseconds in 31 bits: of 25 days it would make none
MOST_REASON = 10_000  # letters: a client cuts what is longer
TAKEN_WITHIN_S = 2.0
_LATER_S = 15  # the client's timeout is longer than ours by this
_TICK_S = 0.02
_PASSED_ON = 0o400

Verdict = Literal["allow", "deny"]
Fate = Literal["taken", "late", "answered"]  # `answered`: by another process, before


def handler(folder: Path, *, home: Home, wait_s: float) -> dict[str, Any]:
    """The PermissionRequest hook of a run, as an entry of settings."""
    if not 0 < wait_s <= LONGEST_WAIT_S:  # NaN is not in between, either
        raise UserError(
            f"--ask-timeout {wait_s:g}: a question waits for more than 0 and at most {LONGEST_WAIT_S:.0f} seconds"
        )
    hook = Path(tracklog.__file__).absolute().with_name("ask_hook.py")
    python = [os.path.abspath(sys.executable), "-I", "-S", str(hook)]
    ours = ["--folder", str(folder.absolute()), "--wait", f"{wait_s:g}", "--home", str(home.path.absolute())]
    words = ["/bin/sh", "-c", GUARD, MARK, *python, *ours]
    return {
        "type": "command",
        "command": f"exec {shlex.join(words)}",
        "timeout": math.ceil(wait_s) + _LATER_S,
    }


def give(
    ask: OpenPermissionRequest,
    verdict: Verdict,
    *,
    reason: str | None = None,
    within_s: float = TAKEN_WITHIN_S,
) -> Fate:
    """Answer a request; returns what became of the answer."""
    if reason is not None and len(reason) > MOST_REASON:
        raise UserError(f"the reason is longer than {MOST_REASON:,} letters, and the client would cut it")
    answer = ask.place.with_name(f"{ask.id}.answer.json")
    try:
        file = _put(answer, json.dumps({"v": 1, "verdict": verdict, "reason": reason}).encode())
    except FileExistsError:
        return "answered"
    except FileNotFoundError:  # the run is over, and its folder gone
        return "late"
    try:
        return "taken" if _is_passed_on(file, answer, within_s) else "late"
    finally:
        os.close(file)


def _is_passed_on(file: int, answer: Path, within_s: float) -> bool:
    """Wait until the answer is passed on to the client; take it back when the time is over."""
    until = time.monotonic() + within_s
    while (
        not (is_passed_on := stat.S_IMODE(os.fstat(file).st_mode) == _PASSED_ON) and time.monotonic() < until
    ):
        time.sleep(_TICK_S)
    if not is_passed_on:
        answer.unlink(missing_ok=True)
    return is_passed_on


def _put(answer: Path, data: bytes) -> int:
    """Write the answer atomically; FileExistsError if there is one. Returns a descriptor of it."""
    aside = answer.with_name(f"{os.urandom(4).hex()}.new.json")
    file = open_private(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        os.write(file, data)
        os.link(aside, answer)
    except BaseException:
        os.close(file)
        raise
    finally:
        aside.unlink(missing_ok=True)
    return file
