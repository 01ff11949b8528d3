"""What a call changed in files, from what it was asked and what it answered, whatever tool it was.

What the tools of Claude Code and Codex hold is told in docs/formats. The answer is trusted first: it says what was done
and where; the question only says what was wanted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tracklog.views.html.diffs import of_edits, of_new_file, of_patch, of_texts
from tracklog.views.html.patches import FileDiff, file_diff, files_in, files_of_changes

_PATCH = "*** Begin Patch"
_MOST_EDITS = 200


def diffs_of_call(asked: object, answered: object) -> list[FileDiff]:
    """The files that a call changed, or wanted to change; none if it is no such call."""
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
