from __future__ import annotations

import sqlite3
import time
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tracklog.errors import UserError
from tracklog.search.query import Filter, Query, Term, parse
from tracklog.search.tables_match import likely_words, match_of, words_of_pattern

NOW = datetime(2026, 3, 8, 12, tzinfo=UTC)


def moment(text: str, *, is_end: bool) -> datetime:
    if text == "7d":
        return NOW - timedelta(days=7)
    return datetime.fromisoformat(text).replace(tzinfo=UTC) + timedelta(days=is_end)


def read(text: str) -> Query:
    return parse(text, moment)


def one(words: str, *, is_phrase: bool = False, is_prefix: bool = False) -> tuple[Term]:
    return (Term(words, is_phrase, is_prefix),)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("rate limit", Query((one("rate"), one("limit")))),
        ('"rate limit" now', Query((one("rate limit", is_phrase=True), one("now")))),
        ("time*", Query((one("time", is_prefix=True),))),
        ("panic OR crash loud", Query(((Term("panic"), Term("crash")), one("loud")))),
        ("foo -bar NOT baz", Query((one("foo"),), nots=(Term("bar"), Term("baz")))),
        ("foo AND bar", Query((one("foo"), one("bar")))),
        ('"never closed', Query((one("never closed", is_phrase=True),))),
        ("- foo", Query((one("foo"),))),
        ("OR foo", Query((one("foo"),))),
        ("foo -> bar", Query((one("foo"), one("bar")))),
        ("http://example.org", Query((one("http://example.org"),))),
        ("tool:Bash x", Query((one("x"),), filters=(Filter("tool", "Bash"),))),
        ('-project:"my app" x', Query((one("x"),), filters=(Filter("project", "my app", True),))),
        ("ROLE:Prompt x", Query((one("x"),), filters=(Filter("role", "prompt"),))),
        ("tool: x", Query((one("tool:"), one("x")))),
        ("since:7d", Query(since_ms=1_772_366_400_000)),
        ("until:2026-03-01 x", Query((one("x"),), until_ms=1_772_409_600_000)),
        (r"re:/a\/b c/ x", Query((one("x"),), pattern="a/b c")),
        ("re:a+b", Query(pattern="a+b")),
        ("a\0b\x1bc", Query((one("a"), one("b"), one("c")))),
    ],
)
def test_a_query_is_read_as_it_is_meant(text: str, query: Query) -> None:
    assert read(text) == query


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "what is to be found? the query is empty"),
        (" \0 ", "what is to be found? the query is empty"),
        ("-foo", "say what is to be found, too: -word only leaves out"),
        ("tool:Bash -foo", "say what is to be found, too: -word only leaves out"),
        ("=> ...", "there is no word in '=> ...': signs are found with --regex, or re:/…/"),
        ("role:promt x", "there is no role:promt: did you mean prompt?"),
        ("agent:zzz x", "there is no agent:zzz: choose of claude, codex"),
        ("since:soon", "since:soon is no time: give a day such as 2026-03-01, or 7d, 12h, 30m"),
        ('tool:"" x', "tool: of what? give it a value, such as tool:name"),
        (
            f"re:/{'(' * 900}a{')' * 900}/",
            "the regular expression is nested too deeply: use fewer brackets inside others",
        ),
        ("re:/(/", "this is no regular expression: missing ), unterminated subpattern at position 0"),
        ("re:a re:b", "one re:/…/ at a time, and not with a minus"),
        ("x" * 5000, "the query is too long: at most 4,000 characters"),
        ("x " * 100, "too many words: at most 60"),
        ("tool:x " * 100, "too many filters: at most 60"),
    ],
)
def test_what_means_nothing_is_one_sentence(text: str, said: str) -> None:
    with pytest.raises(UserError) as caught:
        read(text)
    assert str(caught.value) == said


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("rate limit", '(("rate") AND ("limit"))'),
        ('say "a b" -c', '(("say") AND ("a b")) NOT ("c")'),
        ("time*", '(("time" *))'),
        ("getValue", '((("getValue" OR "get Value")))'),
        ("3f9a2c1d", '(("3f9a2c1d" *))'),
        ("日本語", '(((parts : "日本 本語")))'),
        ("猫", '(((parts : "猫" *)))'),
        ("done🚀", '(((parts : "u1f680" AND "done")))'),
        ("a AND b) OR NEAR(c", '(("a") AND ("b)" OR "NEAR(c"))'),
    ],
)
def test_words_become_quoted_ones(text: str, match: str) -> None:
    assert match_of(read(text)) == match


def match_or_refusal(text: str) -> tuple[str | None, str]:
    try:
        return match_of(read(text)), ""
    except UserError as error:
        return None, str(error)


@pytest.fixture(scope="module")
def words() -> sqlite3.Connection:
    db = sqlite3.connect(":memory:")
    db.execute("create virtual table words using fts5 (text, parts, content='', tokenize='unicode61')")
    db.execute("insert into words (rowid, text, parts) values (1, 'some words', '')")
    return db


@given(text=st.text(max_size=60) | st.text("\"*-:()^{}+ORNEAT \0'日🚀aB/\\", max_size=40))
@example('"""')
@example('a"b')
@example("- a")
@example("text : x")
@example("NEAR(a b, 3)")
@settings(deadline=None)
def test_nothing_that_is_typed_is_the_language_of_sqlite(words: sqlite3.Connection, text: str) -> None:
    match, said = match_or_refusal(text)
    assert "\n" not in said
    if match is not None:
        words.execute("select count(*) from words where words match ?", (match,)).fetchone()


@pytest.mark.parametrize(
    "text",
    [
        '"' * 4000,
        "-" * 4000,
        "(" * 4000,
        "re:/" + "(" * 900,
        "a OR " * 700,
        "\0" * 4000,
        "tool:" * 700,
        "/" * 4000,
    ],
)
def test_a_hostile_query_is_read_at_once(text: str) -> None:
    began = time.process_time()
    assert len(match_or_refusal(text)[1]) < 200
    assert time.process_time() - began < 10  # milliseconds, unless the time grows out of bounds


@pytest.mark.parametrize(
    ("pattern", "words", "likely"),
    [
        (r"E\d{4}: .+ not found", '("not" AND "found" *)', '"found" *'),
        (r"\bTypeError\b", '("TypeError")', '("TypeError" * OR "Type Error" *)'),
        ("^def ", '("def")', '"def" *'),
        ("rror", None, '"rror" *'),
        ("foo|bar", None, None),
        ("(?: foo)?", None, None),
        ("(?: foo,)+", '("foo")', '"foo" *'),
        (r"日本語.*🚀", '((parts : "日本 本語") AND (parts : "u1f680"))', None),
        ("é foo", '("foo" *)', '"foo" *'),
        ("éfoo ", None, '"foo" *'),
        (r"[a-z]+", None, None),
    ],
)
def test_a_pattern_names_the_words_that_every_match_holds(
    pattern: str, words: str | None, likely: str | None
) -> None:
    assert (words_of_pattern(pattern), likely_words(pattern)) == (words, likely)
