"""Our program as the `notify` of Codex: one line of its config.toml, put in and taken out.

Codex runs it after every turn, without asking for trust as it does for hooks. There is one place for it: somebody
else's program is left there.

Rules of this room
  1. The line goes to the top, where every key belongs to the whole and not to a table; no other byte moves.
  2. The text is read as TOML before and after: what comes out must be the same with `notify`, and without it the same text.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Sequence
from typing import Any

from tracklog.live.hook_command import are_our_words
from tracklog.live.settings_text import BOM, Malformed

_PLACE = re.compile(r"\(at line (\d+), column (\d+)\)|\(at end of document\)")
_DIRECTIVE = re.compile(r"(?:#:[^\n]*\n)*")  # `#:schema …` must stay the first line
_OUR_LINE = re.compile(r"(?:^|(?<=\ufeff))notify = \[.*\]\r?\n", re.MULTILINE)


def document_of(text: str) -> dict[str, Any]:
    """The text as TOML, else it is refused with its place."""
    try:
        return tomllib.loads(text.removeprefix(BOM))
    except tomllib.TOMLDecodeError as error:
        raise Malformed(text, _place(text, str(error)), _PLACE.sub("", str(error)).strip()) from error


def _place(text: str, message: str) -> int:
    match = _PLACE.search(message)
    if match is None or match[1] is None:
        return len(text)
    lines = text.splitlines(keepends=True)
    return sum(map(len, lines[: int(match[1]) - 1])) + int(match[2]) - 1 + text.startswith(BOM)


def is_free(text: str | None) -> bool:
    """Whether the place is nobody else's."""
    document = document_of(text or "")
    return "notify" not in document or are_our_words(document["notify"])


def notifies(text: str | None, words: Sequence[str]) -> bool:
    """Whether it is just this program."""
    return bool(document_of(text or "").get("notify") == list(words))


def with_notify(text: str | None, words: Sequence[str]) -> str:
    """The text with our line, which it must not hold yet."""
    old = text or ""
    newline = "\r\n" if re.match(r"[^\n]*\r\n", old) else "\n"
    start = len(BOM) if old.startswith(BOM) else 0
    match = _DIRECTIVE.match(old, start)
    at = match.end() if match else start
    new = f"{old[:at]}notify = [{', '.join(map(_quoted, words))}]{newline}{old[at:]}"
    if document_of(new) != {**document_of(old), "notify": list(words)} or without_notify(new) != old:
        raise Malformed(old, 0, "our line could not be taken out again as it was put in")
    return new


def _quoted(word: str) -> str:
    return json.dumps(word, ensure_ascii=False).replace("\x7f", "\\u007f")


def without_notify(text: str) -> str:
    """The text without our line; somebody else's stays."""
    if not are_our_words(document_of(text).get("notify")):
        return text
    for line in _OUR_LINE.finditer(text):
        if are_our_words(_notify_in(line.group())):
            return text[: line.start()] + text[line.end() :]
    raise Malformed(text, text.find("notify"), "our `notify` was rewritten: take it out by hand")


def _notify_in(line: str) -> Any:
    try:
        return tomllib.loads(line).get("notify")
    except tomllib.TOMLDecodeError:
        return None
