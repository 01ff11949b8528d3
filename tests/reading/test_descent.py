"""What the sessions of one family share, from their files."""

from __future__ import annotations

from pathlib import Path

from tests.reading.test_families import prompt, uuid
from tests.reading.test_sessions import PROJECT, THREE
from tests.sources.tree import ONE, TWO, plant
from tracklog.agents.discovery import find_at
from tracklog.model.ids import SessionId
from tracklog.model.lineage.copies import Descent, Own
from tracklog.model.lineage.trace import CopiedLines
from tracklog.reading.family import Kinship, families
from tracklog.reading.session_files import group
from tracklog.reading.session_reader import read_session


def plant_forks(home: Path) -> Kinship:
    """A session, and two that begin with its first line."""
    for n, session in enumerate((ONE, TWO, THREE)):
        first = prompt(uuid(1), session, timestamp="2026-11-15T10:00:00.000Z")
        more = prompt(uuid(1 + n), session, timestamp=f"2026-11-15T1{n}:00:00.000Z")
        plant(home, f"{PROJECT}/{session}.jsonl", content=first + more if n else first)
    return Kinship(group(find_at(home / ".claude")))


def test_each_session_is_told_its_own_place_in_the_family(tmp_path: Path) -> None:
    kin = plant_forks(tmp_path)
    paths = {id: str(tmp_path / f"{PROJECT}/{id}.jsonl") for id in (ONE, TWO, THREE)}
    copy = Own(
        source=SessionId(ONE), runs=[CopiedLines(1, 1, SessionId(ONE))], sureness="inferred", why="own_start"
    )
    own = {paths[ONE]: Own(), paths[TWO]: copy, paths[THREE]: copy}
    assert {id: kin.descent(id) for id in (ONE, TWO, THREE)} == {
        ONE: Descent(own=own, forks=[SessionId(TWO), SessionId(THREE)]),
        TWO: Descent(own=own),
        THREE: Descent(own=own),
    }


def test_the_logs_of_a_family_are_looked_at_once(tmp_path: Path) -> None:
    kin = plant_forks(tmp_path)
    first = kin.descent(ONE)
    for log in tmp_path.rglob("*.jsonl"):
        log.unlink()
    assert kin.descent(TWO).own is first.own


def test_no_log_is_opened_before_a_family_is_asked(tmp_path: Path) -> None:
    kin = plant_forks(tmp_path)
    for log in tmp_path.rglob("*.jsonl"):
        log.write_bytes(prompt(uuid(9), log.stem))
    assert [own.source for own in kin.descent(ONE).own.values()] == [None, SessionId(ONE), SessionId(ONE)]


def test_a_session_that_is_not_of_the_family_shares_nothing_with_it(tmp_path: Path) -> None:
    assert plant_forks(tmp_path).descent("nobody") == Descent()


def test_forks_that_are_read_one_after_the_other_know_each_other(tmp_path: Path) -> None:
    plant_forks(tmp_path)
    groups = group(find_at(tmp_path / ".claude"))
    kin = families(groups)
    read = {one.id: read_session(one, kin[one.agent, one.id]) for one in groups}
    assert {id: (session.forked_from, session.forks) for id, session in read.items()} == {
        ONE: (None, [TWO, THREE]),
        TWO: (ONE, []),
        THREE: (ONE, []),
    }
