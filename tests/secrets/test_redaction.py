"""The key is made once, is for its owner alone, and is never replaced behind anybody's back."""

from __future__ import annotations

import os
import resource
import stat
from pathlib import Path

import pytest

from tracklog.errors import UserError
from tracklog.home import Home
from tracklog.secrets.allowlist import Allowance, allow
from tracklog.secrets.redact import KEY_NAME, _make, redaction_key, redactor_of


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "ours")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_key_of_32_random_bytes_is_made_once(home: Home, tmp_path: Path) -> None:
    first = redaction_key(home)
    assert len(first) == 32
    assert redaction_key(home) == first
    assert redaction_key(Home(tmp_path / "other")) != first
    assert os.listdir(home.path) == [KEY_NAME]


def test_the_key_is_for_its_owner_alone(home: Home) -> None:
    key = redaction_key(home)
    assert (mode(home.path), mode(home.path / KEY_NAME)) == (0o700, 0o600)
    (home.path / KEY_NAME).chmod(0o644)
    assert redaction_key(home) == key
    assert mode(home.path / KEY_NAME) == 0o600


def test_of_two_processes_that_make_one_the_first_wins(home: Home) -> None:
    key = redaction_key(home)
    _make(home.path / KEY_NAME)
    assert redaction_key(home) == key
    assert os.listdir(home.path) == [KEY_NAME]


@pytest.mark.parametrize("damaged", [b"", b"short", b"x" * 33])
def test_a_damaged_key_is_said_and_stays_as_it_is(home: Home, damaged: bytes) -> None:
    home.make()
    (home.path / KEY_NAME).write_bytes(damaged)
    with pytest.raises(UserError, match="is no key of 32 bytes"):
        redaction_key(home)
    assert (home.path / KEY_NAME).read_bytes() == damaged


def test_where_there_is_no_room_for_a_key_that_is_said_and_nothing_is_left_behind(home: Home) -> None:
    home.make()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))
    try:
        with pytest.raises(UserError, match="make room there and try again"):
            redaction_key(home)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list(home.path.glob(f"*{KEY_NAME}*")) == []
    assert len(redaction_key(home)) == 32


def test_a_key_that_is_a_link_or_a_pipe_is_not_used(home: Home, tmp_path: Path) -> None:
    home.make()
    (tmp_path / "elsewhere").write_bytes(b"k" * 32)
    (home.path / KEY_NAME).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UserError, match="symbolic link"):
        redaction_key(home)
    (home.path / KEY_NAME).unlink()
    os.mkfifo(home.path / KEY_NAME)
    with pytest.raises(UserError, match="is no key"):
        redaction_key(home)


def test_who_cleans_has_the_key_and_the_list_of_the_home(home: Home) -> None:
    text = f"token ghp_{'aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xYz1Ab'[:36]} end"
    cleaned = redactor_of(home).text(text)
    assert cleaned.startswith("token «secret:")
    assert redactor_of(home).text(text) == cleaned
    allow(home, Allowance(hash=cleaned.rpartition(":")[2][:8]))
    assert redactor_of(home).text(text) == text
