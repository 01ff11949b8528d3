from __future__ import annotations

import os
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest

from tests.index.archived_home import ArchivedHome
from tests.views.cli.command import user_line
from tracklog.archive import recompress as archive_recompress
from tracklog.archive.files import Appender, archived_logs, contents, stored_names
from tracklog.archive.recompress import Recompressed, recompress, sweep, tend
from tracklog.archive.tables import archived_rows, frames_of
from tracklog.store.database import Database


def done_by(database: Database, **more: Any) -> Recompressed:
    return recompress(database, now_ns=time.time_ns(), **more)


def everything(database: Database) -> dict[str, bytes]:
    """All that the archive holds, read by its frames."""
    held = {}
    for log in archived_rows(database.db):
        frames = frames_of(database.db, log.file, log.generation)
        middle = log.archived.contents_bytes // 2
        head = b"".join(contents(database.home.archive, log.archived, frames))[:middle]
        held[log.path] = head + b"".join(contents(database.home.archive, log.archived, frames, start=middle))
    return held


def grown_line_by_line(logs: ArchivedHome, n: int = 20) -> None:
    """A log that was read a line at a time, so that each stands in a frame of its own."""
    for k in range(n):
        with logs.transcript.open("ab") as stream:
            stream.write(user_line(f"line {k}", uuid=f"u-{k}"))
        with logs.synced():
            pass


def test_a_cold_log_is_stored_in_less_and_its_bytes_are_the_same(tmp_path: Path) -> None:
    logs = ArchivedHome(tmp_path)
    grown_line_by_line(logs)
    logs.age(logs.transcript, days=8)
    with logs.synced() as database:
        before, about = (
            everything(database),
            {f.archived.name: f.about for f in archived_logs(database.home.archive)},
        )
        done = done_by(database)
        assert (done.n_logs, done.after_bytes < done.before_bytes / 2, done.problems) == (1, True, [])
        assert everything(database) == before
        assert {f.archived.name: f.about for f in archived_logs(database.home.archive)} == about
        by_path = {log.path: log for log in archived_rows(database.db)}
        cold = by_path[str(logs.transcript)]
        assert cold.is_cold
        assert cold.archived.stored_bytes == (database.home.archive / cold.archived.name).stat().st_size
        assert len(frames_of(database.db, cold.file, 1)) == 1
        assert done_by(database) == Recompressed()


def test_what_was_written_to_lately_is_left_alone(tmp_path: Path) -> None:
    logs = ArchivedHome(tmp_path)
    with logs.synced() as database:
        assert done_by(database) == Recompressed()
        assert not any(log.is_cold for log in archived_rows(database.db))


def test_a_cold_log_that_grows_again_is_whole_and_no_longer_cold(tmp_path: Path) -> None:
    logs = ArchivedHome(tmp_path)
    grown_line_by_line(logs)
    logs.age(logs.transcript, days=8)
    with logs.synced() as database:
        done_by(database)
    grown_line_by_line(logs, 1)
    with logs.synced() as database:
        assert everything(database)[str(logs.transcript)] == logs.transcript.read_bytes()
        assert not any(log.is_cold for log in archived_rows(database.db) if log.kind == "transcript")


def test_what_only_the_archive_has_need_not_wait(tmp_path: Path) -> None:
    logs = ArchivedHome(tmp_path)
    grown_line_by_line(logs)
    with logs.synced():
        logs.delete_sources()
    with logs.synced() as database:
        before = everything(database)
        assert done_by(database).n_logs >= 1
        assert everything(database) == before


def test_a_process_killed_before_it_told_the_index_costs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs = ArchivedHome(tmp_path)
    grown_line_by_line(logs)
    with logs.synced():
        logs.delete_sources()

    def killed(db: sqlite3.Connection, *rest: object) -> None:
        raise KeyboardInterrupt

    with logs.synced() as database:
        before = everything(database)
        with monkeypatch.context() as patched:
            patched.setattr(archive_recompress, "put_recompressed", killed)
            with pytest.raises(KeyboardInterrupt):
                done_by(database)
        assert everything(database) == before
        assert done_by(database).problems == []
        assert everything(database) == before
        assert all(log.is_cold for log in archived_rows(database.db))


def test_a_damaged_log_is_left_as_it_is_and_said(tmp_path: Path) -> None:
    logs = ArchivedHome(tmp_path)
    logs.age(logs.output, days=8)
    with logs.synced() as database:
        (log,) = (log for log in archived_rows(database.db) if log.path == str(logs.output))
        path = database.home.archive / log.archived.name
        broken = bytearray(path.read_bytes())
        broken[-2] ^= 1
        path.write_bytes(broken)
        done = done_by(database)
        assert (done.n_logs, len(done.problems), path.read_bytes()) == (0, 1, bytes(broken))


def test_without_time_nothing_is_begun(tmp_path: Path) -> None:
    logs = ArchivedHome(tmp_path)
    logs.age(logs.output, days=8)
    with logs.synced() as database:
        assert done_by(database, budget_s=0) == Recompressed(n_left=1)


def test_what_killed_processes_left_is_swept_if_the_archive_has_it(tmp_path: Path) -> None:
    logs = ArchivedHome(tmp_path)
    with logs.synced() as database:
        folder = database.home.archive
        known = sorted(stored_names(folder))
        (log,) = (log for log in archived_rows(database.db) if log.path == str(logs.transcript))
        about = next(f.about for f in archived_logs(folder) if f.archived.name == log.archived.name)
        begun = logs.transcript.read_bytes()[:1000]
        for data in (begun, b"stands nowhere else"):
            with Appender(folder, log.archived.name, at=None, about=about) as appender:
                appender.write(data)
                appender.end()
        half_made = (folder / known[0]).with_name(".123~half.zst")
        half_made.write_bytes(b"half")
        assert len([*stored_names(folder)]) == len(known) + 2
        assert sweep(database) == 2
        left = {*stored_names(folder)} - {*known}
        assert [
            b"".join(contents(folder, f.archived)) for f in archived_logs(folder) if f.archived.name in left
        ] == [b"stands nowhere else"]
        assert not half_made.exists()
        assert os.path.exists(folder / log.archived.name)


def test_who_read_new_logs_also_tends_the_archive(tmp_path: Path) -> None:
    logs = ArchivedHome(tmp_path)
    grown_line_by_line(logs)
    logs.age(logs.transcript, days=8)
    with logs.synced() as database:
        half_made = database.home.archive / "logs" / ".123~half.zst"
        half_made.write_bytes(b"half")
        done = tend(database, now_ns=time.time_ns())
        assert (done.n_logs, done.n_left, half_made.exists()) == (1, 0, False)
