"""Credentials: the token of a home, links that work once, and the cookie that a browser gets.

Rules
  1. The token has 256 bits and is in one file, which only its user may read. It is in no address, no argument, no log,
     no page and no environment.
  2. A code works once, for ten minutes. It is stored as a file named by its digest: deleting that file uses it. So any
     process of its user can make a link, without asking a server.
  3. Given and right values are compared in constant time.
  4. A cookie is not the token. It is good as long as its server runs: cookies ignore ports, so a browser sends it to
     every other server at this address, too.
"""

from __future__ import annotations

import hmac
import os
import re
import secrets
import stat
import time
from dataclasses import dataclass, field
from hashlib import blake2b, sha256
from pathlib import Path
from typing import NamedTuple

from tracklog.errors import UserError, why_failed
from tracklog.home import Home, make_private_folder, open_private, write_private

GOOD_FOR_S = 600
SIGN_IN = "/sign-in"
_TOKEN = re.compile(rb"[0-9a-f]{64}\n?")
PLAIN_PORT = 80
_LONGEST_CODE = 100
_CLOCK_SLACK_S = 5.0  # a file system's clock may be a little ahead of ours


class Token(NamedTuple):
    """The token, and why it was replaced, if it was."""

    value: str
    why_new: str | None = None


class _NoLongerGood(Exception):  # noqa: N818 - a state of the file
    """The file of the token is ours, but its content is not secret or not a token."""


def token_of(home: Home) -> Token:
    """The token of a home: made if missing, and replaced if others could have read it."""
    home.make()
    path = home.path / "token"
    try:
        return Token(_read(path))
    except FileNotFoundError:
        return Token(_made(path))
    except _NoLongerGood as reason:
        fresh = secrets.token_hex(32)
        write_private(path, f"{fresh}\n".encode())
        return Token(fresh, str(reason))


def _read(path: Path) -> str:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise
    except OSError as error:  # also for a symbolic link, which another user may have put there
        raise _not_to_be_trusted(path, why_failed(error)) from error
    try:
        _trust(path, os.fstat(descriptor))
        text = os.read(descriptor, 100)
    finally:
        os.close(descriptor)
    if not _TOKEN.fullmatch(text):
        raise _NoLongerGood("it was no token")
    return text.decode().strip()


def _trust(path: Path, about: os.stat_result) -> None:
    if not stat.S_ISREG(about.st_mode):
        raise _not_to_be_trusted(path, "it is no regular file")
    if about.st_uid != os.geteuid():
        raise _not_to_be_trusted(path, "it belongs to another user")
    if about.st_mode & 0o077:
        raise _NoLongerGood("others could read it")


def _made(path: Path) -> str:
    """Writes a new token, unless another process was quicker: then its token counts."""
    fresh = secrets.token_hex(32)
    aside = path.with_name(f".token.{secrets.token_hex(8)}")
    with open(open_private(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file:
        file.write(f"{fresh}\n".encode())
    try:
        os.link(aside, path, follow_symlinks=False)
    except FileExistsError:
        fresh = _read(path)
    except OSError:  # a disk without hard links
        os.replace(aside, path)
    finally:
        aside.unlink(missing_ok=True)
    return fresh


def _not_to_be_trusted(path: Path, why: str) -> UserError:
    return UserError(f"the token {path} cannot be trusted: {why}; remove it, and a new one is made")


class Codes:
    """The one-time codes of sign-in links of a home."""

    def __init__(self, home: Home) -> None:
        self._folder = home.path / "serve" / "codes"

    def make(self) -> str:
        """Makes a new code, and deletes unused ones that are too old."""
        make_private_folder(self._folder.parent)
        make_private_folder(self._folder)
        for place in self._folder.iterdir():
            if not _is_fresh(place):
                place.unlink(missing_ok=True)
        code = secrets.token_urlsafe(32)
        os.close(open_private(self._place(code), os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        return code

    def use(self, code: str) -> bool:
        """Uses up a code; returns whether it was good."""
        if not 0 < len(code) <= _LONGEST_CODE:
            return False
        place = self._place(code)
        is_fresh = _is_fresh(place)
        return self.forget(code) and is_fresh

    def is_known(self, code: str) -> bool:
        """Whether a code exists and was not used yet."""
        return self._place(code).exists()

    def forget(self, code: str) -> bool:
        """Deletes a code; returns whether it existed, which is true for only one of concurrent callers."""
        try:
            self._place(code).unlink()
        except FileNotFoundError:
            return False
        return True

    def _place(self, code: str) -> Path:
        return self._folder / sha256(code.encode("utf-8", "surrogatepass")).hexdigest()


def _is_fresh(place: Path) -> bool:
    try:
        age = time.time() - place.stat().st_mtime
    except FileNotFoundError:
        return False
    return -_CLOCK_SLACK_S <= age <= GOOD_FOR_S


@dataclass(frozen=True)
class SignInKeys:
    """The hosts that a server answers to, its token, its codes, and its cookie."""

    hosts: tuple[str, ...]  # as a browser names them, each with its port; the first is ours
    cookie: str
    token: str = field(repr=False)
    codes: Codes = field(repr=False)
    _cookie_value: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    def is_token(self, given: bytes) -> bool:
        """Whether the given value is the token."""
        return hmac.compare_digest(given, self.token.encode())

    def is_cookie(self, given: bytes) -> bool:
        """Whether the given value is that of our cookie."""
        return hmac.compare_digest(given, self._cookie_value.encode())

    def set_cookie(self) -> str:
        """The Set-Cookie header that signs a browser in, until it is closed or the server ends."""
        return f"{self.cookie}={self._cookie_value}; Path=/; HttpOnly; SameSite=Strict"


def link_to(host: str, code: str) -> str:
    """The address that signs in the browser that opens it first."""
    return f"http://{host}{SIGN_IN}?code={code}"


def cookie_name(home: Path, port: int) -> str:
    """The name of the cookie, which differs from that of other servers at the same address."""
    mark = blake2b(f"{port}\0{home.absolute()}".encode("utf-8", "surrogateescape"), digest_size=4)
    return f"tracklog_{mark.hexdigest()}"


def local_hosts(port: int) -> tuple[str, ...]:
    """The names of the server in browsers on this machine."""
    names = ("127.0.0.1", "localhost", "[::1]")
    bare = names if port == PLAIN_PORT else ()  # browsers leave out the port that goes without saying
    return (*(f"{name}:{port}" for name in names), *bare)
