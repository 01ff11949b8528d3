"""Change a settings file that others edit too, so that no edit is lost; remove temporary files.

Rules
  1. The new text is written to a temporary file and swapped in at once: a reader sees the old file or the new one.
  2. Others write there without a lock. The file that we replaced is read once more when nobody can reach it any
     longer: if it is not what we had read, our change is made again on top of it. Linux and macOS can swap two
     files; where a file system cannot, the file is read again just before it is replaced.
  3. A link stays a link, and its target is changed. Permissions, owner and attributes stay.
  4. A file that cannot be changed (read-only, not a file, other names, other owners) is an error of one line that
     says what to do next.
  5. The name of a temporary file says which file it is for and what was in it: `.part` while it is written, then
     digests of the bytes before and after the change.
  6. A temporary file is removed only if it holds what we wrote or what we had read (of which our home has a copy),
     or if it is another name of the settings file itself. Other bytes may be an edit of the user, and stay.
  7. Nothing is removed without the lock of the folder: a living process of ours that writes there holds it.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import re
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from tracklog.errors import UserError
from tracklog.sources.settings_text import Malformed

_NAME = re.compile(
    r"\.(?P<target>.+)\.tracklog-[0-9a-f]{12}(?:\.part|-(?P<before>[0-9a-f]{16})-(?P<after>[0-9a-f]{16}))",
    re.DOTALL,
)


def name_while_written(target: Path) -> Path:
    """A new name for a file that is not complete yet."""
    return target.with_name(f".{target.name}.tracklog-{os.urandom(6).hex()}.part")


def name_when_written(part: Path, *, before: bytes | None, after: bytes | None) -> Path:
    """The name of a complete file, which says what it may hold before and after it takes the place of the target."""
    return part.with_name(f"{part.name.removesuffix('.part')}-{_digest(before)}-{_digest(after)}")


def remove_left_files(folder: Path) -> set[Path]:
    """Remove our temporary files from this folder, which must be locked; returns the files that they were for."""
    removed = set()
    for name in _names_in(folder):
        found = _NAME.fullmatch(name)
        if found is not None and _is_known(folder / name, found):
            with suppress(OSError):
                (folder / name).unlink()
                removed.add(folder / found["target"])
    return removed


def _names_in(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _is_known(path: Path, name: re.Match[str]) -> bool:
    try:
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode):
            return False
        if name["before"] is None or _is_same_file(status, path.with_name(name["target"])):
            return True
        return _digest(path.read_bytes()) in (name["before"], name["after"])
    except OSError:
        return False


def _is_same_file(status: os.stat_result, target: Path) -> bool:
    try:
        return os.path.samestat(status, target.lstat())
    except OSError:
        return False


def _digest(data: bytes | None) -> str:
    return hashlib.sha256(data or b"").hexdigest()[:16]


Change = Callable[[bytes | None], bytes | None]  # from the bytes of a file to its new bytes; None is no file
MOST_BYTES = 32 << 20
_SETTLE_S = 0.02  # an editor that truncates and writes is through with it by then
_LOOKS_S = (
    0.0,
    0.0002,
    0.0005,
    0.001,
    0.002,
    0.005,
    0.01,
)  # until then, often at first: a racing edit goes back at once
_TRIES = 100
_AT_FDCWD, _RENAME_EXCHANGE, _RENAME_SWAP = -100, 2, 2  # linux/fcntl.h, linux/fs.h; sys/stdio.h of macOS


class SettingsChange(NamedTuple):
    """What became of a file: its bytes before and after, None where there was none."""

    before: bytes | None
    after: bytes | None

    @property
    def is_changed(self) -> bool:
        """Whether anything was written."""
        return self.before != self.after


def change_file(path: Path, change: Change) -> SettingsChange:
    """Changes the file at this path, or makes or removes it; links lead to their target."""
    target = Path(os.path.realpath(path))
    with _said_plainly(path):
        if not target.parent.is_dir():
            raise UserError(f"cannot change {path}: there is no folder {target.parent}")
        with locked(target.parent):
            return _change(target, change)


def tidy(folder: Path) -> set[Path]:
    """Remove the temporary files that killed processes of ours left in this folder; returns what they were for."""
    folder = Path(os.path.realpath(folder))
    try:
        with locked(folder) as is_locked:
            return remove_left_files(folder) if is_locked else set()
    except OSError:
        return set()  # no folder, or none that we may open: the change says so


@contextmanager
def _said_plainly(path: Path) -> Iterator[None]:
    try:
        yield
    except Malformed as error:
        raise UserError(f"cannot change {path}: {error}; correct it and try again") from error
    except OSError as error:
        raise UserError(f"cannot change {path}: {(error.strerror or str(error)).lower()}") from error


@contextmanager
def locked(folder: Path) -> Iterator[bool]:
    """One of us at a time; the folder itself is the lock, so nothing is left lying about. Says whether it is locked."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY)
    is_locked = False
    try:
        with suppress(OSError):  # network drives without locks: what others do is seen anyway
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            is_locked = True
        yield is_locked
    finally:
        os.close(descriptor)


def _change(target: Path, change: Change) -> SettingsChange:
    for _ in range(_TRIES):
        old = read_settled(target)
        try:
            new = change(old)
        except Malformed:
            time.sleep(_SETTLE_S)
            if read_whole(target) == old:
                raise
            continue  # another program was in the middle of writing it
        if new == old or _is_put(target, old, new):
            return SettingsChange(old, new)
    raise UserError(f"cannot change {target}: it is being written all the time; try again later")


