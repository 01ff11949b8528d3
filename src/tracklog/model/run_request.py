"""What is asked of one child session, and the limits it works under. Plain tuples: a dataclass takes longer to load."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, Protocol

Agent = Literal["claude", "codex"]
GRACE_S = 5.0  # for a child to end by itself once it was interrupted, and once more when it was told to end
_NAME = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{0,127}")


def is_session_name(text: str) -> bool:
    """Whether this may stand in the client's arguments as a session: it must not be taken for an option."""
    return _NAME.fullmatch(text) is not None


def session_in(value: object) -> str | None:
    """A session's id, if it is one: it becomes a part of paths."""
    return value if isinstance(value, str) and is_session_name(value) else None


class FolderPath(Protocol):
    """A path such as `pathlib.Path`: this module itself touches no file."""

    def __fspath__(self) -> str: ...


class Limits(NamedTuple):
    """What ends a child before it has ended by itself."""

    timeout_s: float | None = None
    idle_s: float | None = None  # without a line on its stream and without a byte in its logs
    max_cost_micro_usd: int | None = None  # of this run, subagents included
    grace_s: float = GRACE_S


class RunRequest(NamedTuple):
    """All that is asked of one child."""

    agent: Agent
    prompt: str
    cwd: str | FolderPath
    model: str | None = None
    permission_mode: str | None = None
    allowed_tools: tuple[str, ...] = ()
    disallowed_tools: tuple[str, ...] = ()
    add_dirs: tuple[str | FolderPath, ...] = ()
    name: str | None = None
    append_system_prompt: str | None = None
    json_schema: Mapping[str, Any] | None = None
    max_turns: int | None = None
    limits: Limits = Limits()
    persists: bool = True  # whether the client writes a log
    session: str | None = None  # the id that a new session is to have
    resume: str | None = None  # the session that goes on
    is_forced: bool = False  # it goes on though another process has it open
    is_fork: bool = False  # it goes on under a new id, and the old one stays as it is
    ask_here_s: float | None = None  # so long a permission waits for `tracklog answer`
    client: str | None = None  # the program to be run in place of the one on PATH
    client_arguments: tuple[str, ...] = ()  # as they are
    is_trusted: bool = False  # whatever the folder itself would execute
    trusted_as: str | FolderPath | None = (
        None  # the folder whose trust counts: that of which `cwd` is a worktree
    )
    batch: str | None = None  # the line of a list that it answers
