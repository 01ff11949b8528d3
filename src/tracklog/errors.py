"""The one exception we raise on purpose: the user asked for something that cannot be done."""

from __future__ import annotations


class UserError(Exception):
    """The user's mistake, told in one line that says what to do next; the command exits with 2."""
