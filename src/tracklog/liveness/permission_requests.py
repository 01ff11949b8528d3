"""Read the open permission requests of runs (`run --ask-here`), as their hooks have written them.

Rules
  1. A request is open as long as its hook lives: the hook holds a lock on the file, which ends with it.
  2. Only requests in private folders of our own user count: files that others can write are not read.
(docs/answer.md)
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import stat
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from tracklog.agents.supported import SUPPORTED
from tracklog.home import Home
from tracklog.model.call_summary import told
from tracklog.model.states import Sign, told_call

_MOST_BYTES = 1 << 20
_MOST_LEVELS = 100
_LATEST_MS = 1 << 43  # in the year 2248
_QUESTION = re.compile(r"[A-Za-z0-9_-]{1,64}\.json")


class _Asked(msgspec.Struct):
    """A request as `ask_hook.py` writes it."""

    at: int
    until: int
    session: str | None = None
    thread: str | None = None
    cwd: str | None = None
    mode: str | None = None
    tool: str | None = None
    input: Any = None
    input_bytes: int | None = None
    suggestions: Any = None


class OpenPermissionRequest(NamedTuple):
    """An open permission request."""

    id: str
    run: str
    session: str
    thread: str | None  # the subagent that asks
    cwd: str | None
    mode: str | None
    tool: str
    input: Any  # the beginning of its JSON, as text, where `input_bytes` is given
    input_bytes: int | None
    suggestions: Any
    at_ms: int
    until_ms: int
    place: Path

    @property
    def agent(self) -> str:
        """The agent of the request: the only one that can put requests here, as files name none."""
        return next(name for name, one in SUPPORTED.items() if one.processes.asks_permissions_here)

    @property
    def is_cut(self) -> bool:
        """Whether only the beginning of the input is known here."""
        return self.input_bytes is not None

    @property
    def gist(self) -> str:
        """The call that would run, on one line."""
        return told(self.input, self.cwd)

    @property
    def sign(self) -> Sign:
        """The sign for the state of its session."""
        doing = told_call(self.tool, self.input, self.cwd)
        return Sign(
            "ask", "waiting", self.at_ms, doing, waiting_for="permission", where=f"question {self.id}"
        )

    def shown(self) -> list[tuple[str, str]]:
        """All of the input by name, as text."""
        if isinstance(self.input, dict):
            return [(name, _as_text(value)) for name, value in self.input.items()]
        return [("", _as_text(self.input))]


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def open_permission_requests(home: Home) -> list[OpenPermissionRequest]:
    """All open requests, the newest first."""
    now = home.runs / "now"
    found = [ask for run in _names_in(now) for ask in permission_requests_of(now / run)]
    return sorted(found, key=lambda ask: (ask.at_ms, ask.id), reverse=True)


def permission_requests_of(folder: Path) -> list[OpenPermissionRequest]:
    """The open requests of the run with this private folder."""
    asks = folder / "asks"
    names = [name for name in _names_in(asks) if _QUESTION.fullmatch(name)] if _is_private(folder) else []
    found = (_read(asks / name, run=folder.name) for name in names)
    return [ask for ask in found if ask is not None]


def _names_in(folder: Path) -> list[str]:
    """The names in a private folder; none if it is not private, or gone."""
    try:
        return sorted(os.listdir(folder)) if _is_private(folder) else []
    except OSError:
        return []


def _is_private(folder: Path) -> bool:
    try:
        facts = folder.lstat()
    except OSError:  # it is missing, or not readable
        return False
    return stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.geteuid() and not facts.st_mode & 0o077


def _read(place: Path, *, run: str) -> OpenPermissionRequest | None:
    """The request in a file; None if it is none, or its hook has ended."""
    data = _bytes_of(place)
    try:  # with `json`, because a payload may hold half a character
        asked = msgspec.convert(json.loads(data), _Asked)
    except (msgspec.ValidationError, ValueError, RecursionError):
        return None
    if not (0 <= asked.at <= _LATEST_MS and 0 <= asked.until <= _LATEST_MS):
        return None
    if not _is_shallow(asked.input):
        asked.input, asked.input_bytes = None, len(data)
    return OpenPermissionRequest(
        id=place.stem,
        run=run,
        session=asked.session or "",
        thread=asked.thread,
        cwd=asked.cwd,
        mode=asked.mode,
        tool=asked.tool or "",
        input=asked.input,
        input_bytes=asked.input_bytes,
        suggestions=asked.suggestions if _is_shallow(asked.suggestions) else None,
        at_ms=asked.at,
        until_ms=asked.until,
        place=place,
    )


def _bytes_of(place: Path) -> bytes:
    """The content of a file of ours whose hook lives; nothing if it is another user's, or gone."""
    try:
        file = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        facts = os.fstat(file)
        is_ours = stat.S_ISREG(facts.st_mode) and facts.st_uid == os.geteuid()
        return os.read(file, _MOST_BYTES) if is_ours and _is_locked(file) else b""
    finally:
        os.close(file)


def _is_shallow(value: Any, levels: int = _MOST_LEVELS) -> bool:
    """Whether it can be written as JSON: deep nesting can be read, but not always written."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return levels > 0 and all(_is_shallow(part, levels - 1) for part in parts)


def _is_locked(file: int) -> bool:
    """Whether the hook that holds the lock lives. Readers share the lock, so they lock nobody out."""
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False
