"""One entry for each request to an API, merged from all files that mention it (docs/accounting.md).

A scan of a file gives a `Block`: what that file alone says of each request. The ledger merges blocks.

Rules
  1. A key names a request over all files. One whole record counts: a transcript's before a mirror of it, then the
     one with the largest output, then the later by time, path and offset. Figures are never mixed.
  2. A request belongs to the log that wrote it down first; copies name the other places. If several sessions hold
     copies, `give_to_eldest` gives it to the session that the others descend from.
  3. Nothing depends on the order in which blocks come.
  4. Gateways may reuse an id for another request: those of two files are the same request only if they share a
     mark (a record's id, a time, a request's id). Two logs can share a request only if they share a mark.
  5. Rows are packed: a gigabyte of logs holds fifty thousand requests, and two processes keep them.
  6. A block is stored without the number of its file, which depends on what else is read. Under a new number it
     equals the block that a scan under that number gives.
  7. A block with a transient problem is never stored as what its log says.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

import msgspec

from tracklog.clock import NO_TIME
from tracklog.model.usage import (
    _ROW,
    ROW_FORMAT,
    Aside,
    Awaited,
    ClientTotals,
    CountRule,
    Loose,
    Sight,
    Source,
    UsageBlock,
    pack,
)

_LATE = 1 << 62


def _is_better_of_ours(one: Sight, other: Sight) -> bool:
    return (not one.is_told, one.output, one.at, one.file, one.offset) > (
        not other.is_told,
        other.output,
        other.at,
        other.file,
        other.offset,
    )


def _is_later(one: Sight, other: Sight) -> bool:
    return (one.at, one.file, one.offset) > (other.at, other.file, other.offset)


def _is_earlier(one: Sight, other: Sight) -> bool:
    return (_or_late(one.at), one.file, one.offset) < (_or_late(other.at), other.file, other.offset)


def _or_late(at: int) -> int:
    return _LATE if at == NO_TIME else at


def _first_rank(one: Sight) -> tuple[object, ...]:
    return (
        one.first_is_told,
        _or_late(one.first_at),
        one.first_is_copy,
        one.first_is_beside,
        one.first_file,
        one.first_offset,
    )


_IS_BETTER = {
    "ours": _is_better_of_ours,
    "last-chunk": _is_later,
    "first-chunk": _is_earlier,
    "every-line": _is_later,
    "time-and-usage": _is_earlier,
}
_N_OF_WINNER = Sight._fields.index("first_at")  # so many fields are about the record whose figures count


def merged(one: Sight, other: Sight, rule: CountRule = "ours") -> Sight:
    """Both sights of a request in one."""
    winner = one if _IS_BETTER[rule](one, other) else other
    first = one if _first_rank(one) <= _first_rank(other) else other
    return Sight._make(
        (*tuple(winner)[:_N_OF_WINNER], *tuple(first)[_N_OF_WINNER:-1], one.has_ended or other.has_ended)
    )


class Ledger:
    """All requests in some logs."""

    def __init__(self, sources: Sequence[Source], rule: CountRule = "ours") -> None:
        self.sources = sources
        self.rule: CountRule = rule
        self.names: dict[int, list[str]] = {}  # by file
        self.cwds: dict[int, str] = {}  # by file, of the first answer
        self.folders: dict[str, str] = {}  # where sessions began, as far as was asked
        self.asides: dict[int, Aside] = {}  # by row
        self.elsewhere: dict[int, set[int]] = {}  # by row: the files of a request that is in several
        self.totals: dict[int, ClientTotals] = {}  # by file
        self.awaited: dict[int, Awaited] = {}
        self.problems: dict[int, str] = {}
        self._keys: dict[bytes, int] = {}
        # By file, its first row and how many follow; rows that came one by one are scattered.
        self._runs: dict[int, tuple[int, int]] = {}
        self._scattered: list[int] = []
        self._rows = bytearray()
        self._loose: dict[str, list[Loose]] = {}
        self._gateway_ids: dict[bytes, bytes] = {}  # by key: ids that name more than one request

    def __len__(self) -> int:
        return len(self._keys)

    def take(self, block: UsageBlock) -> None:
        """Merge a file's requests with those of other files."""
        self.names[block.file] = block.names
        if block.cwd is not None:
            self.cwds[block.file] = block.cwd
        if block.totals is not None:
            self.totals[block.file] = block.totals
        if block.awaited is not None:
            self.awaited[block.file] = block.awaited
        if block.problem is not None:
            self.problems[block.file] = block.problem
        for loose in block.loose:
            self._loose.setdefault(loose.id, []).append(loose)
        if self._keys.keys().isdisjoint(block.keys):
            self._append(block)
        else:
            for number, key in enumerate(block.keys):
                row = block.rows[number * _ROW.size : (number + 1) * _ROW.size]
                self._put(key, row, block.asides.get(number))

    def _append(self, block: UsageBlock) -> None:
        """Most files hold nothing that another holds."""
        n = len(self._keys)
        self._runs[block.file] = (n, len(block.keys))
        self._keys.update(zip(block.keys, range(n, n + len(block.keys)), strict=True))
        self._rows += block.rows
        for number, aside in block.asides.items():
            self.asides[n + number] = aside

    def public_id(self, key: bytes) -> str:
        """The id of a request in documents: its key without the suffix that is only for this ledger."""
        return (self._gateway_ids.get(key) or key).decode(errors="replace")

    def settle(self) -> None:
        """Decides which requests with ids of gateways are the same. Comes when all blocks are there."""
        for id, sights in self._loose.items():
            for n, group in enumerate(_by_marks(sights)):
                key = f"{id}#{n}".encode()
                self._gateway_ids[key] = id.encode()
                for loose in group:
                    self._put(key, loose.row, loose.aside)
        self._loose.clear()

    def rows(self) -> Iterator[Sight]:
        """The requests, in no particular order."""
        return map(Sight._make, _ROW.iter_unpack(self._rows))

    def raw_rows(self) -> Iterator[tuple[int, ...]]:
        """The same as plain tuples, in the order of the fields of a sight: twice as fast."""
        return _ROW.iter_unpack(self._rows)

    def raw_runs(self) -> Iterator[list[tuple[int, ...]]]:
        """The same in parts: the rows of one file together, where it holds nothing that another holds."""
        rows, done = self.raw_rows(), 0
        for first, n in sorted(self._runs.values()):
            yield list(islice(rows, first - done))
            yield list(islice(rows, n))
            done = first + n
        yield list(rows)

    def sight(self, row: int) -> Sight:
        """One request."""
        return Sight._make(_ROW.unpack_from(self._rows, row * _ROW.size))

    def rows_in(self, files: Iterable[int]) -> Iterator[tuple[int, Sight]]:
        """The requests of some files with their numbers, and perhaps others: all that are in more than one file."""
        runs = (self._runs[file] for file in files if file in self._runs)
        alone = (number for first, n in runs for number in range(first, first + n))
        for number in sorted({*alone, *self._scattered, *self.elsewhere}):
            yield number, self.sight(number)

    def keys(self) -> Iterable[bytes]:
        """Their keys, in the same order."""
        return self._keys

    def session_of(self, sight: Sight) -> str:
        """The session that wrote a request down first."""
        return self.sources[sight.first_file].session

    def thread_of(self, sight: Sight) -> str:
        """The thread that made a request."""
        return self.names[sight.first_file][sight.thread] or self.sources[sight.first_file].thread

    def model_of(self, sight: Sight) -> str | None:
        """The model that answered."""
        return self.names[sight.file][sight.model] or None

    def entrypoint_of(self, sight: Sight) -> str | None:
        """The client's way in."""
        return self.names[sight.first_file][sight.entrypoint] or None

    def heirs_of(self, row: int) -> list[str]:
        """The sessions that hold copies of a request of another's."""
        files = self.elsewhere.get(row)
        if not files:
            return []
        sessions = sorted({self.sources[file].session for file in files})
        return sessions if len(sessions) > 1 else []

    def give(self, row: int, session: str) -> None:
        """Give a request to another session that holds it."""
        at, sight = row * _ROW.size, self.sight(row)
        if self.session_of(sight) == session:
            return
        theirs = [file for file in self.elsewhere[row] if self.sources[file].session == session]
        file = min(theirs, key=lambda file: (not self.sources[file].is_main, file))
        thread = self.names[sight.first_file][sight.thread]
        entrypoint = self.names[sight.first_file][sight.entrypoint]
        given = sight._replace(
            first_file=file,
            thread=self._number(file, thread),
            entrypoint=self._number(file, entrypoint),
        )
        self._rows[at : at + _ROW.size] = pack(*given)

    def _number(self, file: int, name: str) -> int:
        names = self.names[file]
        if name not in names:
            names.append(name)
        return names.index(name)

    def _put(self, key: bytes, row: bytes, aside: Aside | None) -> None:
        number = self._keys.setdefault(key, len(self._keys))
        at = number * _ROW.size
        if at == len(self._rows):
            self._rows += row
            self._scattered.append(number)
            if aside is not None:
                self.asides[number] = aside
            return
        held, new = Sight._make(_ROW.unpack_from(self._rows, at)), Sight._make(_ROW.unpack(row))
        both = merged(held, new, self.rule)
        self._rows[at : at + _ROW.size] = pack(*both)
        if held.file != new.file or held.first_file != new.first_file:
            self.elsewhere.setdefault(number, {held.file, held.first_file}).update((new.file, new.first_file))
        self._join_asides(number, aside, is_newer=(both.file, both.offset) == (new.file, new.offset))

    def _join_asides(self, number: int, aside: Aside | None, *, is_newer: bool) -> None:
        held = self.asides.get(number) or Aside()
        aside = aside or Aside()
        winner = aside if is_newer else held
        joined = Aside(sorted({*held.tools, *aside.tools}), winner.beside, winner.stated_pico_usd)
        if joined != Aside():
            self.asides[number] = joined
        else:
            self.asides.pop(number, None)


