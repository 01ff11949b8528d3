"""Keeps the spool from growing without end: what is long is renamed, what is old is compressed.

Rules of this room
  1. No line is lost: a rename takes nothing away from a hook that writes at this moment, and a file is compressed only
     when nothing was written to it for a day.
  2. A compressed file is written aside, read back and compared, then put in its place; then the other one goes.
  3. Only for who holds the lock of the home.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from tracklog.sources.files import CHUNK, NotReadable, chunks, is_the_same
from tracklog.sources.spool import NAME, SKIPPED_FRAME, files_in, is_packed, spots_in

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
    from tracklog.sources.files import open_log
    from tracklog.sources.zstd import Damaged, decompressed_blocks

    try:
        with open_log(path) as stream:
            for block in decompressed_blocks(stream):
                yield from (block[at : at + CHUNK] for at in range(0, len(block), CHUNK))
    except Damaged as damage:
        raise NotReadable(path, str(damage)) from damage
