"""Parse plain `run` commands (a prompt and simple options) without click, so that the client starts sooner."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from tracklog.model.run_request import Limits
from tracklog.views.cli.commands.run.option_values import (
    ChildOptions,
    micro_dollars_in,
    prompt_of,
    seconds_in,
)

if TYPE_CHECKING:
    from tracklog.model.run_request import Agent

# Lazy imports: every command asks whether it is a plain run.


def _is_supported(agent: str) -> bool:
    from tracklog.app.run.child import AGENTS  # loaded when a child is started

    return agent in AGENTS


_FLAGS = {
    "--json": ("as_json", True),
    "--trust": ("is_trusted", True),
    "--no-persistence": ("persists", False),
}
_WORDS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "--agent": ("agent", lambda word: word if _is_supported(word) else None),
    "--model": ("model", str),
    "--permission-mode": ("permission_mode", str),
    "--client": ("client", str),
    "--prompt-file": ("prompt_file", str),
    "--cwd": ("cwd", lambda word: Path(word).absolute()),
    "--timeout": ("timeout_s", lambda word: seconds_in(word) or None),
    "--idle-timeout": ("idle_s", lambda word: seconds_in(word) or None),
    "--max-cost": ("max_cost_micro_usd", micro_dollars_in),
}
_LIMITS = ("timeout_s", "idle_s", "max_cost_micro_usd")
_APART = ("agent", "prompt", "prompt_file", "cwd", "as_json", *_LIMITS)


class FastRunArgs(NamedTuple):
    """The options of a plain `run` command."""

    options: dict[str, Any]

    def do(self, home: Path | None) -> int:
        """Run the child; returns the exit code."""
        from tracklog.home import Home, tracklog_home
        from tracklog.views.cli.commands.run.child import folder_of, request_from, run_one

        options = self.options
        limits = Limits(**{name: options[name] for name in _LIMITS if name in options})
        values = {name: value for name, value in options.items() if name not in _APART}
        given = ChildOptions(values, limits, options.get("prompt_file"), cwd=options.get("cwd"))
        agent = cast("Agent", options.get("agent", "claude"))
        cwd = folder_of(given)
        request = request_from(given, agent, prompt_of(options.get("prompt"), given.prompt_file), cwd)
        return run_one(request, given, Home(tracklog_home(home)), as_json=options.get("as_json", False))


def plain_run(words: Sequence[str]) -> FastRunArgs | None:
    """The options, if each word is a plain one and none comes twice; None: click parses the command, or reports what is wrong."""
    options: dict[str, Any] = {}
    rest = list(words)
    while rest:
        word = rest.pop(0)
        value: Any
        if word in _FLAGS:
            name, value = _FLAGS[word]
        elif word in _WORDS and rest and not rest[0].startswith("-"):
            name, read = _WORDS[word]
            value = read(rest.pop(0))
        elif not word.startswith("-"):
            name, value = "prompt", word
        else:
            return None
        if value is None or name in options:
            return None
        options[name] = value
    return FastRunArgs(options)
