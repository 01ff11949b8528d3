from __future__ import annotations

from pathlib import Path

import pytest
import zstandard

from tests.views.cli.command import ONE, TWO, codex_lines, rollout_in, tracklog, transcript_in, write
from tests.views.cli.written import working_day


def cut_rollout_in(home: Path, good: bytes) -> Path:
    """A compressed rollout that ends in the middle, behind some good bytes."""
    plain = rollout_in(home)
    path = plain.with_name(f"{plain.name}.zst")
    if not good:
        return write(path, zstandard.FRAME_HEADER[:3])
    packing = zstandard.ZstdCompressor().compressobj()
    return write(path, packing.compress(good) + packing.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK))


@pytest.mark.parametrize("words", ["sessions", "calls"])
def test_a_log_of_which_nothing_can_be_read_is_said_once_and_the_others_are_listed(
    tmp_path: Path, words: str
) -> None:
    working_day().write_in(tmp_path)
    path = cut_rollout_in(tmp_path, b"")
    answer = tracklog(words, "--json", home=tmp_path)
    assert (answer.code, answer.err.count("\n")) == (0, 1)
    assert answer.err.startswith(f"tracklog: {path}: not readable: ")
    assert {row.get("session", row["id"]) for row in answer.json[words]} == {ONE}


@pytest.mark.parametrize("command", ["show", "final", "calls", "agents", "graph"])
def test_asked_for_by_name_a_session_of_which_nothing_can_be_read_is_exit_1(
    tmp_path: Path, command: str
) -> None:
    path = cut_rollout_in(tmp_path, b"")
    answer = tracklog(command, TWO, home=tmp_path)
    first, second = answer.err.splitlines()
    assert (answer.code, answer.out, second) == (1, "", f"tracklog: nothing of {TWO} could be read")
    assert first.startswith(f"tracklog: {path}: not readable: ")


def test_what_was_read_before_the_damage_counts_and_the_damage_is_said(tmp_path: Path) -> None:
    path = cut_rollout_in(tmp_path, codex_lines())
    listed = tracklog("sessions", "--json", home=tmp_path)
    assert [(row["id"], row["title"]) for row in listed.json["sessions"]] == [(TWO, "hi")]
    shown = tracklog("show", TWO, home=tmp_path)
    assert (shown.code, listed.err) == (0, shown.err)
    assert shown.err.startswith(f"tracklog: {path}: not readable: ")
    assert f"\n! not read to its end: ~/{path.relative_to(tmp_path)}\n" in shown.out
    problems = tracklog("show", TWO, "--json", home=tmp_path).json["problems"]
    assert [(one["path"], one["line"]) for one in problems] == [(str(path), 3)]


def test_waiting_for_an_answer_says_it_once(tmp_path: Path) -> None:
    cut_rollout_in(tmp_path, codex_lines())
    answer = tracklog("final", TWO, "--wait", home=tmp_path)
    assert (answer.code, answer.err.count("not readable")) == (1, 1)


def test_a_log_without_permission_is_said_and_the_others_are_listed(tmp_path: Path) -> None:
    working_day().write_in(tmp_path)
    locked = working_day(TWO).write_in(tmp_path)
    tmp_path.chmod(0o755)
    locked.chmod(0)
    answer = tracklog("sessions", "--json", home=tmp_path, is_mighty=False)
    assert [row["id"] for row in answer.json["sessions"]] == [ONE]
    assert (answer.code, answer.err.count("\n")) == (0, 1)
    assert answer.err.startswith(f"tracklog: {locked}: not readable: ")


@pytest.mark.parametrize("command", ["show", "final", "path", "records"])
def test_an_id_of_two_agents_is_never_guessed(tmp_path: Path, command: str) -> None:
    working_day(TWO).write_in(tmp_path)
    write(rollout_in(tmp_path), codex_lines())
    said = (
        f"tracklog: {TWO!r} is a session of claude and one of codex: choose with --agent, or name the file\n"
    )
    assert tracklog(command, TWO, home=tmp_path) == (2, "", said)
    assert tracklog(command, TWO[:4], home=tmp_path).code == 2
    assert tracklog(command, transcript_in(tmp_path, f"{TWO}.jsonl"), home=tmp_path).code == 0


def test_the_agent_tells_two_sessions_of_one_id_apart(tmp_path: Path) -> None:
    working_day(TWO).write_in(tmp_path)
    write(rollout_in(tmp_path), codex_lines())
    for agent, title in (("claude", "Fix the test."), ("codex", "hi")):
        shown = tracklog("show", TWO, "--agent", agent, "--json", home=tmp_path).json["session"]
        assert (shown["agent"], shown["title"]) == (agent, title)


def test_loose_logs_that_tell_their_session_only_inside_are_not_guessed_either(tmp_path: Path) -> None:
    working_day(TWO).write(tmp_path / "logs/a.jsonl")
    write(tmp_path / "logs/b.jsonl", codex_lines())
    answer = tracklog("show", TWO, "--root", "logs", home=tmp_path)
    assert (answer.code, "a session of claude and one of codex" in answer.err) == (2, True)