def _by_marks(sights: list[Loose]) -> list[list[Loose]]:
    """Group requests that share a mark; the order depends only on the requests themselves.

    Two messages that one file distinguishes stay two: what marks both of them marks neither, and a third file that
    would join them does not.
    """
    seen = [Sight._make(_ROW.unpack(one.row)) for one in sights]
    order = sorted(range(len(sights)), key=lambda n: _first_rank(seen[n]))
    held_by = Counter((seen[n].file, mark) for n in order for mark in set(sights[n].marks))
    top, files = list(range(len(sights))), [{one.file} for one in seen]

    def top_of(n: int) -> int:
        while top[n] != n:
            top[n] = n = top[top[n]]
        return n

    first_with: dict[str, int] = {}
    for n in order:
        for mark in sights[n].marks:
            if held_by[seen[n].file, mark] > 1:
                continue
            one, other = top_of(first_with.setdefault(mark, n)), top_of(n)
            if one != other and files[one].isdisjoint(files[other]):
                top[other] = one
                files[one] |= files[other]
    groups: dict[int, list[Loose]] = {}
    for n in order:
        groups.setdefault(top_of(n), []).append(sights[n])
    return list(groups.values())


def shared_rows(ledger: Ledger) -> dict[int, frozenset[str]]:
    """The requests that are in several sessions, and in which."""
    holders = {row: frozenset(ledger.heirs_of(row)) for row in ledger.elsewhere}
    return {row: held_by for row, held_by in holders.items() if held_by}


