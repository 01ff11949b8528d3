"""A fixture that lists every file that this process opens."""

from __future__ import annotations

import os
import sys
from typing import Any

import pytest

_opened: list[str] = []
_is_watched = False


def _note(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and isinstance(arguments[0], (str, bytes, os.PathLike)):
        _opened.append(os.fsdecode(arguments[0]))


@pytest.fixture
def opened_files() -> list[str]:
    """The path of every file that this process opens, from now on."""
    global _is_watched
    if not _is_watched:  # an audit hook cannot be taken away again
        sys.addaudithook(_note)
        _is_watched = True
    _opened.clear()
    return _opened
