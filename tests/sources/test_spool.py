"""The spool on disk: its files in their order, what each says of sessions, and a tail that misses nothing."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import zstandard

from tests.spool_lines import spool, spool_line, told
from tracklog.sources.lines import Line
from tracklog.sources.spool import (
    LinePosition,
    SpoolTail,
    compress,
    files_in,
    is_still,
    lines_at,
    lines_in,
    lines_met,
    old_files,
    rotate,
    sessions_said,
    spots_in,
)

NOW = datetime(2026, 11, 16, 10, 15, tzinfo=UTC)
ROTATED = "hooks-20261116T101500Z-1.jsonl"


def names(folder: Path) -> list[str]:
    return [path.name for path in files_in(folder)]


def new(tail: SpoolTail) -> list[tuple[str, int, bytes]]:
    return [(one.path.name, one.line.number, one.line.raw) for one in tail.ask()]


def test_files_come_oldest_first_and_strangers_do_not_come(tmp_path: Path) -> None:
    order = [
        "hooks-20261115T000000Z-1.jsonl.zst",
        "hooks-20261116T101500Z-2.jsonl",
        "hooks-20261116T101500Z-10.jsonl",
        "hooks.jsonl",
    ]
    for name in (
        *order,
        "hooks-20261116T101500Z-2.jsonl.zst",
        ".hooks-x.zst.7",
        "notes.txt",
        "hooks-1.jsonl",
    ):
        (tmp_path / name).write_bytes(b"")
    assert names(tmp_path) == order
    assert names(tmp_path / "nowhere") == []


def test_where_a_session_is_named_is_found_in_the_bytes(tmp_path: Path) -> None:
    a, b = (
        spool_line(told("Stop")),
        spool_line({**told("Stop"), "session_id": "s2", "x": {"session_id": "s1"}}),
    )
    notice = spool_line({"thread-id": "s3"})
    path = tmp_path / "hooks.jsonl"
    path.write_bytes(a + b + notice)
    spots = [
        LinePosition(1, 0, len(a) - 1),
        LinePosition(2, len(a), len(b) - 1),
        LinePosition(3, len(a + b), len(notice) - 1),
    ]
    assert spots_in(path) == {"s1": spots[:2], "s2": spots[1:2], "s3": spots[2:]}
    wanted = [
        Line(spot.number, spot.offset, spot.length, raw[:-1])
        for spot, raw in zip(spots, (a, b), strict=False)
    ]
    for found in (
        lines_at(path, spots[:2]),
        lines_met(path, spots[:2]),
        lines_in(path.read_bytes(), spots[:2]),
    ):
        assert list(found) == wanted


def test_a_long_spool_is_renamed_and_loses_nothing(tmp_path: Path) -> None:
    path = spool(tmp_path, told("Stop"))
    late = os.open(path, os.O_WRONLY | os.O_APPEND)  # a hook that is about to write
    assert rotate(path.parent, now=NOW) is None
    moved = rotate(path.parent, now=NOW, long_bytes=10)
    assert moved == path.with_name(ROTATED)
    os.write(late, spool_line(told("SessionEnd")))
    os.close(late)
    spool(tmp_path, told("SessionStart"))
    assert rotate(path.parent, now=NOW, long_bytes=10) == path.with_name("hooks-20261116T101500Z-2.jsonl")
    assert [len(one.read_bytes().splitlines()) for one in files_in(path.parent)] == [2, 1]
    assert rotate(tmp_path / "nowhere", now=NOW) is None


def test_an_old_file_is_compressed_says_its_sessions_and_reads_the_same(tmp_path: Path) -> None:
    path = spool(tmp_path, told("Stop"), told("Stop", session_id="s2"), name=ROTATED)
    lines = path.read_bytes()
    spots = spots_in(path)
    os.utime(path, (NOW.timestamp(), NOW.timestamp()))
    spool(tmp_path, told("Stop"))
    assert list(old_files(path.parent, now=NOW + timedelta(hours=23))) == []
    assert list(old_files(path.parent, now=NOW + timedelta(hours=25))) == [path]
    packed = compress(path)
    assert packed == path.with_name(f"{ROTATED}.zst")
    assert names(path.parent) == [packed.name, "hooks.jsonl"]
    assert packed.stat().st_mode & 0o777 == 0o600
    assert (sessions_said(packed), spots_in(packed)) == (frozenset({"s1", "s2"}), spots)
    assert [line.raw for line in lines_met(packed, spots["s2"])] == [lines.splitlines()[1]]
    with open(packed, "rb") as stream:  # what `zstdcat` does
        reader = zstandard.ZstdDecompressor().stream_reader(stream, read_across_frames=True)
        stream.seek(8 + len(b"s1\ns2"))
        assert reader.read() == lines


def test_a_compressed_file_that_says_nothing_may_hold_anything(tmp_path: Path) -> None:
    path = tmp_path / f"{ROTATED}.zst"
    path.write_bytes(zstandard.compress(spool_line(told("Stop"))))
    assert sessions_said(path) is None
    path.write_bytes(b"\x5b\x2a\x4d\x18\xff\xff")
    assert sessions_said(path) is None


def test_what_cannot_be_compressed_stays_as_it_is(tmp_path: Path) -> None:
    path = spool(tmp_path, told("Stop"), name=ROTATED)
    (path.parent / f"{ROTATED}.zst").mkdir()
    before = path.read_bytes()
    assert compress(path) is None
    assert compress(path.with_name("gone.jsonl")) is None
    assert (path.read_bytes(), sorted(os.listdir(path.parent))) == (before, [ROTATED, f"{ROTATED}.zst"])


def test_the_tail_gives_whole_lines_each_once_over_rotations(tmp_path: Path) -> None:
    path = spool(tmp_path, told("Stop"))
    first, second = path.read_bytes(), spool_line(told("SessionEnd"))
    tail = SpoolTail(path.parent)
    assert new(tail) == [("hooks.jsonl", 1, first[:-1])]
    assert new(tail) == []
    with path.open("ab") as stream:
        stream.write(second[:20])
    assert new(tail) == []
    with path.open("ab") as stream:
        stream.write(second[20:])
    late = os.open(path, os.O_WRONLY | os.O_APPEND)
    rotate(path.parent, now=NOW, long_bytes=10)
    spool(tmp_path, told("SessionStart"))
    os.write(late, b"{}\n")
    os.close(late)
    third = path.read_bytes()
    assert new(tail) == [(ROTATED, 2, second[:-1]), (ROTATED, 3, b"{}"), ("hooks.jsonl", 1, third[:-1])]
    assert new(SpoolTail(path.parent, tail.told())) == []
    assert new(SpoolTail(tmp_path / "nowhere")) == []


def test_a_tail_goes_on_where_another_one_stopped(tmp_path: Path) -> None:
    path = spool(tmp_path, told("Stop"))
    tail = SpoolTail(path.parent)
    list(tail.ask())
    assert is_still(path.parent, tail.told())
    assert not is_still(path.parent, "")
    assert is_still(tmp_path / "nowhere", "")
    assert not is_still(tmp_path / "nowhere", tail.told())
    spool(tmp_path, told("SessionEnd"))
    assert not is_still(path.parent, tail.told())
    later = SpoolTail(path.parent, tail.told())
    assert [number for _, number, _ in new(later)] == [2]


def test_another_file_in_the_same_place_is_read_from_its_beginning(tmp_path: Path) -> None:
    path = spool(tmp_path, told("Stop"), told("Stop"))
    tail = SpoolTail(path.parent)
    list(tail.ask())
    path.write_bytes(b"{}\n")  # shorter, with the same inode
    assert new(tail) == [("hooks.jsonl", 1, b"{}")]


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, lambda path: path.symlink_to("/dev/zero")])
def test_what_is_no_file_is_passed_over(tmp_path: Path, make: object) -> None:
    make(tmp_path / "hooks.jsonl")  # type: ignore[operator]
    assert new(SpoolTail(tmp_path)) == []
