from __future__ import annotations

import errno
import stat

import pytest

from tracklog.errors import why_failed, why_not_regular


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (errno.ENOENT, "does not exist"),
        (errno.EPERM, "permission denied"),
        (errno.ELOOP, "symbolic link"),
        (errno.EIO, "input/output error"),
    ],
)
def test_a_refusal_of_the_system_is_told_in_plain_words(code: int, words: str) -> None:
    assert why_failed(OSError(code, "ignored", "/some/path")) == words


def test_a_block_device_and_an_unheard_of_thing_have_words_too() -> None:
    assert [why_not_regular(mode) for mode in (stat.S_IFBLK | 0o600, 0)] == [
        "block device",
        "not a regular file",
    ]
