"""The changes that a call made in files, from its input, its result, or a patch as text.

Patches are unified diffs, which state the line numbers of their hunks, or those that Codex applies, which only state
the lines around a change (docs/formats/codex.md), so that their line numbers are unknown.

The inputs and results of the tools of Claude Code and Codex are described in docs/formats. The result is used first: it
says what was done and where; the input only says what was wanted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from msgspec import Raw

from tracklog.model.records import opened
from tracklog.views.html.diff.diffs import (
    DiffHunk,
    DiffView,
    RawHunk,
    changed_counts,
    first_lines,
    of_deleted_file,
    of_edits,
    of_new_file,
    of_patch,
    of_texts,
    view_of,
)
from tracklog.views.html.legible import shown

Act = Literal["add", "update", "delete", "move"]
MOST_FILES = 200
_MOST_LINES = 50_000
_PLACES = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@ ?(.{0,500})", re.ASCII)
_OF_CODEX = re.compile(r"\*\*\* (Add|Update|Delete) File: (.+)")
_MOVED = "*** Move to: "
_AROUND = ("*** Begin Patch", "*** End Patch", "diff --git ", "rename ", "index ")
_ACTS: dict[str, Act] = {"Add": "add", "Update": "update", "Delete": "delete"}
_NOWHERE = "/dev/null"
_SIGNS = ("", " ", "+", "-", "\\")


@dataclass(frozen=True)
class FileDiff:
    """What a call changed in one file."""

    path: str
    act: Act
    view: DiffView
    moved_to: str | None = None


def file_diff(path: str, act: Act, view: DiffView, moved_to: str | None = None) -> FileDiff:
    """A FileDiff whose names have hidden characters spelled out."""
    return FileDiff(shown(path), act, view, None if moved_to is None else shown(moved_to))


@dataclass
class _File:
    path: str
    act: Act = "update"
    moved_to: str | None = None
    hunks: list[RawHunk] = field(default_factory=list)

    def made(self) -> FileDiff:
        act: Act = "move" if self.moved_to and self.act == "update" else self.act
        return file_diff(self.path, act, view_of(self.hunks), self.moved_to)


def of_patch_text(text: str) -> DiffView:
    """The view of a patch as text, unified or Codex's; if it has several files, headings name them."""
    files, n_left = _files(text)
    view = view_of(_together(files))
    return replace(view, n_left=view.n_left + n_left)


def files_in(text: str) -> list[FileDiff]:
    """The changed files of a unified diff, or of a patch of Codex."""
    files, _ = _files(text)
    return [file.made() for file in files[:MOST_FILES]]


def files_of_changes(changes: object) -> list[FileDiff]:
    """The changed files in the record that Codex writes when it has applied a patch: changes by path."""
    pairs = changes.items() if isinstance(changes, dict) else ()
    return [
        made
        for path, change in _first(pairs, MOST_FILES)
        if isinstance(path, str) and isinstance(change, dict) and (made := _file_of_change(path, change))
    ]


def _file_of_change(path: str, change: dict[str, Any]) -> FileDiff | None:
    content, unified, moved = change.get("content"), change.get("unified_diff"), change.get("move_path")
    if isinstance(unified, str):
        moved_to = moved if isinstance(moved, str) and moved else None
        return file_diff(path, "move" if moved_to else "update", of_patch_text(unified), moved_to)
    if isinstance(content, str):
        if change.get("type") == "delete":
            return file_diff(path, "delete", of_deleted_file(content))
        return file_diff(path, "add", of_new_file(content))
    return None


def _first(items: Iterable[Any], most: int) -> Iterator[Any]:
    for n, item in enumerate(items):
        if n == most:
            return
        yield item


def _together(files: Iterable[_File]) -> Iterator[RawHunk]:
    named = list(files)
    for file in named:
        for hunk in file.hunks:
            yield hunk._replace(heading=_headed(file, hunk, len(named)))


def _headed(file: _File | FileDiff, hunk: RawHunk | DiffHunk, n_files: int) -> str:
    return " · ".join(filter(None, [file.path if n_files > 1 else "", hunk.heading]))


def _files(text: str) -> tuple[list[_File], int]:
    """The files in a patch, and how many lines of it were not read."""
    lines, n_left = first_lines(text, _MOST_LINES)
    reader = _Reader()
    for line, following in zip(lines, [*lines[1:], ""], strict=False):
        reader.read(line.removesuffix("\r") if line.startswith(("@@", "*** ")) else line, following)
    return reader.files, n_left


