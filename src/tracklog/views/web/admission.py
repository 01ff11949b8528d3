"""Whether a request may be meant for us: judged by what its headers say, before anything is done with it.

Rules of this room
  1. A page of another site can make a browser send us requests, and by rebinding its own name to this machine even read
     the answers. It cannot choose Host, Origin and Sec-Fetch-Site: all three are looked at on every request.
  2. A header that is there twice, or that we do not understand, is refused. Nothing is guessed.
  3. Pages at other ports of this machine are other sites, whatever browsers call them (`same-site`).
"""

from __future__ import annotations

from collections.abc import Sequence

from starlette.types import Scope

from tracklog.views.web.plain import Refusal
from tracklog.views.web.signing_in import SIGN_IN

METHODS = ("GET", "HEAD", "POST")
LONGEST_TARGET = 8_192
LARGEST_HEAD = 32_768  # cookies of every other server on this machine come along
MOST_HEADERS = 100

_NAVIGATION = (b"navigate", b"document")


class Asked:
    """The headers of a request."""

    def __init__(self, scope: Scope) -> None:
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.target: bytes = scope["raw_path"]
        self.query: bytes = scope["query_string"]
        self.headers: Sequence[tuple[bytes, bytes]] = scope["headers"]

    def all(self, name: bytes) -> list[bytes]:
        """Every value of a header."""
        return [value for key, value in self.headers if key == name]

    def one(self, name: bytes) -> bytes | None:
        """The value of a header, if it is there once."""
        values = self.all(name)
        return values[0] if len(values) == 1 else None

    @property
    def is_navigation(self) -> bool:
        """Whether a browser opens this as a page of its own, in no frame of another."""
        return (self.one(b"sec-fetch-mode"), self.one(b"sec-fetch-dest")) == _NAVIGATION

    @property
    def is_sign_in(self) -> bool:
        return self.path == SIGN_IN

    @property
    def methods(self) -> Sequence[str]:
        """How this address may be asked, as far as the guard has a say in it."""
        return METHODS[:2] if self.is_sign_in else METHODS

    @property
    def has_body(self) -> bool:
        return bool(self.all(b"transfer-encoding")) or self.all(b"content-length") not in ([], [b"0"])

    @property
    def is_ahead_of_time(self) -> bool:
        """Whether a browser only guesses that somebody may want this."""
        names = (b"sec-purpose", b"purpose", b"x-purpose", b"x-moz")
        return any(word in value.lower() for name in names for value in self.all(name) for word in _GUESSES)

    @property
    def is_surely_from_us(self) -> bool:
        """Whether a browser says that one of our own pages sent this (`refusal_of` has seen that it is no other)."""
        return self.one(b"origin") is not None or self.one(b"sec-fetch-site") == b"same-origin"


_GUESSES = (b"prefetch", b"prerender", b"preview")


def refusal_of(asked: Asked, hosts: Sequence[str]) -> Refusal | None:
    """Why a request is not let in, whoever sent it."""
    return (
        _by_host(asked, hosts)
        or _by_size(asked)
        or _by_length(asked)
        or _by_method(asked)
        or _by_origin(asked)
        or _by_fetch_site(asked)
    )


def _by_host(asked: Asked, hosts: Sequence[str]) -> Refusal | None:
    host = asked.one(b"host")
    if host is not None and host in {one.encode() for one in hosts}:
        return None
    return Refusal(
        403,
        "Not this server",
        f"This is tracklog. It answers to {', '.join(hosts)} and to no other name.",
    )


def _by_size(asked: Asked) -> Refusal | None:
    if not asked.target.startswith(b"/"):
        return Refusal(400, "No address", "An address here begins with a slash.")
    if len(asked.target) + len(asked.query) > LONGEST_TARGET:
        return Refusal(414, "Address too long", f"An address may have {LONGEST_TARGET:,} bytes.")
    size = sum(len(name) + len(value) for name, value in asked.headers)
    if size > LARGEST_HEAD or len(asked.headers) > MOST_HEADERS:
        return Refusal(431, "Headers too large", "Remove cookies of other servers on this machine.")
    return None


def _by_length(asked: Asked) -> Refusal | None:
    if asked.all(b"content-length") and asked.all(b"transfer-encoding"):
        return Refusal(400, "Two lengths", "What is sent here has a length or comes in pieces, not both.")
    return None


def _by_method(asked: Asked) -> Refusal | None:
    if asked.method in asked.methods:
        return None
    return Refusal(405, "No such method", f"Here is only {', '.join(asked.methods)}.")


def _by_origin(asked: Asked) -> Refusal | None:
    origins = asked.all(b"origin")
    if not origins or origins == [b"http://" + (asked.one(b"host") or b"")]:
        return None
    return Refusal(403, "From another site", "Only pages of tracklog itself may ask this server.")


def _by_fetch_site(asked: Asked) -> Refusal | None:
    sites = asked.all(b"sec-fetch-site")
    if sites in ([], [b"same-origin"]):
        return None
    if sites == [b"none"] and asked.one(b"sec-fetch-mode") in (None, b"navigate"):
        return None  # typed, or opened from a bookmark or from outside of the browser
    is_opened = asked.is_navigation and asked.method in ("GET", "HEAD") and len(sites) == 1
    if asked.is_sign_in and is_opened:
        return None  # a link in a mail or a terminal in the browser: what counts is the code
    return Refusal(
        403,
        "From another site",
        "A page of another site led here. Only pages of tracklog itself may do that.",
        leads_on=is_opened,
    )
