"""A sync reads what is new and nothing else, and what it leaves is what a first reading would have given."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tests.index.known_homes import (
    Made,
    answers,
    append,
    claude_session,
    claude_turn,
    codex_session,
    codex_turn,
    fresh_index,
    index_of,
    snapshot,
    stored_bytes,
    transcript,
    two_sessions,
    write,
)
from tracklog.archive import tables
from tracklog.archive.files import described
from tracklog.home import Home
from tracklog.index.rebuild import with_index
from tracklog.index.sync import Synced, sync
from tracklog.sources.log_file import Root
from tracklog.store import catalogue
from tracklog.store.database import reading, writing

ONE = "00000001-0000-4000-8000-000000000001"


@pytest.fixture
def made(tmp_path: Path) -> Made:
    made = two_sessions(tmp_path)
    index_of(made)
    return made


def is_fresh(made: Made) -> bool:
    """Whether the index is what one from nothing would be, with the archive that there is."""
    fresh = fresh_index(made, made.top / f"fresh-{time.monotonic_ns()}")
    assert snapshot(made.home) == snapshot(fresh)
    assert stored_bytes(made.home) == stored_bytes(fresh)
    return True


def opened_logs(opened: list[str], made: Made) -> list[str]:
    """Which logs were opened, each once."""
    logs = {str(path) for path in made.logs()}
    return sorted(set(opened) & logs)


def test_where_nothing_is_new_no_log_is_opened(made: Made, opened_files: list[str]) -> None:
    opened_files.clear()
    assert index_of(made).is_nothing
    assert opened_logs(opened_files, made) == []


def test_where_nothing_is_new_no_folder_is_listed_once_its_time_is_certain(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    time.sleep(0.15)  # what changed just now is looked at again
    index_of(made)

    def never(*_: object) -> None:
        raise AssertionError("a folder was listed")

    monkeypatch.setattr(os, "scandir", never)
    assert index_of(made).is_nothing


def test_of_many_logs_only_the_one_that_grew_is_opened(made: Made, opened_files: list[str]) -> None:
    path = transcript(made, ONE)
    more = claude_turn(claude_session(1), 1)
    append(path, more)
    opened_files.clear()
    done = index_of(made, settles=False)
    assert opened_logs(opened_files, made) == [str(path)]
    assert (done.n_files, done.n_bytes) == (1, len(more))
    index_of(made)
    assert is_fresh(made)


def test_a_line_that_was_written_in_two_parts_counts_once(made: Made) -> None:
    path = transcript(made, ONE)
    line = claude_turn(claude_session(1), 1)
    for start in range(0, len(line), 200):
        append(path, line[start : start + 200])
        index_of(made, settles=False)
    index_of(made)
    assert is_fresh(made)


def test_a_codex_log_that_grows_line_by_line_is_understood_as_one_that_was_read_at_once(made: Made) -> None:
    log = codex_session(5)
    path = write(made.top / log.path, b"")
    data = log.bytes() + codex_turn(log, 5) + codex_turn(log, 6)
    for line in data.splitlines(keepends=True):
        append(path, line)
        index_of(made, settles=False)
    index_of(made)
    assert is_fresh(made)


def test_a_change_in_the_middle_of_a_log_of_the_same_length_is_seen(made: Made) -> None:
    log = claude_session(6)
    for n in range(20):
        claude_turn(log, 6 + n)
    path = write(transcript(made, log.session), log.bytes())
    index_of(made)
    data = path.read_bytes()
    assert len(data) > 40_000
    middle = data.index(b"fine", 30_000)
    path.write_bytes(data[:middle] + b"good" + data[middle + 4 :])
    index_of(made)
    assert is_fresh(made)
    assert stored_bytes(made.home)[str(path)] == path.read_bytes()


def test_what_a_log_held_before_it_was_rewritten_stays_in_the_archive_and_counts_nowhere(made: Made) -> None:
    path = transcript(made, ONE)
    before = path.read_bytes()
    path.write_bytes(claude_session(7).bytes())
    index_of(made)
    with writing(made.home) as database:
        logs = [log for log in tables.archived_rows(database.db) if log.path == str(path)]
    assert [(log.generation, log.is_current) for log in logs] == [(1, False), (2, True)]
    found = described(made.home.archive, logs[0].archived.name)
    assert found is not None
    assert (found.archived.contents_bytes, found.is_whole) == (len(before), True)
    assert is_fresh(made)


def test_a_session_that_is_gone_says_so_and_answers_as_before(made: Made) -> None:
    before = answers(made, made.home)
    for path in made.logs():
        path.unlink()
    done = index_of(made)
    after = answers(made, made.home)
    assert (done.n_gone, done.n_files) == (4, 0)
    for row in before["sessions"]["sessions"]:
        row["only_here"] = True
    assert after == before
    assert is_fresh(made)


def test_without_an_archive_what_is_gone_is_gone(tmp_path: Path) -> None:
    made = two_sessions(tmp_path)
    _synced_without_archive(made)
    transcript(made, ONE).unlink()
    _synced_without_archive(made)
    assert [row[0] for row in snapshot(made.home)["logs"] if row[0].endswith(f"{ONE}.jsonl")] == []
    assert not made.home.archive.exists()


def test_an_archive_that_is_wanted_later_gets_what_was_read_before(tmp_path: Path) -> None:
    made = two_sessions(tmp_path)
    _synced_without_archive(made)
    append(transcript(made, ONE), b'{"type":"summary"}\n')
    index_of(made)
    assert stored_bytes(made.home) == {str(path): path.read_bytes() for path in made.logs()}


def _synced_without_archive(made: Made) -> Synced:
    return with_index(
        made.home,
        lambda database: sync(database, made.roots, with_archive=False),
        on_damage=lambda *_: pytest.fail("damaged"),
    )


def test_a_sync_of_one_root_leaves_the_logs_of_others_alone(made: Made) -> None:
    known = snapshot(made.home)
    other = Made(made.top / "second")
    log = claude_session(8)
    write(transcript(other, log.session), log.bytes())
    index_of(other, home=made.home)
    after = snapshot(made.home)
    assert [row for row in after["logs"] if "/second/" not in row[0]] == known["logs"]
    assert len(after["sessions"]) == len(known["sessions"]) + 1


def test_a_root_that_is_gone_keeps_all_its_sessions(made: Made) -> None:
    os.rename(made.claude, made.top / "away")
    index_of(made)
    assert {(row[0].startswith(str(made.claude)), row[5]) for row in snapshot(made.home)["logs"]} == {
        (True, "kept"),
        (False, "here"),
    }
    os.rename(made.top / "away", made.claude)
    index_of(made)
    assert {row[5] for row in snapshot(made.home)["logs"]} == {"here"}
    assert is_fresh(made)


def test_a_root_that_never_was_is_fine(tmp_path: Path) -> None:
    made = Made(tmp_path)
    assert index_of(made).is_nothing
    assert snapshot(made.home)["logs"] == []


def test_a_log_that_we_fail_at_is_said_and_the_others_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = two_sessions(tmp_path)
    from tracklog.index import log_pass

    texts_of = getattr(log_pass, "texts_of")  # noqa: B009 - where it is used, not where it is made

    def failing(piece: object, events: list[object]) -> object:
        if b"rollout" in piece.raw:  # type: ignore[attr-defined]
            raise ValueError("a mistake of ours")
        return texts_of(piece, events)

    with monkeypatch.context() as patch:
        patch.setattr(log_pass, "texts_of", failing)
        done = index_of(made)
    assert len(done.problems) == 1
    assert "a mistake of ours" in done.problems[0]
    with writing(made.home) as database:
        rows = catalogue.all_files(database.db)
    assert sorted((row.agent, row.problem is None) for row in rows) == [
        ("claude", True),
        ("claude", True),
        ("claude", True),
        ("codex", False),
    ]
    index_of(made)
    assert is_fresh(made)


def test_odd_names_are_names(tmp_path: Path) -> None:
    made = two_sessions(tmp_path)
    folder = os.fsencode(made.claude / "projects") + b"/-odd-\xff-\xf0\x9f\x98\x80"
    os.makedirs(folder)
    path = Path(os.fsdecode(folder)) / "00000009-0000-4000-8000-000000000009.jsonl"
    write(path, claude_session(9).bytes())
    index_of(made)
    append(path, claude_turn(claude_session(9), 9))
    index_of(made)
    assert is_fresh(made)
    path.unlink()
    index_of(made)
    assert is_fresh(made)


def test_the_index_may_be_read_while_it_is_written(made: Made) -> None:
    with writing(made.home) as writer, writer.transaction() as db:
        db.execute("delete from text_rows")
        with reading(made.home) as reader:
            assert reader is not None
            (n,) = reader.db.execute("select count(*) from text_rows").fetchone()
            assert n > 0


def test_loose_files_are_kept_up_to_date_too(tmp_path: Path) -> None:
    path = write(tmp_path / "loose/some.jsonl", claude_session(3).bytes())
    session = "00000003-0000-4000-8000-000000000003"
    assert _only_log(tmp_path) == (str(path), "claude", "transcript", session, path.stat().st_size, 4)
    append(path, claude_turn(claude_session(3), 3))
    assert _only_log(tmp_path) == (str(path), "claude", "transcript", session, path.stat().st_size, 8)
    there = path.rename(tmp_path / "loose/other.jsonl")
    assert _only_log(tmp_path) == (str(there), "claude", "transcript", session, there.stat().st_size, 8)


def _only_log(top: Path) -> tuple[str, str | None, str, str | None, int, int]:
    """What is known of the one log in a folder that is no agent's home, after a sync."""
    home = Home(top / "home")
    roots = [Root(top / "loose", None)]
    with_index(home, lambda database: sync(database, roots), on_damage=lambda *_: pytest.fail("damaged"))
    with writing(home) as database:
        (row,) = catalogue.all_files(database.db)
    return row.path, row.agent, row.kind, row.session, row.contents_bytes, row.lines
