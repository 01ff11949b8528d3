"""The directories that environment variables name."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def user_home(env: Mapping[str, str]) -> Path:
    """HOME, or what the system knows of the user when it is unset."""
    return Path(env.get("HOME") or os.path.expanduser("~"))


def homes_from(value: str) -> list[Path]:
    """The directory a variable names; several with commas between, as usage tools accept it.

    The agents themselves take one directory: an existing one whose name holds a comma is that one.
    """
    if os.path.isdir(value):
        return [Path(os.path.abspath(value))]
    parts = (part.strip() for part in value.split(","))
    return list(dict.fromkeys(Path(os.path.abspath(part)) for part in parts if part))
