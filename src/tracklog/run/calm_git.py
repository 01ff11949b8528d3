"""Git, with nothing run that a repository's own settings name.

Rules of this room
  1. No hooks, no file system monitor, no filters, no network, no questions.
  2. Variables of the caller that lead git to another repository do not reach it.
  3. It is never waited for without end.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress

from tracklog.errors import UserError

_CALM = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "submodule.recurse=false",
    "gc.auto=0",
    "maintenance.auto=false",
)
_PROTECTING = {
    "GIT_ALLOW_PROTOCOL": "none",  # a missing object is not fetched: that starts what the repository names
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "LC_ALL": "C",  # we read what it says
}
_FILTER_OFF = (("smudge", ""), ("clean", ""), ("process", ""), ("required", "false"))
_TIMEOUT_S = 600.0  # a large checkout takes its time
_MOST_WORDS = 300


class GitFailed(Exception):  # noqa: N818 - a finding, which its caller tells in a sentence
    """What git said when it would not."""


class CalmGit:
    """Git in one place, named by the words that come first (`-C`, `--git-dir`)."""

    def __init__(self, place: Sequence[str], env: Mapping[str, str] | None = None) -> None:
        given = os.environ if env is None else env
        program = shutil.which("git", path=given.get("PATH", os.defpath))
        if program is None:
            raise UserError("--worktree needs git, and there is none on PATH: install it, or go without")
        self._env = {key: value for key, value in given.items() if not key.startswith("GIT_")} | _PROTECTING
        self._start = [program, *place, *(word for one in _CALM for word in ("-c", one))]

    def without_filters(self) -> CalmGit:
        """The same, with every filter switched off that the repository's own settings name; the user's own stay."""
        names: set[str] = set()
        for level in ("--local", "--worktree"):
            with suppress(GitFailed):  # none there is a failure, too
                told = self("config", level, "--includes", "-z", "--name-only", "--get-regexp", r"^filter\.")
                names |= {key.rpartition(".")[0] for key in told.split("\0") if key}
        settings = [(f"{name}.{key}", value) for name in sorted(names) for key, value in _FILTER_OFF]
        # by variables, as `-c` takes a name with `=` in it for another one
        for n, (key, value) in enumerate(settings):
            self._env |= {f"GIT_CONFIG_KEY_{n}": key, f"GIT_CONFIG_VALUE_{n}": value}
        self._env["GIT_CONFIG_COUNT"] = str(len(settings))
        return self

    def line(self, *words: str) -> str:
        """The one line that it prints; a path may hold whatever it likes, but for the last newline."""
        return self(*words).removesuffix("\n")

    def __call__(self, *words: str) -> str:
        """What it prints; GitFailed flies."""
        try:
            done = subprocess.run(
                [*self._start, *words],
                env=self._env,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise GitFailed(f"git {words[0]} took more than {_TIMEOUT_S:.0f} s") from error
        except (OSError, ValueError) as error:
            raise GitFailed(f"git cannot be run: {error}") from error
        if done.returncode:
            raise GitFailed(_said(os.fsdecode(done.stderr)) or f"git {words[0]} ended with {done.returncode}")
        return os.fsdecode(done.stdout)


def _said(stderr: str) -> str:
    lines = [line for line in stderr.splitlines() if line.startswith(("fatal:", "error:"))]
    return " ".join((lines or stderr.splitlines() or [""])[-1].split())[:_MOST_WORDS]
