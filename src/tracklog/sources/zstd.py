"""Decompresses a zstd stream block by block (RFC 8878).

Rules
  1. The decoder is fed exactly one block at a time. A block holds at most 128 KiB, so a small file cannot blow up
     memory, and all that precedes a damaged block has been handed out when the damage is met.
  2. A file is any number of frames, skippable ones included. A frame cut short is damage, never silence.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import BinaryIO

import zstandard

_MAGIC_SIZE = 4
_FRAME_DESCRIPTOR_SIZE = 1
_BLOCK_HEADER_SIZE = 3
_CHECKSUM_SIZE = 4
_RUN_LENGTH_BLOCK = 1
_SKIPPED_AT_ONCE = 1 << 16
_LARGEST_WINDOW = 1 << 27  # what `zstd --ultra -22` writes and a plain `zstd -d` still reads


class DamagedStream(Exception):  # noqa: N818 - a state of the file; it never leaves this room
    """The stream ends early or makes no sense from here on."""


def decompressed_frames(stream: io.RawIOBase) -> Iterator[bytes]:
    """The contents of all frames, each as a whole and only if its checksum fits; for frames that are known to be small."""
    held: list[bytes] = []
    for block in decompressed_blocks(stream, marks_ends=True):
        held.append(block)
        if not block:
            yield b"".join(held)
            held.clear()


def decompressed_blocks(stream: io.RawIOBase, *, marks_ends: bool = False) -> Iterator[bytes]:
    """The contents of all frames, one block at a time; raises Damaged after the last good one.

    Asked to, it gives an empty block where a frame has ended well.
    """
    source = io.BufferedReader(stream, 1 << 18)
    decompressor = zstandard.ZstdDecompressor(max_window_size=_LARGEST_WINDOW)
    try:
        while magic := source.read(_MAGIC_SIZE):
            if magic == zstandard.FRAME_HEADER:
                yield from _blocks_of_frame(source, decompressor)
                if marks_ends:
                    yield b""
            elif _is_skippable(magic):
                _skip_frame(source)
            else:
                raise DamagedStream("cut short" if len(magic) < _MAGIC_SIZE else "not a zstd frame")
    finally:
        if not stream.closed:  # else its owner has closed it; only the buffer must not outlive it
            source.detach()


def _blocks_of_frame(source: BinaryIO, decompressor: zstandard.ZstdDecompressor) -> Iterator[bytes]:
    decoder = decompressor.decompressobj()
    try:
        for piece in _pieces_of_frame(source):
            if block := decoder.decompress(piece):
                yield block
    except zstandard.ZstdError as error:
        raise DamagedStream(f"damaged zstd frame ({error})") from error


def _pieces_of_frame(source: BinaryIO) -> Iterator[bytes]:
    """The frame's header, each of its blocks, its checksum: whole, in order, one at a time."""
    header = zstandard.FRAME_HEADER + _exactly(_FRAME_DESCRIPTOR_SIZE, source)
    header += _exactly(zstandard.frame_header_size(header) - len(header), source)
    yield header
    is_last = False
    while not is_last:
        block_header = _exactly(_BLOCK_HEADER_SIZE, source)
        is_last, kind, size = _read_block_header(block_header)
        yield block_header + _exactly(1 if kind == _RUN_LENGTH_BLOCK else size, source)
    if zstandard.get_frame_parameters(header).has_checksum:
        yield _exactly(_CHECKSUM_SIZE, source)


def _read_block_header(header: bytes) -> tuple[bool, int, int]:
    number = int.from_bytes(header, "little")
    return bool(number & 1), number >> 1 & 3, number >> 3


def _is_skippable(magic: bytes) -> bool:
    return magic[1:] == b"\x2a\x4d\x18" and magic[0] & 0xF0 == 0x50


def _skip_frame(source: BinaryIO) -> None:
    left = int.from_bytes(_exactly(4, source), "little")
    while left:
        left -= len(_exactly(min(left, _SKIPPED_AT_ONCE), source))


def _exactly(size: int, source: BinaryIO) -> bytes:
    piece = source.read(size)
    if len(piece) < size:
        raise DamagedStream("cut short")
    return piece
