from __future__ import annotations

from pathlib import Path

from tests.store.made_index import CLAUDE_ROOT, CODEX_ROOT, made_index, put
from tracklog.index.tables_health import n_files_read
from tracklog.store.database import writing
from tracklog.store.scope import scope_of


def test_only_logs_of_a_scope_that_were_read_are_counted(tmp_path: Path) -> None:
    claude, codex = (scope_of([Path(root)]) for root in (CLAUDE_ROOT, CODEX_ROOT))
    with writing(made_index(tmp_path)) as database:
        known = {"root": CLAUDE_ROOT, "kind": "transcript", "state": "here", "device": 1, "inode": 9}
        times = {"ctime_ns": 0, "mtime_ns": 0}
        put(database.db, "log_files", id=9, path=f"{CLAUDE_ROOT}/never-read.jsonl", size=-1, **known, **times)
        assert (n_files_read(database.db, claude), n_files_read(database.db, codex)) == (1, 1)