class _Reader:
    """Parses a patch line by line."""

    def __init__(self) -> None:
        self.files: list[_File] = []
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
        self.files = self.files or [_File("")]
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


def _head(line: str, following: str) -> _File | None:
    if named := _OF_CODEX.fullmatch(line):
        return _File(named[2], _ACTS[named[1]])
    if not (line.startswith("--- ") and following.startswith("+++ ")):
        return None
    old, new = _path(line), _path(following)
    if old == _NOWHERE:
        return _File(new, "add")
    return _File(old, "delete") if new == _NOWHERE else _File(new)


def _path(line: str) -> str:
    path = line[4:].partition("\t")[0].rstrip("\r")
    return path[2:] if path.startswith(("a/", "b/")) else path


_PATCH = "*** Begin Patch"
_MOST_EDITS = 200


def diffs_of_call(asked: object, answered: object) -> list[FileDiff]:
    """The files that a call changed, or wanted to change; none for other calls."""
    for made in (_of_answer(answered), _of_question(asked)):
        if made:
            return made
    return []


def _of_answer(answered: object) -> list[FileDiff]:
    if not isinstance(answered, Mapping):
        return []
    if isinstance(answered.get("changes"), dict):
        return files_of_changes(answered["changes"])
    path = _text(answered, "filePath") or _text(answered, "notebook_path") or ""
    if answered.get("structuredPatch"):
        view = of_patch(answered["structuredPatch"])
        return [file_diff(path, "update", view)] if view.hunks else []
    if answered.get("type") == "create" and (content := _text(answered, "content")) is not None:
        return [file_diff(path, "add", of_new_file(content))]
    old, new = _text(answered, "original_file"), _text(answered, "updated_file")
    if "notebook_path" in answered and "new_source" in answered:
        source = _text(answered, "old_source") or ""
        return [file_diff(path, "update", of_texts(source, _text(answered, "new_source") or ""))]
    return [file_diff(path, "update", of_texts(old, new))] if old is not None and new is not None else []


def _of_question(asked: object) -> list[FileDiff]:
    if isinstance(asked, str):
        return files_in(asked) if _PATCH in asked[:1_000] else []
    if not isinstance(asked, Mapping):
        return []
    for name in ("input", "patch"):  # where Codex puts a patch that is an argument
        if (text := _text(asked, name)) and _PATCH in text[:1_000]:
            return files_in(text)
    path = _text(asked, "file_path") or _text(asked, "notebook_path")
    if path is None:
        return []
    if (content := _text(asked, "content")) is not None:
        return [file_diff(path, "add", of_new_file(content))]
    edits = list(_edits(asked))
    return [file_diff(path, "update", of_edits(edits))] if edits else []


def _edits(asked: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    several = asked.get("edits")
    for edit in (several if isinstance(several, list) else [asked])[:_MOST_EDITS]:
        if isinstance(edit, Mapping):
            old, new = _text(edit, "old_string"), _text(edit, "new_string")
            new = _text(edit, "new_source") if new is None else new  # of a cell of a notebook
            if new is not None:
                yield old or "", new


def _text(values: Mapping[str, Any], name: str) -> str | None:
    value = values.get(name)
    return value if isinstance(value, str) else None


NOT_MADE = frozenset(
    {"error", "denied", "blocked", "sibling_error"}
)  # verdicts of calls that changed nothing
_EDITORS = frozenset({"Edit", "MultiEdit", "Write", "NotebookEdit", "apply_patch"})
_LARGEST = 500_000  # bytes of input and result that are parsed for the counts


class LineCounts(NamedTuple):
    """Number of lines added and removed."""

    added: int
    removed: int


def changes_of(name: str, given: Raw, report: Raw) -> LineCounts | None:
    """Lines that a call added and removed; None if it changes no file, or its changes are unknown."""
    if name not in _EDITORS or len(report) + len(given) > _LARGEST:
        return None
    told = opened(report)
    if isinstance(told, dict) and (patch := told.get("structuredPatch")):
        return LineCounts(*changed_counts(patch))
    if told is None and name != "apply_patch":
        return None
    views = [one.view for one in diffs_of_call(opened(given), told)]
    return (
        LineCounts(sum(view.added for view in views), sum(view.removed for view in views)) if views else None
    )
