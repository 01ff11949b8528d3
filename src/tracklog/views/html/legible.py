"""Make texts of logs legible: spell out characters that hide, move or mislead.

Rules
  1. Nothing is left out: an invisible character is written as its name, `␛` or `⟨U+202E⟩`.
  2. The result can be encoded: lone surrogates are spelled out as well.
  3. It is still text, not HTML: the caller escapes it.
"""

from __future__ import annotations

import re
import unicodedata

MOST_OF_A_LINE = 2_000

_PICTURES = 0x2400  # where Unicode draws the first 32 control characters
_CONTROLS = "\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff"
_UNSEEN = (  # marks without width, fillers, and letters in which a hidden text can be written
    "\u00ad\u115f\u1160\u17b4\u17b5\u180e\u200b\u2028\u2029\u2060-\u2065\u206a-\u206f\u2800\u3164\ufeff\uffa0"
    "\ufff9-\ufffb\U000e0000-\U000e00ff"
)
_JOINING = "\u034f\u061c\u180b-\u180d\u180f\u200c-\u200f\ufe00-\ufe0f\U000e0100-\U000e01ef"  # which many scripts and pictures need
_NO_TEXT = re.compile(f"[{_CONTROLS}{_UNSEEN}]")
_NOT_SEEN = re.compile(f"[{_CONTROLS}{_UNSEEN}{_JOINING}]")
_SEEN_IN_A_LINE = {"Zs", "Mn", "Me", "Mc"}
_FILLERS = {"\u115f", "\u1160", "\u2800", "\u3164", "\uffa0"}  # letters that draw nothing
_JOINER = "\u200d"  # between two pictures it makes one of them, as in families and flags


def legible(text: str) -> str:
    """A text of many lines with controls and lone surrogates spelled out, and uniform line ends."""
    return _NO_TEXT.sub(_named, text.replace("\r\n", "\n"))


def spelled(text: str) -> str:
    """A text of many lines with every invisible letter spelled out, for a command that a user is to allow."""
    named = _NOT_SEEN.sub(_named, text)
    return named if named.isprintable() else "".join(one if _is_seen(one) else _name(one) for one in named)


def _is_seen(char: str) -> bool:
    return char.isprintable() or char in "\n\t"


def shown(text: str, *, most: int = MOST_OF_A_LINE) -> str:
    """A title, name or path on one line, with hidden characters and line ends spelled out."""
    cut = _without_its_middle(text, most)
    if cut.isprintable() and not _FILLERS.intersection(cut):
        return cut
    return "".join(map(_seen, cut, f" {cut}", f"{cut[1:]} "))


def gist(text: str, width: int) -> str:
    """A text cut in the middle to `width` letters: the end of a path matters most."""
    return _without_its_middle(shown(text, most=max(width, 1) * 2), width)


def _without_its_middle(text: str, width: int) -> str:
    if len(text) <= width:
        return text
    head = max(width - 1, 0) // 3
    tail = max(width - 1 - head, 0)
    return f"{text[:head]}…{text[len(text) - tail :]}"


def _named(found: re.Match[str]) -> str:
    return _name(found[0])


def _name(char: str) -> str:
    code = ord(char)
    if code < 0x20:
        return chr(_PICTURES + code)
    return "␡" if code == 0x7F else f"⟨U+{code:04X}⟩"


def _seen(char: str, before: str, after: str) -> str:
    if char in _FILLERS:
        return _name(char)
    if char.isprintable() or unicodedata.category(char) in _SEEN_IN_A_LINE:
        return char
    if char == _JOINER and _is_pictorial(before) and _is_pictorial(after):
        return char
    return "→" if char == "\t" else "↵" if char == "\n" else _name(char)


def _is_pictorial(char: str) -> bool:
    return char == "\ufe0f" or unicodedata.category(char) in {"So", "Sk"}
