"""Addresses in texts of logs: which of them may be links, and what must be said beside.

Rules of this room
  1. A link leads to a place with a name out in the world. What leads to this machine, to a number, or anywhere within our
     own pages is text: a log could plant a link that acts.
  2. A link does not lie: when its words name another place than its address, the address stands beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from markupsafe import Markup, escape

_HOST = r"(?:[a-z0-9_-]{1,63}\.){1,20}[a-z][a-z0-9-]{1,62}"
_OUTSIDE = re.compile(rf"https?://(?P<host>{_HOST})(?::\d{{1,5}})?(?:[/?#].*)?", re.IGNORECASE | re.DOTALL)
_MAIL = re.compile(rf"mailto:[^\s@?]{{1,100}}@{_HOST}(?:\?.*)?", re.IGNORECASE)
_NAMED = re.compile(rf"(?:https?://|www\.)(?P<host>{_HOST})", re.IGNORECASE)
_BARE = re.compile(r"https?://[^\s<>\"'`|\\^{}]{1,2000}", re.IGNORECASE)
_CLOSERS = {")": "(", "]": "["}
_LONGEST = 4_000


def leads_away(address: str) -> bool:
    """Whether this is an address of the world outside, which may be a link."""
    if len(address) > _LONGEST:
        return False
    return _MAIL.fullmatch(address) is not None or _host(address) is not None


def misleads(words: str, address: str) -> bool:
    """Whether the words of a link name another place than the one it leads to."""
    named = _NAMED.search(words[:_LONGEST])
    return named is not None and _plain_name(named["host"]) != _plain_name(_host(address) or "")


def link(address: str, words: str | Markup, *, title: str = "") -> Markup:
    """A link to an address that leads away."""
    return Markup('<a href="{}" title="{}">{}</a>').format(address, f"{address} {title}".rstrip(), words)


def linked(text: str) -> Markup:
    """The text, with the addresses in it as links."""
    return Markup("").join(_linked(text)) if "://" in text else escape(text)


def _linked(text: str) -> Iterator[Markup]:
    done = 0
    for found in _BARE.finditer(text):
        address = _without_what_follows(found[0])
        if leads_away(address):
            yield escape(text[done : found.start()])
            yield link(address, address)
            done = found.start() + len(address)
    yield escape(text[done:])


def _without_what_follows(address: str) -> str:
    """A full stop or a bracket behind an address belongs to the sentence."""
    while address:
        last = address[-1]
        opener = _CLOSERS.get(last)
        is_loose = opener is not None and address.count(last) > address.count(opener)
        if last not in ".,:;!?*_~" and not is_loose:
            break
        address = address[:-1]
    return address


def _host(address: str) -> str | None:
    found = _OUTSIDE.fullmatch(address)
    if found is None or found["host"].lower().endswith(".localhost"):
        return None
    return found["host"].lower()


def _plain_name(host: str) -> str:
    return host.lower().removeprefix("www.")
