"""Refuse requests that make no sense, before anything is started."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from tracklog.agents.supported import SUPPORTED, support_for
from tracklog.errors import UserError
from tracklog.model.run_request import RunRequest, is_session_name

AGENTS = tuple(SUPPORTED)
_SESSION = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_OPTIONS = {  # how the command line calls what a client may have no equivalent for
    "max_turns": "--max-turns",
    "allowed_tools": "--allow",
    "disallowed_tools": "--deny",
    "append_system_prompt": "--append-system-prompt",
    "name": "--name",
    "session": "--session-id",
    "ask_here_s": "--ask-here",
}


def checked(request: RunRequest) -> RunRequest:
    """Return the same request; raise UserError if it cannot be carried out as asked."""
    for is_wrong, what in (
        (request.agent not in SUPPORTED, f"no agent {request.agent}: {' or '.join(AGENTS)}"),
        (not request.prompt.strip(), "an empty prompt: say what is to be done"),
        (not os.path.isdir(request.cwd), f"{request.cwd} is no folder: name the one to work in with --cwd"),
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
        *_missing_in_the_client(request),
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
    yield from (os.fspath(path) for path in (request.cwd, *request.add_dirs))


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


def _missing_in_the_client(request: RunRequest) -> Iterator[tuple[bool, str]]:
    """Options without an equivalent in the client: to drop them without a word would be a lie."""
    support = support_for(request.agent)
    missing = support.client.missing
    for field, option in _OPTIONS.items():
        is_given = getattr(request, field) not in (None, ())
        yield field in missing and is_given, f"{option}: {support.label} has no such thing"
