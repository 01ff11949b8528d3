from __future__ import annotations

import io
import random
import tempfile

import pytest
import zstandard

from tracklog.sources.zstd import DamagedStream, decompressed_blocks

BLOCK = 1 << 17
TEXT = b"".join(
    b'{"n":%d,"x":"%s"}\n' % (n, random.Random(n).randbytes(8).hex().encode()) for n in range(9000)
)
SKIPPABLE = b"\x53\x2a\x4d\x18" + (5).to_bytes(4, "little") + b"notes"


def decompressed(stored: bytes) -> tuple[bytes, str | None]:
    """All that came out, and the damage that ended it."""
    good = io.BytesIO()
    with tempfile.TemporaryFile(buffering=0) as stream:
        stream.write(stored)
        stream.seek(0)
        assert isinstance(stream, io.FileIO)
        try:
            for block in decompressed_blocks(stream):
                assert 0 < len(block) <= BLOCK
                good.write(block)
        except DamagedStream as damage:
            return good.getvalue(), str(damage)
    return good.getvalue(), None


def compressed(data: bytes, *, level: int = 3, checksum: bool = False, size: bool = True) -> bytes:
    compressor = zstandard.ZstdCompressor(level=level, write_checksum=checksum, write_content_size=size)
    return compressor.compress(data)


@pytest.mark.parametrize("level", [-5, 1, 3, 19])
@pytest.mark.parametrize("checksum", [True, False])
@pytest.mark.parametrize("size", [True, False])
@pytest.mark.parametrize("data", [b"", b"x", b"\0" * 1_000_000, TEXT], ids=["empty", "one", "zeros", "text"])
def test_what_was_compressed_comes_back(data: bytes, level: int, checksum: bool, size: bool) -> None:
    assert decompressed(compressed(data, level=level, checksum=checksum, size=size)) == (data, None)


def test_frames_follow_one_another_and_skippable_ones_hold_nothing() -> None:
    stored = (
        compressed(b"one\n") + SKIPPABLE + compressed(b"") + compressed(b"two\n", checksum=True) + SKIPPABLE
    )
    assert decompressed(stored) == (b"one\ntwo\n", None)


def test_a_stream_cut_anywhere_gives_whole_blocks_and_never_ends_in_silence() -> None:
    small = compressed(b"first frame\n", checksum=True) + SKIPPABLE + compressed(b"second frame\n")
    whole = {0, len(compressed(b"first frame\n", checksum=True))}
    whole |= {max(whole) + len(SKIPPABLE), len(small)}
    for length in range(len(small) + 1):
        good, damage = decompressed(small[:length])
        assert b"first frame\nsecond frame\n".startswith(good)
        assert damage == (None if length in whole else "cut short")


def test_the_blocks_before_a_cut_are_all_there() -> None:
    stored = compressed(TEXT)
    good, damage = decompressed(stored[: len(stored) * 3 // 4])
    assert damage == "cut short"
    assert len(good) == BLOCK * (len(good) // BLOCK) > 0
    assert TEXT.startswith(good)


def test_a_flipped_byte_is_damage_or_changes_nothing_and_what_stood_before_it_is_kept() -> None:
    stored = compressed(b"good block\n") + compressed(TEXT, checksum=True)
    second = len(compressed(b"good block\n"))
    for at in random.Random(7).sample(range(second, len(stored)), 200):
        broken = stored[:at] + bytes([stored[at] ^ 0x55]) + stored[at + 1 :]
        good, damage = decompressed(broken)
        assert good.startswith(b"good block\n")
        assert damage is not None or good == b"good block\n" + TEXT  # some bits are padding


def test_a_wrong_checksum_is_damage_after_all_the_bytes() -> None:
    stored = compressed(TEXT, checksum=True)
    good, damage = decompressed(stored[:-1] + bytes([stored[-1] ^ 1]))
    assert good == TEXT
    assert damage is not None
    assert damage.startswith("damaged zstd frame (")


def test_rubbish_behind_a_frame_is_damage_after_its_bytes() -> None:
    assert decompressed(compressed(b"good\n") + b"rubbish") == (b"good\n", "not a zstd frame")


def test_a_frame_that_wants_more_memory_than_we_give_is_damage() -> None:
    window_of_2_gib = b"\x28\xb5\x2f\xfd\x00\xa8" + b"\x01\x00\x00"
    good, damage = decompressed(window_of_2_gib)
    assert good == b""
    assert damage is not None
    assert "memory" in damage
