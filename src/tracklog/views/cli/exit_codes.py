"""How a run of the command line ends, whatever happened in it.

Rules
  1. Exit codes: 0 fine, 1 the check found something or the thing asked for is not there, 2 wrong use,
     130 interrupted. A reader that closes the pipe has read enough: that is fine, and silent.
  2. The user's mistakes end in one line on stderr, and so does an answer that cannot be written. Ours end in a
     traceback.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable

from tracklog.errors import INTERRUPTED, NOT_FINE, WRONG_USE, NotThere, UserError, why_failed
from tracklog.views.text.printing import talk

PROGRAM = "tracklog"


def ended(work: Callable[[], int]) -> int:
    """Does the work and returns the exit code."""
    if sys.stderr is None:  # how Python says that it was started without one
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 (for as long as the program runs)
    if sys.stdout is None:
        talk(f"{PROGRAM}: cannot write the answer: stdout is closed")
        return NOT_FINE
    _never_fail_on_a_letter()
    try:
        code = _told_plainly(work)
        sys.stdout.flush()
    except KeyboardInterrupt:
        talk(f"{PROGRAM}: interrupted")
        code = INTERRUPTED
    except OSError as error:
        if error.filename is not None:  # not of a stream, so one of our own mistakes
            raise
        code = _without_stdout(error)
    return code


def _told_plainly(work: Callable[[], int]) -> int:
    try:
        return work()
    except UserError as error:
        talk(f"{PROGRAM}: {error}")
        return WRONG_USE
    except NotThere as error:
        talk(f"{PROGRAM}: {error}")
        return NOT_FINE


def _without_stdout(error: OSError) -> int:

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at exit
    if isinstance(error, BrokenPipeError):
        return 0
    talk(f"{PROGRAM}: cannot write the answer: {why_failed(error)}")
    return NOT_FINE


def _never_fail_on_a_letter() -> None:
    """A terminal without UTF-8 gets an escape in place of a letter that it cannot show."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
