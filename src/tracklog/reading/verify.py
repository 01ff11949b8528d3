"""Prove that reading loses nothing: joined lines equal the file, and its pieces cover them.

Two hashes are taken in one pass: of the contents as they come from the disk, and of the lines that they were cut into,
newlines and counted NUL bytes included. Contents kept by reference are fetched by their reference. The pieces of a line
must match their own bytes, in order, with nothing but white space between them.

Where there is an archive, each log in it must be the beginning of its source, and a log whose source is gone must be
readable from it as a whole.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from tracklog.agents.registry import NOT_RECORDS, lines_of, reader_for
from tracklog.archive.files import contents
from tracklog.archive.tables import ArchivedLog
from tracklog.model.json_text import BOM, WHITE
from tracklog.model.records import Piece
from tracklog.sources.files import NotReadable, chunks, stored_chunks
from tracklog.sources.lines import Line
from tracklog.sources.log_file import LogFile, Skipped, is_compressed

_BLOCK = 1 << 20
_SMALL_BLOCK = 1 << 17  # as the archive gives its bytes


class Hash(Protocol):
    """A hash that is updated in steps."""

    def update(self, data: bytes, /) -> None:
        """Adds bytes."""


class VerifyResult(msgspec.Struct):
    """Result of verifying one file; `pieces = read + unknown + broken`."""

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
    archived: bool | None = (
        None  # whether the archive holds the same; None: it holds nothing of it, or not yet
    )


class ArchiveProof(msgspec.Struct):
    """Result of verifying the archive."""

    logs: int = 0  # in the archive
    identical: int = 0  # their source begins with the same bytes
    only_here: int = 0  # whole in the archive, and no longer at their source
    outdated: int = 0  # rewritten at their source since they were indexed
    not_archived: int = 0  # at their source alone
    damaged: list[Skipped] = []  # cannot be read from the archive, or differ from their source


def verify(file: LogFile, *, tell: Callable[[int], None] | None = None) -> VerifyResult | Skipped:
    """Verifies a file; one that cannot be read to its end is skipped.

    `tell` is called with the size of each chunk that was read.
    """
    try:
        return _prove(file, tell or _tell_nobody)
    except NotReadable as refusal:
        return Skipped(refusal.path, refusal.why)


class ArchiveCheck:
    """Compares the logs of the archive with their sources, one after the other."""

    def __init__(self, folder: Path, logs: Iterable[ArchivedLog]) -> None:
        self._folder = folder
        self._here: dict[str, ArchivedLog] = {}
        self._elsewhere: list[ArchivedLog] = []
        self.proof = ArchiveProof()
        for log in logs:
            if log.is_only_here:
                self._elsewhere.append(log)
            else:
                self._here[log.path] = log

    def compare(self, file: LogFile, *, stamp: Sequence[int]) -> bool | None:
        """Whether the archive holds the beginning of the source; `stamp` is size, times and inode as indexed."""
        log = self._here.pop(str(file.path), None)
        if log is None:
            self.proof.not_archived += 1
            return None
        self.proof.logs += 1
        try:
            is_same = _begins_with(chunks(file, size=_SMALL_BLOCK), contents(self._folder, log.archived))
        except NotReadable as error:
            self.proof.damaged.append(Skipped(file.path, error.why))
            return False
        if is_same:
            self.proof.identical += 1
        elif tuple(stamp) != file.stamp:
            self.proof.outdated += 1
            return None
        else:
            self.proof.damaged.append(Skipped(file.path, "the archive holds other bytes than the log"))
        return is_same

    def rest(self) -> ArchiveProof:
        """Verifies the logs that only the archive has: each frame has a checksum of its contents."""
        for log in self._elsewhere:
            self.proof.logs += 1
            why = why_not_given_back(self._folder, log)
            if why is None:
                self.proof.only_here += 1
            else:
                self.proof.damaged.append(Skipped(Path(log.path), why))
        return self.proof


def why_not_given_back(folder: Path, log: ArchivedLog) -> str | None:
    """Why the archive cannot return all bytes of a log; None if it can."""
    try:
        for _ in contents(folder, log.archived):
            pass
    except NotReadable as error:
        return error.why
    return None


def _begins_with(source: Iterator[bytes], ours: Iterator[bytes]) -> bool:
    """Whether the source begins with all of our bytes: a log may have grown since."""
    held = b""
    for piece in ours:
        while len(held) < len(piece):
            more = next(source, b"")
            if not more:
                return False
            held += more
        if not held.startswith(piece):
            return False
        held = held[len(piece) :]
    return True


def _prove(file: LogFile, tell: Callable[[int], None]) -> VerifyResult:
    proof = VerifyResult(path=str(file.path))
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
    if is_compressed(file.path):
        proof.bytes, proof.sha256 = _of_stored(file)
    return proof


def _hashed(source: Iterable[bytes], into: Hash, tell: Callable[[int], None]) -> Iterator[bytes]:
    for chunk in source:
        into.update(chunk)
        yield chunk
        tell(len(chunk))


def _of_stored(file: LogFile) -> tuple[int, str]:
    """Size and hash of the compressed file itself."""
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
    """Whether the pieces follow one another in the line, match its bytes, and leave out only white space."""
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
    """Whether the bytes between two offsets are only white space and byte order marks."""
    if start == end:
        return True
    first = line.offset + line.nuls
    gap = line.raw[max(0, start - first) : end - first]
    return start >= first and line.whole and not gap.strip(WHITE + BOM)


def _count(proof: VerifyResult, line: Line, pieces: list[Piece]) -> None:
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
