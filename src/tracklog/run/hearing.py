"""What a child's hooks tell us: each puts its payload into a file of the private folder, and says so on the FIFO there.

Rules of this room
  1. Nobody waits for anybody: we never block; a hook writes a few bytes to a pipe that is held open at both ends by itself.
  2. A hook is a line of shell, as the client waits for it: Python would take ten times as long to start.
  3. It ends with 0 and says nothing, whatever happens: with 2 it would steer the client.
  4. Anything may be written there, by anybody of the child: what is no number is dropped, and memory has a bound.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shlex
import stat
from pathlib import Path
from typing import Any

from tracklog.hook import MOST_BYTES
from tracklog.live.hook_command import MARK, TIMEOUT_S

PREFIX = "hook."  # of a file with a payload; the number of the process that wrote it stands behind
# A FIFO that is opened for both is there at once, and what nobody reads is gone with it. The last `cat`: who tells us
# something is not cut off.
TELL = (
    "exec >/dev/null 2>&1; umask 077; set -C; PATH=$PATH:/usr/bin:/bin; "
    f'cd "$1" && [ ! -L "$2" ] && [ -p "$2" ] && cat >{PREFIX}$$ && echo $$ 1<>"$2" || cat; exit 0'
)
_NUMBER = re.compile(rb"[1-9][0-9]{0,9}")
_AT_ONCE = 1 << 16
_MOST_AT_ONCE = 1 << 20  # in one call, so that a writer without an end does not hold us


class Fifo:
    """Our end of the FIFO. We hold a writing end, too: otherwise it would end whenever no hook runs."""

    def __init__(self, path: Path) -> None:
        flags = os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
        self._folder = path.parent
        self._rest = b""
        self._is_closed = False
        self.descriptor = os.open(path, os.O_RDONLY | flags)
        try:
            if not stat.S_ISFIFO(os.fstat(self.descriptor).st_mode):
                raise FileNotFoundError(f"{path} is no FIFO")
            self._writing = os.open(path, os.O_WRONLY | flags)
        except OSError:
            os.close(self.descriptor)
            raise
        with contextlib.suppress(AttributeError, OSError):  # only Linux makes pipes longer
            fcntl.fcntl(self.descriptor, fcntl.F_SETPIPE_SZ, _MOST_AT_ONCE)

    def hear(self) -> list[bytes]:
        """The payloads that were told of since, in the order in which they were."""
        told: list[bytes] = []
        n_read = 0
        while not self._is_closed and n_read < _MOST_AT_ONCE:
            try:
                data = os.read(self.descriptor, _AT_ONCE)
            except BlockingIOError:
                break
            n_read += len(data)
            *lines, rest = (self._rest + data).split(b"\n")
            self._rest = rest[:16]  # no number is longer
            told += [line for line in lines if _NUMBER.fullmatch(line)]
        payloads = [_taken(self._folder / f"{PREFIX}{number.decode()}") for number in told]
        return [payload for payload in payloads if payload is not None]

    def close(self) -> None:
        """Lets go of it; a second time does nothing."""
        if not self._is_closed:
            self._is_closed = True
            os.close(self.descriptor)
            os.close(self._writing)


def _taken(path: Path) -> bytes | None:
    """What stands in a file of ours, which is removed; None if it is none, or too long."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None  # it was told twice, or the folder is gone
    try:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode):
            return None
        os.unlink(path)
        with open(descriptor, "rb", closefd=False) as stream:
            return stream.read() if facts.st_size <= MOST_BYTES else None
    except OSError:
        return None
    finally:
        os.close(descriptor)


def hook_words(fifo: Path) -> list[str]:
    """The command of a hook that tells us something, word by word."""
    return ["/bin/sh", "-c", TELL, MARK, str(fifo.absolute().parent), fifo.name]


def handler(fifo: Path, *, timeout_s: int = TIMEOUT_S) -> dict[str, Any]:
    """The hook as it stands in settings."""
    return {"type": "command", "command": f"exec {shlex.join(hook_words(fifo))}", "timeout": timeout_s}
