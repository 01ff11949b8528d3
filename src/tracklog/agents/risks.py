"""Risks of a folder: what its own files would make a client do, and a reader of files that misses none.

Rules
  1. Looking changes nothing and runs nothing, git included.
  2. Fails closed: a file that cannot be read, is too large, or has a shape we do not know, is itself a risk.
  3. A detail that is too long is cut and carries a digest of the whole: two different ones never look alike.
  4. A file that could not be checked is reported each time: nobody can trust it for good.
  5. Files are searched where the client searches, or further, never less far.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from tracklog.sources.settings_files import read_whole

MOST_BYTES = 1 << 20
MOST_FILES = 2000  # in a folder of prompts
_MOST_LEVELS = 100
_MOST_DOTS = 100  # in a line of TOML
_MOST_DETAIL = 200
_MOST_NAME = 80
_HEAD, _TAIL, _DIGEST = (
    84,
    40,
    40,
)  # of a text that is cut; 160 bits, so that no second text can be made to fit
_TOLD_FIRST = ("command", "url", "prompt", "tool")  # what a hook or a server does, by its kind


class Risk(NamedTuple):
    """One thing that would be executed, or that steers the client. Raw text: it is the folder's own."""

    path: Path
    what: str
    detail: str


class Unreadable(Exception):  # noqa: N818 - a finding, which becomes a risk
    """A file that nobody can judge; the text says why."""


def risk(path: Path, what: str, value: Any) -> Risk:
    """A risk whose detail tells this value, whole or cut."""
    return Risk(path, what, _cut(value if isinstance(value, str) else _json(value)))


def secret(path: Path, what: str, value: Any) -> Risk:
    """A risk whose value is nobody's to read: told by its digest."""
    text = value if isinstance(value, str) else _json(value)
    return Risk(path, what, f"{len(text)} characters ({_digest(text)[:_DIGEST]})")


def name_of(key: str) -> str:
    """A key of theirs as part of our words."""
    return key if len(key) <= _MOST_NAME else f"{key[:30]}…{_digest(key)[:_DIGEST]}"


def _cut(text: str) -> str:
    if len(text) <= _MOST_DETAIL:
        return text
    return f"{text[:_HEAD]} … {text[-_TAIL:]} (of {len(text)}, {_digest(text)[:_DIGEST]})"


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)


def is_said(value: Any) -> bool:
    """Whether a setting is more than switched off or empty."""
    return value is not None and value is not False and value not in ("", [], {})


def document_in(path: Path) -> Mapping[str, Any]:
    """The contents of a JSON or TOML file, empty if there is none; raises Unreadable."""
    text = text_in(path)
    if not text or not text.strip():
        return {}
    try:
        document = _toml(text) if path.suffix == ".toml" else json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _not_understood(str(error), text) from error
    if not isinstance(document, dict):
        raise _not_understood("it is no object", text)
    if _is_too_deep(document):
        raise _not_understood("nested too deeply", text)
    return document


def _toml(text: str) -> dict[str, Any]:
    """A key of very many parts would take the reader hours: its time grows with their square."""
    if any(line.count(".") > _MOST_DOTS for line in text.split("\n")):
        raise ValueError(f"a line with more than {_MOST_DOTS} dots")
    from tomllib import loads  # most folders have no such file

    return loads(text)


def _is_too_deep(document: Any) -> bool:
    level = [document]
    for _ in range(_MOST_LEVELS):
        inner = [one.values() if isinstance(one, dict) else one for one in level]
        level = [one for several in inner for one in several if isinstance(one, dict | list)]
    return bool(level)


def text_in(path: Path) -> str | None:
    """The text of a file as the clients read it: bytes that are no UTF-8 are replaced. Unreadable flies."""
    try:
        data = read_whole(path)
    except NotADirectoryError:
        return None
    except OSError as error:
        raise _not_looked_at(error) from error
    if data is None:
        return None
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    if len(data) > MOST_BYTES:
        raise _not_understood(f"it has more than {MOST_BYTES >> 20} MB", text)
    return text


def _not_understood(why: str, text: str) -> Unreadable:
    """With a digest, so that it is asked about again when it changes."""
    return Unreadable(f"{why[:100]} ({_digest(text)[:_DIGEST]})")


