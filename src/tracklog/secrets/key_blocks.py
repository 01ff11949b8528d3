"""Finds where the block of a private key ends, however its lines are wrapped.

Rules
  1. Tools print a key with something before and after each line: `grep -n`, logs, diffs, HTML, terminals. So the lines are
     judged by the base64 that they hold, not by what surrounds it.
  2. Up to the END marker everything belongs to the block; without one, as many lines as look like lines of a key.
  3. A BEGIN line alone is a sign of a key, unless it is a literal in code or stands before a placeholder.
  4. A search never goes past the next marker, so the time is linear.
"""

from __future__ import annotations

import re
from typing import NamedTuple

LONGEST_BLOCK = 1 << 16  # of a private key
BOUNDARY = b"\n\0\n"  # between texts that are searched together: no block goes over it
_LONGEST_LINE = 2048  # with all that a tool puts around it
_MOST_OTHER_LINES = 4  # in a row without base64, for a block that goes on
_CUT_OFF = re.compile(
    rb"(?>(?:[A-Za-z0-9+/=:,. \r\n-]|\\+[rnt]){0,65536})"
)  # what may belong to a block without an end
_FOLLOWS = re.compile(
    rb"(?:[\s\"'`+,|>0-9\xe2\x86\x92#/*;-]|\\{1,16}[nrt\"']|%0[AaDd]|&#){0,60}"
    rb"(?=[A-Za-z0-9+/=]{16}|Proc-Type|Version:|Comment:|Charset:)"
)
_LEAST_SHARE = 8  # one byte of so many between the markers must be a line of base64
_MARKER = re.compile(rb"-----(?:BEGIN|END) ")
_PUTTY_MARKER = re.compile(rb"PuTTY-User-Key-File|Private-MAC")
_END_OF_MARKER = re.compile(rb"[A-Z0-9 ]{0,60}-{0,5}")
_LINE_END = re.compile(
    rb"\r?\n|\r|(?:\\{1,16}r)?\\{1,16}n|<br ?/?>|&#(?:10|13|[xX]0?[aAdD]);|(?:%0[dD])?%0[aA]"
)
# A line of a key: base64 with letters of both cases and a digit or a sign; the whole of it, or the rest of a longer one.
_LETTER = rb"(?:[A-Za-z0-9+/]|\\{1,16}/|&(?:#[xX]?[0-9A-Fa-f]{2,4}|plus|sol);|%2[BbFf])"
_WORD = re.compile(
    rb"(?<![A-Za-z0-9+/])(?=[A-Z0-9+/]{0,40}+[a-z])(?=[a-z0-9+/]{0,40}+[A-Z])(?=[A-Za-z]{0,80}+[0-9+/\\&%])(?>"
    + _LETTER
    + rb"{24,})(?:=|&#61;|&equals;|%3[dD]){0,2}"
)
_LAST_WORD = re.compile(rb"[A-Za-z0-9+/]{8,}+={0,2}|[A-Za-z0-9+/]{1,80}+={1,2}|=[A-Za-z0-9+/]{4}")
_FIELD = re.compile(
    rb"(?:Proc-Type|DEK-Info|Version|Comment|Charset|Hash|Encryption|(?:Public|Private)-Lines"
    rb"|Key-Derivation|Argon2-[A-Za-z]{3,12}): ?[^\r\n\\\"<]{0,120}"
)
_CODE = re.compile(
    rb"[(){}\[\]$%;]|\.\.\.|\xe2\x80\xa6|<[A-Za-z_/ ]|\*{3}|x{4}|X{4}|[yY]our|\" *[+.,]|' *[+.,]"
)
_PLACEHOLDER = re.compile(rb"\.\.\.|\xe2\x80\xa6|<[A-Za-z_/ ]|\*{3}|x{4}|X{4}|[yY]our|[$(\[{][A-Za-z_]")
_OPENED = re.compile(rb"\\{0,15}[\"'`]\Z")
_OPENED_FIELD = re.compile(rb"[\"'][ \t]?:[ \t]?\"\Z")
_CLOSED = re.compile(rb"[ \t]{0,4}(?:\\{1,16}[nr]){0,2}\\{0,15}[\"'`]")
_OVER = re.compile(rb"[ \t]{0,8}(?:\Z|[\r\n\"'`<|$\x1b]|\\|&|\xe2\x94\x82)")
_PARTS = re.compile(
    rb"-----(?:BEGIN|END) [A-Z0-9 ]{1,60}-{0,5}|PuTTY-User-Key-File-[23]: [a-z0-9@.-]{3,60}|Private-MAC|"
    + _FIELD.pattern
    + rb"|(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{24,}+={0,2}|=?[A-Za-z0-9+/]{1,}+={0,2}(?=[^A-Za-z0-9+/=]{0,40}\Z)"
)


class KeyBlock(NamedTuple):
    """Where a block ends, and whether it holds a key: otherwise only its first line is there."""

    end: int
    has_key: bool


