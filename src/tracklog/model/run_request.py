"""What is asked of one child session, and the limits it works under. Plain tuples: a dataclass takes longer to load."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from tracklog.errors import UserError

Agent = Literal["claude", "codex"]
AGENTS: tuple[Agent, ...] = ("claude", "codex")
GRACE_S = 5.0  # for a child to end by itself once it was interrupted, and once more when it was told to end
_NAME = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{0,127}")
_SESSION = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def is_session_name(text: str) -> bool:
    """Whether this may stand in the client's arguments as a session: it must not be taken for an option."""
    return _NAME.fullmatch(text) is not None


def session_in(value: object) -> str | None:
    """A session's id, if it is one: it becomes a part of paths."""
    return value if isinstance(value, str) and is_session_name(value) else None


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
    cwd: Path
    model: str | None = None
    permission_mode: str | None = None
    allowed_tools: tuple[str, ...] = ()
    disallowed_tools: tuple[str, ...] = ()
    add_dirs: tuple[Path, ...] = ()
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
    trusted_as: Path | None = (
        None  # the folder whose trust counts, if it is another: that of which this is a worktree
    )
    batch: str | None = None  # the line of a list that it answers


def checked(request: RunRequest) -> RunRequest:
    """The same request; raises UserError for what makes no sense."""
    for is_wrong, what in (
        (request.agent not in AGENTS, f"no agent {request.agent}: {' or '.join(AGENTS)}"),
        (not request.prompt.strip(), "an empty prompt: say what is to be done"),
        (not request.cwd.is_dir(), f"{request.cwd} is no folder: name the one to work in with --cwd"),
        (
            request.session is not None and not _SESSION.fullmatch(request.session),
            f"{request.session} is no session id: it takes a UUID in small letters",
        ),
        (
            request.limits.max_cost_micro_usd is not None and not request.persists,
            "--max-cost counts what stands in the log: it does not go with --no-persistence",
        ),
        (request.is_fork and request.resume is None, "a fork needs a session to begin from"),
        (
            request.resume is not None and not is_session_name(request.resume),
            f"{request.resume!r} is no session id",
        ),
        (any("\0" in word for word in _words(request)), "a NUL cannot be handed to the client"),
        (request.max_turns is not None and request.max_turns < 1, "--max-turns needs at least 1"),
        *_options_in_disguise(request),
        *(_wrong_for_codex(request) if request.agent == "codex" else ()),
    ):
        if is_wrong:
            raise UserError(what)
    return request


def _words(request: RunRequest) -> Iterator[str]:
    """All that becomes an argument of the client."""
    given = (
        request.model,
        request.permission_mode,
        request.name,
        request.append_system_prompt,
        request.client,
    )
    yield from (word for word in given if word is not None)
    yield from (*request.allowed_tools, *request.disallowed_tools, *request.client_arguments)
    yield from map(str, (request.cwd, *request.add_dirs))


def _options_in_disguise(request: RunRequest) -> Iterator[tuple[bool, str]]:
    """Values that the client would read as options of its own: `--allow` takes words up to the next dash."""
    for name, values in (
        ("--model", (request.model,)),
        ("--permission-mode", (request.permission_mode,)),
        ("--name", (request.name,)),
        ("--allow", request.allowed_tools),
        ("--deny", request.disallowed_tools),
        ("--add-dir", request.add_dirs),
    ):
        for value in values:
            yield (
                value is not None and str(value).startswith("-"),
                f"{name} {value}: a value must not start with a dash, the client would take it for an option; "
                "pass options of the client behind `--`",
            )


def _wrong_for_codex(request: RunRequest) -> list[tuple[bool, str]]:
    """Codex has no such thing, and to leave it out without a word would be a lie."""
    unknown = {
        "--max-turns": request.max_turns,
        "--allow": request.allowed_tools,
        "--deny": request.disallowed_tools,
        "--append-system-prompt": request.append_system_prompt,
        "--name": request.name,
        "--session-id": request.session,
        "--ask-here": request.ask_here_s,
    }
    return [(value not in (None, ()), f"{name}: Codex has no such thing") for name, value in unknown.items()]
