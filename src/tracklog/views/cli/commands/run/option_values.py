"""Parse the values of options that describe a child, without click."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any, NamedTuple

from tracklog.errors import UserError, why_failed
from tracklog.model.run_request import Limits

_TIME = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h)?")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_MOST_PROMPT_BYTES = 64 << 20


class ChildOptions(NamedTuple):
    """The options for a child, without its prompt and its session."""

    values: dict[str, Any]
    limits: Limits
    prompt_file: str | None = None
    contexts: tuple[str, ...] = ()
    cwd: Path | None = None
    is_detached: bool = False
    has_worktree: bool = False


def seconds_in(text: str) -> float | None:
    """Parse a duration: 90, 90s, 15m, 2h; None if it is none."""
    found = _TIME.fullmatch(text.strip())
    return float(found[1]) * _SECONDS[found[2] or "s"] if found is not None else None


def micro_dollars_in(text: str) -> int | None:
    """Parse an amount: 0.50 or $0.50; None if it is none."""
    try:
        dollars = float(text.strip().removeprefix("$"))
    except ValueError:
        return None
    return round(dollars * 1e6) if 0 < dollars < 1e9 else None


def schema_in(text: str) -> dict[str, Any]:
    """Parse a schema: JSON, or the name of a file with it."""
    try:
        written = text if text.lstrip().startswith("{") else Path(text).read_text("utf-8")
        schema = json.loads(written)
    except OSError as error:
        raise UserError(f"cannot read the schema {text}: {why_failed(error)}") from error
    except (ValueError, RecursionError) as error:
        raise UserError(f"the schema is no JSON: {error}") from error
    if not isinstance(schema, dict):
        raise UserError("the schema is no JSON object")
    return schema


def prompt_of(words: str | None, prompt_file: str | None) -> str:
    """Read the prompt: the argument, a file, or stdin, unless that is a terminal."""
    if words is not None and prompt_file is not None:
        raise UserError("a prompt and --prompt-file: only one of them")
    if words is not None:
        return words
    if prompt_file in (None, "-") and sys.stdin is not None and not os.isatty(sys.stdin.fileno()):
        data = sys.stdin.buffer.read(_MOST_PROMPT_BYTES + 1)
    elif prompt_file in (None, "-"):
        raise UserError("what is to be done? Give a prompt, --prompt-file, or pipe it in")
    else:
        data = _file(Path(prompt_file or ""))
    if len(data) > _MOST_PROMPT_BYTES:
        raise UserError(f"a prompt of more than {_MOST_PROMPT_BYTES >> 20} MB")
    return data.decode("utf-8", "surrogateescape")


def _file(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_MOST_PROMPT_BYTES + 1)
    except OSError as error:
        raise UserError(f"cannot read {path}: {why_failed(error)}") from error