def block_behind(data: bytes, start: int, begin: int) -> KeyBlock | None:
    """The block whose first line lies from `start` to `begin`; None, if that is a literal or no key follows."""
    limit = min(len(data), begin + LONGEST_BLOCK)
    is_putty = data.startswith(b"PuTTY", start)
    marker = (_PUTTY_MARKER if is_putty else _MARKER).search(data, begin, limit)
    is_ended = marker is not None and marker[0] in (b"-----END ", b"Private-MAC")
    behind = marker.start() if marker is not None else limit
    if (boundary := data.find(BOUNDARY, begin, behind)) >= 0:
        marker, is_ended, behind = None, False, boundary
    follows = _FOLLOWS.match(data, begin, behind) is not None
    if marker is not None and is_ended and (follows or _is_key(data[begin:behind])):
        rest = None if is_putty else _END_OF_MARKER.match(data, marker.end())
        return KeyBlock(marker.end() if rest is None else rest.end(), True)
    end = _end_of_lines(data, begin, behind)
    if end is not None or follows:
        cut_off = _CUT_OFF.match(data, begin, behind) if follows else None
        return KeyBlock(max(end or begin, cut_off.end() if cut_off is not None else begin), True)
    is_sign = not is_putty and _is_alone(data, start, begin, behind if is_ended else None)
    return KeyBlock(begin, False) if is_sign else None


def start_of_block(data: bytes, end: int) -> int | None:
    """Where the lines of a key begin that lie before an END marker; None, if there are none."""
    limit = max(0, end - LONGEST_BLOCK)
    found, at, n_other = None, end, 0
    while at > limit and n_other <= _MOST_OTHER_LINES:
        line_start = _start_of_line(data, at, limit)
        line = data[line_start:at]
        if b"-----BEGIN" in line or b"-----END" in line or line == b"\0":
            break
        if (word := _WORD.search(line)) is not None:
            found, n_other = line_start + word.start(), 0
        elif found is not None or (at < end and len(line.strip()) > 8 and _LAST_WORD.search(line) is None):
            break
        else:
            n_other += 1
        at = _before_line_end(data, line_start, limit)
    return found


def plain_block(block: bytes) -> bytes:
    """The key as a file has it: its lines without what a tool put around them."""
    parts = [_PARTS.search(line) for line in _LINE_END.split(block)]
    held = [part[0] if part is not None else b"" for part in parts]
    while held and not held[-1]:
        held.pop()
    return b"\n".join(held)


def _is_key(between: bytes) -> bool:
    """Whether enough of what lies between two markers is base64."""
    n = sum(len(word[0]) for word in _WORD.finditer(between))
    return n * _LEAST_SHARE >= len(between) and n > 0


def _end_of_lines(data: bytes, begin: int, limit: int) -> int | None:
    """The end of the lines of a key, which follow the first one; None, if none does."""
    found, at, n_other, indent = None, begin, 0, 0
    while at < limit and n_other <= _MOST_OTHER_LINES:
        line_end = _LINE_END.search(data, at, min(limit, at + _LONGEST_LINE))
        end = line_end.start() if line_end is not None else min(limit, at + _LONGEST_LINE)
        line = data[at:end]
        if (word := _WORD.search(line)) is not None:
            found, n_other, indent = at + word.end(), 0, word.start()
        elif (field := _FIELD.search(line)) is not None:
            n_other, indent = 0, field.start()
        elif found is not None:
            last = _LAST_WORD.match(line, indent) or _LAST_WORD.match(line, indent + 1)
            if last is None:
                return found
            found, n_other = at + last.end(), n_other + 1
        else:
            n_other += 1
        if line_end is None:
            break
        at = line_end.end()
    return found


def _is_alone(data: bytes, start: int, begin: int, end: int | None) -> bool:
    """Whether a BEGIN line is what a tool printed, and no literal in code and no placeholder."""
    if _OVER.match(data, begin) is None:
        return False
    before = data[max(0, start - 40) : start]
    if _OPENED.search(before) and _CLOSED.match(data, begin):
        return _OPENED_FIELD.search(before) is not None
    following = data[begin : end if end is not None else begin + 80]
    if end is not None:
        return bool(following.strip(b" \t\r\n\\rnt")) and _CODE.search(following) is None
    line_end = _LINE_END.match(following)
    return line_end is None or _PLACEHOLDER.search(following[:40]) is None


def _start_of_line(data: bytes, at: int, limit: int) -> int:
    floor = max(limit, at - _LONGEST_LINE)
    ends = [found.end() for found in _LINE_END.finditer(data, floor, at)]
    return ends[-1] if ends else floor


def _before_line_end(data: bytes, line_start: int, limit: int) -> int:
    floor = max(limit, line_start - 40)
    ends = [found.start() for found in _LINE_END.finditer(data, floor, line_start)]
    return ends[-1] if ends else limit
