"""An index that is made anew from logs and archive knows all that the old one knew."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.index.known_homes import (
    Made,
    answers,
    append,
    claude_session,
    claude_turn,
    codex_session,
    fresh_index,
    index_of,
    snapshot,
    stored_bytes,
    transcript,
    two_sessions,
    write,
)
from tracklog.archive.files import archived_logs
from tracklog.home import Busy, Home, held_lock
from tracklog.index.rebuild import rebuild

ONE = "00000001-0000-4000-8000-000000000001"


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """What stands at its place, what is only in the archive, what was rewritten, moved and copied."""
    made = two_sessions(tmp_path)
    for n in (3, 4, 5, 6):
        log = claude_session(n)
        write(transcript(made, log.session), log.bytes())
    index_of(made)
    gone, rewritten, moved, copied = (transcript(made, claude_session(n).session) for n in (3, 4, 5, 6))
    write(transcript(made, copied.stem, slug="-copy"), copied.read_bytes())
    copied.unlink()
    gone.unlink()
    write(rewritten, claude_session(7).bytes())
    moved.parent.with_name("-moved").mkdir()
    moved.rename(moved.parent.with_name("-moved") / moved.name)
    index_of(made)
    return made


def test_a_rebuilt_index_knows_the_same(made: Made) -> None:
    before, said, stored = snapshot(made.home), answers(made, made.home), stored_bytes(made.home)
    done = rebuild(made.home, made.roots)
    assert (done.is_complete, done.n_kept, done.problems) == (True, 1, [])
    assert (done.n_logs, done.n_sessions) == (len(before["logs"]), len(before["sessions"]))
    assert snapshot(made.home) == before
    assert answers(made, made.home) == said
    assert stored_bytes(made.home) == stored


def test_from_the_archive_alone_everything_comes_back(made: Made) -> None:
    before, stored = snapshot(made.home), stored_bytes(made.home)
    said = answers(made, made.home)
    shutil.rmtree(made.claude)
    shutil.rmtree(made.codex)
    for row in said["sessions"]["sessions"]:
        row["only_here"] = True
    done = rebuild(made.home, made.roots)
    assert done.is_complete
    after = snapshot(made.home)
    assert answers(made, made.home) == said
    assert stored_bytes(made.home) == stored
    assert after["texts"] == before["texts"]
    assert {row[5] for row in after["logs"]} == {"kept"}


def test_a_rebuilt_index_can_be_made_twice(made: Made) -> None:
    before = snapshot(made.home)
    for _ in range(2):
        assert rebuild(made.home, made.roots).is_complete
    assert snapshot(made.home) == before


def test_an_old_index_that_knew_more_stays(made: Made) -> None:
    before = snapshot(made.home)
    shutil.rmtree(made.home.archive)
    done = rebuild(made.home, made.roots)
    gone = transcript(made, claude_session(3).session)
    assert (done.is_complete, done.missing_logs, done.missing_sessions) == (False, [str(gone)], [gone.stem])
    assert snapshot(made.home)["sessions"] == before["sessions"]
    assert [path.name for path in made.home.path.glob("index.rebuilding*")] == []


def test_an_old_index_that_knew_more_gives_way_if_that_is_forced(made: Made) -> None:
    shutil.rmtree(made.home.archive)
    assert not rebuild(made.home, made.roots, is_forced=True).is_complete
    gone = transcript(made, claude_session(3).session)
    assert gone.stem not in {row[1] for row in snapshot(made.home)["sessions"]}


def test_what_a_stopped_rebuild_left_does_not_matter(made: Made) -> None:
    before = snapshot(made.home)
    write(made.home.path / "index.rebuilding.db", b"half of it")
    assert rebuild(made.home, made.roots).is_complete
    assert snapshot(made.home) == before


def test_what_was_written_since_is_in_it(made: Made) -> None:
    append(transcript(made, ONE), claude_turn(claude_session(1), 1))
    new = codex_session(9)
    write(made.top / new.path, new.bytes())
    rebuild(made.home, made.roots)
    after = snapshot(made.home)
    index_of(made)
    assert snapshot(made.home) == after
    assert new.thread in {row[1] for row in after["sessions"]}


def states_told(made: Made) -> dict[str, str | None]:
    """What the files of the archive say of themselves."""
    return {found.archived.name: found.about.get("state") for found in archived_logs(made.home.archive)}


def test_a_log_whose_file_in_the_archive_is_damaged_is_not_taken_for_a_copy_of_another(made: Made) -> None:
    """It had the marks of nothing then, with which every log begins: it was past, and the archive was told so."""
    shutil.rmtree(made.claude)
    index_of(made)
    told, good = states_told(made), {}
    for found in archived_logs(made.home.archive):
        path = made.home.archive / found.archived.name
        if found.about["agent"] == "claude" and found.archived.frames:
            good[path] = path.read_bytes()
            at = found.archived.frames[0].stored_offset + 20
            path.write_bytes(good[path][:at] + bytes([good[path][at] ^ 1]) + good[path][at + 1 :])
    assert good
    assert {one.path for one in rebuild(made.home, made.roots, is_forced=True).damaged_logs} == {
        Path(found.about["path"])
        for found in archived_logs(made.home.archive)
        if made.home.archive / found.archived.name in good and found.about.get("state") != "past"
    }
    assert states_told(made) == told
    for path, data in good.items():
        path.write_bytes(data)
    index_of(made, is_full=True)
    assert snapshot(made.home) == snapshot(fresh_index(made, made.top / "fresh"))


def test_while_another_process_writes_nothing_is_rebuilt(made: Made) -> None:
    with held_lock(made.home), pytest.raises(Busy):
        rebuild(made.home, made.roots)


def test_without_an_index_there_is_one_afterwards(tmp_path: Path) -> None:
    made = two_sessions(tmp_path)
    done = rebuild(made.home, made.roots)
    assert (done.n_logs, done.n_sessions, done.n_kept) == (4, 2, 0)
    assert len(snapshot(Home(made.home.path))["sessions"]) == 2
