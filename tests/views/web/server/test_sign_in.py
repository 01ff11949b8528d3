from __future__ import annotations

import os
import re
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tracklog.errors import UserError
from tracklog.home import Home
from tracklog.views.web.server.sign_in import (
    GOOD_FOR_S,
    Codes,
    SignInKeys,
    Token,
    cookie_name,
    link_to,
    local_hosts,
    token_of,
)

OLD = "0f" * 32


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_token_has_256_bits_and_only_its_user_may_read_it(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        token = token_of(Home(tmp_path / "own"))
    finally:
        os.umask(before)
    path = tmp_path / "own" / "token"
    assert (re.fullmatch("[0-9a-f]{64}", token.value) is not None, token.why_new) == (True, None)
    assert path.read_text() == f"{token.value}\n"
    assert (mode_of(path), mode_of(path.parent), path.stat().st_nlink) == (0o600, 0o700, 1)
    assert os.listdir(path.parent) == ["token"]


def test_the_token_stays(tmp_path: Path) -> None:
    home = Home(tmp_path / "own")
    assert token_of(home) == token_of(home)
    assert token_of(home) != token_of(Home(tmp_path / "other"))


def test_many_who_ask_at_once_get_the_same_token(tmp_path: Path) -> None:
    home = Home(tmp_path / "own")
    home.make()
    with ThreadPoolExecutor(16) as pool:
        tokens = list(pool.map(lambda _: token_of(home), range(64)))
    assert len(set(tokens)) == 1
    assert os.listdir(home.path) == ["token"]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644, 0o620, 0o777])
def test_a_token_that_others_could_read_is_replaced_and_that_is_said(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "token"
    path.write_text(f"{OLD}\n")
    path.chmod(mode)
    token = token_of(Home(tmp_path))
    assert (token.value != OLD, token.why_new) == (True, "others could read it")
    assert (path.read_text(), mode_of(path)) == (f"{token.value}\n", 0o600)


@pytest.mark.parametrize("text", ["", "\n", OLD[:-1], OLD + "00", OLD.upper(), "x" * 10_000, f"{OLD}\n\n"])
def test_what_is_no_token_is_replaced(tmp_path: Path, text: str) -> None:
    path = tmp_path / "token"
    path.write_text(text)
    path.chmod(0o600)
    token = token_of(Home(tmp_path))
    assert (len(token.value), token.why_new, token_of(Home(tmp_path))) == (
        64,
        "it was no token",
        Token(token.value),
    )


def test_a_link_in_place_of_the_token_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "theirs").write_text(f"{OLD}\n")
    (tmp_path / "theirs").chmod(0o600)
    for target in ("theirs", "nowhere"):
        (tmp_path / "own").mkdir(exist_ok=True)
        (tmp_path / "own/token").symlink_to(tmp_path / target)
        with pytest.raises(UserError, match=r"cannot be trusted: .*; remove it, and a new one is made"):
            token_of(Home(tmp_path / "own"))
        (tmp_path / "own/token").unlink()
    assert sorted(os.listdir(tmp_path)) == ["own", "theirs"]


def test_a_pipe_or_a_folder_in_place_of_the_token_is_refused(tmp_path: Path) -> None:
    for n, make in enumerate((os.mkfifo, os.mkdir)):
        home = tmp_path / str(n)
        home.mkdir()
        make(home / "token")
        with pytest.raises(UserError, match="cannot be trusted: it is no regular file"):
            token_of(Home(home))


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser can give a file away")
def test_a_token_of_another_user_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text(f"{OLD}\n")
    path.chmod(0o600)
    os.chown(path, 65534, 65534)
    with pytest.raises(UserError, match="it belongs to another user"):
        token_of(Home(tmp_path))


def test_a_code_is_good_once(tmp_path: Path) -> None:
    codes = Codes(Home(tmp_path))
    one, two = codes.make(), codes.make()
    assert (one != two, len(one) >= 43) == (True, True)
    assert [codes.is_known(one), codes.use(one), codes.use(one), codes.is_known(one), codes.use(two)] == [
        True,
        True,
        False,
        False,
        True,
    ]


