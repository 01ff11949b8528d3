from __future__ import annotations

import os
import subprocess
from pathlib import Path
from shutil import which

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from tracklog.archive.frames import LARGEST_ABOUT, FrameInfo, about_frame, compressor, contents_of, frames_of
from tracklog.sources.files import open_log
from tracklog.sources.zstd import DamagedStream

ABOUT = about_frame({"path": "/a"})


def written(path: Path, *parts: bytes) -> Path:
    path.write_bytes(b"".join(parts))
    return path


def seen_in(path: Path) -> list[FrameInfo]:
    with open_log(path) as stream:
        return list(frames_of(stream))


def test_frames_are_found_by_their_headers_with_what_they_hold(tmp_path: Path) -> None:
    small, empty, large = (compressor(3).compress(data) for data in (b"abc", b"", bytes(3 << 20)))
    path = written(tmp_path / "x.zst", ABOUT, small, empty, large)
    at = [0, len(ABOUT), len(ABOUT + small), len(ABOUT + small + empty), path.stat().st_size]
    assert seen_in(path) == [
        FrameInfo(at[0], at[1], 0, {"path": "/a"}),
        FrameInfo(at[1], at[2], 3),
        FrameInfo(at[2], at[3], 0),
        FrameInfo(at[3], at[4], 3 << 20),
    ]


@given(data=st.lists(st.binary(max_size=2000), max_size=4), keeps=st.floats(0, 1))
def test_a_file_that_is_cut_anywhere_has_its_whole_frames(
    tmp_path_factory: pytest.TempPathFactory, data: list[bytes], keeps: float
) -> None:
    parts = [about_frame({"n": n}) + compressor(3).compress(one) for n, one in enumerate(data)]
    whole = b"".join(parts)
    path = written(tmp_path_factory.mktemp("cut") / "x.zst", whole[: int(len(whole) * keeps)])
    seen = seen_in(path)
    held = sum(one.contents_bytes for one in seen)
    with open_log(path) as stream:
        assert b"".join(contents_of(stream, 0, held)) == b"".join(data)[:held]
    assert [one.start for one in seen[1:]] == [one.end for one in seen[:-1]]
    assert (seen[-1].end if seen else 0) <= path.stat().st_size


def test_what_is_no_frame_ends_the_file(tmp_path: Path) -> None:
    path = written(tmp_path / "x.zst", compressor(3).compress(b"abc"), b"not a frame at all, but long enough")
    assert [one.contents_bytes for one in seen_in(path)] == [3]


def test_a_frame_that_does_not_say_its_size_ends_the_file(tmp_path: Path) -> None:
    making = zstandard.ZstdCompressor().compressobj()
    path = written(tmp_path / "x.zst", making.compress(b"abc") + making.flush())
    assert seen_in(path) == []


def test_a_skippable_frame_of_another_program_says_nothing(tmp_path: Path) -> None:
    other = b"\x50\x2a\x4d\x18" + (4).to_bytes(4, "little") + b"what"
    lookalike = b"\x5a\x2a\x4d\x18" + (13).to_bytes(4, "little") + b"tracklog\n{]]["
    path = written(tmp_path / "x.zst", other, lookalike)
    assert [one.about for one in seen_in(path)] == [{}, {}]


def test_a_path_that_is_no_unicode_is_said_and_read_back(tmp_path: Path) -> None:
    name = os.fsdecode(b"/logs/\xff\xfe.jsonl")
    path = written(tmp_path / "x.zst", about_frame({"path": name}))
    assert [one.about for one in seen_in(path)] == [{"path": name}]


def test_more_than_fits_is_not_said() -> None:
    with pytest.raises(ValueError, match="too much"):
        about_frame({"path": "x" * LARGEST_ABOUT})


def test_a_flipped_bit_is_damage(tmp_path: Path) -> None:
    frame = bytearray(compressor(3).compress(os.urandom(1000)))
    frame[500] ^= 1
    path = written(tmp_path / "x.zst", bytes(frame))
    with open_log(path) as stream, pytest.raises(DamagedStream):
        list(contents_of(stream, 0, 1000))


def test_less_than_was_asked_for_is_damage(tmp_path: Path) -> None:
    path = written(tmp_path / "x.zst", compressor(3).compress(b"abc"))
    with open_log(path) as stream, pytest.raises(DamagedStream):
        list(contents_of(stream, 0, 4))


@pytest.mark.skipif(which("zstd") is None, reason="zstd is not installed")
def test_zstd_itself_skips_what_is_said_and_finds_the_checksums_right(tmp_path: Path) -> None:
    path = written(
        tmp_path / "x.zst", ABOUT, compressor(3).compress(b"abc"), ABOUT, compressor(12).compress(b"def")
    )
    subprocess.run(["zstd", "-tq", path], check=True)
    done = subprocess.run(["zstd", "-dcq", path], check=True, capture_output=True)
    assert done.stdout == b"abcdef"
