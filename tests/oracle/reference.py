"""The brute force: what a folder of logs was, by the rules in docs/accounting.md, one after the other.

Rules of this room
  1. Nothing of tracklog is used: two writers who read the same rules must come to the same numbers.
  2. Every line is parsed whole and every record kept in memory. Speed is no aim; being plain is.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tests.oracle.reading import Found, inside, log_files, objects
from tests.oracle.reference_chunks import Chunk, messages
from tests.oracle.reference_codex import bare_spent, codex_spent, is_bare
from tests.oracle.reference_requests import Request, ages
from tests.oracle.reference_unseen import awaited, hidden
from tests.oracle.truth import HiddenSpent, Spent, Truth

_CUT = "Connection closed mid-response"


def reference(root: Path) -> Truth:
    """What was spent in all logs below a folder."""
    found = [list(objects(path)) for path in log_files(root)]
    claude = [file for file in found if not is_codex(file)]
    spent, hidden = claude_spent(claude)
    spent += codex_spent([file for file in found if is_codex(file)])
    return Truth(spent + [one for file in found if is_bare(file) for one in bare_spent(file)], hidden)


def is_codex(file: list[Found]) -> bool:
    """Whose log a file is, by its records."""
    return any("payload" in f.value and "type" in f.value for f in file)


def claude_spent(files: list[list[Found]]) -> tuple[list[Spent], list[HiddenSpent]]:
    """All requests of Claude Code's transcripts, and what they do not show."""
    age = ages(files)
    requests = [Request(group, age, is_cut=is_cut) for group, is_cut in _with_cuts(files)]
    spent = [one for request in requests for one in request.spent()]
    return spent + awaited(files), hidden(files, requests) + [one for r in requests for one in r.apart()]


def _with_cuts(files: list[list[Found]]) -> Iterator[tuple[list[Chunk], bool]]:
    cut = {
        f.value.get("parentUuid")
        for file in files
        for f in file
        if f.value.get("isApiErrorMessage") and _CUT in str(inside(f.value, "message", "content"))
    }
    for group in messages(files):
        yield group, any(chunk.uuid in cut for chunk in group)
