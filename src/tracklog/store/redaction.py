"""What redaction keeps in our home: the key of its hashes, and (allowed.py) the list of what may stay.

Rules of this room
  1. The key is made once and leaves this home never: who has it can try values against hashes.
  2. A key that is damaged is said, and not replaced: with another one, what was allowed would be allowed no more.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterable
from pathlib import Path

from tracklog.errors import UserError
from tracklog.model.private import Private
from tracklog.model.redact import Redactor
from tracklog.sources.reasons import why_failed
from tracklog.store.allowed import allow_list
from tracklog.store.home import Home, open_private

KEY_NAME = "redaction.key"
_KEY_BYTES = 32
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def redactor_of(home: Home, *, private: Iterable[Private] = ()) -> Redactor:
    """Who takes secrets and private things out of what is given to others, with the key and the list of this home."""
    allowed = allow_list(home)
    return Redactor(key=redaction_key(home), private=private, allowed=allowed.may_stay)


def redaction_key(home: Home) -> bytes:
    """The key of this home; made if there is none."""
    home.make()
    path = home.path / KEY_NAME
    try:
        try:
            return _read(path)
        except FileNotFoundError:
            _make(path)
            return _read(path)
    except OSError as error:
        what_to_do = "; make room there and try again" if error.errno in _FULL else ""
        raise UserError(f"cannot use the key in {path}: {why_failed(error)}{what_to_do}") from error


def _read(path: Path) -> bytes:
    descriptor = open_private(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        mode = os.fstat(descriptor).st_mode
        key = os.read(descriptor, _KEY_BYTES + 1) if stat.S_ISREG(mode) else b""
        if len(key) != _KEY_BYTES:
            raise UserError(
                f"{path} is no key of {_KEY_BYTES} bytes: put the right one back, or delete it; "
                "what was allowed by its hash must then be allowed again"
            )
        if mode & 0o077:
            os.fchmod(descriptor, 0o600)
        return key
    finally:
        os.close(descriptor)


def _make(path: Path) -> None:
    """Puts a whole key in its place; if another process was faster, its key stays."""
    aside = path.with_name(f".{KEY_NAME}.{os.getpid()}")
    try:
        with open(open_private(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "wb") as stream:
            stream.write(secrets.token_bytes(_KEY_BYTES))
            stream.flush()
            os.fsync(stream.fileno())
        os.link(aside, path)
    except FileExistsError:
        pass  # it was made meanwhile
    finally:
        aside.unlink(missing_ok=True)
