"""Zstd frames of a file in the archive (RFC 8878): offsets, sizes, and facts about the log.

Rules
  1. A log in the archive is any number of zstd frames, each with the size and checksum of its contents; `zstdcat`
     alone turns them back into the log.
  2. Facts about a log are JSON in skippable frames between them. A later one overrides an earlier one.
  3. The file ends for us at the first frame that is not whole: a process was killed while it wrote.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from functools import cache
from typing import Any, BinaryIO, NamedTuple

import zstandard

from tracklog.sources.zstd import DamagedStream

LARGEST_ABOUT = 1 << 16
_ABOUT_MAGIC = b"\x5a\x2a\x4d\x18"  # one of the sixteen that every zstd skips
_ABOUT_MARK = b"tracklog\n"
_LARGEST_HEADER = 18
_BLOCK_HEADER = 3
_CHECKSUM = 4
_RUN_LENGTH_BLOCK = 1
_LARGEST_FRAME = 64 << 20  # of contents; ours hold a few MB
_READ_AT_ONCE = 1 << 12  # block headers lie up to 128 KiB apart: more would read what is hopped over


class FrameInfo(NamedTuple):
    """A whole frame of a file: its offsets, the size of its contents, or the facts that it states."""

    start: int
    end: int
    contents_bytes: int
    about: dict[str, Any] | None = None


@cache
def compressor(level: int, window_log: int = 0) -> zstandard.ZstdCompressor:
    """A compressor whose frames carry the size and checksum of their contents."""
    params = zstandard.ZstdCompressionParameters.from_level(
        level,
        write_content_size=True,
        write_checksum=True,
        window_log=window_log,
        enable_ldm=bool(window_log),
    )
    return zstandard.ZstdCompressor(compression_params=params)


def about_frame(about: dict[str, Any]) -> bytes:
    """Facts about a log as a skippable frame, which holds no contents."""
    text = _ABOUT_MARK + json.dumps(about, separators=(",", ":")).encode()  # ASCII: a path may be no Unicode
    if len(text) > LARGEST_ABOUT:
        raise ValueError("too much to say of a log")
    return _ABOUT_MAGIC + len(text).to_bytes(4, "little") + text


def frames_of(stream: io.FileIO, start: int = 0, *, until: int | None = None) -> Iterator[FrameInfo]:
    """The whole frames in order, by hopping from header to header; ends before one that is not whole."""
    size = os.fstat(stream.fileno()).st_size
    size = size if until is None else min(size, until)
    source: io.BufferedReader[io.FileIO] = io.BufferedReader(stream, _READ_AT_ONCE)
    try:
        while start < size:
            seen = _frame_at(source, start)
            if seen is None or seen.end > size:
                return
            yield seen
            start = seen.end
    finally:
        source.detach()


def contents_of(stream: io.FileIO, start: int, size: int, *, until: int | None = None) -> Iterator[bytes]:
    """`size` bytes of contents from a frame's start; raises DamagedStream if they are missing or damaged.

    A frame is yielded once its checksum was verified.
    """
    decompressor = zstandard.ZstdDecompressor()
    for seen in frames_of(stream, start, until=until) if size else ():
        if seen.contents_bytes:
            yield _decompressed(stream, seen, decompressor)[:size]
            size -= seen.contents_bytes
        if size <= 0:
            return
    if size:
        raise DamagedStream("cut short")


def _decompressed(stream: io.FileIO, seen: FrameInfo, decompressor: zstandard.ZstdDecompressor) -> bytes:
    if seen.contents_bytes > _LARGEST_FRAME:
        raise DamagedStream("not a frame of ours")
    try:
        return decompressor.decompress(os.pread(stream.fileno(), seen.end - seen.start, seen.start))
    except zstandard.ZstdError as error:
        raise DamagedStream(f"damaged zstd frame ({error})") from error


def _frame_at(source: BinaryIO, start: int) -> FrameInfo | None:
    source.seek(start)
    header = source.read(_LARGEST_HEADER)
    if header[:4] == zstandard.FRAME_HEADER:
        return _contents_frame(source, start, header)
    if header[1:4] == _ABOUT_MAGIC[1:] and header[0] & 0xF0 == 0x50 and len(header) >= 8:
        return _skippable_frame(source, start, header)
    return None


def _contents_frame(source: BinaryIO, start: int, header: bytes) -> FrameInfo | None:
    try:
        parameters = zstandard.get_frame_parameters(header)
        at = start + zstandard.frame_header_size(header)
    except zstandard.ZstdError:
        return None
    if parameters.content_size == zstandard.CONTENTSIZE_UNKNOWN:
        return None
    is_last = False
    while not is_last:
        source.seek(at)
        block = int.from_bytes(raw := source.read(_BLOCK_HEADER), "little")
        if len(raw) < _BLOCK_HEADER:
            return None
        is_last = bool(block & 1)
        at += _BLOCK_HEADER + (1 if block >> 1 & 3 == _RUN_LENGTH_BLOCK else block >> 3)
    end = at + (_CHECKSUM if parameters.has_checksum else 0)
    return FrameInfo(start, end, parameters.content_size)


def _skippable_frame(source: BinaryIO, start: int, header: bytes) -> FrameInfo:
    size = int.from_bytes(header[4:8], "little")
    source.seek(start + 8)
    text = source.read(min(size, LARGEST_ABOUT))
    return FrameInfo(start, start + 8 + size, 0, _read_about(text) if header[:4] == _ABOUT_MAGIC else {})


def _read_about(text: bytes) -> dict[str, Any]:
    if not text.startswith(_ABOUT_MARK):
        return {}
    try:
        about = json.loads(text[len(_ABOUT_MARK) :])
    except ValueError:
        return {}
    return about if isinstance(about, dict) else {}
