from __future__ import annotations

import os
import subprocess
from pathlib import Path
from shutil import which
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracklog.archive.files import (
    FRAME_BYTES,
    Appender,
    Missing,
    archived_logs,
    contents,
    cut_off,
    describe_again,
    make_durable,
    stored_names,
)
from tracklog.archive.locate import archive_name
from tracklog.sources.files import NotReadable, chunks
from tracklog.store.database import StoreError
from tracklog.store.values import Archived, Frame

ROOT = "/home/dev/.claude"
PATH = f"{ROOT}/projects/-home-dev-project/one.jsonl"
NAME = archive_name(PATH, ROOT, agent="claude")
ABOUT = {
    "path": PATH,
    "root": ROOT,
    "agent": "claude",
    "kind": "transcript",
    "session": "one",
    "generation": 1,
    "mtime_ns": 5,
}


def put(folder: Path, *parts: bytes, at: Archived | None = None, **more: Any) -> Archived:
    """Archives some bytes; the frames are those that are new."""
    with Appender(folder, at.name if at else NAME, at=at, about={**ABOUT, **more}) as appender:
        for part in parts:
            appender.write(part)
        return appender.end()


def got(folder: Path, at: Archived, **more: Any) -> bytes:
    return b"".join(contents(folder, at, **more))


def test_the_bytes_of_a_log_come_back_from_a_plain_zst_file(tmp_path: Path) -> None:
    data = os.urandom(1_500_000) + b"a" * 2_000_000
    at = put(tmp_path, data[:333_333], data[333_333:])
    assert (at.name, at.contents_bytes) == (NAME, len(data))
    assert at.stored_bytes == (tmp_path / NAME).stat().st_size
    assert [frame.contents_offset for frame in at.frames] == [n * FRAME_BYTES for n in range(4)]
    assert b"".join(chunks(tmp_path / NAME)) == data == got(tmp_path, at)


@pytest.mark.skipif(which("zstdcat") is None, reason="zstd is not installed")
def test_zstdcat_alone_gives_the_log_back(tmp_path: Path) -> None:
    at = put(tmp_path, b"one\n" * 500_000)
    at = put(tmp_path, b"two\n", at=at)
    done = subprocess.run(["zstdcat", tmp_path / at.name], check=True, capture_output=True)
    assert done.stdout == b"one\n" * 500_000 + b"two\n"


def test_an_empty_log_is_in_the_archive_too(tmp_path: Path) -> None:
    at = put(tmp_path)
    assert (at.contents_bytes, at.frames, at.stored_bytes > 0) == (0, [], True)
    assert [found.about for found in archived_logs(tmp_path)] == [ABOUT]
    assert got(tmp_path, put(tmp_path, b"now", at=at)) == b"now"


def test_what_is_appended_stands_behind_what_was_there(tmp_path: Path) -> None:
    first = put(tmp_path, b"one\n")
    second = put(tmp_path, b"two\n", at=first)
    assert second.frames == [Frame(4, first.stored_bytes)]
    assert (second.contents_bytes, got(tmp_path, second)) == (8, b"one\ntwo\n")


@given(parts=st.lists(st.binary(max_size=50), min_size=1, max_size=6), start=st.integers(0, 400))
def test_reading_begins_anywhere_by_the_frames(
    tmp_path_factory: pytest.TempPathFactory, parts: list[bytes], start: int
) -> None:
    folder = tmp_path_factory.mktemp("archive")
    at, frames = None, []
    for part in parts:
        at = put(folder, part, at=at)
        frames += at.frames
    assert at is not None
    whole = b"".join(parts)
    assert got(folder, at, frames=frames, start=start) == whole[start:]
    assert got(folder, at, start=start, size=7) == whole[start:]


def test_what_a_killed_process_wrote_behind_the_known_is_cut_off(tmp_path: Path) -> None:
    known = put(tmp_path, b"one\n")
    put(tmp_path, b"never told\n", at=known)
    with (tmp_path / NAME).open("ab") as stream:
        stream.write(b"torn")
    assert got(tmp_path, known) == b"one\n"
    assert got(tmp_path, put(tmp_path, b"two\n", at=known)) == b"one\ntwo\n"


