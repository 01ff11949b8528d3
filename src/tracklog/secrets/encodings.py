"""The shapes in which one value may stand in a text: escaped, quoted, encoded; and the way back.

Rules of this room
  1. `forms_of` goes from a value that is known to all that it may look like; `undisguised` from text to what may hide there.
  2. A run that does not decode to readable text hides nothing: pictures, signatures and hashes are left alone.
  3. Every byte is looked at a bounded number of times, whatever it is.
"""

from __future__ import annotations

import base64
import binascii
import html
import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple
from urllib.parse import quote

from stringzilla import Str

BASE64_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-"
_LEAST_BASE64 = 8  # letters that must be certain, for a part of a longer run to be known again
_LONGEST_RUN = 1 << 16
_LEFT = 512  # so far to the left a run is followed
# Base64 of ASCII: in four letters three bits are always 0, which tells it from words, hashes and pictures at first sight.
_FOUR = rb"[A-Za-f][A-HQ-Xg-nw-z0-3][ABEFIJMNQRUVYZcdghklopstwx014589][A-Za-z0-9+/_-]"
# Lines of base64 may be indented, quoted, or part of a diff, whose mark is no letter of theirs: without it they are groups of four.
_GROUPS = rb"(?>(?:[A-Za-z0-9+/_-]{4})*)(?:[A-Za-z0-9+/_-]{2}==|[A-Za-z0-9+/_-]{3}=)?(?![A-Za-z0-9+/_-])"
# And numbered, behind the name of a file or not.
_NUMBER = rb"(?:(?:[^\s\"'\\:]{1,200}:)?[0-9]{1,7}(?:[:|]|\t|\\{1,4}t|\xe2\x86\x92| \|)[ \t]{0,4})"
_LINE_END = (
    rb"(?:\r?\n|(?:\\{1,4}r)?\\{1,4}n)[ \t>|#*]{0,16}+" + _NUMBER + rb"?(?:[+-](?=" + _GROUPS + rb"))?"
)
_NEXT_LINE = rb"(?:(?<=[A-Za-z0-9+/_-]{40})" + _LINE_END + rb"[A-Za-z0-9+/_-]{4,}+)"
_BEGIN, _BEHIND_A_SLASH = re.compile(_FOUR * 6), re.compile(rb"(?<=[/+])" + _FOUR * 6)
_RUN = re.compile(rb"[A-Za-z0-9+/_-]++(?>" + _NEXT_LINE + rb"*)={0,2}")
_LONG = b"a" * 24  # so many letters in a row, when all letters look alike, are worth a look
_ALIKE = bytes(97 if byte in BASE64_LETTERS else 32 for byte in range(256))
_LINE_ENDS = re.compile(_LINE_END)
_PRINTABLE = bytes(range(32, 127)) + bytes(range(128, 256))
_NO_QUOTES = bytes(set(_PRINTABLE) - set(b" \"'`"))


class _Escape(NamedTuple):
    """A way to write letters: what tells of it, the letters of a run around it, and what each escape means."""

    sign: bytes  # with which the pattern begins
    pattern: re.Pattern[bytes]
    letters: bytes
    meaning: Callable[[re.Match[bytes]], bytes]


def _byte(match: re.Match[bytes]) -> bytes:
    return bytes([int(match[1], 16)])


def _nothing(_: re.Match[bytes]) -> bytes:
    return b""


def _blank(_: re.Match[bytes]) -> bytes:
    return b" "


def _line_end(_: re.Match[bytes]) -> bytes:
    return b"\n"


def _entity(match: re.Match[bytes]) -> bytes:
    return html.unescape(match[0].decode()).replace("\xa0", " ").encode("utf-8", "replace")


