"""Errors that users cause, with their exit codes, and plain words for refusals of the file system."""

from __future__ import annotations

import errno
import os
import stat


class UserError(Exception):
    """The user's mistake, told in one line that says what to do next; the command exits with 2."""


SYMBOLIC_LINK = "symbolic link"
IMPOSSIBLE_NAME = "no file can have this name"
_WORDS_BY_ERRNO = {
    errno.ENOENT: "does not exist",
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.ELOOP: SYMBOLIC_LINK,  # what O_NOFOLLOW answers, and what a ring of links answers
    errno.ENOTDIR: "not a directory",
    errno.ENAMETOOLONG: "path too long",
    errno.ENXIO: "socket",  # what open() answers for one
}
_WORDS_BY_TYPE = {
    stat.S_IFLNK: SYMBOLIC_LINK,
    stat.S_IFIFO: "FIFO",
    stat.S_IFSOCK: "socket",
    stat.S_IFCHR: "character device",
    stat.S_IFBLK: "block device",
    stat.S_IFDIR: "directory",
}


def why_failed(error: OSError) -> str:
    """The system's refusal in plain words, without path or number."""
    code = error.errno or 0
    return _WORDS_BY_ERRNO.get(code) or os.strerror(code).lower()


def why_not_regular(mode: int) -> str:
    """What a thing that is no regular file is."""
    return _WORDS_BY_TYPE.get(stat.S_IFMT(mode), "not a regular file")


NOT_FINE = 1  # the check found something, or the thing asked for is not there
WRONG_USE = 2
TIME_IS_OVER = 124
INTERRUPTED = 130


class NotThere(Exception):  # noqa: N818 - named for what it says of the thing asked for
    """What was asked for is not there or out of reach, told in one line; the command exits with 1."""
