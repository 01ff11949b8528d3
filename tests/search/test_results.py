from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.model.lines import at, reply, result, use, user
from tests.search.test_query import read
from tests.search.test_searching import ONE, write_log
from tracklog.agents.discovery import roots_at
from tracklog.home import Home
from tracklog.index.session_rows import settle_sessions
from tracklog.index.sync import sync
from tracklog.search.results import ALONE, SAME, SESSIONS, Alone, Results, results, words_alone
from tracklog.secrets.redact import Redactor
from tracklog.store.database import Database, writing
from tracklog.store.scope import scope_of

TWO = "22222222-aaaa-4aaa-8aaa-222222222222"
KEY = "ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3x5Y"


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with writing(Home(tmp_path / "home")) as database:
        yield database


def read_in(database: Database, root: Path) -> None:
    sync(database, roots_at(root))
    settle_sessions(database)


def found(database: Database, query: str, **more: Any) -> Results:
    more = {"scope": None, "clean": lambda text: text} | more
    return results(database, read(query), **more)


def groups(answer: Results) -> list[tuple[str, int, list[str]]]:
    """Of each session the first letter of its name, its number of hits, and what is shown."""
    return [
        (group.name[1][0] if group.name else "", group.n_hits, [one.snippet.text for one in group.shown])
        for group in answer.groups
    ]


def words(*texts: str, first: int = 1) -> list[dict[str, Any]]:
    return [user(f"u{n}", None, text, timestamp=at(n), cwd="/w/app") for n, text in enumerate(texts, first)]


def test_hits_are_grouped_by_session_the_newest_first_each_with_a_few_snippets(
    tmp_path: Path, database: Database
) -> None:
    write_log(tmp_path / "logs", *words("a word 1", "a word 2", "a word 3", "a word 4"), session=ONE)
    write_log(tmp_path / "logs", *words("the last word", first=9), session=TWO)
    read_in(database, tmp_path / "logs")
    answer = found(database, "word")
    assert groups(answer) == [
        ("2", 1, ["the last word"]),
        ("1", 4, ["a word 4", "a word 3", "a word 2"]),
    ]
    assert (answer.total, answer.is_exact, answer.is_whole, answer.n_groups) == (5, True, True, 2)
    seen = answer.groups[1].seen
    assert seen is not None
    assert (seen.title, seen.project) == ("a word 1", "app")
    assert [one.n for one in answer.facets.project] == [5]


def test_of_one_session_all_hits_are_shown_page_by_page(tmp_path: Path, database: Database) -> None:
    n = ALONE + 5
    lines = [user(f"u{n}", None, f"word {n}", timestamp=at(n % 60)) for n in range(n)]
    write_log(tmp_path / "logs", *lines)
    read_in(database, tmp_path / "logs")
    first, second = found(database, "word"), found(database, "word", page=2)
    assert (len(first.groups[0].shown), len(second.groups[0].shown)) == (ALONE, 5)
    assert (first.n_pages, second.n_pages) == (2, 2)
    shown = [one.hit.id for answer in (first, second) for one in answer.groups[0].shown]
    assert len(set(shown)) == n


