"""The views of changes, each made of hunks as a page makes them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from tracklog.model.diff import hunks
from tracklog.model.diff.calls import files_of_changes as changed_in
from tracklog.model.diff.patches import files_in as patched_in
from tracklog.model.diff.patches import hunks_together, read_patch
from tracklog.views.html.diffs import DiffView, FileDiff, file_diff, view_of


def of_patch(patch: object) -> DiffView:
    return view_of(hunks.of_patch(patch))


def of_patch_text(text: str) -> DiffView:
    files, n_left = read_patch(text)
    view = view_of(hunks_together(files))
    return replace(view, n_left=view.n_left + n_left)


def of_texts(old: str, new: str) -> DiffView:
    return view_of(hunks.of_texts(old, new))


def of_edits(edits: Iterable[tuple[str, str]]) -> DiffView:
    return view_of(hunks.of_edits(edits))


def of_new_file(content: str) -> DiffView:
    return view_of(hunks.of_new_file(content))


def of_deleted_file(content: str) -> DiffView:
    return view_of(hunks.of_deleted_file(content))


def files_in(text: str) -> list[FileDiff]:
    return [file_diff(file) for file in patched_in(text)]


def files_of_changes(changes: object) -> list[FileDiff]:
    return [file_diff(file) for file in changed_in(changes)]
