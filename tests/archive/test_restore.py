from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest
import zstandard

from tests.index.archived_home import DAY_NS, ArchivedHome
from tests.views.cli.command import codex_lines, write
from tracklog.archive.restore import RestoreError, lost_logs, plan_restore, restore
from tracklog.archive.tables import ArchivedLog, archived_rows
from tracklog.store.database import Database


def lost(database: Database) -> list[ArchivedLog]:
    return lost_logs(database, [log.file for log in archived_rows(database.db)])


def test_a_deleted_session_comes_back_with_all_its_files_and_their_times(tmp_path: Path) -> None:
    logs = ArchivedHome(tmp_path)
    with logs.synced():
        before = logs.delete_sources()
    with logs.synced() as database:
        plan = plan_restore(lost(database), now_ns=time.time_ns())
        assert {one.path for one in plan} == {*logs.logs}
        restore(database, plan)
    assert logs.there() == before
    assert {path.stat().st_mode & 0o777 for path in logs.logs} == {0o600}
    with logs.synced() as database:
        assert lost(database) == []


def test_only_what_is_gone_comes_back(tmp_path: Path) -> None:
    logs = ArchivedHome(tmp_path)
    with logs.synced():
        logs.output.unlink()
    with logs.synced() as database:
        plan = plan_restore(lost(database), now_ns=time.time_ns())
    assert [one.path for one in plan] == [logs.output]


def test_where_one_file_stands_nothing_is_written(tmp_path: Path) -> None:
    logs = ArchivedHome(tmp_path)
    with logs.synced():
        logs.delete_sources()
    with logs.synced() as database:
        plan = plan_restore(lost(database), now_ns=time.time_ns())
        write(logs.meta, b"of another")
        with pytest.raises(RestoreError, match="exists already"):
            plan_restore(lost(database), now_ns=time.time_ns())
        with pytest.raises(RestoreError, match="exists already"):
            restore(database, plan)  # somebody was faster than the plan
    assert {path: held for path, (held, _) in logs.there().items()} == {logs.meta: b"of another"}
    assert list(tmp_path.rglob("*.tmp")) == []


def test_a_link_on_the_way_is_refused(tmp_path: Path) -> None:
    logs = ArchivedHome(tmp_path)
    with logs.synced():
        logs.delete_sources()
    with logs.synced() as database:
        plan = plan_restore(lost(database), now_ns=time.time_ns())
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        (logs.root / "projects").mkdir()
        logs.transcript.parent.symlink_to(elsewhere)
        with pytest.raises(RestoreError, match="is no folder of its own"):
            plan_restore(lost(database), now_ns=time.time_ns())
        with pytest.raises(RestoreError, match="cannot write"):
            restore(database, plan)
    assert [*elsewhere.rglob("*")] == []


def test_the_root_and_a_folder_in_it_may_be_links(tmp_path: Path) -> None:
    logs = ArchivedHome(tmp_path)
    with logs.synced():
        logs.delete_sources()
    (tmp_path / "large disk").mkdir()
    (logs.root / "projects").symlink_to(tmp_path / "large disk")
    with logs.synced() as database:
        restore(database, plan_restore(lost(database), now_ns=time.time_ns()))
    assert logs.transcript.is_file()


@pytest.mark.parametrize(
    ("path", "root"),
    [
        ("/home/dev/.claude/../../../etc/passwd", "/home/dev/.claude"),
        ("/etc/passwd", "/home/dev/.claude"),
        ("etc/passwd", "etc"),
        ("/home/dev/.claude-other/x", "/home/dev/.claude"),
        ("/home/dev/.claude/x\0y", "/home/dev/.claude"),
    ],
)
def test_a_path_that_leads_elsewhere_is_refused(tmp_path: Path, path: str, root: str) -> None:
    logs = ArchivedHome(tmp_path)
    with logs.synced() as database:
        log = archived_rows(database.db)[0]._replace(path=path, root=root)
    with pytest.raises(RestoreError, match="does not lie in"):
        plan_restore([log], to=tmp_path / "to", now_ns=0)


def test_a_session_can_be_put_elsewhere(tmp_path: Path) -> None:
    logs = ArchivedHome(tmp_path)
    with logs.synced():
        before = logs.delete_sources()
    with logs.synced() as database:
        plan = plan_restore(lost(database), to=tmp_path / "to", now_ns=time.time_ns())
        restore(database, plan, to=tmp_path / "to")
    for path, (held, _) in before.items():
        assert (tmp_path / "to" / path.relative_to(logs.root)).read_bytes() == held
    assert not logs.transcript.exists()


def test_what_the_agent_would_delete_at_once_is_as_old_as_now(tmp_path: Path) -> None:
    logs = ArchivedHome(tmp_path)
    logs.age(logs.output, days=40)
    with logs.synced():
        before = logs.delete_sources()
    now_ns = time.time_ns()
    with logs.synced() as database:
        plan = plan_restore(lost(database), kept_since_ns=now_ns - 29 * DAY_NS, now_ns=now_ns)
        restore(database, plan)
    times = {path: at for path, (_, at) in logs.there().items()}
    assert times == {path: at for path, (_, at) in before.items()} | {logs.output: now_ns}


def test_a_damaged_copy_restores_nothing(tmp_path: Path) -> None:
    logs = ArchivedHome(tmp_path)
    with logs.synced():
        logs.delete_sources()
    with logs.synced() as database:
        plan = plan_restore(lost(database), now_ns=time.time_ns())
        last = plan[-1].log.archived
        os.truncate(database.home.archive / last.name, last.stored_bytes // 2)
        with pytest.raises(RestoreError, match="is damaged"):
            restore(database, plan)
    assert logs.there() == {}


def test_a_log_that_stood_there_compressed_is_compressed_again(tmp_path: Path) -> None:
    logs = ArchivedHome(tmp_path)
    packed = write(logs.transcript.with_name("22222222-bbbb-4bbb-8bbb-222222222222.jsonl.zst"), b"")
    packed.write_bytes(zstandard.compress(codex_lines()))
    with logs.synced():
        packed.unlink()
    with logs.synced() as database:
        restore(database, plan_restore(lost(database), now_ns=time.time_ns()))
    assert zstandard.decompress(packed.read_bytes()) == codex_lines()
    shutil.rmtree(logs.root)
