"""The files that a call changed, or wanted to change, from its input and its result.

The inputs and results of the tools of Claude Code and Codex are described in docs/formats. The result is used first: it
says what was done and where; the input only says what was wanted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

from msgspec import Raw

from tracklog.model.diff.hunks import RawHunk, of_deleted_file, of_edits, of_new_file, of_patch, of_texts
from tracklog.model.diff.patches import MOST_FILES, ChangedFile, files_in, hunks_together, read_patch
from tracklog.model.records import opened

NOT_MADE = frozenset(
    {"error", "denied", "blocked", "sibling_error"}
)  # verdicts of calls that changed nothing
_PATCH = "*** Begin Patch"
_MOST_EDITS = 200
_EDITORS = frozenset({"Edit", "MultiEdit", "Write", "NotebookEdit", "apply_patch"})
_READERS = frozenset({"Read", "NotebookRead", "view_image"})
_PATHS = ("file_path", "notebook_path", "path")
_LARGEST = 500_000  # bytes of input and result that are parsed for the counts


class LineCounts(NamedTuple):
    """Number of lines added and removed."""

    added: int
    removed: int


def changes_of_call(asked: object, answered: object) -> list[ChangedFile]:
    """The files that a call changed, or wanted to change; none for other calls."""
    return _of_answer(answered) or _of_question(asked)


def files_read(name: str, asked: object, noted: object) -> list[str]:
    """The files that a call read: one that its tool names, or those that Codex found in a command."""
    if name in _READERS and isinstance(asked, Mapping):
        return list(filter(None, [next(filter(None, (_text(asked, key) for key in _PATHS)), None)]))
    listed = noted.get("read") if isinstance(noted, Mapping) else None
    return [path for path in listed if isinstance(path, str)] if isinstance(listed, list) else []


def line_counts(name: str, given: Raw, report: Raw) -> LineCounts | None:
    """Lines that a call added and removed; None if it changes no file, or its changes are unknown."""
    if name not in _EDITORS or len(report) + len(given) > _LARGEST:
        return None
    told = opened(report)
    if isinstance(told, dict) and (patch := told.get("structuredPatch")):
        return _sum(of_patch(patch))
    if told is None and name != "apply_patch":
        return None
    files = changes_of_call(opened(given), told)
    return _sum(hunk for file in files for hunk in file.hunks) if files else None


def files_of_changes(changes: object) -> list[ChangedFile]:
    """The changed files in the record that Codex writes when it has applied a patch: changes by path."""
    pairs = changes.items() if isinstance(changes, dict) else ()
    return [
        made
        for path, change in islice(pairs, MOST_FILES)
        if isinstance(path, str) and isinstance(change, dict) and (made := _file_of_change(path, change))
    ]


def _sum(hunks: Iterator[RawHunk]) -> LineCounts:
    counts = [hunk.counts for hunk in hunks]
    return LineCounts(sum(added for added, _ in counts), sum(removed for _, removed in counts))


def _file_of_change(path: str, change: dict[str, Any]) -> ChangedFile | None:
    content, unified, moved = change.get("content"), change.get("unified_diff"), change.get("move_path")
    if isinstance(unified, str):
        moved_to = moved if isinstance(moved, str) and moved else None
        files, n_left = read_patch(unified)
        hunks = list(hunks_together(files))
        return ChangedFile(path, "move" if moved_to else "update", moved_to, hunks, n_left)
    if isinstance(content, str):
        if change.get("type") == "delete":
            return ChangedFile(path, "delete", hunks=of_deleted_file(content))
        return ChangedFile(path, "add", hunks=of_new_file(content))
    return None


def _of_answer(answered: object) -> list[ChangedFile]:
    if not isinstance(answered, Mapping):
        return []
    if isinstance(answered.get("changes"), dict):
        return files_of_changes(answered["changes"])
    path = _text(answered, "filePath") or _text(answered, "notebook_path") or ""
    if answered.get("structuredPatch"):
        hunks = [hunk for hunk in of_patch(answered["structuredPatch"]) if hunk.lines]
        return [ChangedFile(path, hunks=hunks)] if hunks else []
    if answered.get("type") == "create" and (content := _text(answered, "content")) is not None:
        return [ChangedFile(path, "add", hunks=of_new_file(content))]
    old, new = _text(answered, "original_file"), _text(answered, "updated_file")
    if "notebook_path" in answered and "new_source" in answered:
        old, new = _text(answered, "old_source") or "", _text(answered, "new_source") or ""
    return [ChangedFile(path, hunks=list(of_texts(old, new)))] if old is not None and new is not None else []


def _of_question(asked: object) -> list[ChangedFile]:
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
        return [ChangedFile(path, "add", hunks=of_new_file(content))]
    edits = list(_edits(asked))
    return [ChangedFile(path, hunks=list(of_edits(edits)))] if edits else []


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
