"""Pictures are known by their bytes."""

from __future__ import annotations

import pytest

from tracklog.views.html.pictures import picture_kind


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
