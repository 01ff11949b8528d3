"""Looks for a value in a text with all the means of somebody who wants it: whole or in large part, raw or decoded."""

from __future__ import annotations

import base64
import binascii
import html
import re
from collections.abc import Iterator
from urllib.parse import unquote_to_bytes

_DEPTH = 3  # decodings of decodings
_BASE64_RUN = re.compile(rb"[A-Za-z0-9+/_-]{10,}")
_BASE64_LINES = re.compile(rb"(?:[A-Za-z0-9+/_-]{40,}(?:\r?\n|\\+r?\\*n|\\+n))+[A-Za-z0-9+/_-]*")
_HEX_RUN = re.compile(rb"[0-9a-fA-F]{16,}")
_UNICODE = re.compile(rb"\\+u00([0-9a-fA-F]{2})")
_ESCAPE = re.compile(rb"\\+([\"'\\/nrt])")
_MEANT = {b"n": b"\n", b"r": b"\r", b"t": b"\t"}


def leaks_in(data: bytes, value: bytes) -> list[str]:
    """How a value, or two thirds of it in one piece, can still be had from the data; nothing, if it cannot."""
    return sorted({way for way, view in _views(data, _DEPTH) if _holds(view, value)})


def _holds(view: bytes, value: bytes) -> bool:
    size = max(min(8, len(value)), len(value) * 2 // 3)
    return any(value[at : at + size] in view for at in range(len(value) - size + 1))


def _views(data: bytes, depth: int, way: str = "raw") -> Iterator[tuple[str, bytes]]:
    yield way, data
    if depth:
        seen = {data}
        for name, decoded in _decoded(data):
            if decoded not in seen:
                seen.add(decoded)
                yield from _views(decoded, depth - 1, f"{way}, {name}")


def _decoded(data: bytes) -> Iterator[tuple[str, bytes]]:
    """What the data says when it is decoded in one of the usual ways; a way that changes nothing is left out."""
    if b"\\" in data:
        yield "JSON", _ESCAPE.sub(lambda match: _MEANT.get(match[1], match[1]), _UNICODE.sub(_byte, data))
    if b"%" in data:
        yield "percent", unquote_to_bytes(data)
    if b"&" in data:
        yield "HTML", html.unescape(data.decode("latin-1")).encode("latin-1", "replace")
    if from_base64 := b"\n".join(_from_base64(data)):
        yield "base64", from_base64
    if from_hex := b"\n".join(_from_hex(data)):
        yield "hex", from_hex


def _byte(match: re.Match[bytes]) -> bytes:
    return bytes([int(match[1], 16)])


def _from_base64(data: bytes) -> Iterator[bytes]:
    """Every run from each of its first four letters on: what was cut off before it may have any length."""
    runs = [*_BASE64_RUN.findall(data)]
    runs += (re.sub(rb"\\*\\[rn]|[\r\n]", b"", run) for run in _BASE64_LINES.findall(data))
    for run in runs:
        standard = run.translate(bytes.maketrans(b"-_", b"+/"))
        for begin in range(4):
            cut = standard[begin : begin + (len(standard) - begin) // 4 * 4]
            try:
                yield base64.b64decode(cut)
            except (binascii.Error, ValueError):
                continue


def _from_hex(data: bytes) -> Iterator[bytes]:
    for run in _HEX_RUN.findall(data):
        for begin in range(2):
            yield bytes.fromhex(run[begin : begin + (len(run) - begin) // 2 * 2].decode())
