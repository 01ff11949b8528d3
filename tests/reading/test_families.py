"""Which sessions share history."""

from __future__ import annotations

import json
from pathlib import Path

from tests.reading.test_sessions import DAY, PROJECT, THREE, meta, rollout
from tests.sources.tree import ONE, TWO, plant
from tracklog.agents.claude_code.lineage import HEAD_BYTES
from tracklog.agents.discovery import find_at
from tracklog.reading import family as reading_family
from tracklog.reading.family import Kinship, family
from tracklog.reading.session_files import group

FOUR = "44444444-dddd-4ddd-8ddd-444444444444"


def prompt(uuid: str, session: str, **more: object) -> bytes:
    message = {"role": "user", "content": "hi"}
    line = {
        "type": "user",
        "uuid": uuid,
        "parentUuid": None,
        "sessionId": session,
        "message": message,
        **more,
    }
    return json.dumps(line, separators=(",", ":")).encode() + b"\n"


def answer(uuid: str, message: str, session: str) -> bytes:
    body = {"id": message, "role": "assistant", "model": "m", "content": [{"type": "text", "text": "yes"}]}
    line = {"type": "assistant", "uuid": uuid, "parentUuid": None, "sessionId": session, "message": body}
    return json.dumps(line, separators=(",", ":")).encode() + b"\n"


def uuid(n: int) -> str:
    return f"{n:08d}-eeee-4eee-8eee-eeeeeeeeeeee"


def family_of(session: str, home: Path) -> set[str]:
    everything = group(find_at(home))
    [ours] = [one for one in everything if one.id == session]
    return {other.id for other in family(ours, everything)}


def families_in(home: Path) -> dict[str, set[str]]:
    return {session.id: family_of(session.id, home) for session in group(find_at(home))}


def test_a_fork_without_a_marker_is_found_by_the_first_uuid(tmp_path: Path) -> None:
    plant(tmp_path, f"{PROJECT}/{ONE}.jsonl", content=prompt(uuid(1), ONE))
    plant(tmp_path, f"{PROJECT}/{TWO}.jsonl", content=prompt(uuid(1), TWO) + prompt(uuid(2), TWO))
    plant(tmp_path, f"{PROJECT}/{THREE}.jsonl", content=prompt(uuid(3), THREE))
    assert families_in(tmp_path / ".claude") == {ONE: {TWO}, TWO: {ONE}, THREE: set()}


def test_a_resume_with_new_uuids_is_found_by_the_first_message(tmp_path: Path) -> None:
    for n, session in enumerate((ONE, TWO)):
        lines = prompt(uuid(2 * n), session) + answer(uuid(2 * n + 1), "msg_01abc", session)
        plant(tmp_path, f"{PROJECT}/{session}.jsonl", content=lines)
    assert families_in(tmp_path / ".claude") == {ONE: {TWO}, TWO: {ONE}}


def test_a_fork_that_begins_deep_in_its_original_is_found_from_both_sides(tmp_path: Path) -> None:
    early = b"".join(prompt(uuid(n), ONE) for n in range(1000))
    assert len(early) > 2 * HEAD_BYTES
    plant(tmp_path, f"{PROJECT}/{ONE}.jsonl", content=early + prompt(uuid(5000), ONE) + early)
    plant(tmp_path, f"{PROJECT}/{TWO}.jsonl", content=prompt(uuid(5000), TWO))
    assert families_in(tmp_path / ".claude") == {ONE: {TWO}, TWO: {ONE}}


def test_an_id_that_two_chunks_cut_is_found(tmp_path: Path) -> None:
    line = prompt(uuid(5000), ONE)
    room = (1 << 20) - line.index(b"00005000") - 10
    filler = json.dumps({"type": "mode", "mode": "x" * (room - 30), "sessionId": ONE}).encode()
    padding = filler[: room - 1] if len(filler) >= room else filler + b" " * (room - 1 - len(filler))
    plant(tmp_path, f"{PROJECT}/{ONE}.jsonl", content=padding + b"\n" + line)
    plant(tmp_path, f"{PROJECT}/{TWO}.jsonl", content=prompt(uuid(7000), TWO) + prompt(uuid(5000), TWO))
    assert (tmp_path / f"{PROJECT}/{ONE}.jsonl").read_bytes()[(1 << 20) - 10 : 1 << 20] == b"00005000-e"[:10]
    assert family_of(ONE, tmp_path / ".claude") == {TWO}


