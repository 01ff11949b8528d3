"""Add texts to the full-text index, with the extra words by which they are found.

`text_rows` says where a text is and `words` holds its words; the text itself stays in the log.

SQLite's tokenizer (`unicode61`) makes a word of each run of letters and digits, so `snake_case`, paths and dotted names
are split already. This adds, as words of a second column:
  - the parts of `camelCase` and `HTTPServer`;
  - of writing without spaces (Chinese, Japanese, Korean) each two neighbouring letters, and the last letter alone, and
    the words of other writing that are attached to it;
  - each emoji, as `u1f600`: for SQLite it is no letter;
  - the role of the text (role_word), so that a rare role among common words is found without a look at them all.

Rules
  1. Ids grow with time, so that the newest are found first: the second of the text, then a number within it. Texts of a
     second that is full go into later seconds.
  2. An id is never reused, as `words` cannot delete (SQLite below 3.43 needs the text for that): a text that is dropped
     leaves its row behind, under a log that does not exist (NOWHERE). `rebuild` gets rid of them.
  3. Ids are written in growing order: FTS5 flushes its buffer at every step back.
  4. A query is mapped by the same rules (search/query.py), so what is found here is what is found there.
  5. The extra words are computed for every text of every log, on the bytes that go into the index: plain ASCII without
     camelCase costs a copy and two searches.
  6. Names of tools and models are stored as numbers.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Collection, Iterable
from hashlib import blake2b

from stringzilla import Str

from tracklog.store.values import SearchableText, WordedText


def call_key(call: str) -> int:
    """A hash that links texts to a call: the same on every machine, and never negative."""
    digest = blake2b(call.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1


MOST_PARTS = 50_000  # of one text; with more of them it is no text
CJK = "\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3040-\u30ff\u3100-\u318f\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f\U0001b000-\U0001b16f\U00020000-\U0003ffff"
EMOJI = "\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001fbff"
_CJK_RUN = re.compile(f"[{CJK}]+")
_ONE_EMOJI = re.compile(f"[{EMOJI}]")
_NOT_CJK = re.compile(rf"[^\W_{CJK}]+")
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W_A-Z]+|[A-Z]+")
_LONGEST_IDENTIFIER = 100
_MOST_REMEMBERED = 20_000
# The kind of each byte: small letters, digits and non-ASCII; capital letters; separators.
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
# The first bytes of CJK letters in UTF-8, and of hardly anything else: no arrow, no check mark.
_CJK_BEGINS = re.compile(rb"[\xe1-\xed\xef\xf0](?:(?<!\xe2)|(?=[\xba-\xbf]))")
_remembered: dict[bytes, str] = {}  # the parts of identifiers, which logs repeat again and again


def parts_of(raw: bytes) -> str:
    """The words of the second column, for a text in UTF-8."""
    kinds = raw.translate(_KINDS) + _GAP
    found = _camel_parts(raw, kinds)
    if not raw.isascii():
        letters = "".join(set(raw.translate(None, _ASCII).decode()))  # a dash, a check mark: few, as a rule
        found += emoji_words(letters)
        if _CJK_RUN.search(letters):
            found += _cjk_parts(raw, kinds)
    return " ".join(found[:MOST_PARTS])


def role_word(role: int) -> str:
    """The word that marks all texts of a role: a private-use character, which SQLite takes for a letter."""
    return f"\ue000{role}"


def camel_parts(word: str) -> list[str]:
    """The parts of an identifier; none for a single word, a key or a hash."""
    parts = _CAMEL.findall(word)
    if len(parts) < 2 or _is_random(word, parts):
        return []
    return parts


def cjk_words(run: str) -> list[str]:
    """Each two neighbouring letters of a run without spaces, and the last one alone."""
    return [run[at : at + 2] for at in range(len(run))]


def emoji_words(text: str) -> list[str]:
    """Each emoji of a text, as a word made of its code point."""
    return [f"u{ord(one):x}" for one in _ONE_EMOJI.findall(text)]


def _camel_parts(raw: bytes, kinds: bytes) -> list[str]:
    """Finds changes of case in a copy that maps letters to kinds: far faster than a regular expression."""
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
    """Whether a word is a random id, such as `toolu_01AbC9…`, whose parts nobody searches for."""
    n_digits = sum(map(str.isdecimal, word))
    return n_digits > 0 and (n_digits * 8 > len(word) or len(word) < 3 * len(parts))


def _cjk_parts(raw: bytes, kinds: bytes) -> list[str]:
    """For each word with CJK letters: their pairs, and the words of other writing attached to them."""
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


ROLES = {
    "prompt": 1,
    "answer": 2,
    "thinking": 3,
    "input": 4,
    "result": 5,
    "context": 6,
    "title": 7,
    "summary": 8,
}
ROLE_NAMES = {number: name for name, number in ROLES.items()}
NOWHERE = 0
EPOCH_S = 1_420_070_400  # 2015 begins: no coding agent wrote a log before
SLOT_BITS = 12
_SLOTS = 1 << SLOT_BITS
_LAST_SECOND = (1 << 33) - 1
Row = tuple[int, int, int, int, int, int, int | None, int | None, int | None]


def worded(text: SearchableText) -> WordedText:
    """A text with its words; lone surrogates are replaced."""
    raw = text.text.encode("utf-8", "replace")
    parts = f"{parts_of(raw)} {role_word(text.role)}"
    key = call_key(text.call) if text.call else None
    return WordedText(text.line, text.offset, text.n, text.role, text.at_ms, text.name, key, raw, parts)


def put_texts(db: sqlite3.Connection, texts: Collection[tuple[int, WordedText]]) -> None:
    """Adds texts of one or several logs, each with the number of its log."""
    names, times = _Names(db), _Times(db)
    seconds = [times.second_of(file, text.at_ms) for file, text in texts]
    ids = _FreeIds(db, seconds)
    rows: list[Row] = []
    words: list[tuple[int, bytes, str]] = []
    for second, (file, text) in zip(seconds, texts, strict=True):
        id_ = ids.next_in(second)
        name = names.number_of(text.name) if text.name else None
        rows.append((id_, file, text.line, text.offset, text.n, text.role, text.at_ms, name, text.call_key))
        words.append((id_, text.text, text.parts))
    rows.sort()
    words.sort()
    db.executemany("insert into text_rows values (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
    db.executemany("insert into words (rowid, text, parts) values (?, cast(? as text), ?)", words)


def drop_texts(db: sqlite3.Connection, file: int, *, from_offset: int = 0) -> None:
    """Drops the texts of a log from this offset on; their words stay in the index, but no longer lead to them."""
    db.execute("update text_rows set file = ? where file = ? and offset >= ?", (NOWHERE, file, from_offset))


class _FreeIds:
    """Hands out the next free id of a second; all seconds needed are looked up in one query."""

    def __init__(self, db: sqlite3.Connection, seconds: Iterable[int]) -> None:
        self._db = db
        self._next = self._first_free(set(seconds))
        self._leads_to: dict[int, int] = {}  # from a second that is full to a later one

    def next_in(self, second: int) -> int:
        id_ = self._next[second]
        if id_ >> SLOT_BITS != second:  # it is full
            second = self._open_second(second)
            id_ = self._next[second]
        self._next[second] = id_ + 1
        return id_

    def _open_second(self, second: int) -> int:
        at, passed = second, []
        while True:
            if (behind := self._leads_to.get(at)) is not None:
                passed.append(at)
                at = behind
                continue
            if at not in self._next:
                self._next |= self._first_free([at])
            if self._next[at] < (at + 1) << SLOT_BITS:
                break
            self._leads_to[at] = at + 1
        for full in passed:  # a shorter way for the next one
            self._leads_to[full] = at
        return at

    def _first_free(self, seconds: Collection[int]) -> dict[int, int]:
        begins = json.dumps([second << SLOT_BITS for second in seconds])
        found = self._db.execute(
            "select value, (select max(id) from text_rows where id >= value and id < value + ?) from json_each(?)",
            (_SLOTS, begins),
        )
        return {begin >> SLOT_BITS: begin if last is None else last + 1 for begin, last in found}


class _Times:
    """Finds the second of a text; one without a time gets the second of the text before it in its log."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._last: dict[int, int] = {}  # by log

    def second_of(self, file: int, at_ms: int | None) -> int:
        if at_ms is None:
            return self._before(file)
        second = at_ms // 1000 - EPOCH_S
        if not 0 <= second <= _LAST_SECOND:
            second = 0 if second < 0 else _LAST_SECOND
        self._last[file] = second
        return second

    def _before(self, file: int) -> int:
        if file not in self._last:
            found = self._db.execute(
                "select id from text_rows where file = ? order by offset desc, n desc limit 1", (file,)
            ).fetchone()
            self._last[file] = found[0] >> SLOT_BITS if found else 0
        return self._last[file]


class _Names:
    """The numbers of names of tools and models."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._known: dict[str, int] = {}

    def number_of(self, name: str) -> int:
        known = self._known.get(name)
        if known is None:
            self._db.execute("insert or ignore into names (name) values (?)", (name,))
            (known,) = self._db.execute("select id from names where name = ?", (name,)).fetchone()
            self._known[name] = known
        return int(known)