def test_any_process_of_the_user_makes_codes_for_the_server(tmp_path: Path) -> None:
    code = Codes(Home(tmp_path)).make()
    assert Codes(Home(tmp_path)).use(code)


def test_only_one_of_many_uses_a_code(tmp_path: Path) -> None:
    codes = Codes(Home(tmp_path))
    code = codes.make()
    with ThreadPoolExecutor(16) as pool:
        assert sum(pool.map(lambda _: codes.use(code), range(64))) == 1


def test_what_is_kept_of_a_code_does_not_tell_it(tmp_path: Path) -> None:
    code = Codes(Home(tmp_path)).make()
    (kept,) = (tmp_path / "serve/codes").iterdir()
    assert (kept.read_bytes(), mode_of(kept), mode_of(kept.parent), code in kept.name) == (
        b"",
        0o600,
        0o700,
        False,
    )
    assert not Codes(Home(tmp_path)).use(kept.name)


@pytest.mark.parametrize(
    ("age_s", "is_good"), [(GOOD_FOR_S - 5, True), (GOOD_FOR_S + 1, False), (-60, False)]
)
def test_a_code_is_good_for_ten_minutes(tmp_path: Path, age_s: int, is_good: bool) -> None:
    codes = Codes(Home(tmp_path))
    code = codes.make()
    (kept,) = (tmp_path / "serve/codes").iterdir()
    then = kept.stat().st_mtime - age_s
    os.utime(kept, (then, then))
    assert [codes.use(code), codes.use(code)] == [is_good, False]


def test_old_codes_are_forgotten_when_a_new_one_is_made(tmp_path: Path) -> None:
    codes = Codes(Home(tmp_path))
    codes.make()
    (old,) = (tmp_path / "serve/codes").iterdir()
    os.utime(old, (0, 0))
    codes.make()
    assert (old.exists(), len(os.listdir(old.parent))) == (False, 1)


@pytest.mark.parametrize("code", ["", ".", "../../token", "x" * 101, "\udcff", "\0"])
def test_a_strange_code_is_wrong_and_nothing_more(tmp_path: Path, code: str) -> None:
    token_of(Home(tmp_path))
    codes = Codes(Home(tmp_path))
    assert codes.use(code) is False
    codes.make()
    assert codes.use(code) is False
    assert (tmp_path / "token").exists()


def test_nothing_secret_is_shown_with_the_keys(tmp_path: Path) -> None:
    keys = SignInKeys(local_hosts(1), "tracklog_1", OLD, Codes(Home(tmp_path)))
    value = keys.set_cookie().partition("=")[2].partition(";")[0]
    assert (OLD in repr(keys), value in repr(keys), OLD in keys.set_cookie()) == (False, False, False)
    assert (keys.is_token(OLD.encode()), keys.is_cookie(value.encode()), keys.is_cookie(OLD.encode())) == (
        True,
        True,
        False,
    )


def test_a_cookie_is_named_by_home_and_port(tmp_path: Path) -> None:
    names = {cookie_name(tmp_path / home, port) for home in ("a", "b") for port in (1, 2)}
    assert len(names) == 4
    assert all(re.fullmatch("tracklog_[0-9a-f]{8}", name) for name in names)


def test_each_server_has_a_cookie_of_its_own(tmp_path: Path) -> None:
    one, two = (SignInKeys(local_hosts(1), "tracklog_1", OLD, Codes(Home(tmp_path))) for _ in range(2))
    assert one.set_cookie() != two.set_cookie()


def test_browsers_leave_out_the_port_80() -> None:
    assert local_hosts(8000) == ("127.0.0.1:8000", "localhost:8000", "[::1]:8000")
    assert local_hosts(80)[3:] == ("127.0.0.1", "localhost", "[::1]")


def test_a_link_is_an_address_with_a_code() -> None:
    assert link_to("127.0.0.1:7717", "abc") == "http://127.0.0.1:7717/sign-in?code=abc"
