from __future__ import annotations

from pathlib import Path

from tests.store.made_index import CLAUDE_ROOT, CODEX_ROOT, ONE, TWO, made_index
from tracklog.sessions.tables_lists import latest_sessions
from tracklog.store.database import writing
from tracklog.store.scope import Scope


def latest(folder: Path, *roots: str, n: int = 5) -> list[tuple[str, str]]:
    with writing(made_index(folder)) as database:
        with database.transaction() as db:
            db.execute(
                "update session_rows set last_ms = case session when ? then 2000 else 1000 end", (ONE,)
            )
        return [(one.agent, one.id) for one in latest_sessions(database.db, Scope(roots), n)]


def test_the_last_ones_come_first_and_no_more_than_asked_for(tmp_path: Path) -> None:
    assert latest(tmp_path / "a", "/home/dev") == [("claude", ONE), ("codex", TWO)]
    assert latest(tmp_path / "b", "/home/dev", n=1) == [("claude", ONE)]


def test_only_sessions_with_a_log_in_the_scope_are_told(tmp_path: Path) -> None:
    assert latest(tmp_path / "a", CODEX_ROOT) == [("codex", TWO)]
    assert latest(tmp_path / "b", CLAUDE_ROOT) == [("claude", ONE)]
    assert latest(tmp_path / "c", "/elsewhere") == []
