"""How things stand, from a real index."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from tests.index.indexed_logs import PRICES
from tests.index.known_homes import (
    Made,
    claude_session,
    index_of,
    index_without_archive,
    read_in,
    transcript,
    two_sessions,
    write,
)
from tests.views.web.many_sessions import write_many
from tracklog.agents.base import Retention
from tracklog.app.doctor.deletion import AgentHome, DueDeletion, deletions
from tracklog.app.doctor.health import Health, health
from tracklog.sources.log_file import FileKind, LogFile, Root
from tracklog.store.database import reading
from tracklog.store.scope import scope_of

DAY_NS = 86_400_000_000_000


def health_of(made: Made, *, now_ns: int, homes: tuple[Path, ...] | None = None) -> Health:
    roots = [Root(path, "claude") for path in ((made.claude,) if homes is None else homes)]
    with reading(made.home) as database:
        assert database is not None
        scope = scope_of([made.claude, made.codex])
        return health(database, scope, PRICES, roots=roots, now_ns=now_ns)


def aged(made: Made, days: float, now_ns: int) -> Path:
    """The log of the first session, last written to so many days ago."""
    path = transcript(made, claude_session(1).session)
    at_ns = now_ns - int(days * DAY_NS)
    os.utime(path, ns=(at_ns, at_ns))
    return path


def test_a_session_that_is_25_days_old_is_due_and_its_copy_in_the_archive_is_told(tmp_path: Path) -> None:
    made = two_sessions(tmp_path)
    now_ns = transcript(made, claude_session(1).session).stat().st_mtime_ns
    path = aged(made, 25, now_ns)
    index_without_archive(made)
    expected = DueDeletion(
        claude_session(1).session, str(path), path.stat().st_mtime_ns + 30 * DAY_NS, is_archived=False
    )
    assert health_of(made, now_ns=now_ns).due == [expected]
    index_of(made, is_full=True)
    assert health_of(made, now_ns=now_ns).due == [expected._replace(is_archived=True)]


def test_nothing_is_due_that_is_young_or_kept_longer_or_in_no_home(tmp_path: Path) -> None:
    made = two_sessions(tmp_path)
    now_ns = transcript(made, claude_session(1).session).stat().st_mtime_ns
    aged(made, 22, now_ns)
    index_of(made)
    assert health_of(made, now_ns=now_ns).due == []
    aged(made, 29, now_ns)
    index_of(made)
    assert len(health_of(made, now_ns=now_ns).due) == 1
    assert health_of(made, now_ns=now_ns, homes=()).due == []
    write(made.claude / "settings.json", b'{"cleanupPeriodDays": 90}')
    assert health_of(made, now_ns=now_ns).due == []
    write(made.claude / "settings.json", b'{"cleanupPeriodDays": 0}')
    assert health_of(made, now_ns=now_ns).due == []


def test_models_without_a_price_are_named_with_their_requests(tmp_path: Path) -> None:
    made = Made(tmp_path)
    write_many(made.claude, 30)
    read_in(made)
    found = health_of(made, now_ns=0)
    assert [model for model, _ in found.unpriced] == ["model-x"]
    assert found.unpriced[0][1] > 0


def test_broken_and_unknown_pieces_are_counted_with_their_logs(tmp_path: Path) -> None:
    made = two_sessions(tmp_path)
    path = transcript(made, claude_session(1).session)
    with open(path, "ab") as stream:
        stream.write(b'{"type":"brand-new","sessionId":"x"}\n{"type": torn\n')
    index_of(made)
    found = health_of(made, now_ns=0)
    [claude, codex] = found.agents
    assert (claude.agent, claude.unknown, claude.broken) == ("claude", 1, 1)
    assert (codex.agent, codex.unknown, codex.broken) == ("codex", 0, 0)
    assert claude.pieces == claude.read + 2
    assert [(one.path, one.unknown, one.broken) for one in found.troubled] == [(str(path), 1, 1)]
    assert found.n_troubled == 1
    assert found.archive.logs == len(made.logs())


NOW_NS = 1_800_000_000 * 10**9


def log(
    root: Path, name: str, *, age_days: float, agent: Any = "claude", kind: FileKind = FileKind.TRANSCRIPT
) -> LogFile:
    mtime_ns = NOW_NS - int(age_days * DAY_NS)
    return LogFile(agent, kind, root / f"{name}.jsonl", root, name, 1, mtime_ns, 1, 1)


def test_sessions_that_go_soon_are_listed_the_next_one_first(tmp_path: Path) -> None:
    files = [
        log(tmp_path, "young", age_days=2),
        log(tmp_path, "soon", age_days=24),
        log(tmp_path, "overdue", age_days=31),
        log(tmp_path, "later", age_days=22.9),
        log(tmp_path, "of codex", age_days=300, agent="codex"),
        log(tmp_path, "side", age_days=300, kind=FileKind.META),
        log(tmp_path / "another home", "unknown", age_days=300),
    ]
    found = deletions(files, {("claude", tmp_path): Retention(30)}, now_ns=NOW_NS)
    assert found == [
        DueDeletion("overdue", str(tmp_path / "overdue.jsonl"), NOW_NS - DAY_NS, is_archived=False),
        DueDeletion("soon", str(tmp_path / "soon.jsonl"), NOW_NS + 6 * DAY_NS, is_archived=False),
    ]


def test_a_home_whose_deletion_is_paused_loses_nothing(tmp_path: Path) -> None:
    kept: dict[AgentHome, Retention] = {("claude", tmp_path): Retention(0, why_paused="0 is refused")}
    assert deletions([log(tmp_path, "a", age_days=99)], kept, now_ns=NOW_NS) == []
