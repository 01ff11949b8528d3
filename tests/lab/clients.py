"""Client releases of the lab and their installs: npm, into a cache.

    python -m tests.lab.clients install current|all [--optional]

Rules
  1. An install is complete or absent: npm fills a folder aside, which is then renamed.
  2. Two processes that want the same release take turns (a file lock); the second one finds it installed.
  3. A client that cannot be installed raises `Unobtainable` with the reason; the caller decides what that means.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.pins import older_clients
from tracklog.agents.supported import SUPPORTED

PACKAGES = {"claude": "@anthropic-ai/claude-code", "codex": "@openai/codex"}
CURRENT = {agent: support.verified_release for agent, support in SUPPORTED.items()}
OLDER = {agent: older_clients(agent) for agent in PACKAGES}
PLAYS_ALL = os.environ.get("TRACKLOG_LAB_VERSIONS") == "all"
PROJECT = Path(__file__).resolve().parents[2]
INSTALL_S = 600


class Unobtainable(Exception):  # noqa: N818 (it says what is the case, as our errors do)
    """A client cannot be installed on this machine, and why."""


class Version(tuple[int, ...]):
    """A dotted version that compares by its numbers."""

    def __new__(cls, text: str) -> Version:
        return super().__new__(cls, map(int, text.split(".")))


def cache_directory() -> Path:
    """Folder that keeps installs between runs: TRACKLOG_LAB_CACHE, else `.lab/clients` of the project."""
    return Path(os.environ.get("TRACKLOG_LAB_CACHE") or PROJECT / ".lab" / "clients")


def releases(agent: str, *, older: Sequence[str] | None = None) -> list[str]:
    """Releases to play: the current one; with `make lab` the older ones first (all of them, or those given)."""
    before = (OLDER[agent] if older is None else older) if PLAYS_ALL else ()
    return [*before, CURRENT[agent]]


def install(agent: str, version: str) -> Path:
    """Return the client's program; install it unless it is there already."""
    program = _program(agent, version)
    place = program.parents[2]
    place.parent.mkdir(parents=True, exist_ok=True)
    with _turn(place.with_suffix(".lock")):
        if not program.exists():
            _install_aside(agent, version, place)
    if not program.exists():
        raise Unobtainable(f"npm installed {agent} {version} without its program {agent}")
    return program


def installed(agent: str, version: str) -> Path:
    """Return the program of an installed client. Tests install nothing: `make lab-clients` does, or `make lab`."""
    program = _program(agent, version)
    if not program.exists():
        raise Unobtainable(f"{agent} {version} is not installed: run make lab-clients, which needs npm")
    return program


def installed_or_skip(agent: str, version: str) -> Path:
    """Return the client's program; skip the test with the reason if there is none, or fail it under CI."""
    with skipping_unobtainable():
        return installed(agent, version)


@contextmanager
def skipping_unobtainable() -> Iterator[None]:
    """Skip the test when a client or a terminal cannot be installed; fail it under CI."""
    try:
        yield
    except Unobtainable as reason:
        missing = str(reason)
    else:
        return
    if os.environ.get("CI") == "true":
        pytest.fail(missing, pytrace=False)
    pytest.skip(missing)


def _program(agent: str, version: str) -> Path:
    return cache_directory() / f"{agent}-{version}" / "node_modules" / ".bin" / agent


def _install_aside(agent: str, version: str, place: Path) -> None:
    aside = place.with_name(place.name + ".part")
    for leftover in (aside, place):
        shutil.rmtree(leftover, ignore_errors=True)
    aside.mkdir()
    package = f"{PACKAGES[agent]}@{version}"
    npm(["install", "--no-audit", "--no-fund", "--prefix", str(aside), package], timeout_s=INSTALL_S)
    aside.rename(place)


def npm(arguments: Sequence[str], *, timeout_s: float) -> str:
    """Run npm and return its stdout; raise `Unobtainable` if there is no npm or it fails."""
    program = shutil.which("npm")
    if program is None:
        raise Unobtainable("npm is not installed")
    try:
        done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=timeout_s)
    except subprocess.TimeoutExpired as error:
        raise Unobtainable(f"npm {arguments[0]} took longer than {timeout_s:.0f} s") from error
    if done.returncode != 0:
        raise Unobtainable(f"npm {arguments[0]} failed: {_error_lines(done.stderr)}")
    return done.stdout


def _error_lines(stderr: str) -> str:
    lines = stderr.splitlines()
    return " / ".join(([line for line in lines if "error" in line.lower()] or lines or ["no reason"])[:3])


@contextmanager
def _turn(lock: Path) -> Iterator[None]:
    with lock.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def main(arguments: Sequence[str] | None = None) -> int:
    """Install the pinned clients; progress goes to stderr, the programs' paths to stdout."""
    parser = argparse.ArgumentParser(prog="python -m tests.lab.clients")
    parser.add_argument("verb", choices=["install"])
    parser.add_argument("which", choices=["current", "all"])
    parser.add_argument(
        "--optional", action="store_true", help="exit 0 even when a client cannot be installed"
    )
    options = parser.parse_args(arguments)
    code = 0
    for agent in PACKAGES:
        try:
            for version in (*(OLDER[agent] if options.which == "all" else ()), CURRENT[agent]):
                print(f"lab: {agent} {version} …", file=sys.stderr, flush=True)
                print(install(agent, version))
        except Unobtainable as reason:
            print(f"lab: no {agent}: {reason}", file=sys.stderr)
            code = 0 if options.optional else 1
    return code


if __name__ == "__main__":
    sys.exit(main())
