"""Proves that reading loses nothing: the lines of a file, put together again, are the file, and its pieces cover them.

Two hashes are taken in one pass: of the contents as they come from the disk, and of the lines that the cutter made of
them, newlines and counted NUL bytes included. What was kept by reference is fetched by its reference. The pieces of a
line must stand on their own bytes, one behind the other, with nothing but white space between them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

import msgspec

from tracklog.pipeline.reading import NOT_RECORDS, lines_of, reader_for
from tracklog.records.base import Piece
from tracklog.records.json_text import BOM, WHITE
from tracklog.sources.files import NotReadable, chunks, stored_chunks
from tracklog.sources.found import LogFile, Skipped
from tracklog.sources.lines import Line

_BLOCK = 1 << 20


class Hash(Protocol):
    """A hash that grows."""

    def update(self, data: bytes, /) -> None:
        """Takes in more bytes."""


class Proof(msgspec.Struct):
    """What the check of one file found; `pieces = read + unknown + broken`."""

    path: str
    bytes: int = 0
    sha256: str = ""
    lines: int = 0
    pieces: int = 0
    read: int = 0
    unknown: int = 0
    broken: int = 0
    recovered: int = 0
    identical: bool = False


def verify(file: LogFile, *, tell: Callable[[int], None] | None = None) -> Proof | Skipped:
    """Reads a file to its end and compares; a file that cannot be read, or not to its end, is skipped.

    `tell` is called with the number of bytes as they are done.
    """
    try:
        return _prove(file, tell or _tell_nobody)
    except NotReadable as refusal:
        return Skipped(refusal.path, refusal.why)


def _prove(file: LogFile, tell: Callable[[int], None]) -> Proof:
    proof = Proof(path=str(file.path))
    contents, again = hashlib.sha256(), hashlib.sha256()
    source = _hashed(chunks(file), contents, tell)
    if file.kind in NOT_RECORDS:
        proof.identical = True
        proof.bytes = sum(map(len, source))
    else:
        all_stand = True
        reader = reader_for(file)
        for line in lines_of(file, source):
            for part in _bytes_of(file, line):
                again.update(part)
            pieces = list(reader.read([line]))
            all_stand = all_stand and _stand_in(line, pieces)
            _count(proof, line, pieces)
        proof.identical = all_stand and again.digest() == contents.digest()
    proof.sha256 = contents.hexdigest()
    if file.path.suffix == ".zst":
        proof.bytes, proof.sha256 = _of_stored(file)
    return proof


def _hashed(source: Iterable[bytes], into: Hash, tell: Callable[[int], None]) -> Iterator[bytes]:
    for chunk in source:
        into.update(chunk)
        yield chunk
        tell(len(chunk))


def _of_stored(file: LogFile) -> tuple[int, str]:
    """Size and hash of a compressed file as it lies there."""
    stored, n_bytes = hashlib.sha256(), 0
    for chunk in stored_chunks(file):
        stored.update(chunk)
        n_bytes += len(chunk)
    return n_bytes, stored.hexdigest()


def _tell_nobody(n_bytes: int) -> None:
    """For callers that show no progress."""


def _bytes_of(file: LogFile, line: Line) -> Iterator[bytes]:
    if line.whole:
        for start in range(0, line.nuls, _BLOCK):
            yield bytes(min(_BLOCK, line.nuls - start))
        yield line.raw
    else:
        yield from _referenced(file, line)
    if line.ended:
        yield b"\n"


def _referenced(file: LogFile, line: Line) -> Iterator[bytes]:
    left = line.length
    for chunk in chunks(file, line.offset):
        yield chunk[:left]
        left -= len(chunk)
        if left <= 0:
            return


def _stand_in(line: Line, pieces: list[Piece]) -> bool:
    """Whether the pieces follow one another inside the line, each on its bytes, and leave out nothing but blanks."""
    at, end = line.offset, line.offset + line.length
    for piece in pieces:
        if not (_is_filling(line, at, piece.offset) and piece.offset + piece.length <= end):
            return False
        start = piece.offset - line.offset - line.nuls
        if piece.raw and line.whole and line.raw[start : start + piece.length] != piece.raw:
            return False
        at = piece.offset + piece.length
    return bool(pieces) and _is_filling(line, at, end)


def _is_filling(line: Line, start: int, end: int) -> bool:
    """Whether the bytes between two offsets belong to no piece by right: white space, byte order marks."""
    if start == end:
        return True
    first = line.offset + line.nuls
    gap = line.raw[max(0, start - first) : end - first]
    return start >= first and line.whole and not gap.strip(WHITE + BOM)


def _count(proof: Proof, line: Line, pieces: list[Piece]) -> None:
    proof.lines += 1
    proof.bytes += line.length + line.ended
    for piece in pieces:
        proof.pieces += 1
        proof.recovered += piece.recovered
        match piece.reading:
            case "read":
                proof.read += 1
            case "unknown":
                proof.unknown += 1
            case _:
                proof.broken += 1