def _not_looked_at(error: OSError | str) -> Unreadable:
    why = error if isinstance(error, str) else (error.strerror or str(error)).lower()
    return Unreadable(f"{why[:100]} (look {os.urandom(8).hex()})")


def unreadable(path: Path, why: object) -> Risk:
    """The risk that nobody can tell."""
    return risk(path, "cannot be read", str(why))


def hook_risks(path: Path, hooks: Any) -> Iterator[Risk]:
    """Every hook of every event and kind; one of an unknown form is described whole."""
    if not isinstance(hooks, dict):
        if is_said(hooks):
            yield risk(path, "hooks", hooks)
        return
    from tracklog.agents.hooks.settings import hooks_in  # most folders have no hooks

    for event, groups in hooks.items():
        what = f"hook {name_of(event)}"
        if not _has_the_form(groups):
            yield risk(path, what, groups)
            continue
        for found in hooks_in({"hooks": {event: groups}}):
            matcher = {"matcher": found.matcher} if found.matcher else {}
            yield risk(path, what, told_first({**matcher, **found.handler}))


def _has_the_form(groups: Any) -> bool:
    if not isinstance(groups, list) or not all(isinstance(group, dict) for group in groups):
        return False
    lists = [group.get("hooks") for group in groups]
    return all(isinstance(one, list) and all(isinstance(hook, dict) for hook in one) for one in lists)


def told_first(given: Mapping[str, Any]) -> str:
    """What a hook or a server does before all that is said of it besides; nothing is left out."""
    first = next((key for key in _TOLD_FIRST if isinstance(given.get(key), str)), None)
    is_plain = first == "command" and given.get("type") == "command"
    rest = {key: value for key, value in given.items() if key != first and not (is_plain and key == "type")}
    return " ".join([*([given[first]] if first else []), *([_json(rest)] if rest or not first else [])])


def files_below(folder: Path, suffix: str) -> list[Path]:
    """The files of this kind in a folder and all below it, links followed once. Unreadable flies."""
    found: list[Path] = []
    seen: set[str] = set()
    n_entries = 0
    for place, folders, names in os.walk(folder, followlinks=True, onerror=_refuse):
        real = os.path.realpath(place)
        if real in seen:
            folders.clear()
            continue
        seen.add(real)
        folders.sort()
        n_entries += len(names) + len(folders)
        if n_entries > MOST_FILES:
            raise _not_looked_at(f"it holds more than {MOST_FILES} files")
        found += [Path(place, name) for name in sorted(names) if name.lower().endswith(suffix)]
    return found


def _refuse(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError | NotADirectoryError):
        raise _not_looked_at(error) from error


def folders_up(cwd: Path) -> list[Path]:
    """The folder and all above it."""
    return [cwd, *cwd.parents]


def folders_of_the_repository(cwd: Path) -> list[Path] | None:
    """The folder and those above it up to the root of its checkout; None outside of any."""
    folders = folders_up(cwd)
    root = next((n for n, folder in enumerate(folders) if _is_sound_checkout(folder)), None)
    return None if root is None else folders[: root + 1]


def _is_sound_checkout(folder: Path) -> bool:
    """A `.git` without a HEAD counts for some releases and not for others: we go on to the next, which is further."""
    git = folder / ".git"
    return os.path.isfile(git) or os.path.exists(git / "HEAD")


def main_checkouts(folder: Path) -> list[Path]:
    """Where the repository of a linked worktree may have its first checkout; nothing for an ordinary one."""
    try:
        told = text_in(folder / ".git") if os.path.isfile(folder / ".git") else None
        if not told or not told.startswith("gitdir:"):
            return []
        private = os.path.join(folder, told.removeprefix("gitdir:").strip())
        common = text_in(Path(private, "commondir"))
    except (Unreadable, ValueError):  # ValueError: a NUL in the path, which leads nowhere for the client, too
        return []
    if not common:
        return []
    git = Path(os.path.realpath(os.path.join(private, common.strip())))
    return [git.parent] if git.name == ".git" else [git, git.parent]  # a bare one: releases differ


def is_same_place(one: Path, other: Path) -> bool:
    """Whether two paths lead to the same file or folder."""
    return os.path.realpath(one) == os.path.realpath(other)
