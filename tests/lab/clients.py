"""Which releases of the clients the lab plays with, and how it gets them: npm, into a cache.

    python -m tests.lab.clients install newest|all [--optional]

Rules of this room
  1. An install is whole or not there: it is made aside and renamed; a half one is never used.
  2. Two processes that want the same release take turns (a file lock); the second finds it done.
  3. What cannot be had raises `Unobtainable` with the reason, and the caller decides what that means.
"""

from __future__ import annotations

import argparse
import fcntl
import functools
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

PACKAGES = {"claude": "@anthropic-ai/claude-code", "codex": "@openai/codex"}
PINNED = {
    "claude": ("1.0.60", "2.0.30", "2.1.100", "2.1.197"),
    "codex": ("0.98.0",),  # an older envelope release: no ordinals, no items, mirrors of every message
}
KNOWN = {"claude": "2.1.326", "codex": "0.169.0"}  # the newest releases whose logs were read to the last key
STABLE = re.compile(r"\d+\.\d+\.\d+")
PROJECT = Path(__file__).resolve().parents[2]
ASK_S = 60
INSTALL_S = 600


class Unobtainable(Exception):  # noqa: N818 (it says what is the case, as our errors do)
    """A client cannot be had on this machine, and why."""


class Version(tuple[int, ...]):
    """A dotted version that compares by its numbers."""

    def __new__(cls, text: str) -> Version:
        return super().__new__(cls, map(int, text.split(".")))


def cache_directory() -> Path:
    """Where installs are kept between runs: TRACKLOG_LAB_CACHE, else `.lab/clients` of the project."""
    return Path(os.environ.get("TRACKLOG_LAB_CACHE") or PROJECT / ".lab" / "clients")


@functools.cache
def newest(agent: str) -> str:
    """The highest stable version there is (npm's tag `latest` can lag behind); offline, the highest in the cache."""
    try:
        return max(_published(agent), key=Version)
    except Unobtainable:
        if kept := _kept(agent):
            return max(kept, key=Version)
        raise


def _published(agent: str) -> list[str]:
    answer = _npm(["view", PACKAGES[agent], "versions", "--json"], timeout_s=ASK_S)
    try:
        listed = json.loads(answer)
    except ValueError as error:
        raise Unobtainable(f"npm's list of {agent} versions is no JSON: {error}") from error
    stable = [v for v in listed if STABLE.fullmatch(v)]
    if not stable:
        raise Unobtainable(f"npm lists no stable version of {PACKAGES[agent]}")
    return stable


def _kept(agent: str) -> list[str]:
    names = (p.name.removeprefix(f"{agent}-") for p in cache_directory().glob(f"{agent}-*"))
    return [name for name in names if STABLE.fullmatch(name)]


def wanted(agent: str, which: str) -> list[str]:
    """The releases to play with: the newest alone, or `all` the pinned ones too."""
    head = newest(agent)
    pinned = PINNED[agent] if which == "all" else ()
    return [*(v for v in pinned if v != head), head]


def install(agent: str, version: str) -> Path:
    """The client's program, installed now unless it is there already."""
    place = cache_directory() / f"{agent}-{version}"
    program = place / "node_modules" / ".bin" / agent
    place.parent.mkdir(parents=True, exist_ok=True)
    with _turn(place.with_suffix(".lock")):
        if not program.exists():
            _install_aside(agent, version, place)
    if not program.exists():
        raise Unobtainable(f"npm installed {agent} {version} without its program {agent}")
    return program


def _install_aside(agent: str, version: str, place: Path) -> None:
    aside = place.with_name(place.name + ".part")
    for leftover in (aside, place):
        shutil.rmtree(leftover, ignore_errors=True)
    aside.mkdir()
    package = f"{PACKAGES[agent]}@{version}"
    _npm(["install", "--no-audit", "--no-fund", "--prefix", str(aside), package], timeout_s=INSTALL_S)
    aside.rename(place)


def _npm(arguments: Sequence[str], *, timeout_s: float) -> str:
    program = shutil.which("npm")
    if program is None:
        raise Unobtainable("npm is not installed")
    try:
        done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=timeout_s)
    except subprocess.TimeoutExpired as error:
        raise Unobtainable(f"npm {arguments[0]} took longer than {timeout_s:.0f} s") from error
    if done.returncode != 0:
        raise Unobtainable(f"npm {arguments[0]} failed: {_last_words(done.stderr)}")
    return done.stdout


def _last_words(stderr: str) -> str:
    told = (
        [line for line in stderr.splitlines() if "error" in line.lower()]
        or stderr.splitlines()
        or ["no reason"]
    )
    return " / ".join(told[:3])


@contextmanager
def _turn(lock: Path) -> Iterator[None]:
    with lock.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line: installs, says what it does on stderr, prints the programs on stdout."""
    parser = argparse.ArgumentParser(prog="python -m tests.lab.clients")
    parser.add_argument("verb", choices=["install"])
    parser.add_argument("which", choices=["newest", "all"])
    parser.add_argument("--optional", action="store_true", help="exit 0 even when a client cannot be had")
    asked = parser.parse_args(arguments)
    code = 0
    for agent in PACKAGES:
        try:
            for version in wanted(agent, asked.which):
                print(f"lab: {agent} {version} …", file=sys.stderr, flush=True)
                print(install(agent, version))
        except Unobtainable as reason:
            print(f"lab: no {agent}: {reason}", file=sys.stderr)
            code = 0 if asked.optional else 1
    return code


if __name__ == "__main__":
    sys.exit(main())
