"""Our end of the FIFO that a child's hooks write to (`hook.py --fifo`), and the hook as it stands in the overlay.

Rules of this room
  1. Nobody waits for anybody: we never block, and a hook gives up after two seconds.
  2. A payload comes in frames, each written at once, so that those of several hooks may stand between one another.
  3. Anything may be written there, by anybody of the child: what is no frame is dropped, and memory has a bound.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shlex
import stat
import sys
from pathlib import Path
from typing import Any, NamedTuple

from tracklog import hook
from tracklog.live.hook_command import GUARD, MARK, TIMEOUT_S
from tracklog.run.leaves import leaf

MOST_BYTES = 64 << 20  # of all payloads that are not whole yet
_AT_ONCE = 1 << 16
_PIPE_BYTES = 1 << 20  # so much may wait there while we do something else
_MOST_AT_ONCE = 16 << 20  # in one call, so that a writer without an end does not hold us


class Header(NamedTuple):
    """What stands before each part of a payload."""

    pid: int
    number: int
    n_frames: int
    length: int


class Fifo:
    """Our end of the FIFO. We hold a writing end, too: otherwise it would end whenever no hook runs."""

    def __init__(self, path: Path) -> None:
        flags = os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
        self.descriptor = os.open(path, os.O_RDONLY | flags)
        try:
            if not stat.S_ISFIFO(os.fstat(self.descriptor).st_mode):
                raise FileNotFoundError(f"{path} is no FIFO")
            self._writing = os.open(path, os.O_WRONLY | flags)
        except OSError:
            os.close(self.descriptor)
            raise
        with contextlib.suppress(
            AttributeError, OSError
        ):  # only Linux makes pipes longer, and not for everybody
            fcntl.fcntl(self.descriptor, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        self._frames = Frames()
        self._is_closed = False

    def hear(self) -> list[bytes]:
        """The payloads that have become whole, in the order in which they did."""
        whole: list[bytes] = []
        n_read = 0
        while not self._is_closed and n_read < _MOST_AT_ONCE:
            try:
                data = os.read(self.descriptor, _AT_ONCE)
            except BlockingIOError:
                break
            n_read += len(data)
            whole += self._frames.take(data)
        return whole

    def close(self) -> None:
        """Lets go of it; a second time does nothing."""
        if not self._is_closed:
            self._is_closed = True
            os.close(self.descriptor)
            os.close(self._writing)


class Frames:
    """Puts payloads together again, however the bytes arrive."""

    def __init__(self) -> None:
        self._rest = b""
        self._parts: dict[int, list[bytes]] = {}  # of each writer; who has begun first stands first
        self._n_bytes = 0

    def take(self, data: bytes) -> list[bytes]:
        """The payloads that these bytes make whole."""
        data = self._rest + data
        whole: list[bytes] = []
        at = data.find(hook.MAGIC)
        while at >= 0:
            end = self._take_frame(data, at, whole)
            if end is None:  # the rest of it is still to come
                self._rest = data[at:]
                return whole
            at = data.find(hook.MAGIC, end)
        self._rest = data[-len(hook.MAGIC) + 1 :]  # it may be the beginning of a mark
        return whole

    def _take_frame(self, data: bytes, at: int, whole: list[bytes]) -> int | None:
        """Takes the frame that begins here; where to look for the next one."""
        body = at + hook.HEADER_BYTES
        if len(data) < body:
            return None
        header = _header(data[at + len(hook.MAGIC) : body])
        if header is None:
            return at + 1
        another = data.find(hook.MAGIC, at + 1, body + header.length)
        if another >= 0:  # no payload holds a mark: what began here was cut off
            return another
        if len(data) < body + header.length:
            return None
        self._take_part(header, data[body : body + header.length], whole)
        return body + header.length

    def _take_part(self, header: Header, part: bytes, whole: list[bytes]) -> None:
        if header.number == 0:
            self._forget(header.pid)  # a writer of this number died before it had said all
            self._parts[header.pid] = []
        parts = self._parts.get(header.pid)
        if parts is None or len(parts) != header.number:
            return self._forget(header.pid)  # its beginning is not there: nothing can come of it
        parts.append(part)
        self._n_bytes += len(part)
        if len(parts) == header.n_frames:
            whole.append(b"".join(parts))
            self._forget(header.pid)
        while self._n_bytes > MOST_BYTES:
            self._forget(next(iter(self._parts)))
        return None

    def _forget(self, pid: int) -> None:
        self._n_bytes -= sum(map(len, self._parts.pop(pid, ())))


def _header(told: bytes) -> Header | None:
    """What a header says, if it makes sense."""
    if not told.isdigit():
        return None
    header = Header(int(told[:10]), int(told[10:16]), int(told[16:22]), int(told[22:]))
    is_sane = header.number < header.n_frames and 0 < header.length <= hook.LONGEST_FRAME
    return header if is_sane else None


def hook_words(fifo: Path) -> list[str]:
    """The command of a hook that writes to this FIFO, word by word."""
    python = os.path.abspath(sys.executable)
    return ["/bin/sh", "-c", GUARD, MARK, python, "-I", "-S", leaf(hook), "--fifo", str(fifo.absolute())]


def handler(fifo: Path, *, timeout_s: int = TIMEOUT_S) -> dict[str, Any]:
    """The hook as it stands in settings."""
    return {"type": "command", "command": f"exec {shlex.join(hook_words(fifo))}", "timeout": timeout_s}
