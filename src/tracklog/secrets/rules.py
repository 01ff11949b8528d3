"""The shapes of secrets, as they stand in `data/secrets.toml`, made ready for the search.

Rules of this room
  1. A rule is data: keywords, the pattern behind them, what the value must be like, and examples of what it is and is not.
  2. A pattern is matched where one of its keywords stands, and nowhere else; it is bounded. So the search takes linear time.
  3. `version` changes with every change of the rules or of how we search: what was scanned with another one is scanned again.
  4. A possessive quantifier is for a character or a class; a group goes into `(?>(…)+)`. Python before 3.11.5 matches it wrongly otherwise.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from functools import cache
from typing import Any, NamedTuple

MUTE = "·"  # stands in examples, so that no scanner takes the rules for a leak
_FILE = "data/secrets.toml"
_SEARCH = (
    "rules.py",
    "find.py",
    "key_blocks.py",
    "encodings.py",
)  # how we search is a part of the rules
_QUOTE = rb"(?:(?:\\{0,15}[\"'`]){1,2})"
_MACROS = {
    # A letter behind a backslash, or the `m` of a terminal's colour, is no letter of the word that follows.
    "{left}": rb"(?:(?<![A-Za-z0-9_])|(?<=\\[nrtbf])|(?<=[0-9\[]m))",
    "{right}": rb"(?![A-Za-z0-9_-])",
    # `key_sk-…`: a name that is glued to what is no word by itself.
    "{start}": rb"(?:(?<![A-Za-z0-9_])|(?<=\\[nrtbf])|(?<=[0-9\[]m)|(?<=key_)|(?<=token_))",
    # Behind a token of letters and digits a `-` or `_` begins something else: the rest of a file's name.
    "{end}": rb"(?![A-Za-z0-9])",
    "{q}": _QUOTE + rb"?",
    "{quotes}": _QUOTE + rb"{0,3}",  # as a shell writes one in another: '"'"'
    # What words, numbers and the signs between them make up: a name in code, and no password that is worth the name.
    "{words}": rb"(?>(?>[A-Z]?[a-z]{2,24}|(?:Of|To|In|Is|By|On|Id|Db|My|No|At|As|It|Or|If|Do|Up|We)(?![a-z])|[A-Z]{2,24}|[0-9]{1,6}|[-_./]){1,16})",
    # Between a name and its value in fields of their own: another field, line ends and what stands before lines.
    "{field}": rb"(?:(?:,|\s|\\{1,16}[nrt]){1,8}"
    + _QUOTE
    + rb"(?:type|datatype|tier)"
    + _QUOTE
    + rb" ?: ?"
    + _QUOTE
    + rb"\w{1,30}"
    + _QUOTE
    + rb"){0,2}",
    "{stop}": rb"(?=[ \t]{0,4}(?:[\r\n]|\\{1,16}[nrt])|\\{0,15}[\"'`]|[\x00\x1b\s<`|;&}\x80-\xff]|\[/|$)",
    "{gap}": rb"(?>(?:,|\s|[+>|]|\\{1,16}[nrt]){1,40})(?:(?:[^\s\"'\\:]{1,120}[:-])?[0-9]{1,7}[:-][ \t]{0,40})?",
    "{eq}": _QUOTE + rb"?[ \t]{0,8}(?:=>|:=|==|=|:)[ \t]{0,8}" + _QUOTE + rb"?",
}


# The first or last line of a private key. A terminal breaks it anywhere, and `grep` colours the words that it was asked for.
_LINE = re.compile(rb"\{(begin|end):([A-Z ]+)\}")
_BREAK = rb"(?>(?:\r?\n|\\{1,16}n)?)"
_COLOURS = rb"(?>(?:(?:\x1b|\\{1,16}(?:u001[bB]|x1[bB]|033|e))\[[0-9;?]{0,16}[A-Za-z]){0,4})"
_BLANK = _COLOURS + rb"(?: |\+|%20|&#32;|&nbsp;|\r?\n|\\{1,16}n)" + _COLOURS


class Rule(NamedTuple):
    """One shape."""

    kind: str
    what: str
    source: str
    keywords: tuple[bytes, ...]
    pattern: re.Pattern[bytes]
    nocase: bool
    min_entropy: float  # bits per byte of the value
    check: str  # "jwt": it must decode to one
    block: str  # "head" or "tail": the pattern is the first or the last line of a private key
    back: re.Pattern[bytes] | None  # what stands before the keyword and belongs to the value
    true: tuple[bytes, ...]
    false: tuple[bytes, ...]


class RuleBook(NamedTuple):
    """All shapes, and what looks like a secret and is none."""

    version: str
    rules: tuple[Rule, ...]
    known_examples: frozenset[bytes]
    placeholders: re.Pattern[bytes]

    def at_keywords(self) -> dict[tuple[bytes, bool], tuple[int, ...]]:
        """The numbers of the rules that each keyword leads to, with whether its case counts for nothing."""
        found: dict[tuple[bytes, bool], list[int]] = {}
        for number, rule in enumerate(self.rules):
            for keyword in rule.keywords:
                found.setdefault((keyword, rule.nocase), []).append(number)
        return {key: tuple(numbers) for key, numbers in found.items()}


@cache
def shipped_rules() -> RuleBook:
    """The rules that come with this package."""
    return rules_in(_packaged(_FILE))


def _packaged(name: str) -> bytes:
    path = __file__.removesuffix("rules.py") + name
    data: bytes = __spec__.loader.get_data(path)  # type: ignore[union-attr]
    return data


def rules_in(data: bytes) -> RuleBook:
    """The rules of a file."""
    document = tomllib.loads(data.decode())
    digest = hashlib.sha256(b"".join([data, *map(_packaged, _SEARCH)])).hexdigest()
    return RuleBook(
        version=digest[:12],
        rules=tuple(map(_rule, document["rule"])),
        known_examples=frozenset(_unmuted(document.get("known_examples", []))),
        placeholders=re.compile(b"|".join(one.encode() for one in document["placeholders"]), re.I),
    )


def _rule(given: dict[str, Any]) -> Rule:
    nocase = given.get("nocase", False)
    return Rule(
        kind=given["kind"],
        what=given["what"],
        source=given["source"],
        keywords=tuple(word.encode() for word in given["keywords"]),
        pattern=re.compile(_expanded(given["pattern"]), re.I if nocase else 0),
        nocase=nocase,
        min_entropy=given.get("min_entropy", 0.0),
        check=given.get("check", ""),
        block=given.get("block", ""),
        back=re.compile(b"(?:" + _expanded(given["back"]) + rb")\Z") if "back" in given else None,
        true=_unmuted(given["true"]),
        false=_unmuted(given["false"]),
    )


def _expanded(pattern: str) -> bytes:
    expanded = _LINE.sub(lambda match: _marker(*match.groups()), pattern.encode())
    for name, meaning in _MACROS.items():
        expanded = expanded.replace(name.encode(), meaning)
    return expanded


def _marker(side: bytes, label: bytes) -> bytes:
    """The pattern of the line that begins or ends a private key; the plain kind may have any other name before it."""
    other = rb"(?:(?!ENCRYPTED)[A-Z0-9]{2,12}" + _BLANK + rb"){0,3}" if label == b"PRIVATE KEY" else b""
    words = [_BREAK.join(re.findall(rb".", word)) for word in label.split()]
    dashes = rb"(?:" + _BREAK + rb"-){5}"
    if side == b"end":
        other = rb"(?:[A-Z0-9]{2,12}" + _BLANK + rb"){0,3}"
        words, dashes = [*words[:-1], words[-1] + rb"(?: BLOCK)?"], rb"-{0,5}"
    return b"-----" + _COLOURS + side.upper() + _BLANK + other + _BLANK.join(words) + _COLOURS + dashes


def _unmuted(texts: list[str]) -> tuple[bytes, ...]:
    return tuple(text.replace(MUTE, "").encode() for text in texts)
