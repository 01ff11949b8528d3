"""Pictures are known by their bytes."""

from __future__ import annotations

import base64

import pytest

from tracklog.views.html.pictures import decoded, picture_kind


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n....", "image/png"),
        (b"\xff\xd8\xff\xe0....", "image/jpeg"),
        (b"GIF89a....", "image/gif"),
        (b"GIF87a....", "image/gif"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
        (b"RIFF\0\0\0\0WAVEfmt ", None),
        (b"<svg onload=alert(1)>", None),
        (b"<?xml version='1.0'?><svg/>", None),
        (b"%PDF-1.7", None),
        (b"GIF", None),
        (b"\x89PNG", None),
        (b"", None),
    ],
)
def test_a_picture_is_what_its_first_bytes_say(data: bytes, kind: str | None) -> None:
    assert picture_kind(data) == kind


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (base64.b64encode(b"abc\xff").decode(), b"abc\xff"),
        ("data:image/png;base64," + base64.b64encode(b"abcd").decode(), b"abcd"),
        ("YWJj\nZGVm", b"abcdef"),
        ("YWJ", None),
        ("not base64!", None),
        ("é" * 4, None),
        ("\ud800", None),
        ("", b""),
    ],
)
def test_base64_becomes_bytes_or_nothing(text: str, expected: bytes | None) -> None:
    assert decoded(text) == expected


def test_what_is_too_large_is_not_decoded() -> None:
    text = base64.b64encode(b"x" * 100).decode()
    assert [decoded(text, most=most) for most in (99, 100)] == [None, b"x" * 100]
