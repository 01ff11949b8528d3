"""Recompress logs that no longer grow, and remove stray files from the archive.

Rules
  1. A log is recompressed when nothing was written to it for some days: into a file beside it, which is read back,
     compared, and moved into its place. Only a smaller file replaces one, so a file that is smaller than the index
     says was recompressed before the index learned of it (archive/files.py: `contents`).
  2. The caller must hold the lock of the home.
  3. What a killed process left behind is deleted only if the archive holds all of its contents elsewhere.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BufferedWriter
from pathlib import Path

from tracklog.archive.files import contents, described, disk_trouble, new_file, stored_names
from tracklog.archive.frames import about_frame, compressor
from tracklog.archive.locate import SUFFIX
from tracklog.archive.tables import (
    ArchivedLog,
    archived_rows,
    frames_of,
    mark_cold,
    names_in_use,
    put_recompressed,
)
from tracklog.sources.files import NotReadable
from tracklog.store.database import Database
from tracklog.store.values import Archived, Frame

COLD_AFTER_DAYS = 7
_LEVEL = 12  # beyond it: a third of the speed, for 0.2 % of the logs' size
_FRAME_BYTES = 8 << 20
_BYTES_PER_S = 20_000_000  # what this takes at least: how a log is known to fit into the time that is left
_TENDED_S = 2.0
_DAY_NS = 86_400_000_000_000


@dataclass
class Recompressed:
    """Result of recompressing: how many logs, and the bytes before and after."""

    n_logs: int = 0
    before_bytes: int = 0
    after_bytes: int = 0
    n_left: int = 0  # cold ones for which there was no time
    problems: list[str] = field(default_factory=list)


def recompress(
    database: Database, *, now_ns: int, days: float = COLD_AFTER_DAYS, budget_s: float | None = None
) -> Recompressed:
    """Recompresses logs that did not change for some days; stops soon after `budget_s`."""
    done = Recompressed()
    deadline = None if budget_s is None else time.monotonic() + budget_s
    for log in archived_rows(database.db):
        if log.is_cold or (log.mtime_ns > now_ns - days * _DAY_NS and not log.is_only_here):
            continue
        if deadline is not None and log.archived.contents_bytes > _fitting(deadline):
            done.n_left += 1
        else:
            _recompress_one(database, log, done)
    return done


def tend(database: Database, *, now_ns: int) -> Recompressed:
    """Sweeps and recompresses within two seconds: run after new logs were read."""
    sweep(database)
    return recompress(database, now_ns=now_ns, budget_s=_TENDED_S)


def sweep(database: Database) -> int:
    """Deletes what killed processes left behind in the archive; returns the number of files."""
    folder = database.home.archive
    n = 0
    for name in list(stored_names(folder, half_made=True)):
        (folder / name).unlink(missing_ok=True)
        n += 1
    known = names_in_use(database.db)
    strays = [name for name in stored_names(folder) if name not in known]
    if strays:
        logs = {(log.path, log.generation): log for log in archived_rows(database.db)}
        for name in strays:
            if _is_contained(folder, name, logs):
                (folder / name).unlink(missing_ok=True)
                n += 1
    return n


def _fitting(deadline: float) -> float:
    return max(deadline - time.monotonic(), 0) * _BYTES_PER_S


def _recompress_one(database: Database, log: ArchivedLog, done: Recompressed) -> None:
    folder = database.home.archive
    try:
        smaller = _smaller(folder, log, frames_of(database.db, log.file, log.generation))
    except NotReadable as error:
        done.problems.append(f"{error.path}: {error.why}")
        return
    with database.transaction() as db:
        if smaller is None:
            mark_cold(db, log.file, log.generation)
            return
        put_recompressed(db, log.file, log.generation, smaller)
    done.n_logs += 1
    done.before_bytes += log.archived.stored_bytes
    done.after_bytes += smaller.stored_bytes


def _smaller(folder: Path, log: ArchivedLog, frames: list[Frame]) -> Archived | None:
    """Replaces a file of the archive by a smaller one; None if it does not become smaller."""
    path = folder / log.archived.name
    aside = path.with_name(f".cold~{hashlib.blake2b(path.name.encode(), digest_size=8).hexdigest()}{SUFFIX}")
    found = described(folder, log.archived.name)
    with disk_trouble(folder):
        aside.unlink(missing_ok=True)
        try:
            with new_file(folder, aside) as stream:
                stream.write(about_frame(found.about if found else {}))
                written = hashlib.sha256()
                made = _write(stream, contents(folder, log.archived, frames, size=_FRAME_BYTES), written)
                stream.flush()
                os.fsync(stream.fileno())
            made.name = log.archived.name
            if made.stored_bytes >= log.archived.stored_bytes:
                return None
            again = Archived(aside.name, made.contents_bytes, made.stored_bytes)
            if _digest(aside.parent, again) != written.digest():
                raise NotReadable(path, "compressed anew, it did not come back as it was")
            os.replace(aside, path)
        finally:
            aside.unlink(missing_ok=True)
    return made


def _write(stream: BufferedWriter, pieces: Iterator[bytes], into: hashlib._Hash) -> Archived:
    made = Archived("", 0, stream.tell(), [])
    held = bytearray()

    def put() -> None:
        made.frames.append(Frame(made.contents_bytes, made.stored_bytes))
        made.stored_bytes += stream.write(compressor(_LEVEL).compress(held))
        made.contents_bytes += len(held)
        held.clear()

    for piece in pieces:
        into.update(piece)
        held.extend(piece)
        if len(held) >= _FRAME_BYTES:
            put()
    if held:
        put()
    return made


def _is_contained(folder: Path, name: str, logs: dict[tuple[str, int], ArchivedLog]) -> bool:
    """Whether another file of the archive holds the whole contents of a stray one."""
    stray = described(folder, name)
    if stray is None:
        return False
    log = logs.get((str(stray.about.get("path")), int(stray.about.get("generation") or 1)))
    if log is None or log.archived.contents_bytes < stray.archived.contents_bytes:
        return False
    size = stray.archived.contents_bytes
    begins = Archived(log.archived.name, size, log.archived.stored_bytes)
    try:
        return _digest(folder, stray.archived) == _digest(folder, begins)
    except NotReadable:
        return False


def _digest(folder: Path, archived: Archived) -> bytes:
    digest = hashlib.sha256()
    for piece in contents(folder, archived):
        digest.update(piece)
    return digest.digest()