def give_to_eldest(ledger: Ledger, parents: Mapping[str, str]) -> None:
    """Give each such request to the session that all others descend from, if there is one."""
    for row, holders in shared_rows(ledger).items():
        oldest = [id for id in sorted(holders) if not _descends(id, holders, parents)]
        if len(oldest) == 1:
            ledger.give(row, oldest[0])


def _descends(id: str, holders: frozenset[str], parents: Mapping[str, str]) -> bool:
    """Whether one of the holders is an ancestor."""
    seen = {id}
    while (parent := parents.get(id)) is not None and parent not in seen:
        if parent in holders:
            return True
        seen.add(parent)
        id = parent
    return False


SCAN = 3  # grows whenever a scan says something else of the same bytes
_NOWHERE = -1
_SIZE = struct.calcsize(ROW_FORMAT)
_NUMBER, _OFFSET = struct.Struct("<i"), struct.Struct("<q")
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(UsageBlock).decode


def packed(block: UsageBlock) -> bytes:
    """A block to be kept."""
    return _encode(numbered(block, _NOWHERE))


def unpacked(body: bytes, number: int) -> UsageBlock:
    """A block that was kept, as that of the file with this number."""
    return numbered(_decode(body), number)


def numbered(block: UsageBlock, number: int) -> UsageBlock:
    """The block as if its file had this number."""
    return msgspec.structs.replace(
        block,
        file=number,
        keys=_keys(block, number),
        rows=_rows(block.rows, number),
        loose=[Loose(one.id, one.marks, _rows(one.row, number), aside=one.aside) for one in block.loose],
    )


def marks_of(block: UsageBlock) -> set[int]:
    """Short hashes of what its requests are called; those that only this file can hold have none."""
    from hashlib import blake2b  # it loads all of OpenSSL, which queries do not need

    of_file = b"%d:" % block.file
    names = [key for key in block.keys if not key.startswith(of_file)]
    names += [b"loose:" + one.id.encode(errors="replace") for one in block.loose]
    return {int.from_bytes(blake2b(name, digest_size=8).digest(), "little", signed=True) for name in names}


def _at(field: str) -> int:
    return struct.calcsize(ROW_FORMAT[: 1 + Sight._fields.index(field)])


_FILES = (_at("file"), _at("first_file"))
_OFFSET_AT = _at("offset")


def _rows(rows: bytes, number: int) -> bytes:
    made, n = bytearray(rows), len(rows) // _SIZE
    for place in _FILES:
        for at, byte in enumerate(_NUMBER.pack(number), place):
            made[at::_SIZE] = bytes((byte,)) * n
    return bytes(made)


def _keys(block: UsageBlock, number: int) -> list[bytes]:
    """A request without any id is called by its file and its place."""
    of_file = b"%d:" % block.file
    if number == block.file or not any(key.startswith(of_file) for key in block.keys):
        return block.keys
    return [_key(block, n, key, number=number) for n, key in enumerate(block.keys)]


def _key(block: UsageBlock, n: int, key: bytes, *, number: int) -> bytes:
    (offset,) = _OFFSET.unpack_from(block.rows, n * _SIZE + _OFFSET_AT)
    return b"%d:%d" % (number, offset) if key == b"%d:%d" % (block.file, offset) else key
