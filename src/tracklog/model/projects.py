"""What a person calls a project."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tracklog.model.session import Session


def last_part(folder: str) -> str:
    """The name of a folder, of whatever system."""
    return re.split(r"[/\\]", folder.rstrip("/\\"))[-1] or folder


def project_of(session: Session) -> str | None:
    """What a person calls the project: the last part of the folder that the session works in."""
    return last_part(session.cwd) if session.cwd else None
