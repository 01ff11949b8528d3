"""`search` said that an index would be answered from as it was, and in the next line that there is none.

The colleague's tracklog was newer than the index in the folder that she may only read. An index of another schema is
not read, so there was nothing to answer from; and "`tracklog index` makes it" was not to be followed there.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.regressions.test_an_index_in_a_read_only_home import read_only
from tests.views.cli.command import Answer, tracklog, with_old_folders
from tests.views.cli.written import working_day
from tracklog.home import Home, held_lock
from tracklog.store.migrate import NEWEST

ASKING = [["search", "typo"], ["sql", "select 1"]]
READING = [["sessions"], ["usage"], ["calls"], ["verify"]]
LATER = "tracklog: the index was made by a later tracklog: install that one, or use another --home\n"


@pytest.fixture
def ours(tmp_path: Path) -> Path:
    """A folder of ours with a whole index that nobody has open."""
    working_day().write_in(tmp_path)
    with_old_folders(tmp_path)
    tracklog("index", home=tmp_path)
    tracklog("usage", home=tmp_path)
    return tmp_path / ".local/share/tracklog"


def of_version(ours: Path, version: int) -> None:
    with closing(sqlite3.connect(ours / "index.db")) as db:
        db.execute(f"pragma user_version = {version}")


@contextmanager
def closed_to_us(ours: Path, *, with_lock: bool) -> Iterator[None]:
    if not with_lock:
        (ours / "index.lock").unlink()
    for side in ("-wal", "-shm"):
        (ours / f"index.db{side}").unlink(missing_ok=True)
    with read_only(ours):
        yield


def ask(words: list[str], tmp_path: Path) -> Answer:
    return tracklog(*words, home=tmp_path, is_mighty=False)


@pytest.mark.parametrize("with_lock", [True, False])
@pytest.mark.parametrize("words", [*ASKING, *([*words, "--no-sync"] for words in ASKING)])
def test_a_read_only_one_of_an_older_tracklog(
    tmp_path: Path, ours: Path, words: list[str], *, with_lock: bool
) -> None:
    of_version(ours, NEWEST - 1)
    with closed_to_us(ours, with_lock=with_lock):
        answer = ask(words, tmp_path)
    said = (
        f"tracklog: the index in {ours} was made by an older tracklog, and is read-only: run `tracklog index` as a "
        "user who may write there, or name another folder with --home\n"
    )
    assert answer == (1, "", said)


@pytest.mark.parametrize("words", [*ASKING, *([*words, "--no-sync"] for words in ASKING)])
def test_a_read_only_one_of_a_later_tracklog(tmp_path: Path, ours: Path, words: list[str]) -> None:
    of_version(ours, NEWEST + 1)
    with closed_to_us(ours, with_lock=True):
        assert ask(words, tmp_path) == (2, "", LATER)


@pytest.mark.parametrize("words", ASKING)
def test_one_of_an_older_tracklog_that_may_be_written(tmp_path: Path, ours: Path, words: list[str]) -> None:
    of_version(ours, NEWEST - 1)
    said = "tracklog: the index was made by an older tracklog: `tracklog index` updates it\n"
    assert tracklog(*words, "--no-sync", home=tmp_path) == (1, "", said)


@pytest.mark.parametrize("words", ASKING)
@pytest.mark.parametrize("is_older", [True, False])
def test_one_that_another_process_is_making(
    tmp_path: Path, ours: Path, words: list[str], *, is_older: bool
) -> None:
    if is_older:
        of_version(ours, NEWEST - 1)
    else:
        for path in ours.glob("index.db*"):
            path.unlink()
    with held_lock(Home(ours)):
        answer = tracklog(*words, home=tmp_path)
    assert answer == (1, "", "tracklog: another process is writing the index: try again when it is done\n")


@pytest.mark.parametrize("words", ASKING)
def test_none_where_none_can_be_made(tmp_path: Path, ours: Path, words: list[str]) -> None:
    for path in ours.glob("index.db*"):
        path.unlink()
    with closed_to_us(ours, with_lock=True):
        answer = ask(words, tmp_path)
    said = f"tracklog: cannot use {ours}: Permission denied; name another folder with --home\n"
    assert answer == (2, "", said)


@pytest.mark.parametrize("words", READING)
def test_commands_that_need_none_read_the_logs(tmp_path: Path, ours: Path, words: list[str]) -> None:
    fresh = tracklog(*words, "--home", tmp_path / "none", "--json", home=tmp_path)
    of_version(ours, NEWEST - 1)
    with closed_to_us(ours, with_lock=True):
        answer = ask([*words, "--json"], tmp_path)
    said = "tracklog: the index may only be read here, and was made by an older tracklog: the logs are read\n"
    assert (answer.code, answer.err) == (0, said)
    assert words == ["verify"] or answer.out == fresh.out  # which says how long it took


@pytest.mark.parametrize("words", [*ASKING, *READING])
def test_a_read_only_one_answers_as_it_was_when_logs_have_grown(
    tmp_path: Path, ours: Path, words: list[str]
) -> None:
    (log,) = (tmp_path / ".claude").rglob("*.jsonl")
    with log.open("a") as stream:
        stream.write("{}\n")
    with closed_to_us(ours, with_lock=True):
        answer = ask(words, tmp_path)
    said = "tracklog: the index may only be read here: this is what it knew before\n"
    assert (answer.code, answer.err) == (0, said)


def test_the_overview_says_it_and_goes_on(tmp_path: Path, ours: Path) -> None:
    of_version(ours, NEWEST - 1)
    with closed_to_us(ours, with_lock=True):
        answer = ask([], tmp_path)
    assert answer.code == 0
    assert answer.err.count("\n") == 1
    assert "was made by an older tracklog" in answer.err
    assert "tracklog sessions" in answer.out
