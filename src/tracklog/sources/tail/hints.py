"""Hints that something changed below some folders, from the system where it gives any.

Rules
  1. A hint may be missing, late or twice: it saves a look, and proves nothing. Whoever waits for hints also looks by itself.
  2. Where the system refuses, that is said, and waiting is only waiting. Linux says nothing when a folder finds no watch
     left (`max_user_watches`): so the watches are counted. Of a network drive it only tells what this machine writes.
"""

from __future__ import annotations

import os
import time
from collections.abc import Generator, Iterable
from pathlib import Path

from tracklog.errors import why_failed

_STEP_MS = 25  # wait for so long a silence before what came is returned
_MOST_MS = 40  # and so long at most it is gathered
_TICK_MS = 100  # so long is waited at once
_NETWORK = ("nfs", "cifs", "smb", "afs", "ceph", "fuse.sshfs", "fuse.rclone", "fuse.gcsfuse", "9p", "davfs")
_INOTIFY = "anon_inode:inotify"


class Hints:
    """Hears of changes below some folders, which must be there, from now on."""

    def __init__(self, folders: Iterable[Path]) -> None:
        self.folders = list(folders)
        self.problem = next(
            filter(None, map(why_not_told_of, self.folders)), None
        )  # why hints may be missing
        self._heard: Generator[set[tuple[object, str]], None, None] | None = None
        self._early: set[str] = set()
        self._descriptors: frozenset[str] = frozenset()
        if self.folders:
            before = _inotify_descriptors()
            self._heard = _listening(self.folders)
            self._early = self._next()  # only with the first question does the system begin to listen
            after = _inotify_descriptors()
            self._descriptors = after - before or _watching(self.folders, after)

    def wait(self, timeout_s: float) -> set[str]:
        """The paths of which something was heard; nothing if the time is over."""
        deadline = time.monotonic() + timeout_s
        heard, self._early = self._early, set()
        while not heard and self._heard is not None and time.monotonic() < deadline:
            heard = self._next()
        if not heard:
            time.sleep(max(deadline - time.monotonic(), 0))
        return heard

    def n_watched(self) -> int | None:
        """How many folders the system watches for us; None where it does not say."""
        counts = [_watches_of(descriptor) for descriptor in self._descriptors]
        return sum(counts) if counts else None

    def close(self) -> None:
        """Lets the system forget us."""
        if self._heard is not None:
            self._heard.close()
            self._heard, self._descriptors = None, frozenset()

    def _next(self) -> set[str]:
        assert self._heard is not None
        try:
            return {path for _, path in next(self._heard)}
        except StopIteration:
            self.problem = "the system stopped to tell of changes"
        except OSError as error:
            self.problem = why_failed(error)
        except RuntimeError as error:  # what watchfiles raises where the system gives it no watcher
            self.problem = str(error)
        self._heard = None
        return set()


def why_not_told_of(folder: Path) -> str | None:
    """Why the system does not report all changes in a folder: it is on a drive that others write to."""
    kind = _kind_of_drive(folder)
    return f"{folder} is on a network drive ({kind})" if kind.startswith(_NETWORK) else None


def most_watches() -> int | None:
    """How many folders a user of this system may have watched, by all programs together; None if there is no limit."""
    try:
        return int(Path("/proc/sys/fs/inotify/max_user_watches").read_text("ascii"))
    except (OSError, ValueError):
        return None


def _kind_of_drive(folder: Path) -> str:
    try:
        lines = Path("/proc/self/mounts").read_text("utf-8", "replace").splitlines()
    except OSError:
        return ""
    mounts = {words[1]: words[2] for line in lines if len(words := line.split()) > 2}
    at = Path(os.path.realpath(folder))
    return next((mounts[str(above)] for above in (at, *at.parents) if str(above) in mounts), "")


def _inotify_descriptors() -> frozenset[str]:
    try:
        return frozenset(one for one in os.listdir("/proc/self/fd") if _is_inotify(one))
    except OSError:
        return frozenset()


def _is_inotify(descriptor: str) -> bool:
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}") == _INOTIFY
    except OSError:  # closed meanwhile, as the one by which the folder itself was listed
        return False


def _watching(folders: Iterable[Path], descriptors: Iterable[str]) -> frozenset[str]:
    """The descriptors that watch one of these folders: a number that another watcher has just closed is used again."""
    wanted = {b"ino:%x" % status.st_ino for folder in folders if (status := _status_of(folder))}
    return frozenset(one for one in descriptors if wanted & set(_info_of(one).split()))


def _status_of(folder: Path) -> os.stat_result | None:
    try:
        return folder.stat()
    except OSError:
        return None


def _info_of(descriptor: str) -> bytes:
    try:
        return Path(f"/proc/self/fdinfo/{descriptor}").read_bytes()
    except OSError:
        return b""


def _watches_of(descriptor: str) -> int:
    return _info_of(descriptor).count(b"inotify wd:")


def _listening(folders: list[Path]) -> Generator[set[tuple[object, str]], None, None]:
    from watchfiles import watch  # most commands watch nothing

    return watch(  # type: ignore[return-value]
        *folders,
        watch_filter=None,
        step=_STEP_MS,
        debounce=_MOST_MS,
        rust_timeout=_TICK_MS,
        yield_on_timeout=True,
        raise_interrupt=True,
        force_polling=False,  # where it would look at every file by itself, our own looks cost less
        ignore_permission_denied=True,
    )
