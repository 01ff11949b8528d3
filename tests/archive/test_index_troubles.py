"""Full disks, damage, locks and permissions: one line that says what to do, and nothing is lost."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard

from tests.index.known_homes import (
    Made,
    append,
    claude_session,
    claude_turn,
    fresh_index,
    index_of,
    snapshot,
    stored_bytes,
    transcript,
    two_sessions,
    write,
)
from tests.views.cli.command import Answer, tracklog
from tracklog.archive import files as archive_files
from tracklog.archive.files import described
from tracklog.archive.frames import compressor
from tracklog.home import Home, held_lock
from tracklog.sources import files
from tracklog.store import database
from tracklog.views.cli.click_app import run


def ask(made: Made, *words: str, is_mighty: bool = True, home: Path | None = None) -> Answer:
    """What a process says that knows of these homes alone."""
    env = {"CLAUDE_CONFIG_DIR": str(made.claude), "CODEX_HOME": str(made.codex)}
    env["TRACKLOG_HOME"] = str(home or made.home.path)
    return tracklog(*words, home=made.top, env=env, is_mighty=is_mighty)


def ask_here(made: Made, *words: str) -> Answer:
    """The same in this process, so that it meets the troubles that a test makes."""
    roots = [word for root in made.roots for word in ("--root", str(root.path))]
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run([*words, *roots, "--home", str(made.home.path)])
    return Answer(code, out.getvalue(), err.getvalue())


def sessions_in(said: Answer) -> list[dict[str, Any]]:
    """The rows of `sessions --json`."""
    assert said.code == 0, said.err
    rows: list[dict[str, Any]] = said.json["sessions"]
    return rows


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """Two sessions that stand at their place, and one that only the archive has."""
    made = two_sessions(tmp_path)
    gone = claude_session(3)
    path = write(transcript(made, gone.session), gone.bytes())
    index_of(made)
    path.unlink()
    index_of(made)
    return made


@pytest.fixture
def unread(tmp_path: Path) -> Made:
    """Two sessions and no index yet."""
    return two_sessions(tmp_path)


# damage


def _garbage(path: Path) -> None:
    path.write_bytes(bytes(range(256)) * 40)


def _nothing(path: Path) -> None:
    path.write_bytes(b"")


def _half(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2 + 100)


def _no_head(path: Path) -> None:
    with open(path, "r+b") as stream:
        stream.write(b"\0" * 100)


def _no_schema(path: Path) -> None:
    with open(path, "r+b") as stream:
        stream.seek(100)
        stream.write(b"\xff" * 3996)


@pytest.mark.parametrize("damage", [_garbage, _half, _no_head, _no_schema])
def test_a_damaged_index_is_set_aside_and_made_anew_from_logs_and_archive(
    made: Made, damage: Callable[[Path], None]
) -> None:
    before, known = sessions_in(ask(made, "sessions", "--json")), snapshot(made.home)
    damage(made.home.index)
    damaged = made.home.index.read_bytes()
    said = ask(made, "index", "--json")
    assert (said.code, "Traceback" in said.err) == (0, False), said.err
    assert "damaged" in said.err
    assert (made.home.path / "index.damaged-1.db").read_bytes() == damaged
    assert snapshot(made.home) == known
    assert sessions_in(ask(made, "sessions", "--json")) == before
    assert [row["only_here"] for row in before].count(True) == 1


def test_a_reading_command_also_sets_a_damaged_index_aside(made: Made) -> None:
    before = sessions_in(ask(made, "sessions", "--json"))
    _garbage(made.home.index)
    said = ask(made, "sessions", "--json")
    assert sessions_in(said) == before
    assert "index.damaged-1.db" in said.err


def test_an_empty_file_in_place_of_the_index_takes_over_the_archive(made: Made) -> None:
    before, known = sessions_in(ask(made, "sessions", "--json")), snapshot(made.home)
    _nothing(made.home.index)
    assert ask(made, "index").code == 0
    assert (sessions_in(ask(made, "sessions", "--json")), snapshot(made.home)) == (before, known)


@pytest.mark.parametrize("part", range(4))
def test_damage_in_the_middle_never_ends_in_a_traceback_and_rebuild_makes_it_good(
    made: Made, part: int
) -> None:
    before, known = sessions_in(ask(made, "sessions", "--json")), snapshot(made.home)
    n_pages = made.home.index.stat().st_size // 4096
    for page in range(1 + part, n_pages, 4):
        with open(made.home.index, "r+b") as stream:
            stream.seek(page * 4096 + 8)
            stream.write(b"\x5a" * 2000)
    append(transcript(made, "00000001-0000-4000-8000-000000000001"), b'{"type":"summary"}\n')
    for words in (("sessions", "--json"), ("calls", "--json"), ("index",), ("search", "part")):
        assert "Traceback" not in ask(made, *words).err, words
    said = ask(made, "rebuild", "--force")
    assert (said.code, "Traceback" in said.err) == (0, False), said.err
    assert len(snapshot(made.home)["texts"]) >= len(known["texts"])
    assert len(sessions_in(ask(made, "sessions", "--json"))) == len(before)


@pytest.mark.parametrize(
    "damage",
    [
        "update log_files set position = 'far'",
        "update log_files set kind = 'transcripx'",
        "update log_files set told = x'c1'",
        "update archives set stored_bytes = 'many'",
        "update session_rows set models = '['",
        "update session_rows set last_at = 7",
        "update call_rows set rest = x'ff'",
        "update sum_rows set requests = 'two'",
        "update blocks set body = x'c1'",
        "update total_rows set hidden = x'c1'",
    ],
)
def test_a_value_that_nobody_wrote_never_ends_in_a_traceback_and_rebuild_makes_it_good(
    made: Made, damage: str
) -> None:
    before, known = sessions_in(ask_here(made, "sessions", "--json")), snapshot(made.home)
    ask_here(made, "usage")
    with contextlib.closing(sqlite3.connect(made.home.index)) as db, db:
        db.execute(damage)
    append(transcript(made, "00000001-0000-4000-8000-000000000001"), b'{"type":"summary"}\n')
    for words in (("sessions", "--json"), ("calls", "--json"), ("usage",), ("index",), ("search", "part")):
        ask_here(made, *words)  # a traceback would end this test
    assert ask_here(made, "rebuild", "--force").code == 0
    assert len(snapshot(made.home)["texts"]) >= len(known["texts"])
    assert len(sessions_in(ask_here(made, "sessions", "--json"))) == len(before)


def test_an_index_with_a_value_that_nobody_wrote_is_set_aside_and_made_anew(made: Made) -> None:
    before, known = sessions_in(ask(made, "sessions", "--json")), snapshot(made.home)
    with contextlib.closing(sqlite3.connect(made.home.index)) as db, db:
        db.execute("update log_files set kind = 'transcripx'")
    said = ask(made, "index", "--full", "--json")
    assert said.code == 0, said.err
    assert "holds a value that was never written there" in said.err
    assert "it is now index.damaged-1.db; a new one is made" in said.err
    assert snapshot(made.home) == known
    assert sessions_in(ask(made, "sessions", "--json")) == before


def only_here(made: Made) -> tuple[dict[str, Any], Path]:
    """The session that only the archive has, and the file that has it."""
    (gone,) = (row for row in sessions_in(ask(made, "sessions", "--json")) if row["only_here"])
    (stored,) = (path for path in made.home.archive.rglob("*.zst") if gone["id"] in path.name)
    return gone, stored


def first_frame(made: Made, stored: Path) -> int:
    """Where the first frame with contents begins."""
    found = described(made.home.archive, stored.relative_to(made.home.archive).as_posix())
    assert found is not None
    return found.archived.frames[0].stored_offset


def test_a_log_that_only_the_archive_has_is_read_again_when_its_file_was_put_right(made: Made) -> None:
    before = sessions_in(ask(made, "sessions", "--json"))
    gone, stored = only_here(made)
    good = stored.read_bytes()
    at = first_frame(made, stored) + 100
    stored.write_bytes(good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :])
    assert ask(made, "rebuild", "--force").code == 0
    assert gone["id"] not in [row["id"] for row in sessions_in(ask(made, "sessions", "--json"))]
    stored.write_bytes(good)
    assert ask(made, "index", "--full").code == 0
    assert sessions_in(ask(made, "sessions", "--json")) == before


def test_nothing_of_a_damaged_frame_is_shown(made: Made) -> None:
    gone, stored = only_here(made)
    assert gone["title"] in ask(made, "show", gone["id"]).out
    data, begin = stored.read_bytes(), first_frame(made, stored)
    contents = zstandard.ZstdDecompressor().decompress(data[begin:])
    frame = bytearray(compressor(-100).compress(contents))  # letters stand in it as they are
    frame[len(frame) // 2] ^= 1
    stored.write_bytes(data[:begin] + frame)
    said = ask(made, "show", gone["id"])
    assert (said.code, said.out, "checksum) after 0 good bytes" in said.err) == (1, "", True), said
    assert ask(made, "final", gone["id"]).out == ""
    hits = ask(made, "search", "--json", f"session:{gone['id']}")
    assert (hits.code, hits.json["hits"]) == (1, [])


def test_an_index_of_a_later_tracklog_is_left_alone(made: Made) -> None:
    with contextlib.closing(sqlite3.connect(made.home.index)) as db:
        db.execute("pragma user_version = 99")
    before = made.home.index.read_bytes()
    for words in (("index",), ("sessions",), ("rebuild",)):
        said = ask(made, *words)
        assert (said.code, said.err.count("\n")) == (2, 1), said
        assert "later tracklog" in said.err
    assert made.home.index.read_bytes() == before


def test_a_folder_in_place_of_the_index_is_said_in_one_line(unread: Made) -> None:
    unread.home.index.mkdir(parents=True)
    for words in (("index",), ("sessions",), ("rebuild",)):
        said = ask(unread, *words)
        assert (said.code, said.out, said.err.count("\n")) == (2, "", 1), said
        assert str(unread.home.path) in said.err


def test_a_folder_in_place_of_the_lock_is_said_in_one_line(unread: Made) -> None:
    unread.home.lock.mkdir(parents=True)
    said = ask(unread, "index")
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1), said


def test_a_home_that_is_a_file_is_said_in_one_line(unread: Made) -> None:
    write(unread.home.path, b"")
    for words in (("index",), ("sessions",)):
        said = ask(unread, *words)
        assert (said.code, said.out, said.err.count("\n")) == (2, "", 1), said


# permissions


def test_a_home_that_may_not_be_written_is_said_in_one_line(unread: Made) -> None:
    unread.home.make()
    unread.home.path.chmod(0o500)
    said = ask(unread, "index", is_mighty=False)
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1), said
    assert len(sessions_in(ask(unread, "sessions", "--json", is_mighty=False))) == 2


@contextlib.contextmanager
def only_read(home: Home) -> Iterator[None]:
    """A home in which nothing may be changed."""
    home.path.chmod(0o500)
    for path in home.path.iterdir():
        path.chmod(0o500 if path.is_dir() else 0o400)
    try:
        yield
    finally:
        home.path.chmod(0o700)


def test_an_index_that_may_only_be_read_still_answers(made: Made) -> None:
    before = sessions_in(ask(made, "sessions", "--json"))
    with only_read(made.home):
        assert sessions_in(ask(made, "sessions", "--json", is_mighty=False)) == before


@pytest.mark.parametrize(
    "words", [("sessions",), ("usage",), ("calls",), ("sql", "select * from costs"), ("search", "hello")]
)
def test_one_that_may_only_be_read_says_what_it_knew_when_there_is_more(
    made: Made, words: tuple[str, ...]
) -> None:
    before = ask(made, *words, "--json")
    new = claude_session(4)
    write(transcript(made, new.session), new.bytes())
    with only_read(made.home):
        said = ask(made, *words, "--json", is_mighty=False)
    assert (said.code, said.out) == (before.code, before.out)
    assert "tracklog: the index may only be read here: this is what it knew before" in said.err
    assert "Traceback" not in said.err


def test_everything_is_private_whatever_the_umask(unread: Made) -> None:
    old = os.umask(0)
    try:
        seen: dict[str, int] = {}
        index_of(unread)
        with database.writing(unread.home) as open_index:
            open_index.db.execute("create table t (a)")
            seen |= modes_below(unread.home.path)  # with -wal and -shm
        for words in (("sessions",), ("usage",), ("rebuild",), ("index", "--full")):
            assert ask_here(unread, *words).code == 0
            seen |= modes_below(unread.home.path)
    finally:
        os.umask(old)
    assert {name for name in seen if name.startswith("index.db-")} == {"index.db-wal", "index.db-shm"}
    assert {name: oct(mode) for name, mode in seen.items() if mode & 0o077} == {}


def modes_below(top: Path) -> dict[str, int]:
    """The permissions of everything in a folder, and of itself."""
    found = {".": top.stat().st_mode & 0o777}
    return found | {str(path.relative_to(top)): path.lstat().st_mode & 0o777 for path in top.rglob("*")}


# the lock


def test_who_wants_to_write_while_another_does_is_told_so(made: Made) -> None:
    with held_lock(made.home):
        for words in (("index",), ("rebuild",)):
            said = ask(made, *words)
            assert (said.code, said.out, said.err.count("\n")) == (1, "", 1), said
            assert "another process" in said.err


def test_who_reads_while_another_writes_gets_what_was_known_before(made: Made) -> None:
    before = sessions_in(ask(made, "sessions", "--json"))
    new = claude_session(4)
    write(transcript(made, new.session), new.bytes())
    with held_lock(made.home):
        said = ask(made, "sessions", "--json")
    assert sessions_in(said) == before
    assert "another process is writing the index" in said.err
    assert len(sessions_in(ask(made, "sessions", "--json"))) == len(before) + 1


# full disks, and disks that fail


class FailingStream(io.RawIOBase):
    """Takes or gives some bytes; then the disk says no."""

    def __init__(self, inner: io.FileIO, n_bytes: int, error: int) -> None:
        self._inner, self._left, self._errno = inner, n_bytes, error

    def writable(self) -> bool:
        return self._inner.writable()

    def readable(self) -> bool:
        return self._inner.readable()

    def fileno(self) -> int:
        return self._inner.fileno()

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._inner.seek(offset, whence)

    def write(self, data: Any) -> int:
        return self._inner.write(data[: self._spent(len(data))])

    def read(self, size: int = -1) -> bytes:
        return self._inner.read(self._spent(size))

    def readinto(self, buffer: Any) -> int:
        return self._inner.readinto(memoryview(buffer)[: self._spent(len(buffer))])

    def close(self) -> None:
        self._inner.close()
        super().close()

    def _spent(self, n: int) -> int:
        if self._left <= 0:
            raise OSError(self._errno, os.strerror(self._errno))
        n = min(n, self._left) if n >= 0 else self._left
        self._left -= n
        return n


@pytest.mark.parametrize(
    ("error", "words"), [(errno.ENOSPC, "no space is left"), (errno.EIO, "cannot write")]
)
@pytest.mark.parametrize("n_bytes", [0, 100, 700])
def test_an_archive_that_takes_no_more_is_said_and_everything_is_read_the_next_time(
    unread: Made, monkeypatch: pytest.MonkeyPatch, error: int, words: str, n_bytes: int
) -> None:
    def failing(descriptor: int, mode: str) -> io.BufferedWriter:
        return io.BufferedWriter(FailingStream(io.FileIO(descriptor, "w"), n_bytes, error))

    with monkeypatch.context() as patch:
        patch.setattr(archive_files, "open", failing, raising=False)
        said = ask_here(unread, "index")
    assert (said.code, said.err.count("\n")) == (2, 1), said
    assert words in said.err
    _is_whole_again(unread)


@pytest.mark.parametrize("n_pages", [1, 8, 30])
def test_an_index_that_takes_no_more_is_said_and_everything_is_read_the_next_time(
    unread: Made, monkeypatch: pytest.MonkeyPatch, n_pages: int
) -> None:
    opened = database._opened

    def small(path: Path, *, is_writer: bool) -> sqlite3.Connection:
        db = opened(path, is_writer=is_writer)
        db.execute(f"pragma max_page_count = {n_pages}")
        return db

    with monkeypatch.context() as patch:
        patch.setattr(database, "_opened", small)
        said = ask_here(unread, "index")
    assert (said.code, said.err.count("\n")) == (2, 1), said
    assert "no space is left" in said.err
    _is_whole_again(unread)


def test_an_index_that_is_full_still_answers_with_what_it_knew(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = snapshot(made.home)
    log = claude_session(1)
    for n in range(40):
        append(transcript(made, log.session), claude_turn(log, n + 1))
    n_pages = made.home.index.stat().st_size // 4096
    opened = database._opened

    def small(path: Path, *, is_writer: bool) -> sqlite3.Connection:
        db = opened(path, is_writer=is_writer)
        db.execute(f"pragma max_page_count = {n_pages}")
        return db

    with monkeypatch.context() as patch:
        patch.setattr(database, "_opened", small)
        said = ask_here(made, "index")
        assert (said.code, said.err.count("\n")) == (2, 1), said
        assert ask_here(made, "calls", "--no-sync", "--json").code == 0
    assert len(snapshot(made.home)["texts"]) >= len(known["texts"])
    _is_whole_again(made)


def _is_whole_again(made: Made) -> None:
    assert ask_here(made, "index").code == 0
    index_of(made)
    fresh = fresh_index(made, made.top / "fresh")
    assert snapshot(made.home) == snapshot(fresh)
    assert stored_bytes(made.home) == stored_bytes(fresh)


@pytest.mark.parametrize("n_bytes", [0, 1500])
def test_a_log_that_the_disk_does_not_give_is_said_and_read_when_it_can_be(
    unread: Made, monkeypatch: pytest.MonkeyPatch, n_bytes: int
) -> None:
    bad = transcript(unread, "00000001-0000-4000-8000-000000000001")
    real = files.open_log

    def failing(file: Any) -> Any:
        stream = real(file)
        is_bad = bad in (file, getattr(file, "path", None))
        return FailingStream(stream, n_bytes, errno.EIO) if is_bad else stream

    with monkeypatch.context() as patch:
        patch.setattr(files, "open_log", failing)
        said = ask_here(unread, "index", "--json")
    assert (said.code, "Traceback" in said.err) == (0, False), said
    assert said.json["files"] == 4
    assert ask_here(unread, "index", "--full").code == 0
    index_of(unread)
    assert snapshot(unread.home) == snapshot(fresh_index(unread, unread.top / "fresh"))


def test_an_archive_that_somebody_took_away_is_made_again(made: Made) -> None:
    shutil.rmtree(made.home.archive)
    log = transcript(made, "00000001-0000-4000-8000-000000000001")
    append(log, b'{"type":"summary"}\n')
    said = ask(made, "index")
    assert (said.code, "Traceback" in said.err) == (0, False), said
    for words in (("sessions",), ("calls", "--json"), ("index", "--full"), ("verify",)):
        assert "Traceback" not in ask(made, *words).err, words
    assert stored_bytes(made.home)[str(log)] == log.read_bytes()


def test_two_homes_do_not_meet(made: Made, tmp_path: Path) -> None:
    other = Home(tmp_path / "other")
    index_of(made, home=other)
    assert len(snapshot(other)["sessions"]) == 2
    assert len(snapshot(made.home)["sessions"]) == 3
