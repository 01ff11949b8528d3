"""Finds known identities in bytes, in every shape that paths, folder names and escapes give them.

Rules
  1. A home is found as a path with slashes or backslashes, however often they are escaped, as `%2F`, and as the folder
     that Claude Code names after it (`-home-ada-work`): one identity, so one placeholder.
  2. Names are found as whole words, so that `ada` leaves `adapter` alone; the letter of an escape (`\\n`) is no letter.
  3. One pass for each first folder of a home, one for each name, one for all addresses: of homes and names there are few.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tracklog.secrets.identity import Private, addresses_in

_BETWEEN = rb"(?:\\{1,16}/?|/{1,2}|%5[cC]|%2[fF]|-)"
# What stands in front of the first folder, read backwards: a separator, and the drive that may stand before it.
_BEFORE = re.compile(
    rb"(?:/\\{0,16}|\\{1,16})(?::[A-Za-z](?![A-Za-z0-9\\]))?"
    rb"|-(?:-[A-Za-z])?(?:(?![A-Za-z0-9])|(?=[nrt]\\))"
    rb"|(?:[fF]2%|[cC]5%)(?:[aA]3%[A-Za-z](?![A-Za-z0-9]))?"
)
_WORD_ENDS = rb"(?![A-Za-z0-9_])"
# Letters of an escape, of a colour or of a quoted byte are not of the word that follows.
_WORD_BEGINS = re.compile(rb"(?:^|[^A-Za-z0-9_]|\\[nrtbf]|\\u[0-9a-fA-F]{4}|[0-9;\[]m|%[0-9A-F]{2})\Z")


class IdentityMatch(NamedTuple):
    """Where an identity stands."""

    private: Private
    start: int
    end: int


class Spotter:
    """Looks for a fixed set of identities."""

    def __init__(self, privates: Iterable[Private]) -> None:
        wanted = sorted(privates)
        self._homes = [_HomeSearch(first, homes) for first, homes in _by_first_folder(wanted).items()]
        self._words = [
            (one, re.compile(re.escape(form) + _WORD_ENDS))
            for one in wanted
            if one.kind in ("user", "host", "account")
            for form in _spellings(one.value)
        ]
        self._emails = {one.value.lower(): one for one in wanted if one.kind == "email"}

    def spots(self, data: bytes) -> list[IdentityMatch]:
        """All places, in order and apart; of two that overlap the one that begins first, then the longer."""
        found = [spot for search in self._homes for spot in search.spots(data)]
        found += (IdentityMatch(one, *span) for one, word in self._words for span in _words(word, data))
        found += self._addresses(data)
        return _apart(found)

    def _addresses(self, data: bytes) -> Iterator[IdentityMatch]:
        if not self._emails:
            return
        for address in addresses_in(data):
            if (one := self._emails.get(address.value.lower())) is not None:
                yield IdentityMatch(one, address.start, address.end)


class _HomeSearch:
    """The homes whose path begins with one folder: `home`, `Users`, or another of which the caller told."""

    def __init__(self, first: bytes, homes: list[tuple[list[bytes], Private]]) -> None:
        self._homes = dict(enumerate(home for _, home in homes))
        ways = (
            b"(?P<h%d>" % number + _BETWEEN.join(map(_folder, rest)) + b")"
            for number, (rest, _) in enumerate(homes)
        )
        self._pattern = re.compile(first + _BETWEEN + b"(?:" + b"|".join(ways) + b")" + _WORD_ENDS)

    def spots(self, data: bytes) -> Iterator[IdentityMatch]:
        for match in self._pattern.finditer(data):
            before = _BEFORE.match(data[max(0, match.start() - 40) : match.start()][::-1])
            if before is not None:
                number = int(str(match.lastgroup)[1:])
                yield IdentityMatch(self._homes[number], match.start() - before.end(), match.end())


def _by_first_folder(wanted: list[Private]) -> dict[bytes, list[tuple[list[bytes], Private]]]:
    found: dict[bytes, list[tuple[list[bytes], Private]]] = defaultdict(list)
    for one in wanted:
        if one.kind == "home":
            first, *rest = [part for part in re.split(rb"[\\/]+", one.value) if part and part[-1:] != b":"]
            found[re.escape(first)].append((rest, one))
    for homes in found.values():
        homes.sort(key=lambda home: -len(home[1].value))  # ada-maria before ada
    return found


def _folder(name: bytes) -> bytes:
    """A folder's name as it is, with Unicode escapes, or as a part of a name that Claude Code makes."""
    ways = [re.escape(form) for form in _spellings(name)]
    slug = re.sub(r"[^A-Za-z0-9]", "-", name.decode("utf-8", "replace")).encode()
    return b"(?:" + b"|".join(dict.fromkeys([*ways, re.escape(slug)])) + b")"


def _spellings(name: bytes) -> list[bytes]:
    """The name, and how JSON may write it."""
    text = name.decode("utf-8", "replace")
    escaped = "".join(letter if letter.isascii() else f"\\u{ord(letter):04x}" for letter in text).encode()
    return list(dict.fromkeys([name, escaped]))


def _words(word: re.Pattern[bytes], data: bytes) -> Iterator[tuple[int, int]]:
    for match in word.finditer(data):
        if _WORD_BEGINS.search(data[max(0, match.start() - 8) : match.start()]):
            yield match.span()


def _apart(spots: list[IdentityMatch]) -> list[IdentityMatch]:
    kept: list[IdentityMatch] = []
    for spot in sorted(spots, key=lambda one: (one.start, -one.end)):
        if not kept or spot.start >= kept[-1].end:
            kept.append(spot)
    return kept
