from __future__ import annotations

import os
import socket
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.sources.tree import locked, plant
from tracklog.sources.folders import Listing, list_folder, log_file, stat_regular, walk
from tracklog.sources.log_file import FileKind, LogFile, Skipped


def stats(folder: Path, *names: str) -> dict[str, os.stat_result]:
    return {name: os.lstat(folder / name) for name in names}


def test_a_listing_is_sorted_and_tells_files_folders_links_and_oddities_apart(tmp_path: Path) -> None:
    plant(tmp_path, "b.jsonl", "a.jsonl", "folder/x")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("a.jsonl")
    listing = list_folder(tmp_path)
    assert list(listing.files) == ["a.jsonl", "b.jsonl"]
    assert listing == Listing(
        files=stats(tmp_path, "a.jsonl", "b.jsonl"),
        folders=["folder"],
        links=["link"],
        skipped=[Skipped(tmp_path / "link", "symbolic link"), Skipped(tmp_path / "pipe", "FIFO")],
    )


def test_a_socket_is_skipped_and_said_so(tmp_path: Path) -> None:
    here = os.getcwd()
    os.chdir(tmp_path)  # socket addresses are short; the folder's path may not be
    try:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind("s.jsonl")
    finally:
        os.chdir(here)
    assert list_folder(tmp_path).skipped == [Skipped(tmp_path / "s.jsonl", "socket")]


def test_a_device_is_skipped_and_said_so() -> None:
    assert (
        Skipped(Path("/dev/null"), "character device") in list_folder(Path("/dev"), may_be_link=True).skipped
    )


def test_a_folder_that_is_a_link_is_listed_only_when_that_is_allowed(tmp_path: Path) -> None:
    plant(tmp_path, "real/a.jsonl")
    link = tmp_path / "link"
    link.symlink_to("real")
    assert list_folder(link, may_be_link=True) == Listing(files=stats(link, "a.jsonl"))
    assert list_folder(link).files == {}
    assert [odd.path for odd in list_folder(link).skipped] == [link]


def test_a_missing_folder_is_skipped_with_the_reason(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    assert list_folder(missing) == Listing(skipped=[Skipped(missing, "does not exist")])


def test_a_name_no_folder_can_have_is_skipped_with_the_reason() -> None:
    impossible = Path("a\0b")
    assert list_folder(impossible) == Listing(skipped=[Skipped(impossible, "no file can have this name")])


def test_a_ring_of_links_ends(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    assert list_folder(tmp_path / "a", may_be_link=True) == Listing(
        skipped=[Skipped(tmp_path / "a", "symbolic link")]
    )


def test_a_locked_folder_is_skipped_and_the_rest_is_still_found() -> None:
    with locked("hidden.jsonl") as top:
        folders = dict(walk(top, max_depth=3))
        files = stats(top, "open.jsonl")
    assert folders == {
        top: Listing(files=files, folders=["locked"]),
        top / "locked": Listing(skipped=[Skipped(top / "locked", "permission denied")], inside=("locked",)),
    }


def test_a_folder_that_vanishes_during_the_walk_is_skipped_and_the_rest_is_still_found(
    tmp_path: Path,
) -> None:
    plant(tmp_path, "b/x.jsonl")
    (tmp_path / "a").mkdir()
    folders = walk(tmp_path, max_depth=3)
    next(folders)
    (tmp_path / "a").rmdir()
    assert list(folders) == [
        (tmp_path / "a", Listing(skipped=[Skipped(tmp_path / "a", "does not exist")], inside=("a",))),
        (tmp_path / "b", Listing(files=stats(tmp_path / "b", "x.jsonl"), inside=("b",))),
    ]


def test_a_folder_swapped_for_a_link_during_the_walk_is_not_followed(tmp_path: Path) -> None:
    plant(tmp_path, "secret/x.jsonl")
    root = tmp_path / "root"
    (root / "a").mkdir(parents=True)
    folders = walk(root, max_depth=3)
    next(folders)
    (root / "a").rmdir()
    (root / "a").symlink_to(tmp_path / "secret")
    assert [listing.files for _, listing in folders] == [{}]


def test_a_path_too_long_for_the_system_is_skipped_and_the_rest_is_still_found(tmp_path: Path) -> None:
    plant(tmp_path, "z.jsonl")
    descriptor = os.open(tmp_path, os.O_RDONLY)
    for _ in range(30):
        os.mkdir(200 * "n", dir_fd=descriptor)
        inner = os.open(200 * "n", os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = inner
    os.close(descriptor)
    folders = list(walk(tmp_path, max_depth=64))
    assert list(folders[0][1].files) == ["z.jsonl"]
    assert [odd.why for _, listing in folders for odd in listing.skipped] == ["path too long"]


def test_the_walk_stops_at_the_depth_limit_and_says_so(tmp_path: Path) -> None:
    plant(tmp_path, "1/2/3/deep.jsonl")
    folders = dict(walk(tmp_path, max_depth=2))
    assert list(folders) == [tmp_path, tmp_path / "1", tmp_path / "1/2"]
    assert folders[tmp_path / "1/2"].skipped == [Skipped(tmp_path / "1/2/3", "more than 2 folders deep")]


def test_a_log_file_carries_what_the_disk_says(tmp_path: Path) -> None:
    plant(tmp_path, "a.jsonl", content=b"12345")
    path = tmp_path / "a.jsonl"
    status = path.stat()
    file = log_file(path, status, kind=FileKind.TRANSCRIPT, agent="codex", root=tmp_path, session="s")
    assert file == LogFile(
        agent="codex",
        kind=FileKind.TRANSCRIPT,
        path=path,
        root=tmp_path,
        session="s",
        size=5,
        mtime_ns=status.st_mtime_ns,
        device=status.st_dev,
        inode=status.st_ino,
        ctime_ns=status.st_ctime_ns,
    )


def test_only_a_regular_file_has_a_stat_anything_else_has_a_reason(tmp_path: Path) -> None:
    plant(tmp_path, "log")
    (tmp_path / "link").symlink_to("log")
    os.mkfifo(tmp_path / "pipe")
    paths = [tmp_path / name for name in ("log", "link", "pipe", "gone", "", "\0")]
    assert [stat_regular(path) for path in paths] == [
        os.lstat(tmp_path / "log"),
        Skipped(paths[1], "symbolic link"),
        Skipped(paths[2], "FIFO"),
        Skipped(paths[3], "does not exist"),
        Skipped(paths[4], "directory"),
        Skipped(paths[5], "no file can have this name"),
    ]


file_names = st.binary(min_size=1, max_size=40).filter(
    lambda name: b"/" not in name and b"\0" not in name and name not in (b".", b"..")
)


@settings(max_examples=50, deadline=None)
@given(names=st.sets(file_names, max_size=8))
def test_any_name_the_disk_can_hold_comes_back(names: set[bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            (Path(folder) / os.fsdecode(name)).write_bytes(b"x")
        listing = list_folder(Path(folder))
        expected = sorted(map(os.fsdecode, names))
        assert (listing, list(listing.files)) == (Listing(files=stats(Path(folder), *expected)), expected)