def test_what_a_session_says_twice_at_the_same_time_is_shown_once_and_counted(
    tmp_path: Path, database: Database
) -> None:
    lines = [user(f"u{n}", None, f"word {n // 2}", timestamp=at(n // 2 % 60)) for n in range(ALONE + 4)]
    write_log(tmp_path / "logs", *lines)
    read_in(database, tmp_path / "logs")
    pages = [found(database, "role:prompt word", page=n) for n in (1, 2)]
    assert [one.total for one in pages] == [ALONE + 4] * 2
    assert [one.n_same for one in pages] == [ALONE // 2, 2]
    shown = [one.hit.line for page in pages for group in page.groups for one in group.shown]
    assert len(shown) == len(set(shown)) == ALONE // 2 + 2


def test_sessions_come_page_by_page(tmp_path: Path, database: Database) -> None:
    for n in range(SESSIONS + 2):
        session = f"{n:08d}-aaaa-4aaa-8aaa-111111111111"
        write_log(tmp_path / "logs", *words("word", first=n), session=session)
    read_in(database, tmp_path / "logs")
    pages = [found(database, "word", page=page) for page in (1, 2, 3)]
    assert [len(page.groups) for page in pages] == [SESSIONS, 2, 0]
    assert {page.n_pages for page in pages} == {2}
    assert len({group.name for page in pages for group in page.groups}) == SESSIONS + 2


def test_of_a_few_snippets_no_two_are_alike(tmp_path: Path, database: Database) -> None:
    write_log(tmp_path / "logs", *words("same word", "same word", "same word", "another word"))
    write_log(tmp_path / "logs", *words("word"), session=TWO)
    read_in(database, tmp_path / "logs")
    assert ("1", 4, ["another word", "same word"]) in groups(found(database, "word"))


def test_a_line_that_holds_many_hits_is_read_once(
    tmp_path: Path, database: Database, opened_files: list[str]
) -> None:
    """A line of five thousand calls was read and translated for each of them: a search took ten seconds."""
    calls = [use(f"c{n}", command=f"word {n}") for n in range(ALONE)]
    path = write_log(tmp_path / "logs", reply("a1", None, "m1", *calls, timestamp=at(1)))
    read_in(database, tmp_path / "logs")
    for query in ("word", '"word"', "word role:input"):
        opened_files.clear()
        (group,) = found(database, query).groups
        assert {one.snippet.text for one in group.shown} == {f"command: word {n}" for n in range(ALONE)}
        assert opened_files.count(str(path)) == 1


def test_records_that_share_a_line_are_read_at_once(
    tmp_path: Path, database: Database, opened_files: list[str]
) -> None:
    torn = b"".join(json.dumps(one).encode() for one in words(*(f"word {n}" for n in range(9))))
    path = write_log(tmp_path / "logs", b'{"torn', torn)
    read_in(database, tmp_path / "logs")
    opened_files.clear()
    (group,) = found(database, "word").groups
    assert [one.snippet.text for one in group.shown] == [f"word {n}" for n in range(8, -1, -1)]
    assert opened_files.count(str(path)) == 1


def test_an_archived_line_that_holds_many_hits_is_found(tmp_path: Path, database: Database) -> None:
    calls = [use(f"c{n}", command=f"word {n}") for n in range(5)]
    path = write_log(tmp_path / "logs", *words("first"), reply("a1", "u1", "m1", *calls, timestamp=at(2)))
    read_in(database, tmp_path / "logs")
    path.unlink()
    read_in(database, tmp_path / "logs")
    assert groups(found(database, "word")) == [("1", 5, [f"command: word {n}" for n in range(4, -1, -1)])]


def test_for_a_few_snippets_no_thousand_hits_that_say_the_same_are_read(
    tmp_path: Path, database: Database, opened_files: list[str]
) -> None:
    n = 2 * SAME
    path = write_log(tmp_path / "logs", *words("another word", *["same word"] * n))
    write_log(tmp_path / "logs", *words("word"), session=TWO)
    read_in(database, tmp_path / "logs")
    opened_files.clear()
    assert ("1", n + 1, ["same word"]) in groups(found(database, "word"))
    assert opened_files.count(str(path)) == SAME + 1


def test_a_secret_is_masked_also_where_the_snippet_would_cut_it(tmp_path: Path, database: Database) -> None:
    redactor = Redactor(key=b"k" * 32)
    write_log(
        tmp_path / "logs",
        user("u1", None, f"needle {'x ' * 60}{KEY} end", timestamp=at(1)),
        reply("a1", "u1", "m1", use("c1", command=f"curl -H 'token: {KEY}'"), timestamp=at(2)),
        result("u2", "a1", "c1", "needle without any", timestamp=at(3)),
    )
    read_in(database, tmp_path / "logs")
    answer = found(database, "needle", clean=redactor.text)
    assert groups(answer)[0][2][0] == "needle without any"
    assert KEY[:8] not in str(groups(answer))
    assert answer.n_masked == 1
    plain = found(database, "needle")
    assert (KEY[:4] in str(groups(plain)), plain.n_masked) == (True, 0)


def test_a_word_deep_inside_a_private_key_shows_nothing_of_it(tmp_path: Path, database: Database) -> None:
    """Of a long text only the part around a match is looked at for secrets: there a key has no beginning."""
    body = "\n".join(f"{n:04d}needle{n:054d}" for n in range(300))
    key = f"-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----"
    write_log(tmp_path / "logs", user("u1", None, f"{'x ' * 5000}\n{key}\n{'y ' * 9000}", timestamp=at(1)))
    read_in(database, tmp_path / "logs")
    answer = found(database, "0200needle*", clean=Redactor(key=b"k" * 32).text)
    assert answer.n_masked == 1
    assert "needle0" not in str(groups(answer))
    assert "private-key" in str(groups(answer))


def test_who_looks_for_a_secret_sees_where_it_stands_and_not_what_it_is(
    tmp_path: Path, database: Database
) -> None:
    write_log(tmp_path / "logs", user("u1", None, f"use {KEY} for it", timestamp=at(1)))
    read_in(database, tmp_path / "logs")
    for query in (KEY, "re:/ghp_[A-Za-z0-9]+/"):
        answer = found(database, query, clean=Redactor(key=b"k" * 32).text)
        (shown,) = answer.groups[0].shown
        assert shown.snippet.text.startswith("use «secret:github-pat:")
        assert KEY[4:] not in str(groups(answer))
        assert [shown.snippet.text[a:b][:8] for a, b in shown.snippet.marks] == ["«secret:"]


def test_of_a_long_text_the_part_with_the_words_is_shown(tmp_path: Path, database: Database) -> None:
    text = "filler " * 20_000 + "the needle stands here " + "filler " * 1000
    write_log(tmp_path / "logs", user("u1", None, text, timestamp=at(1)))
    read_in(database, tmp_path / "logs")
    seen: list[int] = []

    def clean(text: str) -> str:
        seen.append(len(text))
        return text

    answer = found(database, "needle", clean=clean)
    assert "the needle stands here" in answer.groups[0].shown[0].snippet.text
    assert max(seen) < 10_000


def test_a_hit_whose_log_is_gone_is_counted_as_such(tmp_path: Path, database: Database) -> None:
    path = write_log(tmp_path / "logs", *words("word"))
    sync(database, roots_at(tmp_path / "logs"), with_archive=False)
    path.unlink()
    answer = found(database, "word")
    assert (answer.n_gone, groups(answer)) == (1, [("1", 1, [])])


def test_a_phrase_without_spaces_counts_where_it_stands_as_typed(tmp_path: Path, database: Database) -> None:
    write_log(tmp_path / "logs", *words("解析器 and 器解析器", "析器x解析"))
    read_in(database, tmp_path / "logs")
    answer = found(database, '"解析器"')
    assert (answer.total, answer.is_whole, groups(answer)[0][2]) == (1, True, ["解析器 and 器解析器"])


def test_a_pattern_is_found_with_its_matches_marked(tmp_path: Path, database: Database) -> None:
    write_log(tmp_path / "logs", *words("error E1234 here", "no error"))
    read_in(database, tmp_path / "logs")
    answer = found(database, r"re:/E\d{4}/")
    (shown,) = answer.groups[0].shown
    assert [shown.snippet.text[a:b] for a, b in shown.snippet.marks] == ["E1234"]


def test_only_what_is_in_the_scope_is_found(tmp_path: Path, database: Database) -> None:
    write_log(tmp_path / "a", *words("word"), session=ONE)
    write_log(tmp_path / "b", *words("word"), session=TWO)
    read_in(database, tmp_path / "a")
    read_in(database, tmp_path / "b")
    assert [one[0] for one in groups(found(database, "word", scope=scope_of([tmp_path / "b"])))] == ["2"]


def test_each_word_alone_says_which_one_is_nowhere(tmp_path: Path, database: Database) -> None:
    write_log(tmp_path / "logs", *words("one two", "two three"))
    read_in(database, tmp_path / "logs")
    query = read('one zero OR null "two three" role:prompt')
    assert words_alone(database, query, scope=None) == [
        Alone("one", 1, True),
        Alone("zero OR null", 0, True),
        Alone('"two three"', 1, True),
    ]
