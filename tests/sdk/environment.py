"""Gets Anthropic's own reader of session logs, the Python package `claude-agent-sdk`, into a folder of its own.

    python -m tests.sdk.environment install [--optional]

Rules of this room
  1. The package never enters our own environment or process: `ask.py` is run with it, and prints JSON.
  2. An install is whole or not there: it is made aside and renamed.
  3. From source: the built package carries a whole client of 300 MB, which nobody here needs.
"""

from __future__ import annotations

import argparse
import atexit
import fcntl
import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.pins import CONSTRAINTS, pinned

PACKAGE = "claude-agent-sdk"
VERSION = pinned("pypi", PACKAGE)
PROJECT = Path(__file__).resolve().parents[2]
INSTALL_S = 600
ASK_S = 120.0
END_S = 60


class Unobtainable(Exception):  # noqa: N818 (it says what is the case, as our errors do)
    """The package cannot be had on this machine, and why."""


def folder() -> Path:
    """Where it is kept between runs: in TRACKLOG_SDK_CACHE, else in `.lab/sdk` of the project."""
    cache = Path(os.environ.get("TRACKLOG_SDK_CACHE") or PROJECT / ".lab" / "sdk")
    return cache / f"{PACKAGE}-{VERSION}-py{sys.version_info.major}.{sys.version_info.minor}"


def install() -> Path:
    """The folder with the package, installed now unless it is there already."""
    place = folder()
    place.parent.mkdir(parents=True, exist_ok=True)
    with _turn(place.with_name(place.name + ".lock")):
        if not place.exists():
            _install_aside(place)
    return place


def installed() -> Path:
    """Return the folder with the package. Tests install nothing: `make sdk` does."""
    if not folder().exists():
        raise Unobtainable(f"{PACKAGE} {VERSION} is not installed: run make sdk")
    return folder()


def _install_aside(place: Path) -> None:
    aside = place.with_name(place.name + ".part")
    shutil.rmtree(aside, ignore_errors=True)
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--constraint",
        str(CONSTRAINTS),
        "--target",
        str(aside),
    ]
    command = [*pip, "--no-binary", PACKAGE, f"{PACKAGE}=={VERSION}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_S)
    except subprocess.TimeoutExpired as error:
        raise Unobtainable(f"pip took longer than {INSTALL_S} s") from error
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()
        raise Unobtainable(f"pip: {said[-1] if said else 'no reason given'}")
    aside.rename(place)


@contextmanager
def _turn(lock: Path) -> Iterator[None]:
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


def messages_of(home: Path, session_ids: list[str]) -> dict[str, list[str]]:
    """What `get_session_messages` returns for sessions of a Claude home: the uuids, in its order."""
    sdk = _started()
    assert sdk.stdin is not None
    assert sdk.stdout is not None
    limit = threading.Timer(ASK_S, sdk.kill)
    limit.start()
    sdk.stdin.write(json.dumps([str(home), session_ids]) + "\n")
    sdk.stdin.flush()
    line = sdk.stdout.readline()
    limit.cancel()
    assert line, f"ask.py ended, or took longer than {ASK_S:g} s"
    answer: dict[str, list[str]] = json.loads(line)
    return answer


@functools.cache
def _started() -> subprocess.Popen[str]:
    """Start `ask.py` once for all questions of this process: importing the SDK takes a second."""
    command = [sys.executable, "-I", str(Path(__file__).with_name("ask.py")), str(installed())]
    nowhere = tempfile.TemporaryDirectory(prefix="sdk-home-")
    environment = {"PATH": os.defpath, "HOME": nowhere.name}
    sdk = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)

    def end() -> None:
        assert sdk.stdin is not None
        sdk.stdin.close()
        sdk.wait(END_S)
        nowhere.cleanup()

    atexit.register(end)
    return sdk


def main() -> int:
    """Installs; with `--optional`, what cannot be had is only said."""
    parser = argparse.ArgumentParser(description=install.__doc__)
    parser.add_argument("verb", choices=["install"])
    parser.add_argument("--optional", action="store_true")
    arguments = parser.parse_args()
    try:
        install()
    except Unobtainable as reason:
        print(f"no {PACKAGE} {VERSION}: {reason}", file=sys.stderr)
        return 0 if arguments.optional else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
