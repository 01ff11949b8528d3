"""E-mail addresses in a text: those of people, not of machines, documents, packages or repositories.

Rules of this room
  1. Each pattern begins with the sign between name and domain; the name is read backwards from it, 64 letters at most.
  2. An address under a domain that documents and tests use is nobody's, and neither is one whose name is a role there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_DOMAIN = rb"((?:[A-Za-z0-9][A-Za-z0-9-]{0,62}+\.){1,5}[A-Za-z]{2,24})(?![A-Za-z0-9_(-]|\.[A-Za-z0-9])"
_ADDRESSED = (re.compile(rb"@" + _DOMAIN), re.compile(rb"%40" + _DOMAIN), re.compile(rb"\\u0040" + _DOMAIN))
_LOCAL = re.compile(rb"[A-Za-z0-9._+-]{1,64}")
_USERINFO = re.compile(rb"[^\s\"'<>/]{0,80}//:")  # read backwards: `//user:` of an address of the web
_TO_A_PATH = re.compile(rb":(?:[~/]|[\w./-]{1,80}\.git\b)")
_ENDINGS = frozenset(
    b"""
    com org net edu gov mil int info biz name pro dev app page tech cloud online site store xyz email mail academy agency
    company digital email global group io ai co live media network news software solutions studio systems team tools work
    works world zone local localdomain lan internal corp home intranet
    """.split()
)
_FILES = frozenset(b"py js ts md rs go rb cs vb pl sh so gz db cc hs ml ps kt ex mm nd wl".split())
_NOBODYS_DOMAIN = re.compile(
    rb"(?:.*\.)?(?:example\.\w+|example\.co\.\w+|\w*noreply\.\w+|users\.noreply\.github\.com|test\.\w+|tests?\.local|"
    rb"domain\.\w+|(?:your|my|some)-?_?(?:domain|company|site|org|email|host|server)\.\w+|email\.com|company\.com|"
    rb"foo\.\w+|bar\.\w+|acme\.\w+|localhost\.\w+|xxx+\.\w+|sentry\.io|anthropic\.com)",
    re.IGNORECASE,
)
_NOBODYS = re.compile(
    rb"(?:no-?_?reply|do-?not-?reply|(?:.*[.=])?git|hg|svn|ssh|test\w*|tests?[.+_-].*|.*[.+_-]test|user\d*|username|you|your[._-]?\w*|"
    rb"me|name|email|mail|foo|bar|baz|someone|somebody|example|sample|dummy|fake|root|postmaster|mailer-daemon|.*\[bot\]|bot)",
    re.IGNORECASE,
)


class Address(NamedTuple):
    """An address and where it stands; `%40` and `\\u0040` are read as the sign that they mean."""

    value: bytes
    start: int
    end: int


def addresses_in(data: bytes) -> Iterator[Address]:
    """All that has the shape of an address."""
    for pattern in _ADDRESSED:
        for match in pattern.finditer(data):
            if local := word_before(data, match.start(), _LOCAL):
                yield Address(local + b"@" + match[1], match.start() - len(local), match.end())


def emails_in(data: bytes) -> Iterator[bytes]:
    """The addresses of people: not of machines, documents, packages or repositories."""
    for address in addresses_in(data):
        if _is_somebodys(*address.value.split(b"@")) and not _is_of_another(data, address):
            yield address.value


def _is_somebodys(local: bytes, domain: bytes) -> bool:
    ending = domain.rpartition(b".")[2].lower()
    if not (ending in _ENDINGS or (len(ending) == 2 and ending not in _FILES)):
        return False
    if domain.split(b".")[0].isdigit():  # the version of a package: left-pad@1.2.dev
        return False
    return not (_NOBODYS_DOMAIN.fullmatch(domain) or _NOBODYS.fullmatch(local))


def _is_of_another(data: bytes, address: Address) -> bool:
    """Whether it is a part of `https://user:word@host/` or `host:path`."""
    before = data[max(0, address.start - 96) : address.start]
    return bool(_USERINFO.match(before[::-1]) or _TO_A_PATH.match(data, address.end))


def word_before(data: bytes, end: int, pattern: re.Pattern[bytes]) -> bytes:
    """The word that ends at a place, without the letters of an escape that stands before it."""
    before = data[max(0, end - 80) : end]
    match = pattern.match(before[::-1])
    if match is None:
        return b""
    word = match[0][::-1]
    if before[: len(before) - len(word)].endswith(b"\\"):
        escape = re.match(rb"u[0-9a-fA-F]{4}|[nrtbf]", word)
        word = word[escape.end() :] if escape else word
    return word.lstrip(b".-+")
