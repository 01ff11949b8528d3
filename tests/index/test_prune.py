from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from tests.index.archived_home import ArchivedHome
from tests.views.cli.command import user_line, write
from tracklog.archive.tables import archived_rows, frames_of
from tracklog.index.prune import Pruning, plan_pruning, prune
from tracklog.index.sync import sync
from tracklog.sessions.tables_write import session_names
from tracklog.sources.log_file import Root
from tracklog.store.catalogue import all_files
from tracklog.store.database import Database


def planned(database: Database, **more: Any) -> Pruning:
    return plan_pruning(database, now_ns=time.time_ns(), **more)


def paths(logs: Any) -> list[Path]:
    return sorted(Path(log.path) for log in logs)


def test_what_is_older_goes_if_it_stands_at_its_source(tmp_path: Path) -> None:
    logs = ArchivedHome(tmp_path)
    logs.age(logs.output, days=100)
    with logs.synced() as database:
        plan = planned(database, older_than_days=90)
        assert (paths(plan.gone), plan.spared) == ([logs.output], [])
        before = {log.path: log.archived for log in archived_rows(database.db)}
        prune(database, plan.gone)
        name = before[str(logs.output)].name
        assert plan.freed_bytes == before[str(logs.output)].stored_bytes
        assert not (database.home.archive / name).exists()
        assert {log.path for log in archived_rows(database.db)} == {*before} - {str(logs.output)}
        assert frames_of(database.db, plan.gone[0].file, 1) == []


def test_a_plan_changes_nothing(tmp_path: Path) -> None:
    logs = ArchivedHome(tmp_path)
    with logs.synced() as database:
        before = archived_rows(database.db)
        planned(database, older_than_days=0, to_bytes=0, may_lose=True)
        assert archived_rows(database.db) == before


def test_the_oldest_go_until_the_rest_fits(tmp_path: Path) -> None:
    logs = ArchivedHome(tmp_path)
    for days, path in ((3, logs.subagent), (2, logs.output), (1, logs.meta)):
        logs.age(path, days=days)
    with logs.synced() as database:
        sizes = {Path(log.path): log.archived.stored_bytes for log in archived_rows(database.db)}
        plan = planned(database, to_bytes=sizes[logs.transcript] + sizes[logs.meta])
    assert (paths(plan.gone), plan.left_bytes) == (
        sorted([logs.subagent, logs.output]),
        sizes[logs.transcript] + sizes[logs.meta],
    )


def test_what_differs_from_its_source_or_stands_nowhere_else_is_spared(tmp_path: Path) -> None:
    logs = ArchivedHome(tmp_path)
    with logs.synced():
        logs.output.unlink()
        write(logs.meta, b'{"agentType":"Rewritten"}')
    with logs.synced() as database:
        logs.transcript.write_bytes(logs.transcript.read_bytes() + user_line())
        logs.subagent.unlink()
        plan = planned(database, older_than_days=-1)
        assert {(Path(log.path).name, log.generation, why) for log, why in plan.spared} == {
            (logs.output.name, 1, "only here"),
            (logs.meta.name, 1, "was rewritten at its source since"),
            (logs.transcript.name, 1, "differs from its source"),
            (logs.subagent.name, 1, "cannot be compared with its source (does not exist)"),
        }
        assert [(Path(log.path).name, log.generation) for log in plan.gone] == [(logs.meta.name, 2)]


def test_a_pruned_log_is_not_archived_again_until_it_grows(tmp_path: Path) -> None:
    logs = ArchivedHome(tmp_path)
    with logs.synced() as database:
        prune(database, planned(database, older_than_days=-1).gone)
        assert archived_rows(database.db) == []
    write(logs.root / "projects" / "-home-dev-project" / "another.jsonl", user_line(uuid="u-2"))
    with logs.synced() as database:
        assert [Path(log.path).name for log in archived_rows(database.db)] == ["another.jsonl"]
    logs.transcript.write_bytes(logs.transcript.read_bytes() + user_line("more"))
    with logs.synced() as database:
        held = {Path(log.path): log.archived.contents_bytes for log in archived_rows(database.db)}
    assert held[logs.transcript] == logs.transcript.stat().st_size


def test_a_pruned_log_that_still_stands_at_its_source_is_archived_again_when_all_is_looked_at(
    tmp_path: Path,
) -> None:
    logs = ArchivedHome(tmp_path)
    with logs.synced() as database:
        before = {log.path: log.archived for log in archived_rows(database.db)}
        prune(database, planned(database, older_than_days=-1).gone)
        sync(database, [Root(logs.root, "claude")], is_full=True)
        after = {log.path: log.archived for log in archived_rows(database.db)}
        assert after == before
        assert all(
            (database.home.archive / at.name).stat().st_size == at.stored_bytes for at in after.values()
        )


def test_a_pruned_log_that_is_deleted_is_not_said_to_be_kept(tmp_path: Path) -> None:
    logs = ArchivedHome(tmp_path)
    with logs.synced() as database:
        prune(database, planned(database, older_than_days=-1).gone)
        logs.delete_sources()
    with logs.synced() as database:
        assert all_files(database.db) == []


def test_what_only_the_archive_has_goes_by_force_and_counts_nowhere_then(tmp_path: Path) -> None:
    logs = ArchivedHome(tmp_path)
    with logs.synced():
        logs.delete_sources()
    with logs.synced() as database:
        assert len(session_names(database.db)) == 1
        prune(database, planned(database, older_than_days=-1, may_lose=True).gone)
        assert (all_files(database.db), session_names(database.db)) == ([], set())
        assert [path for path in database.home.archive.rglob("*") if path.is_file()] == []
        assert sync(database, [Root(logs.root, "claude")]).problems == []


def test_only_what_is_meant_goes(tmp_path: Path) -> None:
    logs = ArchivedHome(tmp_path)
    with logs.synced() as database:
        plan = planned(database, older_than_days=-1, is_meant=lambda log: log.kind == "meta")
    assert paths(plan.gone) == [logs.meta]
