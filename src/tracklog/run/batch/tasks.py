"""Read a list of requests: a JSON object on each line, with values of the command line for missing fields.

Rules
  1. Nothing starts before the whole list is known to be right; every wrong line is reported with its number.
  2. Relative paths in a list start from the folder of the list, so that they mean the same from any folder.
  3. A digest identifies the request. Limits are no part of it: the same request with more time is the same.
"""

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec

from tracklog.errors import UserError, why_failed
from tracklog.model.run_request import Limits, RunRequest
from tracklog.run.request import checked

_MICRO = 1_000_000
_BOM = b"\xef\xbb\xbf"
_LONGEST_ID = 200
_NO_PART_OF_THE_QUESTION = (
    "limits",
    "max_turns",
    "session",
    "ask_here_s",
    "client",
    "is_trusted",
    "is_forced",
    "batch",
)

Seconds = Annotated[float, msgspec.Meta(gt=0)]
Dollars = Annotated[float, msgspec.Meta(ge=0, lt=1e9)]
Turns = Annotated[int, msgspec.Meta(ge=1)]


class BatchTask(NamedTuple):
    """One line of a list: a request, and the id of its result."""

    id: str
    n: int  # the line
    request: RunRequest
    digest: str
    in_worktree: bool = False


class WrongLine(NamedTuple):
    """A line that cannot be run, and why."""

    n: int
    why: str


class TaskList(NamedTuple):
    """The tasks of a list; if a line is wrong, none of them may run."""

    tasks: list[BatchTask]
    wrong: list[WrongLine]


class _Line(msgspec.Struct, forbid_unknown_fields=True):
    """A line of the list."""

    prompt: str | None = None
    prompt_file: str | None = None
    id: str | None = None
    agent: str | None = None
    cwd: str | None = None
    model: str | None = None
    timeout: Seconds | None = None
    idle_timeout: Seconds | None = None
    max_cost: Dollars | None = None
    max_turns: Turns | None = None
    permission_mode: str | None = None
    allow: list[str] | None = None
    deny: list[str] | None = None
    append_system_prompt: str | None = None
    json_schema: dict[str, Any] | None = None
    resume: str | None = None
    fork: bool | None = None
    name: str | None = None
    worktree: bool | None = None
    args: list[str] | None = None


_decode = msgspec.json.Decoder(_Line).decode


def read_list(
    lines: Iterable[bytes], base: RunRequest, *, folder: Path, in_worktree: bool = False
) -> TaskList:
    """The tasks of a list. `base` has the values that a line may leave out; its own prompt is not used."""
    tasks: list[BatchTask] = []
    wrong: list[WrongLine] = []
    first_of: dict[str, int] = {}
    for n, line in enumerate(lines, 1):
        text = (line.removeprefix(_BOM) if n == 1 else line).strip()
        if not text or text.startswith(b"#"):
            continue
        try:
            task = _task(n, text, base, folder, in_worktree=in_worktree)
        except UserError as error:
            wrong.append(WrongLine(n, str(error)))
            continue
        if (before := first_of.setdefault(task.id, n)) != n:
            wrong.append(WrongLine(n, f"the id {task.id} stands on line {before} already"))
        tasks.append(task)
    return TaskList(tasks, wrong)


def same_again(request: RunRequest, times: int, *, in_worktree: bool = False) -> list[BatchTask]:
    """The same request several times."""
    digest = digest_of(request, in_worktree=in_worktree)
    return [BatchTask(f"run-{n}", n, request, digest, in_worktree) for n in range(1, times + 1)]


def digest_of(request: RunRequest, *, in_worktree: bool) -> str:
    """A digest of the request, in 16 letters. Defaults are no part of it, as a later release may add fields."""
    unsaid = RunRequest._field_defaults
    said = {
        name: value
        for name, value in request._asdict().items()
        if name not in unsaid or value != unsaid[name]
    }
    asked = {name: value for name, value in said.items() if name not in _NO_PART_OF_THE_QUESTION}
    asked |= {"in_worktree": in_worktree, "json_schema": _plain(request.json_schema)}
    return hashlib.sha256(repr(sorted(asked.items())).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _plain(schema: object) -> bytes | None:
    return None if schema is None else msgspec.json.encode(schema, order="sorted")


def _task(n: int, text: bytes, base: RunRequest, folder: Path, *, in_worktree: bool) -> BatchTask:
    line = _read(text)
    name = f"line-{n}" if line.id is None else line.id
    if not 0 < len(name) <= _LONGEST_ID:
        raise UserError(f"an id has 1 to {_LONGEST_ID} letters")
    request = base._replace(
        prompt=_prompt(line, folder),
        cwd=base.cwd if line.cwd is None else _beside(folder, line.cwd),
        limits=_limits(line, base.limits),
        **_named_alike(line),
        **_named_otherwise(line),
    )
    checked(request)
    is_apart = in_worktree if line.worktree is None else line.worktree
    return BatchTask(name, n, request, digest_of(request, in_worktree=is_apart), is_apart)


def _read(text: bytes) -> _Line:
    try:
        return _decode(text)
    except msgspec.ValidationError as error:
        raise UserError(str(error)) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UserError(f"no JSON: {error}") from error


def _prompt(line: _Line, folder: Path) -> str:
    if (line.prompt is None) == (line.prompt_file is None):
        raise UserError("it takes either `prompt` or `prompt_file`")
    if line.prompt_file is None:
        return line.prompt or ""
    path = _beside(folder, line.prompt_file)
    try:
        return path.read_bytes().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise UserError(f"cannot read {path}: {why_failed(error)}") from error
    except ValueError as error:  # a NUL in the name
        raise UserError(f"cannot read {path}: {error}") from error


def _beside(folder: Path, name: str) -> Path:
    if "\0" in name:
        raise UserError("no path has a NUL in it")
    return Path(os.path.normpath(folder / Path(name).expanduser()))


def _limits(line: _Line, base: Limits) -> Limits:
    cost = base.max_cost_micro_usd if line.max_cost is None else round(line.max_cost * _MICRO)
    return base._replace(
        timeout_s=line.timeout or base.timeout_s,
        idle_s=line.idle_timeout or base.idle_s,
        max_cost_micro_usd=cost,
    )


def _named_alike(line: _Line) -> dict[str, Any]:
    """The fields that have the same name in a line and in a request."""
    names = (
        "agent",
        "model",
        "max_turns",
        "permission_mode",
        "append_system_prompt",
        "json_schema",
        "resume",
        "name",
    )
    return {name: value for name in names if (value := getattr(line, name)) is not None}


def _named_otherwise(line: _Line) -> dict[str, Any]:
    given = {
        "allowed_tools": line.allow,
        "disallowed_tools": line.deny,
        "client_arguments": line.args,
        "is_fork": line.fork,
    }
    return {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in given.items()
        if value is not None
    }
