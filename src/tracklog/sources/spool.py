"""The spool: read the lines that `hook.py` wrote, rename long files and compress old ones.

    spool/hooks.jsonl                            hooks append here
    spool/hooks-20261116T101500Z-1.jsonl         renamed when it had grown long
    spool/hooks-20261116T101500Z-1.jsonl.zst     a day later

Rules
  1. A renamed file may still get a line, from a hook that had opened it before: files are known by their inode,
     and the end of a file is checked as long as it is not compressed.
  2. The sessions of a line are searched in its bytes. A line that merely mentions a session is found, too: the
     reader has to check.
  3. No line is lost: a rename takes nothing away from a hook that writes at this moment, and a file is compressed
     only when nothing was written to it for a day.
  4. A compressed file is written aside, read back and compared, then put in its place; then the original is
     deleted.
  5. Only the holder of the home's lock may rename or compress.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from tracklog.sources.files import CHUNK, NotReadable, chunks, is_the_same, open_log
from tracklog.sources.lines import Cutter, Line, cut

# Lazy imports: zstandard is needed only for what is compressed.

NAME = "hooks.jsonl"
SKIPPED_FRAME = (
    b"\x5b\x2a\x4d\x18"  # one of the sixteen that every zstd skips: it names the sessions of the file
)
_ROTATED = re.compile(r"hooks-(\d{8}T\d{6}Z)-(\d{1,6})\.jsonl(?:\.zst)?")
_SESSIONS = re.compile(rb'"(?:session_id|thread-id)"[ \t]*:[ \t]*"([^"\\]{1,200})"')
_HEAD_BYTES = 4 << 20


class LinePosition(NamedTuple):
    """A line of a file."""

    number: int
    offset: int
    length: int


Spots = dict[str, list[LinePosition]]  # by session


class SpoolLine(NamedTuple):
    """A line, and its file."""

    path: Path
    line: Line


def spool_of(home: Path) -> Path:
    """The folder of the spool in a home of ours."""
    return home / "spool"


def files_in(folder: Path) -> list[Path]:
    """The files of a spool, the oldest first; of one that is being compressed, the one that was there before."""
    found: dict[tuple[str, int], Path] = {}
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []  # no hook was ever called
    for name in names:
        rotated = _ROTATED.fullmatch(name)
        if rotated:
            found.setdefault(
                (rotated[1], int(rotated[2])), folder / name
            )  # `.jsonl` sorts before `.jsonl.zst`
    last = [folder / NAME] if NAME in names else []
    return [*(path for _, path in sorted(found.items())), *last]


def is_of_spool(path: Path) -> bool:
    """Whether a file is one of a spool, by its place."""
    return path.parent.name == "spool" and (path.name == NAME or bool(_ROTATED.fullmatch(path.name)))


def is_packed(path: Path) -> bool:
    """Whether a file of the spool was compressed: then nothing is written to it any more."""
    return path.suffix == ".zst"


def sessions_in(raw: bytes) -> set[str]:
    """The sessions that a line names, wherever in it."""
    return {found.decode("utf-8", "replace") for found in _SESSIONS.findall(raw)}


def spots_in(path: Path) -> Spots:
    """Where each session is named in a file; raises NotReadable."""
    spots: Spots = {}
    for line in cut(chunks(path)):
        for session in sessions_in(line.raw):
            spots.setdefault(session, []).append(LinePosition(line.number, line.offset, line.length))
    return spots


def sessions_said(path: Path) -> frozenset[str] | None:
    """The sessions that a compressed file says it holds; None if it says nothing."""
    with open_log(path) as stream:
        head = stream.read(8)
        size = int.from_bytes(head[4:], "little")
        if head[:4] != SKIPPED_FRAME or size > _HEAD_BYTES:
            return None
        said = stream.read(size)
    return frozenset(said.decode("utf-8", "replace").split("\n")) if len(said) == size else None


def lines_at(path: Path, spots: Iterable[LinePosition]) -> Iterator[Line]:
    """Some lines of a file that is not compressed; raises NotReadable."""
    with open_log(path) as stream:
        for spot in spots:
            raw = os.pread(stream.fileno(), spot.length, spot.offset)
            yield Line(spot.number, spot.offset, spot.length, raw)


def lines_in(contents: bytes, spots: Iterable[LinePosition]) -> Iterator[Line]:
    """Some lines of contents that are in memory."""
    for spot in spots:
        yield Line(spot.number, spot.offset, spot.length, contents[spot.offset : spot.offset + spot.length])


def lines_met(path: Path, spots: Iterable[LinePosition]) -> Iterator[Line]:
    """Some lines of any file, met by reading all of it; raises NotReadable."""
    wanted = {spot.number for spot in spots}
    last = max(wanted, default=0)
    for line in cut(chunks(path)) if wanted else ():
        if line.number in wanted:
            yield line
        if line.number >= last:
            return


class ReadPosition(NamedTuple):
    """How far a file was read."""

    offset: int  # of the first line that was not whole yet
    n_lines: int
    size: int


class SpoolTail:
    """Gives what was appended to a spool since it was last asked: whole lines, each once.

    `seen` is where it goes on, as `told` said it. At first everything is new that is not compressed.
    """

    def __init__(self, folder: Path, seen: str = "") -> None:
        self.folder = folder
        self._seen = _read_seen(seen)

    def ask(self) -> Iterator[SpoolLine]:
        """The new lines, in the order of the files. Exhaust it before you ask again."""
        still_there: dict[int, ReadPosition] = {}
        for path in files_in(self.folder):
            try:
                if not is_packed(path):
                    yield from self._read(path, still_there)
            except (NotReadable, OSError):
                continue  # renamed just now, or taken away: it is found under its new name the next time
        self._seen = still_there

    def told(self) -> str:
        """How far everything was read, in words that a later one understands."""
        return " ".join(
            f"{inode}:{seen.offset}:{seen.n_lines}:{seen.size}" for inode, seen in self._seen.items()
        )

    def _read(self, path: Path, still_there: dict[int, ReadPosition]) -> Iterator[SpoolLine]:
        status = os.stat(path, follow_symlinks=False)
        seen = self._seen.get(status.st_ino, ReadPosition(0, 0, 0))
        if status.st_size < seen.size:
            seen = ReadPosition(0, 0, 0)  # another file with the same number
        if status.st_ino not in self._seen or status.st_size > seen.size:
            cutter = Cutter(offset=seen.offset, number=seen.n_lines + 1)
            size = seen.offset
            for chunk in chunks(path, seen.offset):
                yield from (SpoolLine(path, line) for line in cutter.feed(chunk))
                size += len(chunk)
            seen = ReadPosition(cutter.open_since, cutter.n_cut, size)
        still_there[status.st_ino] = seen


def is_still(folder: Path, seen: str) -> bool:
    """Whether nothing was written since `seen`: asked before every answer, so nothing is opened."""
    known = _read_seen(seen)
    there = [path for path in files_in(folder) if not is_packed(path)]
    try:
        stats = [os.stat(path, follow_symlinks=False) for path in there]
    except OSError:
        return False
    return {status.st_ino: status.st_size for status in stats} == {n: one.size for n, one in known.items()}


def lines_seen(seen: str) -> dict[int, int]:
    """How many lines of each file were read, by its inode."""
    return {inode: one.n_lines for inode, one in _read_seen(seen).items()}


def _read_seen(text: str) -> dict[int, ReadPosition]:
    seen: dict[int, ReadPosition] = {}
    for word in text.split():
        inode, offset, n_lines, size = map(int, word.split(":"))
        seen[inode] = ReadPosition(offset, n_lines, size)
    return seen


LONG_BYTES = 16 << 20
OLD_S = 86_400
_LEVEL = 9
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW


def rotate(folder: Path, *, now: datetime, long_bytes: int = LONG_BYTES) -> Path | None:
    """Renames the file that hooks write to if it is long; its new path."""
    try:
        if os.stat(folder / NAME, follow_symlinks=False).st_size < long_bytes:
            return None
        path = _free_name(folder, now)
        os.rename(folder / NAME, path)
    except OSError:
        return None  # nothing there, or a folder that may not be changed: hooks write on as before
    return path


def _free_name(folder: Path, now: datetime) -> Path:
    stamp = now.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
    taken = {path.name.removesuffix(".zst") for path in files_in(folder)}
    n = next(n for n in range(1, len(taken) + 2) if f"hooks-{stamp}-{n}.jsonl" not in taken)
    return folder / f"hooks-{stamp}-{n}.jsonl"


def old_files(folder: Path, *, now: datetime, old_s: float = OLD_S) -> Iterator[Path]:
    """The renamed files to which nothing was written for a day."""
    before = now.timestamp() - old_s
    for path in files_in(folder):
        if path.name != NAME and not is_packed(path):
            try:
                if os.stat(path, follow_symlinks=False).st_mtime < before:
                    yield path
            except OSError:
                continue  # gone meanwhile


def compress(path: Path) -> Path | None:
    """Puts a compressed file in the place of this one; its path, or None if that was not possible."""
    packed = path.with_name(f"{path.name}.zst")
    aside = path.with_name(f".{packed.name}.{os.getpid()}")
    try:
        _write(path, aside)
        if not is_the_same(chunks(path), _decompressed(aside)):
            return None
        os.replace(aside, packed)
        os.unlink(path)
    except (OSError, NotReadable):
        return None  # a full disk, a folder that may not be changed: it stays as it is, and is tried again
    finally:
        aside.unlink(missing_ok=True)
    return packed


def _write(path: Path, aside: Path) -> None:
    import zstandard

    sessions = "\n".join(sorted(spots_in(path))).encode("utf-8", "replace")
    aside.unlink(missing_ok=True)
    with open(os.open(aside, _NEW_FILE, 0o600), "wb") as stream:
        stream.write(SKIPPED_FRAME + len(sessions).to_bytes(4, "little") + sessions)
        params = zstandard.ZstdCompressionParameters.from_level(_LEVEL, write_checksum=True)
        with zstandard.ZstdCompressor(compression_params=params).stream_writer(
            stream, closefd=False
        ) as writer:
            for chunk in chunks(path):
                writer.write(chunk)
        stream.flush()
        os.fsync(stream.fileno())


def _decompressed(path: Path) -> Iterator[bytes]:
    from tracklog.sources.zstd import DamagedStream, decompressed_blocks

    try:
        with open_log(path) as stream:
            for block in decompressed_blocks(stream):
                yield from (block[at : at + CHUNK] for at in range(0, len(block), CHUNK))
    except DamagedStream as damage:
        raise NotReadable(path, str(damage)) from damage
