"""Which words a text is found by, beside those that SQLite finds in it.

SQLite's tokenizer (`unicode61`) makes a word of each run of letters and digits, so `snake_case`, paths and dotted names
fall into their parts by themselves. This adds, as words of a second column:
  - the parts of `camelCase` and `HTTPServer`;
  - of writing without spaces (Chinese, Japanese, Korean) each two neighbouring letters, and the last letter alone, and
    the words of other writing that stick to it;
  - each emoji, as `u1f600`: for SQLite it is no letter;
  - what role the text has (texts.py), so that a rare role among common words is found without looking at them all.

Rules of this room
  1. A query is mapped by the same rules (query.py), so what is found here is what is found there.
  2. It runs over every text of every log, as the bytes that go into the index: plain ASCII without camelCase costs a
     copy and two searches.
"""

from __future__ import annotations

import re

from stringzilla import Str

MOST_PARTS = 50_000  # of one text; whoever writes more of them has written no text
CJK = "\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3040-\u30ff\u3100-\u318f\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f\U0001b000-\U0001b16f\U00020000-\U0003ffff"
EMOJI = "\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001fbff"

_CJK_RUN = re.compile(f"[{CJK}]+")
_ONE_EMOJI = re.compile(f"[{EMOJI}]")
_NOT_CJK = re.compile(rf"[^\W_{CJK}]+")
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W_A-Z]+|[A-Z]+")
_LONGEST_IDENTIFIER = 100
_MOST_REMEMBERED = 20_000

# Each byte by its kind: small letters and digits and what is not ASCII, capital letters, what separates.
_SMALL, _CAPITAL, _GAP = b"a", b"A", b" "
_KINDS = bytes(
    _SMALL[0]
    if chr(byte).islower() or chr(byte).isdecimal() or byte >= 0x80
    else _CAPITAL[0]
    if chr(byte).isupper()
    else _GAP[0]
    for byte in range(256)
)


_ASCII = bytes(range(0x80))
# What every letter of CJK begins with in UTF-8, and hardly anything else: no arrow, no check mark.
_CJK_BEGINS = re.compile(rb"[\xe1-\xed\xef\xf0](?:(?<!\xe2)|(?=[\xba-\xbf]))")

_remembered: dict[bytes, str] = {}  # the parts of identifiers, which logs repeat again and again


def parts_of(raw: bytes) -> str:
    """The words of the second column, of a text in UTF-8."""
    kinds = raw.translate(_KINDS) + _GAP
    found = _camel_parts(raw, kinds)
    if not raw.isascii():
        letters = "".join(set(raw.translate(None, _ASCII).decode()))  # a dash, a check mark: few, as a rule
        found += emoji_words(letters)
        if _CJK_RUN.search(letters):
            found += _cjk_parts(raw, kinds)
    return " ".join(found[:MOST_PARTS])


def role_word(role: int) -> str:
    """The word by which all texts of a role are found; of a letter that SQLite takes for one, and nobody writes."""
    return f"\ue000{role}"


def camel_parts(word: str) -> list[str]:
    """The parts of an identifier, or nothing if it is one word, or a key or hash without parts."""
    parts = _CAMEL.findall(word)
    if len(parts) < 2 or _is_random(word, parts):
        return []
    return parts


def cjk_words(run: str) -> list[str]:
    """Of a run of letters without spaces: each two neighbours, and the last one alone."""
    return [run[at : at + 2] for at in range(len(run))]


def emoji_words(text: str) -> list[str]:
    """Each emoji of a text, as a word of its number."""
    return [f"u{ord(one):x}" for one in _ONE_EMOJI.findall(text)]


def _camel_parts(raw: bytes, kinds: bytes) -> list[str]:
    """Finds changes of case in a copy that holds kinds of letters: far faster than a pattern over the text."""
    words: set[bytes] = set()
    find_border = Str(kinds).find
    for border in (b"aA", b"AAa"):
        end, at = 0, find_border(border)
        while at >= 0 and len(words) < MOST_PARTS:
            begin = kinds.rfind(_GAP, end, at) + 1 or end
            end = kinds.find(_GAP, at)
            words.add(raw[begin:end])
            at = find_border(border, end)
    return [parts for word in words if (parts := _parts_of_identifier(word))]


def _parts_of_identifier(word: bytes) -> str:
    parts = _remembered.get(word)
    if parts is None:
        if len(word) > _LONGEST_IDENTIFIER:
            return ""
        if len(_remembered) > _MOST_REMEMBERED:
            _remembered.clear()
        parts = _remembered[word] = " ".join(camel_parts(word.decode("utf-8", "replace")))
    return parts


def _is_random(word: str, parts: list[str]) -> bool:
    """`toolu_01AbC9…` has changes of case too, but nobody calls its parts by name."""
    n_digits = sum(map(str.isdecimal, word))
    return n_digits > 0 and (n_digits * 8 > len(word) or len(word) < 3 * len(parts))


def _cjk_parts(raw: bytes, kinds: bytes) -> list[str]:
    """Of each word that holds such letters: their pairs, and the words of other writing that stick to them."""
    words: list[str] = []
    end = 0
    while letter := _CJK_BEGINS.search(raw, end):
        begin = kinds.rfind(_GAP, end, letter.start()) + 1 or end
        end = kinds.find(_GAP, letter.start())
        word = raw[begin:end].decode("utf-8", "replace")
        if runs := _CJK_RUN.findall(word):
            words += [pair for run in runs for pair in cjk_words(run)]
            words += _NOT_CJK.findall(word)
    return words