def test_a_file_that_is_gone_or_too_short_is_missing(tmp_path: Path) -> None:
    at = put(tmp_path, b"one\n")
    os.truncate(tmp_path / NAME, at.stored_bytes - 1)
    with pytest.raises(Missing):
        put(tmp_path, b"two\n", at=at)
    (tmp_path / NAME).unlink()
    with pytest.raises(Missing):
        put(tmp_path, b"two\n", at=at)


def test_a_log_that_was_pruned_is_missing_whatever_stands_there_now(tmp_path: Path) -> None:
    at = put(tmp_path, b"of another\n")
    with pytest.raises(Missing):
        cut_off(tmp_path, Archived(at.name, 11, 0))
    assert got(tmp_path, at) == b"of another\n"


def test_a_file_left_by_a_killed_process_gives_way_to_the_log_that_it_began(tmp_path: Path) -> None:
    put(tmp_path, b"one\n")
    with (tmp_path / NAME).open("ab") as stream:
        stream.write(b"\x28\xb5\x2f\xfdtorn")
    at = put(tmp_path, b"on", b"e\ntwo\n")
    assert (at.name, got(tmp_path, at)) == (NAME, b"one\ntwo\n")
    assert [*stored_names(tmp_path)] == [NAME]


def test_a_file_with_other_bytes_is_never_written_over(tmp_path: Path) -> None:
    old = put(tmp_path, b"one\n")
    new = put(tmp_path, b"another\n")
    assert new.name == NAME.replace(".zst", "~x2.zst")
    assert (got(tmp_path, old), got(tmp_path, new)) == (b"one\n", b"another\n")


def test_a_shorter_log_does_not_take_the_place_of_a_longer_one(tmp_path: Path) -> None:
    old = put(tmp_path, b"one\ntwo\n")
    new = put(tmp_path, b"one\n")
    assert (new.name != NAME, got(tmp_path, old)) == (True, b"one\ntwo\n")


def test_what_was_not_ended_leaves_nothing_that_counts(tmp_path: Path) -> None:
    old = put(tmp_path, b"one\n")
    with Appender(tmp_path, NAME, at=None, about=ABOUT) as appender:
        appender.write(b"one\nand more")
    assert [*stored_names(tmp_path, half_made=True)] == []
    with Appender(tmp_path, NAME, at=old, about=ABOUT) as appender:
        appender.write(bytes(3 * FRAME_BYTES))
    assert got(tmp_path, old) == b"one\n"


def test_the_archive_describes_itself(tmp_path: Path) -> None:
    at = put(tmp_path, b"one\n")
    frames = at.frames
    at = put(tmp_path, b"two\n", at=at, mtime_ns=7)
    frames += at.frames
    moved = describe_again(tmp_path, at, about={"path": f"{PATH}.zst"})
    (found,) = archived_logs(tmp_path)
    assert found.about == {**ABOUT, "mtime_ns": 7, "path": f"{PATH}.zst"}
    assert found.archived == Archived(NAME, 8, moved.stored_bytes, frames)
    assert found.is_whole


def test_a_torn_last_frame_is_left_out_of_the_description(tmp_path: Path) -> None:
    at = put(tmp_path, b"one\n")
    put(tmp_path, b"two\n" * 100, at=at)
    os.truncate(tmp_path / NAME, at.stored_bytes + 9)
    (found,) = archived_logs(tmp_path)
    assert (found.archived, found.is_whole) == (at, False)


def test_files_of_others_in_the_archive_are_no_logs(tmp_path: Path) -> None:
    at = put(tmp_path, b"one\n")
    beside = (tmp_path / NAME).parent
    (beside / "notes.txt").write_text("mine")
    (beside / "empty.zst").write_bytes(b"")
    (beside / "link.zst").symlink_to(tmp_path / NAME)
    assert [found.archived.name for found in archived_logs(tmp_path)] == [at.name]


