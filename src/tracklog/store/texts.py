"""Texts go into the index: where they stand in `text_rows`, their words in `words`; the text itself stays in the log.

Rules of this room
  1. Ids grow with time, so that the newest are found first: the second in which it was said, then a number within it.
     A second that is full goes on behind the ones after it.
  2. An id is never given twice, as `words` cannot forget (SQLite below 3.43 has no deletion without the text): a text
     that is dropped leaves its row behind, under a log that does not exist (NOWHERE). `rebuild` gets rid of them.
  3. Ids are written in growing order: FTS5 flushes its buffer at every step back.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable

from tracklog.store.keys import call_key
from tracklog.store.values import Text, WordedText
from tracklog.store.words import parts_of, role_word

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


def worded(text: Text) -> WordedText:
    """A text with its words; half a character (a lone surrogate) has no place in an index of words."""
    raw = text.text.encode("utf-8", "replace")
    parts = f"{parts_of(raw)} {role_word(text.role)}"
    key = call_key(text.call) if text.call else None
    return WordedText(text.line, text.offset, text.n, text.role, text.at_ms, text.name, key, raw, parts)


def put_texts(db: sqlite3.Connection, texts: Collection[tuple[int, WordedText]]) -> None:
    """Adds the texts of one or several logs, each with the number of its log."""
    names, times = _Names(db), _Times(db)
    seconds = [times.second_of(file, text.at_ms) for file, text in texts]
    ids = _FreeIds(db, seconds)
    rows: list[Row] = []
    words: list[tuple[int, bytes, str]] = []
    for second, (file, text) in zip(seconds, texts, strict=True):
        id_ = ids.take(second)
        name = names.number_of(text.name) if text.name else None
        rows.append((id_, file, text.line, text.offset, text.n, text.role, text.at_ms, name, text.call_key))
        words.append((id_, text.text, text.parts))
    rows.sort()
    words.sort()
    db.executemany("insert into text_rows values (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
    db.executemany("insert into words (rowid, text, parts) values (?, cast(? as text), ?)", words)


def drop_texts(db: sqlite3.Connection, file: int, *, from_offset: int = 0) -> None:
    """Forgets the texts of a log from this offset on; their words stay, and lead nowhere."""
    db.execute("update text_rows set file = ? where file = ? and offset >= ?", (NOWHERE, file, from_offset))


class _FreeIds:
    """Gives the next free id of a second; the seconds that will be asked for are looked up at once."""

    def __init__(self, db: sqlite3.Connection, seconds: Iterable[int]) -> None:
        self._db = db
        self._next = self._first_free(set(seconds))
        self._leads_to: dict[int, int] = {}  # from a second that is full to a later one

    def take(self, second: int) -> int:
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
    """Which second a text is put into; one without a time stands behind what its log said before."""

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
