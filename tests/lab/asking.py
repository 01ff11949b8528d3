"""Ask tracklog about the logs of a play: each question once per test process, however many tests share the answer."""

from __future__ import annotations

import functools
from pathlib import Path

from tests.lab.words import Json
from tests.views.cli.command import tracklog


@functools.cache
def ask(root: Path, *arguments: str) -> Json:
    """The document that a command prints about a client's directory, which nothing writes to any more."""
    home = root.parent / "asked"
    home.mkdir(exist_ok=True)
    done = tracklog(
        *arguments, "--json", "--root", root, home=home, env={"TRACKLOG_HOME": str(home / "tracklog")}
    )
    assert (done.code, done.err) == (0, "")
    document: Json = done.json
    return document
