"""What a person calls a project."""

import re


def last_part(folder: str) -> str:
    """The name of a folder, of whatever system."""
    return re.split(r"[/\\]", folder.rstrip("/\\"))[-1] or folder
