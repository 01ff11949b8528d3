"""How a command ends: the exit codes, and the end of one that was asked for what is not there."""

from __future__ import annotations

NOT_FINE = 1  # the check found something, or the thing asked for is not there
WRONG_USE = 2
TIME_IS_OVER = 124
INTERRUPTED = 130


class NotThere(Exception):  # noqa: N818 - named for what it says of the thing asked for
    """What was asked for is not there or out of reach, told in one line; the command exits with 1."""
