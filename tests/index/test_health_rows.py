"""What the index knows of how well logs were read, on an index that was written by hand."""

from __future__ import annotations

from pathlib import Path

from tests.store.made_index import (
    AT_MS,
    CLAUDE_LOG,
    CLAUDE_ROOT,
    CODEX_LOG,
    CODEX_ROOT,
    ONE,
    TWO,
    made_index,
    put,
)
from tracklog.index.tables_health import (
    AgentHealth,
    ArchiveSums,
    LogTrouble,
    Transcript,
    archive_sums,
    health_by_agent,
    old_transcripts,
    owners_of,
    requests_by_model,
    troubled_logs,
)
from tracklog.store.database import opened, reading
from tracklog.store.scope import scope_of

EVERYTHING = scope_of(["/home/dev"])


def test_logs_are_summed_up_by_agent_within_the_scope(tmp_path: Path) -> None:
    with reading(made_index(tmp_path)) as database:
        assert database is not None
        claude = AgentHealth("claude", 1, 500, 4, 4, 0, 0, 0)
        assert health_by_agent(database.db, EVERYTHING) == [claude, claude._replace(agent="codex")]
        assert health_by_agent(database.db, scope_of([CLAUDE_ROOT])) == [claude]


def test_the_worst_logs_come_first_and_all_are_counted(tmp_path: Path) -> None:
    home = made_index(tmp_path)
    with opened(home) as index, index.transaction() as db:
        db.execute("update log_files set pieces_broken = 2 where id = 1")
        db.execute("update log_files set problem = 'not readable: gone' where id = 2")
    codex = LogTrouble(CODEX_LOG, "codex", TWO, 0, 0, "not readable: gone")
    claude = LogTrouble(CLAUDE_LOG, "claude", ONE, 0, 2, None)
    with reading(home) as database:
        assert database is not None
        assert troubled_logs(database.db, EVERYTHING, most=9) == (2, [codex, claude])
        assert troubled_logs(database.db, EVERYTHING, most=1) == (2, [codex])
        assert troubled_logs(database.db, scope_of([CLAUDE_ROOT]), most=9) == (1, [claude])


def test_the_session_of_a_log_is_found_by_its_path(tmp_path: Path) -> None:
    with reading(made_index(tmp_path)) as database:
        assert database is not None
        assert owners_of(database.db, [CLAUDE_LOG, "/nowhere", "/half\ud800"]) == {
            CLAUDE_LOG: ("claude", ONE)
        }


def test_old_transcripts_say_whether_the_archive_has_them(tmp_path: Path) -> None:
    home = made_index(tmp_path)
    at_ns = AT_MS * 1_000_000
    with reading(home) as database:
        assert database is not None
        asked = {"agent": "claude", "before_ns": at_ns + 1}
        assert old_transcripts(database.db, EVERYTHING, **asked) == [  # type: ignore[arg-type]
            Transcript(CLAUDE_LOG, CLAUDE_ROOT, ONE, at_ns, is_archived=False)
        ]
        assert old_transcripts(database.db, EVERYTHING, agent="claude", before_ns=at_ns) == []
        assert old_transcripts(database.db, scope_of([CODEX_ROOT]), agent="claude", before_ns=at_ns + 1) == []
    with opened(home) as index, index.transaction() as db:
        put(db, "archives", file=1, generation=1, name="1.zst", contents_bytes=500, stored_bytes=90)
    with reading(home) as database:
        assert database is not None
        [kept] = old_transcripts(database.db, EVERYTHING, agent="claude", before_ns=at_ns + 1)
        assert kept.is_archived
        assert archive_sums(database.db) == ArchiveSums(2, 1000, 180, 1)


def test_models_are_told_with_the_requests_that_they_answered(tmp_path: Path) -> None:
    home = made_index(tmp_path)
    with opened(home) as index, index.transaction() as db:
        db.execute("delete from sum_rows")
    with reading(home) as database:
        assert database is not None
        assert requests_by_model(database.db) == []
