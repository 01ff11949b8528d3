"""Patches as text: unified diffs, and those that Codex applies; read into files with hunks, and written as a diff.

Unified diffs state the line numbers of their hunks. Patches of Codex only state the lines around a change
(docs/formats/codex.md), so that their line numbers are unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from tracklog.model.diff.hunks import MOST_LINES, RawHunk, first_lines

FileAct = Literal["add", "update", "delete", "move"]
MOST_FILES = 200
_PLACES = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@ ?(.{0,500})", re.ASCII)
_OF_CODEX = re.compile(r"\*\*\* (Add|Update|Delete) File: (.+)")
_MOVED = "*** Move to: "
_AROUND = ("*** Begin Patch", "*** End Patch", "diff --git ", "rename ", "index ")
_ACTS: dict[str, FileAct] = {"Add": "add", "Update": "update", "Delete": "delete"}
_NOWHERE = "/dev/null"
_SIGNS = ("", " ", "+", "-", "\\")


@dataclass
class ChangedFile:
    """What was done to one file."""

    path: str
    act: FileAct = "update"
    moved_to: str | None = None
    hunks: list[RawHunk] = field(default_factory=list)
    n_left: int = 0  # lines of a patch that is too long, which were not read

    @property
    def counts(self) -> tuple[int, int]:
        """Number of lines added and removed."""
        counts = [hunk.counts for hunk in self.hunks]
        return sum(added for added, _ in counts), sum(removed for _, removed in counts)

    @property
    def diff(self) -> str:
        """The change as a unified diff; `@@ @@` starts a hunk whose line numbers are unknown."""
        old = _NOWHERE if self.act == "add" else self.path
        new = _NOWHERE if self.act == "delete" else self.moved_to or self.path
        lines = [f"--- {_on_one_line(old)}", f"+++ {_on_one_line(new)}"]
        for hunk in self.hunks:
            if hunk.lines:
                lines += [_head_of(hunk), *(line or " " for line in hunk.lines)]
        return "\n".join(lines) + "\n"


def files_in(text: str) -> list[ChangedFile]:
    """The changed files of a unified diff, or of a patch of Codex."""
    files, _ = read_patch(text)
    for file in files:
        file.act = "move" if file.moved_to and file.act == "update" else file.act
    return files[:MOST_FILES]


def read_patch(text: str) -> tuple[list[ChangedFile], int]:
    """The files in a patch, and how many lines of it were not read."""
    lines, n_left = first_lines(text, MOST_LINES)
    reader = _Reader()
    for line, following in zip(lines, [*lines[1:], ""], strict=False):
        reader.read(line.removesuffix("\r") if line.startswith(("@@", "*** ")) else line, following)
    return reader.files, n_left


def hunks_together(files: Iterable[ChangedFile]) -> Iterator[RawHunk]:
    """The hunks of some files; if they are several, headings name them."""
    named = list(files)
    for file in named:
        for hunk in file.hunks:
            heading = " · ".join(filter(None, [file.path if len(named) > 1 else "", hunk.heading]))
            yield hunk._replace(heading=heading)


class _Reader:
    """Parses a patch line by line."""

    def __init__(self) -> None:
        self.files: list[ChangedFile] = []
        self._lines: list[str] | None = None  # of the hunk that we are in
        self._old_left = self._new_left = 0  # lines that the hunk says it still has

    def read(self, line: str, following: str) -> None:
        """Reads the next line of the patch; `following` is the one after it."""
        if self._old_left > 0 or self._new_left > 0:
            self._take(line)
        elif file := _head(line, following):
            self.files.append(file)
            self._lines = [] if file.act == "add" else None
            if self._lines is not None and line.startswith("*** "):
                file.hunks.append(RawHunk(0, 1, self._lines))
        elif line.startswith(_MOVED) and self.files:
            self.files[-1].moved_to = line[len(_MOVED) :]
        elif line.startswith("@@"):
            self._begin(line)
        elif line.startswith(_AROUND):
            self._lines = None
        elif self._lines is not None and line[:1] in _SIGNS:
            self._take(line)

    def _begin(self, line: str) -> None:
        self.files = self.files or [ChangedFile("")]
        self._lines = []
        if places := _PLACES.match(line):
            old, n_old, new, n_new, heading = places.groups()
            self._old_left, self._new_left = int(n_old or 1), int(n_new or 1)
            hunk = RawHunk(int(old), int(new), self._lines, heading)
        else:
            hunk = RawHunk(None, None, self._lines, line[2:502].strip().removesuffix("@@").rstrip())
        self.files[-1].hunks.append(hunk)

    def _take(self, line: str) -> None:
        if self._lines is None:
            return
        self._lines.append(line or " ")
        self._old_left -= line[:1] not in ("+", "\\")
        self._new_left -= line[:1] not in ("-", "\\")


def _head(line: str, following: str) -> ChangedFile | None:
    if named := _OF_CODEX.fullmatch(line):
        return ChangedFile(named[2], _ACTS[named[1]])
    if not (line.startswith("--- ") and following.startswith("+++ ")):
        return None
    old, new = _path(line), _path(following)
    if old == _NOWHERE:
        return ChangedFile(new, "add")
    return ChangedFile(old, "delete") if new == _NOWHERE else ChangedFile(new)


def _path(line: str) -> str:
    path = line[4:].partition("\t")[0].rstrip("\r")
    return path[2:] if path.startswith(("a/", "b/")) else path


def _head_of(hunk: RawHunk) -> str:
    if hunk.old_start is None or hunk.new_start is None:
        return f"@@ @@ {hunk.heading}".rstrip()
    kept = sum(line[:1] not in ("+", "-", "\\") for line in hunk.lines)
    n_added = sum(line[:1] == "+" for line in hunk.lines)
    n_removed = sum(line[:1] == "-" for line in hunk.lines)
    old, new = _range(hunk.old_start, kept + n_removed), _range(hunk.new_start, kept + n_added)
    return f"@@ -{old} +{new} @@ {hunk.heading}".rstrip()


def _range(start: int, n: int) -> str:
    return str(start) if n == 1 else f"{start},{n}"


def _on_one_line(path: str) -> str:
    return path.replace("\n", "\\n").replace("\r", "\\r")
