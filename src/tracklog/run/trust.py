"""Keep which folders' own settings may run code: confirmed once, and again when they change.

Rules
  1. A folder without risks needs no trust.
  2. Each single risk in a folder (by its real path) is trusted. A risk that was added or changed since needs trust; a removed
     one does not. The path of its file does not count, so that a worktree of a trusted folder is trusted for the same risks.
  3. A script that a hook names may change without a question: it is the folder's code, as much as its tests are.
  4. If our own file holds garbage, nothing is trusted; the file is set aside, never overwritten.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

from tracklog.agents.risks import Risk
from tracklog.agents.supported import SUPPORTED, support_for
from tracklog.errors import UserError
from tracklog.home import Busy, Home, held_lock_at, make_private_folder, write_private
from tracklog.sources.settings_files import read_whole

__all__ = ["Risk", "Untrusted", "is_trusted", "risks_in", "trust"]

_LOCK_WAIT_S = 5.0


class Untrusted(UserError):  # noqa: N818 - a state, which --trust ends
    """A folder whose own settings would run code or steer the client, and are not trusted."""

    def __init__(self, cwd: Path, risks: Sequence[Risk]) -> None:
        self.cwd = cwd
        self.risks = list(risks)
        self.dangers = self.risks  # the old name of the attribute
        n_files = len({risk.path for risk in risks})
        where = "".join(char if char.isprintable() else "?" for char in str(cwd))
        super().__init__(
            f"{where} has settings of its own that run code or steer the client "
            f"({_count(len(risks), 'thing')} in {_count(n_files, 'file')}): look at them, then --trust"
        )


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}{'' if n == 1 else 's'}"


def risks_in(cwd: Path, agent: str, env: Mapping[str, str]) -> list[Risk]:
    """What a client in this folder would execute or be steered by, from files other than the user's own settings."""
    real = Path(os.path.realpath(cwd))
    return list(dict.fromkeys(support_for(agent).client.risks(real, env)))


def is_trusted(home: Home, cwd: Path, risks: Sequence[Risk]) -> bool:
    """Whether all of these risks are trusted in this folder."""
    if not risks:
        return True
    trusted = _trusted_in(home) or {}
    return set(map(_mark_of, risks)) <= set(trusted.get(os.path.realpath(cwd), []))


def trust(home: Home, cwd: Path, risks: Sequence[Risk]) -> str | None:
    """Trust all of these risks in this folder; returns a note about our own file, if there is one."""
    if not risks:
        return None
    home.make()
    make_private_folder(home.runs)
    with _said_plainly(home), _alone(home):
        trusted = _trusted_in(home)
        note = None if trusted is not None else _set_aside(home)
        trusted = trusted or {}
        here = os.path.realpath(cwd)
        trusted[here] = sorted({*trusted.get(here, []), *map(_mark_of, risks)})
        write_private(_file_of(home), json.dumps({"v": 1, "trusted": trusted}, indent=1).encode() + b"\n")
    return note


def _file_of(home: Home) -> Path:
    return home.runs / "trusted.json"


def _mark_of(risk: Risk) -> str:
    parts = risk.path.parts
    folders = {one.client.project_folder for one in SUPPORTED.values()}
    start = max((n for n, part in enumerate(parts) if part in folders), default=len(parts) - 1)
    whole = json.dumps(["/".join(parts[start:]), risk.what, risk.detail])
    return sha256(whole.encode()).hexdigest()


def _trusted_in(home: Home) -> dict[str, list[str]] | None:
    """The trusted marks by folder; None if the file holds something else."""
    try:
        data = read_whole(_file_of(home))
        document = json.loads(data) if data is not None else {"v": 1, "trusted": {}}
    except (OSError, ValueError, RecursionError):
        return None
    trusted = document.get("trusted") if isinstance(document, dict) and document.get("v") == 1 else None
    return trusted if isinstance(trusted, dict) and all(map(_are_marks, trusted.values())) else None


def _are_marks(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(mark, str) for mark in value)


def _set_aside(home: Home) -> str:
    path = _file_of(home)
    aside = path.with_name(f"trusted.broken-{time.time_ns()}.json")
    os.rename(path, aside)
    return f"{path} could not be read: it is kept as {aside.name}, and nothing of it is trusted"


@contextmanager
def _said_plainly(home: Home) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UserError(
            f"cannot write {_file_of(home)}: {error.strerror}; name another folder with --home"
        ) from error


@contextmanager
def _alone(home: Home) -> Iterator[None]:
    """Hold the lock of the file; waits for other processes for a while."""
    until = time.monotonic() + _LOCK_WAIT_S
    with ExitStack() as stack:
        while True:
            try:
                stack.enter_context(held_lock_at(home.runs / "trusted.lock"))
                break
            except Busy as error:
                if time.monotonic() > until:
                    raise UserError(f"{_file_of(home)} is in use by another tracklog: try again") from error
                time.sleep(0.02)
        yield