def test_nobody_else_may_look_into_the_archive(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        put(tmp_path / "archive", b"one\n")
    finally:
        os.umask(before)
    made = [tmp_path / "archive", *(tmp_path / "archive").rglob("*")]
    assert {path.stat().st_mode & 0o777 for path in made if path.is_dir()} == {0o700}
    assert {path.stat().st_mode & 0o777 for path in made if path.is_file()} == {0o600}


def test_a_file_that_was_compressed_anew_is_read_without_the_old_frames(tmp_path: Path) -> None:
    data = os.urandom(200) * 10_000
    at = put(tmp_path, data)
    stale = Archived(NAME, at.contents_bytes, at.stored_bytes + 1, [])
    frames = [Frame(0, 3), Frame(1000, 17)]
    assert got(tmp_path, stale, frames=frames, start=1500) == data[1500:]


def test_damage_is_said_with_what_came_before_it(tmp_path: Path) -> None:
    at = put(tmp_path, os.urandom(3 * FRAME_BYTES))
    with (tmp_path / NAME).open("r+b") as stream:
        stream.seek(at.frames[1].stored_offset + 100)
        stream.write(b"\0\0\0\0")
    with pytest.raises(NotReadable, match="after 1048576 good bytes"):
        got(tmp_path, at)


def test_a_full_disk_is_one_sentence(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    (tmp_path / "logs").mkdir()
    appender = Appender(tmp_path, NAME, at=None, about=ABOUT)
    full = os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, appender._stream.fileno())
    os.close(full)
    appender.write(b"one\n")
    with pytest.raises(StoreError, match="no space is left for the archive"):
        appender.end()
    appender.close()


def test_files_are_brought_to_the_disk_also_when_one_is_gone(tmp_path: Path) -> None:
    at = put(tmp_path, b"one\n")
    make_durable(tmp_path, [at.name, "logs/gone.zst"])
    with Appender(tmp_path, NAME, at=at, about=ABOUT) as appender:
        appender.write(b"two\n")
        assert b"".join(contents(tmp_path, appender.end())) == b"one\ntwo\n"


def test_a_name_tells_where_the_log_stood() -> None:
    assert NAME.startswith("logs/claude/projects/-home-dev-project/one.jsonl~")
    later = archive_name(PATH, ROOT, agent="claude", generation=3)
    assert later == NAME.replace(".zst", "~3.zst")


@pytest.mark.parametrize(
    ("path", "root"),
    [
        ("/r/../../etc/passwd", "/r"),
        ("/r/..", "/r"),
        ("/r/.hidden/x", "/r"),
        ("/r/a~b.zst/c", "/r"),
        ("/elsewhere/x", "/r"),
        ("/r", "/r"),
        ("/r/" + "d/" * 100 + "x", "/r"),
        ("/r/" + "ä" * 250, "/r"),
        (os.fsdecode(b"/r/\xff\n\x1b[31m"), "/r"),
        ('/r/<>:"|?*\\', "/r"),
    ],
)
def test_no_name_leads_out_of_the_archive_or_is_too_long(tmp_path: Path, path: str, root: str) -> None:
    name = archive_name(path, root, agent=None)
    assert Path(os.path.normpath(tmp_path / name)).is_relative_to(tmp_path / "logs" / "other")
    assert all(not part.startswith(".") and len(part.encode()) < 150 for part in name.split("/"))
    at = put_named(tmp_path, name, path)
    assert [found.about["path"] for found in archived_logs(tmp_path)] == [path]
    assert got(tmp_path, at) == b"x"


def put_named(folder: Path, name: str, path: str) -> Archived:
    with Appender(folder, name, at=None, about={**ABOUT, "path": path}) as appender:
        appender.write(b"x")
        return appender.end()


@given(
    st.lists(
        st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"])), min_size=2, max_size=2
    )
)
def test_two_paths_never_share_a_name(names: list[str]) -> None:
    one, two = (archive_name(f"/r/{name}", "/r", agent="codex") for name in names)
    assert (one == two) == (names[0] == names[1]) or {*names} <= {"", "."}
