"""A git worktree for a child: a checkout of its own, kept if it changed something.

Rules
  1. Work is never thrown away: only a worktree that git calls clean, whose branch did not move, is removed. Any
     doubt keeps it.
  2. Leaving never raises: a problem is reported, and the worktree is kept.
  3. All git runs through SafeGit, so the repository's own settings run nothing: no hooks, no file system monitor,
     no filters, no network, no questions.
  4. Variables of the caller that lead git to another repository do not reach it, and every call has a timeout.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from tracklog.errors import UserError
from tracklog.home import Home, make_private_folder

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


class GitFailed(Exception):  # noqa: N818 - a finding, which its caller reports in a sentence
    """Git failed, with what it printed."""


class SafeGit:
    """Git for one repository, given by its first arguments (`-C`, `--git-dir`)."""

    def __init__(self, place: Sequence[str], env: Mapping[str, str] | None = None) -> None:
        given = os.environ if env is None else env
        program = shutil.which("git", path=given.get("PATH", os.defpath))
        if program is None:
            raise UserError("--worktree needs git, and there is none on PATH: install it, or go without")
        self._env = {key: value for key, value in given.items() if not key.startswith("GIT_")} | _PROTECTING
        self._start = [program, *place, *(word for one in _CALM for word in ("-c", one))]

    def without_filters(self) -> SafeGit:
        """The same without the filters that the repository's own settings name; the user's own stay."""
        names: set[str] = set()
        for level in ("--local", "--worktree"):
            with suppress(GitFailed):  # git fails if there is none, too
                output = self(
                    "config", level, "--includes", "-z", "--name-only", "--get-regexp", r"^filter\."
                )
                names |= {key.rpartition(".")[0] for key in output.split("\0") if key}
        settings = [(f"{name}.{key}", value) for name in sorted(names) for key, value in _FILTER_OFF]
        # by variables, as `-c` takes a name with `=` in it for another one
        for n, (key, value) in enumerate(settings):
            self._env |= {f"GIT_CONFIG_KEY_{n}": key, f"GIT_CONFIG_VALUE_{n}": value}
        self._env["GIT_CONFIG_COUNT"] = str(len(settings))
        return self

    def line(self, *words: str) -> str:
        """Run git and return its output without the last newline; a path may hold any character."""
        return self(*words).removesuffix("\n")

    def __call__(self, *words: str) -> str:
        """Run git and return its output; raises GitFailed."""
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


# printed while another git works, also for a half made or half removed worktree
_BUSY = re.compile(r"\.lock'|cannot lock|could not lock|unable to create|[./]git/worktrees/", re.I)
_PATIENCE_S, _PAUSE_S = 5.0, 0.05


class Worktree(NamedTuple):
    """A checkout of its own, on a branch of its own."""

    path: Path
    branch: str
    base: str  # the commit at which it began
    repository: Path  # the checkout it was made from
    cwd: Path  # the folder in it that corresponds to the caller's
    common: Path  # the directory of git that all checkouts share
    private: Path  # that of this one alone
    note: str | None = None  # about files that it lacks


def add(cwd: Path, home: Home, run: str, *, env: Mapping[str, str] | None = None) -> Worktree:
    """Add a worktree of the repository that this folder is part of; raises UserError if there cannot be one."""
    here = Path(os.path.realpath(cwd))
    git = SafeGit(["-C", str(here)], env)
    root = _root_of(git, here)
    base = _commit_of(git, root)
    path, branch = _place_for(home, run), f"tracklog/{run}"
    _refuse_what_is_there(git, path, branch)
    try:
        common = Path(os.path.realpath(here / git.line("rev-parse", "--git-common-dir")))
        _check_out(git.without_filters(), path, branch=branch, base=base)
        private = Path(SafeGit(["-C", str(path)], env).line("rev-parse", "--absolute-git-dir"))
        within = _same_folder_in(path, here.relative_to(root))
    except BaseException as error:
        _undo(git, path, branch=branch, base=base)
        if isinstance(error, GitFailed):
            raise UserError(f"no worktree of {root}: {error}") from error
        raise
    return Worktree(path, branch, base, root, within, common, private, _note(git, root))


def _root_of(git: SafeGit, here: Path) -> Path:
    try:
        root = Path(git.line("rev-parse", "--show-toplevel"))
    except GitFailed as error:
        if "not a git repository" in str(error):
            raise UserError(
                f"{here} is in no git repository: --worktree needs one (git init), or go without"
            ) from error
        raise UserError(f"no worktree of {here}: {error}") from error
    if not here.is_relative_to(root):
        raise UserError(
            f"{here} belongs to a repository whose files stand in {root}: name a folder in there with --cwd"
        )
    return root


def _commit_of(git: SafeGit, root: Path) -> str:
    try:
        return git.line("rev-parse", "--verify", "HEAD^{commit}")
    except GitFailed as error:
        raise UserError(f"{root} has no commit yet, and a worktree begins at one: commit first") from error


def _place_for(home: Home, run: str) -> Path:
    home.make()
    make_private_folder(home.runs)
    make_private_folder(home.runs / "worktrees")
    return home.runs / "worktrees" / run


def _refuse_what_is_there(git: SafeGit, path: Path, branch: str) -> None:
    if os.path.lexists(path):
        raise UserError(f"{path} is there already: remove it, or start another run")
    if _tip_of(git, branch):
        raise UserError(f"there is a branch {branch} already: remove it, or start another run")


def _check_out(git: SafeGit, path: Path, *, branch: str, base: str) -> None:
    words = ("worktree", "add", "--quiet", "--no-track", "-b", branch, str(path), base)
    _patiently(lambda: git(*words), lambda: _undo(git, path, branch=branch, base=base))


def _patiently(do: Callable[[], object], clean: Callable[[], object] = lambda: None) -> None:
    """Retry while another git works in the repository, but not forever."""
    until = time.monotonic() + _PATIENCE_S
    while True:
        try:
            do()
            return
        except GitFailed as error:
            if time.monotonic() > until or not _BUSY.search(str(error)):
                raise
        clean()
        time.sleep(_PAUSE_S * (0.5 + random.random()))


def _undo(git: SafeGit, path: Path, *, branch: str, base: str) -> None:
    """Remove what a failed start of a worktree has left; nothing has worked in it."""
    for words in (
        ("worktree", "remove", "--force", "--force", str(path)),
        ("update-ref", "-d", f"refs/heads/{branch}", base),
    ):
        with suppress(GitFailed):  # it failed before that step
            git(*words)
    shutil.rmtree(path, ignore_errors=True)


def _same_folder_in(path: Path, below: Path) -> Path:
    """The folder in the worktree that corresponds to the caller's; makes it if it is not committed."""
    folder = path / below
    if not Path(os.path.realpath(folder)).is_relative_to(os.path.realpath(path)):
        raise UserError(
            f"{below} is a link out of the repository in its last commit: commit the folder first"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{below} is no folder in the last commit: commit it first") from error
    return folder


def _note(git: SafeGit, root: Path) -> str | None:
    """A note about files that the worktree lacks."""
    try:
        n_changes = len(_changes(git))
    except GitFailed:
        return f"what is not committed in {root} is not in the worktree"
    what = "1 change is" if n_changes == 1 else f"{n_changes} changes are"
    return f"{what} not committed in {root}, and so not in the worktree" if n_changes else None


def _changes(git: SafeGit, *, with_ignored: bool = False) -> list[str]:
    """Two letters for each uncommitted change. Submodules are compared by commit only: git would run their settings inside."""
    shape = ("--porcelain", "-z", "--no-renames")
    ignored = "traditional" if with_ignored else "no"
    which = (f"--ignored={ignored}", "--untracked-files=normal", "--ignore-submodules=dirty")
    return [entry[:2] for entry in git("status", *shape, *which).split("\0") if entry]


def leave(worktree: Worktree) -> dict[str, Any]:
    """Remove a worktree without changes; returns what became of it, and why it is kept: commits, changes, other files.

    Kept without a `why`: it could not be checked or removed, and `problem` says why.
    """
    why: str | None = None
    problem: str | None = None
    try:
        why = _why_kept(worktree)
        if why is None:
            _remove(worktree)
    except (GitFailed, UserError, OSError) as error:
        problem = str(error) if _is_anything_left(worktree) else None
    return {
        "path": str(worktree.path),
        "branch": worktree.branch,
        "kept": why is not None or problem is not None,
        "why": why,
        "problem": problem,
    }


def _is_anything_left(worktree: Worktree) -> bool:
    return os.path.lexists(worktree.path) or worktree.common.exists()


def _why_kept(worktree: Worktree) -> str | None:
    shared = SafeGit(["--git-dir", str(worktree.common)])
    if _tip_of(shared, worktree.branch) not in (worktree.base, None):
        return "commits"
    if worktree.path.is_symlink():
        raise GitFailed(f"{worktree.path} is a link now, and no checkout")
    if not worktree.path.exists():
        return None
    # by its own directory of git: the `.git` in it may lead elsewhere by now
    own = SafeGit(["--git-dir", str(worktree.private), "--work-tree", str(worktree.path)])
    if own.line("rev-parse", "--verify", "HEAD") != worktree.base:
        return "commits"
    changes = set(_changes(own.without_filters(), with_ignored=True))
    if changes - {"??", "!!"}:
        return "changes"
    return "untracked" if "??" in changes else "ignored" if changes else None


def _tip_of(git: SafeGit, branch: str) -> str | None:
    """The commit of the branch, if there is one."""
    return git.line("for-each-ref", "--format=%(objectname)", f"refs/heads/{branch}") or None


def _remove(worktree: Worktree) -> None:
    """Remove the worktree; git checks once more that it is clean, and refuses otherwise."""
    git = SafeGit(["--git-dir", str(worktree.common)]).without_filters()
    try:
        _patiently(lambda: git("worktree", "remove", str(worktree.path)))
    except GitFailed as error:
        if "is not a working tree" not in str(error) or worktree.path.exists():
            raise  # else it was removed in git's own way
    if _tip_of(git, worktree.branch):
        git("update-ref", "-d", f"refs/heads/{worktree.branch}", worktree.base)