_CONTROL = rb"(?:0[0-9A-Fa-f]|1[0-9AaC-Fc-f])"  # not ESC, which begins a colour
_NO_ASCII = rb"(?:00" + _CONTROL + rb"|00[89A-Fa-f][0-9A-Fa-f]|(?!00)[0-9A-Fa-f]{4})"
_COLOUR = rb"\[[0-9;?]{0,16}[A-Za-z]"
_ESCAPES = (
    _Escape(b"%", re.compile(rb"%([0-9A-Fa-f]{2})"), _NO_QUOTES, _byte),
    _Escape(b"\\u00", re.compile(rb"\\u00(0[9AaDd]|[2-7][0-9A-Fa-f])"), _PRINTABLE, _byte),
    _Escape(b"\\x", re.compile(rb"\\x([2-7][0-9A-Fa-f])"), _PRINTABLE, _byte),
    _Escape(b"\\/", re.compile(rb"\\/"), _PRINTABLE, lambda _: b"/"),
    _Escape(
        b"&",
        re.compile(rb"&(?:amp|quot|apos|lt|gt|nbsp|#[0-9]{1,4}|#[xX][0-9A-Fa-f]{1,4});"),
        _PRINTABLE,
        _entity,
    ),
    _Escape(b"\x1b[", re.compile(rb"\x1b" + _COLOUR), _PRINTABLE + b"\x1b", _nothing),
    _Escape(b"\\u001", re.compile(rb"\\u001[bB]" + _COLOUR), _PRINTABLE, _nothing),
    # A blank that does not break, as pages have it; and what ends a piece of code in a ticket or a forum.
    _Escape(b"\xc2\xa0", re.compile(rb"\xc2\xa0"), _PRINTABLE, _blank),
    _Escape(b"\\u00a0", re.compile(rb"\\u00[aA]0"), _PRINTABLE, _blank),
    _Escape(b"{code", re.compile(rb"\{code(?::[a-z]{1,20})?\}"), _PRINTABLE, _line_end),
    _Escape(b"{noformat", re.compile(rb"\{noformat\}"), _PRINTABLE, _line_end),
    _Escape(b"[/", re.compile(rb"\[/(?:code|pre|quote|url|b|i)\]"), _PRINTABLE, _line_end),
    _Escape(b"\0", re.compile(rb"\0++"), _PRINTABLE + b"\0", _nothing),  # UTF-16, and runs of torn logs
    _Escape(b"\\u0000", re.compile(rb"(?>(?:\\u0000)+)"), _PRINTABLE, _nothing),
    # What stands between values: NUL in an environment, BEL behind a link of a terminal, a quote that is not ASCII.
    # Their digits are no part of the values.
    _Escape(b"\\u", re.compile(rb"(?>(?:\\{1,8}u" + _NO_ASCII + rb")+)"), _PRINTABLE, _line_end),
    _Escape(
        b"\\x",
        re.compile(rb"(?>(?:\\x(?:" + _CONTROL + rb"|[89A-Fa-f][0-9A-Fa-f]))+)"),
        _PRINTABLE,
        _line_end,
    ),
    _Escape(b"\\U00", re.compile(rb"(?>(?:\\U00[01][0-9A-Fa-f]{5})+)"), _PRINTABLE, _line_end),
    _Escape(b"\\0", re.compile(rb"(?>(?:\\0(?:[0-3][0-7]|(?![0-7])))+)"), _PRINTABLE, _line_end),
)


class DecodedView(NamedTuple):
    """A run of the data that says something else when it is decoded."""

    plain: bytes
    steps: tuple[
        tuple[int, int], ...
    ]  # places in `plain`, or in the letters of base64, with those in the data
    is_base64: bool = False

    def raw(self, start: int, end: int) -> tuple[int, int]:
        """The bytes of the data that say this part of it."""
        if self.is_base64:
            start, end = start * 8 // 6, -(-end * 8 // 6)
        return self._raw(start, bisect_right), self._raw(end, bisect_left)

    def _raw(self, at: int, find: Callable[..., int]) -> int:
        n = max(0, find(self.steps, at, key=lambda step: step[0]) - 1)
        plain, raw = self.steps[n]
        behind = self.steps[n + 1] if n + 1 < len(self.steps) else None
        if find is bisect_left and behind is not None and behind[0] == at:
            return behind[1]
        return raw + at - plain


def forms_of(value: bytes) -> tuple[bytes, ...]:
    """All that a value may look like, the value first; the longer ones before those that they hold."""
    text = value.decode("utf-8", "surrogateescape")
    forms = [value, *_json_forms(text), *_url_forms(value), _encoded(html.escape(text))]
    forms += [value.hex().encode(), value.hex().upper().encode()]
    forms += _base64_forms(value)
    unicode = "".join(f"\\u{ord(letter):04x}" for letter in text if ord(letter) < 1 << 16)
    forms += [unicode.encode(), re.sub(r"[a-f]", lambda m: m[0].upper(), unicode).encode()]
    return tuple(dict.fromkeys(sorted(filter(None, forms), key=len, reverse=True)))


def undisguised(data: bytes) -> Iterator[DecodedView]:
    """What hides in runs of base64 and of escapes, where that is readable."""
    yield from _in_base64(data)
    for escape in _ESCAPES:
        yield from _decoded_runs(data, escape)


def _json_forms(text: str) -> list[bytes]:
    once = [json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]]
    twice = [json.dumps(one)[1:-1] for one in once]
    slashed = [one.replace("/", "\\/") for one in once]
    return [_encoded(one) for one in (*once, *twice, *slashed)]


