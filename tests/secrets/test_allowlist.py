"""What may stay is said in a file that its owner can read and edit; what it cannot mean is never guessed."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from tracklog.errors import UserError
from tracklog.home import Home, held_lock_at
from tracklog.secrets.allowlist import LIST_NAME, Allowance, AllowList, allow, allow_list, disallow, meant

HASH = "0123456789abcdef"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    ours = Home(tmp_path / "ours")
    ours.make()
    return ours


def list_in(home: Home) -> Path:
    return home.path / LIST_NAME


def test_without_a_list_nothing_is_allowed(home: Home) -> None:
    assert allow_list(home) == AllowList(())
    assert not allow_list(home).allows(HASH, "/log.jsonl", 1)


def test_what_is_allowed_is_written_and_read_again(home: Home) -> None:
    entries = (
        Allowance(hash=HASH[:8], why='a "test" key\\ \x7f'),
        Allowance(path="/logs/d\u00e9mo.jsonl", line=3),
        Allowance(path="/logs/folder"),
    )
    assert [allow(home, one) for one in entries] == [True, True, True]
    assert allow_list(home) == AllowList(entries)
    assert stat.S_IMODE(list_in(home).stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("one", "hash", "path", "line", "stays"),
    [
        (Allowance(hash=HASH), HASH, "/a.jsonl", 1, True),
        (Allowance(hash=HASH[:8]), HASH, None, None, True),
        (Allowance(hash=HASH[:8]), "f" + HASH[1:], "/a.jsonl", 1, False),
        (Allowance(path="/a.jsonl"), HASH, "/a.jsonl", 9, True),
        (Allowance(path="/a.jsonl", line=9), HASH, "/a.jsonl", 9, True),
        (Allowance(path="/a.jsonl", line=9), HASH, "/a.jsonl", 8, False),
        (Allowance(path="/a.jsonl", line=9), HASH, "/a.jsonl", None, False),
        (Allowance(path="/a"), HASH, "/a/b/c.jsonl", 1, True),
        (Allowance(path="/a"), HASH, "/ab/c.jsonl", 1, False),
        (Allowance(path="/a"), HASH, None, None, False),
        (Allowance(path="/"), HASH, "/a.jsonl", 1, True),
    ],
)
def test_a_secret_stays_by_its_hash_or_by_its_place(
    one: Allowance, hash: str, path: str | None, line: int | None, stays: bool
) -> None:
    assert AllowList((one,)).allows(hash, path, line) is stays


@pytest.mark.parametrize(
    ("place", "stays"), [("/a.jsonl:9", True), ("/a.jsonl", False), ("/a.jsonl:10", False), (None, False)]
)
def test_a_place_may_be_given_as_one_word(place: str | None, stays: bool) -> None:
    assert AllowList((Allowance(path="/a.jsonl", line=9),)).may_stay("kind", HASH, place) is stays


def test_a_file_whose_name_ends_like_a_line_is_still_meant(home: Home) -> None:
    assert AllowList((Allowance(path="/a:9"),)).may_stay("kind", HASH, "/a:9")


def test_what_is_allowed_already_is_not_added_again(home: Home) -> None:
    allow(home, Allowance(hash=HASH, why="first"))
    before = list_in(home).read_bytes()
    assert not allow(home, Allowance(hash=HASH[:10], why="second"))
    assert list_in(home).read_bytes() == before


def test_a_change_leaves_all_other_lines_as_they_stand(home: Home) -> None:
    head = f'# mine\n\n  [[ allow ]]  # old\nhash = "{HASH}"\nwhy = """two\nlines"""\n# about the next\n'
    tail = "[[\"allow\"]]\npath = '/kept'\n"
    list_in(home).write_text(head + tail)
    allow(home, Allowance(path="/new"))
    assert list_in(home).read_text() == head + tail + '\n[[allow]]\npath = "/new"\n'
    assert disallow(home, Allowance(hash=HASH[:8])) == [Allowance(hash=HASH, why="two\nlines")]
    assert list_in(home).read_text() == "# mine\n\n# about the next\n" + tail + '\n[[allow]]\npath = "/new"\n'
    assert disallow(home, Allowance(path="/new")) == [Allowance(path="/new")]
    assert allow_list(home).entries == (Allowance(path="/kept"),)


def test_what_was_not_allowed_cannot_be_taken_back(home: Home) -> None:
    allow(home, Allowance(path="/a", line=1))
    before = list_in(home).read_bytes()
    assert disallow(home, Allowance(path="/a")) == []
    assert disallow(home, Allowance(hash=HASH)) == []
    assert list_in(home).read_bytes() == before


def test_a_list_that_is_written_in_another_way_is_read_but_not_changed(home: Home) -> None:
    list_in(home).write_text(f'allow = [{{hash = "{HASH}"}}, {{path = "/a"}}]\n')
    assert allow_list(home).entries == (Allowance(hash=HASH), Allowance(path="/a"))
    with pytest.raises(UserError):
        allow(home, Allowance(path="/b"))
    with pytest.raises(UserError, match="edit it by hand"):
        disallow(home, Allowance(path="/a"))
    assert allow_list(home).entries == (Allowance(hash=HASH), Allowance(path="/a"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("\n[[allow]\n", "line 2"),
        ('[[allow]]\nhash = "0123456"\n', "line 1: entry 1: 'hash' must be 8 to 16 digits"),
        ('[[allow]]\nhash = "*"\n', "line 1: entry 1: 'hash' must be"),
        ("[[allow]]\nhash = 12345678\n", "line 1: entry 1: 'hash' must be"),
        (f'\n[[allow]]\nhash = "{HASH}"\n\n[[allow]]\nwhy = "?"\n', "line 5: entry 2: give either"),
        (f'[[allow]]\nhash = "{HASH}"\npath = "/a"\n', "line 1: entry 1: give either a hash or a path"),
        ('[[allow]]\npath = "a"\n', "line 1: entry 1: 'path' must be a whole path"),
        ('[[allow]]\npath = "/a"\nline = 0\n', "line 1: entry 1: 'line' must be"),
        ('[[allow]]\npath = "/a"\nline = true\n', "line 1: entry 1: 'line' must be"),
        (f'[[allow]]\nhash = "{HASH}"\nline = 3\n', "line 1: entry 1: 'line' must be"),
        (f'[[allow]]\nhash = "{HASH}"\nwhy = 3\n', "line 1: entry 1: 'why' must be a text"),
        (f'[[allow]]\nhsah = "{HASH}"\n', "line 1: entry 1: 'hsah' is no key"),
        (f'\n\n[[allowed]]\nhash = "{HASH}"\n', "line 3: unknown key 'allowed'"),
        ("allow = true\n", "line 1: entries stand under"),
    ],
)
def test_what_the_list_cannot_mean_is_said_with_its_line(home: Home, text: str, said: str) -> None:
    list_in(home).write_text(text)
    with pytest.raises(UserError) as refusal:
        allow_list(home)
    assert said in str(refusal.value)
    assert str(list_in(home)) in str(refusal.value)
    with pytest.raises(UserError):
        allow(home, Allowance(path="/b"))
    assert list_in(home).read_text() == text


def test_bytes_that_are_no_text_are_said_with_their_line(home: Home) -> None:
    list_in(home).write_bytes(b"# \n# \xff\n")
    with pytest.raises(UserError, match="line 2: not UTF-8"):
        allow_list(home)


def test_a_list_that_cannot_be_read_allows_nothing_and_is_said(home: Home) -> None:
    os.mkfifo(list_in(home))
    with pytest.raises(UserError, match="FIFO"):
        allow_list(home)


def test_a_list_may_be_a_link_and_stays_one(home: Home, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(f'[[allow]]\nhash = "{HASH}"\n')
    list_in(home).symlink_to(tmp_path / "mine.toml")
    allow(home, Allowance(path="/a"))
    assert list_in(home).is_symlink()
    assert allow_list(home).entries == (Allowance(hash=HASH), Allowance(path="/a"))


def test_a_name_that_is_no_text_cannot_be_listed(home: Home) -> None:
    with pytest.raises(UserError, match="allow the hash instead"):
        allow(home, Allowance(path="/a\udcff"))
    assert not list_in(home).exists()


def test_one_process_changes_the_list_at_a_time(home: Home) -> None:
    with held_lock_at(home.path / f".{LIST_NAME}.lock"), pytest.raises(UserError, match="try again"):
        allow(home, Allowance(path="/a"))


@pytest.mark.parametrize(
    ("words", "one"),
    [
        (HASH.upper(), Allowance(hash=HASH)),
        (HASH[:8], Allowance(hash=HASH[:8])),
        ("/a/b.jsonl", Allowance(path="/a/b.jsonl")),
        ("/a/b.jsonl:12", Allowance(path="/a/b.jsonl", line=12)),
        ("/a/b.jsonl:0", Allowance(path="/a/b.jsonl:0")),
    ],
)
def test_a_person_means_a_hash_or_a_place(words: str, one: Allowance) -> None:
    assert meant(words) == one


def test_a_path_is_meant_from_where_one_stands() -> None:
    assert meant("b.jsonl") == Allowance(path=os.path.abspath("b.jsonl"))


@pytest.mark.parametrize("words", ["0123456", "0123456789abcdef0", ""])
def test_too_little_or_too_much_of_a_hash_is_refused(words: str) -> None:
    with pytest.raises(UserError):
        meant(words)