def read_whole(path: Path) -> bytes | None:
    """The bytes of a file, None if there is none. Never waits: a pipe is refused."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        if status.st_size > MOST_BYTES:
            raise OSError(errno.EFBIG, f"it has more than {MOST_BYTES >> 20} MB")
        with open(descriptor, "rb", closefd=False) as stream:
            return stream.read()
    finally:
        os.close(descriptor)


def read_settled(path: Path) -> bytes | None:
    """The bytes of a file that nobody is writing just now."""
    read = read_whole(path)
    for _ in range(_TRIES):
        time.sleep(_SETTLE_S / 4)
        again = read_whole(path)
        if again == read:
            break
        read = again
    return read


def _is_put(target: Path, old: bytes | None, new: bytes | None) -> bool:
    """Puts the new text in its place; False if the file was not what we had read, and nothing is changed."""
    if old is not None:
        _refuse_what_may_not_change(target)
    aside = _written_beside(target, old, new)
    try:
        if old is None:
            return _is_linked(aside, target)
        if read_whole(target) != old:
            return False
        return _is_removed(aside, target, old) if new is None else _is_swapped(aside, target, old, new)
    finally:
        with suppress(FileNotFoundError):
            aside.unlink()


def _refuse_what_may_not_change(target: Path) -> None:
    status = target.stat()
    if not status.st_mode & 0o222 or not os.access(target, os.W_OK):
        raise UserError(f"{target} is read-only: make it writable (chmod u+w) and try again")
    if status.st_nlink > 1:
        raise UserError(f"{target} has other names (hard links), which would be cut off: change it by hand")


def _written_beside(target: Path, old: bytes | None, new: bytes | None) -> Path:
    """A new file with the new bytes in the same folder, with permissions, owner and attributes of the old one."""
    aside = name_while_written(target)
    mode = 0o666 if old is None else 0o600  # a new file is as open as the user's other new files
    try:
        descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    except PermissionError as error:
        raise UserError(f"the folder {target.parent} is read-only: nothing was changed") from error
    try:
        with open(descriptor, "wb") as stream:
            stream.write(new or b"")
            stream.flush()
            if old is not None:
                _copy_nature(target, descriptor)
            os.fsync(descriptor)
        complete = name_when_written(aside, before=old, after=new)
        os.rename(aside, complete)
    except BaseException:
        aside.unlink()
        raise
    return complete


def _copy_nature(like: Path, descriptor: int) -> None:
    theirs, ours = like.stat(), os.fstat(descriptor)
    if (theirs.st_uid, theirs.st_gid) != (ours.st_uid, ours.st_gid):
        try:
            os.fchown(descriptor, theirs.st_uid, theirs.st_gid)
        except PermissionError as error:
            raise UserError(f"{like} belongs to another user or group: it would become ours") from error
    if sys.platform == "linux":
        with suppress(OSError):  # attributes that this file system does not know, or that are not ours to set
            for name in os.listxattr(like):
                os.setxattr(descriptor, name, os.getxattr(like, name))
    os.fchmod(descriptor, stat.S_IMODE(theirs.st_mode))


def _is_linked(aside: Path, target: Path) -> bool:
    """Give a new file its name, unless there is one by now."""
    try:
        os.link(aside, target)
    except FileExistsError:
        return False
    return True


def _is_swapped(aside: Path, target: Path, old: bytes, new: bytes) -> bool:
    """Puts `aside` in place of the target. What was there is looked at at once, and when late writers are done."""
    if not _swap(aside, target):
        os.replace(aside, target)
        return True
    for wait_s in _LOOKS_S:
        time.sleep(wait_s)
        if read_whole(aside) != old:
            _swap(aside, target)  # an edit came between: it goes back to its place, and we begin again
            _keep_if_it_is_not_ours(aside, target, new)
            return False
    return True


def _keep_if_it_is_not_ours(aside: Path, target: Path, new: bytes) -> None:
    """Of two edits at the same moment one counts, the other is kept in a file of its own, and reported."""
    if read_whole(aside) == new:
        return
    kept = aside.with_name(f"{aside.name}.kept")
    os.rename(aside, kept)
    raise UserError(f"{target} was edited twice just now: one edit is kept in {kept}; look at both")


def _swap(one: Path, other: Path) -> bool:
    """Lets two files change places at once; False if it cannot be done here."""
    import ctypes  # slow to load, and many only read

    system = ctypes.CDLL(None, use_errno=True)
    names = os.fsencode(one), os.fsencode(other)
    try:
        if sys.platform == "darwin":
            failed = system.renamex_np(*names, _RENAME_SWAP)
        else:
            failed = system.renameat2(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE)
    except AttributeError:  # an old C library
        return False
    return not failed


def _is_removed(aside: Path, target: Path, old: bytes) -> bool:
    """Takes a file away; if it was not what we had read, it is put back."""
    os.replace(target, aside)
    for wait_s in _LOOKS_S:
        time.sleep(wait_s)
        if read_whole(aside) != old:
            if not _is_linked(aside, target):
                _keep_if_it_is_not_ours(aside, target, old)
            return False
    return True