def test_a_session_named_by_a_fork_is_found_in_another_project(tmp_path: Path) -> None:
    marker = {"forkedFrom": {"sessionId": ONE, "messageUuid": uuid(1)}}
    plant(tmp_path, f".claude/projects/-a/{ONE}.jsonl", content=prompt(uuid(1), ONE))
    plant(tmp_path, f".claude/projects/-b/{TWO}.jsonl", content=prompt(uuid(9), TWO, **marker))
    assert family_of(TWO, tmp_path / ".claude") == {ONE}


def test_the_session_in_which_one_goes_on_is_of_the_family(tmp_path: Path) -> None:
    gone = {"type": "continued-in", "sessionId": ONE, "continuedInSessionId": TWO}
    plant(
        tmp_path, f"{PROJECT}/{ONE}.jsonl", content=prompt(uuid(1), ONE) + json.dumps(gone).encode() + b"\n"
    )
    plant(tmp_path, f"{PROJECT}/{TWO}.jsonl", content=prompt(uuid(2), TWO))
    assert families_in(tmp_path / ".claude") == {ONE: {TWO}, TWO: {ONE}}


def test_a_cleared_session_that_names_the_one_before_shares_nothing_with_it(tmp_path: Path) -> None:
    plant(tmp_path, f"{PROJECT}/{ONE}.jsonl", content=prompt(uuid(1), ONE))
    plant(tmp_path, f"{PROJECT}/{TWO}.jsonl", content=prompt(uuid(2), TWO, session_id=ONE))
    assert families_in(tmp_path / ".claude") == {ONE: set(), TWO: set()}


def test_threads_are_related_over_any_number_of_forks(tmp_path: Path) -> None:
    plant(tmp_path, f"{DAY}/{rollout(ONE)}", content=meta(ONE))
    plant(tmp_path, f"{DAY}/{rollout(TWO)}", content=meta(TWO, forked_from_id=ONE))
    plant(tmp_path, f"{DAY}/{rollout(THREE)}", content=meta(THREE, history_base={"thread_id": TWO}))
    plant(tmp_path, f"{DAY}/{rollout(FOUR)}", content=meta(FOUR))
    assert families_in(tmp_path / ".codex") == {
        ONE: {TWO, THREE},
        TWO: {ONE, THREE},
        THREE: {ONE, TWO},
        FOUR: set(),
    }


def shared_families(home: Path) -> list[tuple[set[str], set[str]]]:
    """Whom each family holds, and who is told to belong to it, where all sessions are asked at once."""
    told: dict[Kinship, set[str]] = {}
    for (_, session), kin in reading_family.families(group(find_at(home))).items():
        told.setdefault(kin, set()).add(session)
    return [({one.id for one in kin.sessions}, names) for kin, names in told.items()]


def test_all_sessions_of_a_family_are_given_the_same_one(tmp_path: Path) -> None:
    for session in (ONE, TWO, THREE):
        plant(tmp_path, f"{PROJECT}/{session}.jsonl", content=prompt(uuid(1), session))
    plant(tmp_path, f"{PROJECT}/{FOUR}.jsonl", content=prompt(uuid(4), FOUR))
    assert shared_families(tmp_path / ".claude") == [({ONE, TWO, THREE}, {ONE, TWO, THREE})]


def test_a_session_that_begins_in_the_head_of_another_is_of_its_family(tmp_path: Path) -> None:
    plant(tmp_path, f"{PROJECT}/{ONE}.jsonl", content=prompt(uuid(1), ONE) + prompt(uuid(2), ONE))
    plant(tmp_path, f"{PROJECT}/{TWO}.jsonl", content=prompt(uuid(2), TWO))
    assert shared_families(tmp_path / ".claude") == [({ONE, TWO}, {ONE, TWO})]


def test_sessions_of_two_agents_with_the_same_id_are_no_family(tmp_path: Path) -> None:
    plant(tmp_path, f"{PROJECT}/{ONE}.jsonl", content=prompt(uuid(1), ONE))
    plant(tmp_path, f"{DAY}/{rollout(ONE)}", content=meta(ONE))
    plant(tmp_path, f"{DAY}/{rollout(TWO)}", content=meta(TWO, forked_from_id=ONE))
    found = reading_family.families(
        [*group(find_at(tmp_path / ".claude")), *group(find_at(tmp_path / ".codex"))]
    )
    assert set(found) == {("codex", ONE), ("codex", TWO)}