def _url_forms(value: bytes) -> list[bytes]:
    once = quote(value, safe="")
    lower = re.sub(r"%[0-9A-F]{2}", lambda match: match[0].lower(), once)
    every = "".join(f"%{byte:02X}" for byte in value)
    forms = [once, lower, quote(value), quote(once, safe=""), once.replace("%20", "+"), every, every.lower()]
    return [form.encode() for form in forms]


def _base64_forms(value: bytes) -> Iterator[bytes]:
    """At each of the three places that it may have among what is encoded with it: the letters that it alone decides."""
    for before in range(3):
        whole = base64.b64encode(b"\0" * before + value)
        certain = whole[(0, 2, 3)[before] : (before + len(value)) * 8 // 6]
        if len(certain) >= _LEAST_BASE64:
            yield from (certain, certain.translate(bytes.maketrans(b"+/", b"-_")))


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _in_base64(data: bytes) -> Iterator[DecodedView]:
    done = 0
    for start, end in _long_words(data):
        if start < done:
            continue
        begin = _BEGIN.match(data, start) or _behind_an_escape(data, start)
        if begin is None and (begin := _BEHIND_A_SLASH.search(data, start, end)) is None:
            continue
        match = _RUN.match(data, begin.start())
        assert match is not None  # it begins with such letters
        done = match.end()
        letters, steps = _lines_joined(match[0], match.start())
        yield DecodedView(_from_base64(letters), steps, is_base64=True)


def _behind_an_escape(data: bytes, start: int) -> re.Match[bytes] | None:
    """Its letter is none of the run: `\\nQUJD`."""
    return _BEGIN.match(data, start + 1) if data[start - 1 : start] == b"\\" else None


def _long_words(data: bytes) -> Iterator[tuple[int, int]]:
    """Where many letters of base64 stand in a row: found by one search in which they all look alike."""
    alike = Str(data.translate(_ALIKE))
    start = alike.find(_LONG)
    while start >= 0:
        end = alike.find(b" ", start)
        yield start, end if end >= 0 else len(data)
        start = alike.find(_LONG, end) if end >= 0 else -1


def _lines_joined(run: bytes, start: int) -> tuple[bytes, tuple[tuple[int, int], ...]]:
    """The letters of a run without its line ends, and where each line begins."""
    lines, steps, at, n_letters = [], [], 0, 0
    for end in _LINE_ENDS.finditer(run):
        lines.append(run[at : end.start()])
        steps.append((n_letters, start + at))
        n_letters += end.start() - at
        at = end.end()
    return b"".join([*lines, run[at:]]), (*steps, (n_letters, start + at))


def _from_base64(letters: bytes) -> bytes:
    """What they decode to; nothing, if they do not. A run may have been cut anywhere."""
    letters = letters.rstrip(b"=").translate(bytes.maketrans(b"-_", b"+/"))
    letters = letters[: len(letters) - (len(letters) % 4 == 1)]
    try:
        return base64.b64decode(letters + b"=" * (-len(letters) % 4))
    except (binascii.Error, ValueError):
        return b""


def _decoded_runs(data: bytes, escape: _Escape) -> Iterator[DecodedView]:
    """The runs around each escape. What is behind a long one is another, with some of it before."""
    run_of = _run_of(escape.letters)
    haystack = Str(data)
    at = haystack.find(escape.sign)
    while at >= 0:
        found = escape.pattern.match(data, at)
        behind = at + 1
        if found is not None:
            before = data[max(0, at - _LEFT) : at]
            start = at - (len(before) - len(before.rstrip(escape.letters)))
            match = run_of.match(data, start)
            behind = max(match.end() if match is not None else 0, found.end())
            yield _decoded(data, start, behind, escape)
            if escape.sign == b"%" and data.find(b"+", start, behind) >= 0:
                yield _decoded(data, start, behind, escape, blank=b"+")
        at = haystack.find(escape.sign, behind)


@cache
def _run_of(letters: bytes) -> re.Pattern[bytes]:
    return re.compile(b"[" + re.escape(letters) + b"]{1,%d}" % _LONGEST_RUN)


def _decoded(data: bytes, start: int, end: int, escape: _Escape, *, blank: bytes = b" ") -> DecodedView:
    """What a run says; in a form there is another letter for a blank."""
    parts: list[bytes] = []
    steps = [(0, start)]
    at, n_plain = start, 0
    for match in escape.pattern.finditer(data, start, end):
        meaning = escape.meaning(match)
        plain = data[at : match.start()]
        if escape.sign[:1] == b"\\":  # which may be escaped itself
            plain = plain.rstrip(b"\\")
        parts += [plain.replace(blank, b" "), meaning]
        n_plain += len(plain)
        steps.append((n_plain, at + len(plain)))
        n_plain += len(meaning)
        at = match.end()
        steps.append((n_plain, at))
    return DecodedView(b"".join([*parts, data[at:end].replace(blank, b" ")]), tuple(steps))
