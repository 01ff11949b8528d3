"""Proves that reading loses nothing: the pieces of a file, put together again, are the file.

Two hashes are taken from one pass over the bytes: of what came from the disk, and of the lines that the cutter
made of it, newlines and counted NUL bytes included. What was kept by reference is fetched by its reference. Each
piece must stand on its own bytes inside its line.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator

import msgspec

from tracklog.pipeline.reading import NOT_RECORDS, lines_of, reader_for
from tracklog.records.base import Piece
from tracklog.sources.files import NotReadable, chunks, stored_chunks
from tracklog.sources.found import LogFile, Skipped
from tracklog.sources.lines import Line

_BLOCK = 1 << 20


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
    stored = hashlib.sha256()
    for chunk in stored_chunks(file):
        stored.update(chunk)
        proof.bytes += len(chunk)
    proof.sha256 = stored.hexdigest()
    if file.kind in NOT_RECORDS:
        tell(proof.bytes)
        proof.identical = True
        return proof
    again = hashlib.sha256()
    in_place = True
    reader = reader_for(file)
    for line in lines_of(file):
        proof.lines += 1
        for part in _bytes_of(file, line):
            again.update(part)
        pieces = list(reader.read([line]))
        in_place = in_place and _stand_in(line, pieces)
        _count(proof, pieces)
        tell(line.length + line.ended)
    proof.identical = in_place and again.hexdigest() == _hash_of_contents(file, proof.sha256)
    return proof


def _tell_nobody(n_bytes: int) -> None:
    """For callers that show no progress."""


def _hash_of_contents(file: LogFile, stored: str) -> str:
    if file.path.suffix != ".zst":
        return stored
    contents = hashlib.sha256()
    for chunk in chunks(file):
        contents.update(chunk)
    return contents.hexdigest()


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
    """Whether the pieces follow one another inside the line, each on the bytes that it shows."""
    at = line.offset
    for piece in pieces:
        if piece.offset < at or piece.offset + piece.length > line.offset + line.length:
            return False
        start = piece.offset - line.offset - line.nuls
        if piece.raw and line.whole and line.raw[start : start + piece.length] != piece.raw:
            return False
        at = piece.offset + piece.length
    return bool(pieces)


def _count(proof: Proof, pieces: list[Piece]) -> None:
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
