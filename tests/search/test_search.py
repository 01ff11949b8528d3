from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.search.test_query import read
from tests.store.made_index import put
from tracklog.home import Home
from tracklog.search.query import Query, Term
from tracklog.search.tables import COUNTED, HitPage, search
from tracklog.search.tables_match import match_of
from tracklog.store.database import writing
from tracklog.store.scope import scope_of
from tracklog.store.text import ROLES, call_key, drop_texts, parts_of, put_texts, worded
from tracklog.store.values import SearchableText, WordedText

DAY_MS = 86_400_000
AT_MS = 1_772_366_400_000  # 2026-03-01T12:00Z
CLAUDE, CODEX = "/home/dev/.claude", "/home/dev/.codex"


@pytest.fixture
def db(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """A session of each agent: Claude Code's of March 1st in `app`, Codex's of March 2nd in `lib`."""
    with writing(Home(tmp_path / "home")) as database:
        db = database.db
        put_log(db, 1, f"{CLAUDE}/projects/-app/one.jsonl", CLAUDE, "claude", "1111")
        put_log(db, 2, f"{CODEX}/sessions/two.jsonl", CODEX, "codex", "2222")
        put_session(db, 1, "claude", "1111", "/home/dev/app", '["claude-opus-4-6"]')
        put_session(db, 2, "codex", "2222", "/home/dev/lib", '["gpt-5"]')
        put_call(db, 1, 1, "call_1", "Bash", "error", did="pytest tests/test_app.py")
        put_call(db, 2, 2, "call_2", "mcp__files__read", "ok", did="notes.txt")
        put_texts(
            db,
            [
                (1, text(1, "prompt", "Why does the parser fail?")),
                (1, text(2, "input", "command: pytest", name="Bash", call="call_1")),
                (1, text(3, "result", "the parser failed: ValueError in parseHeader", call="call_1")),
                (1, text(4, "answer", "The parser is fixed.", name="claude-opus-4-6")),
                (2, text(1, "prompt", "解析器はなぜ失敗するのか 🚀", day=1)),
                (2, text(2, "input", "path: notes", name="mcp__files__read", call="call_2", day=1)),
                (2, text(3, "result", "parser notes, café", call="call_2", day=1)),
                (2, text(4, "answer", "Deploy commit 3f9a2c1d8e0b", name="gpt-5", day=1)),
            ],
        )
        yield db


def put_log(db: sqlite3.Connection, id: int, path: str, root: str, agent: str, session: str) -> None:
    known = {"kind": "transcript", "state": "here", "device": 1, "inode": id, "size": 1}
    known |= {"mtime_ns": 0, "ctime_ns": 0, "own_session": session}
    put(db, "log_files", id=id, path=path, root=root, agent=agent, session=session, **known)


def put_session(db: sqlite3.Connection, id: int, agent: str, session: str, cwd: str, models: str) -> None:
    known = {"is_settled": 1, "is_listed": 1, "only_here": 0}
    put(db, "session_rows", id=id, agent=agent, session=session, cwd=cwd, models=models, **known)


def put_call(
    db: sqlite3.Connection, id: int, session: int, call: str, name: str, verdict: str, *, did: str
) -> None:
    known = {"n": 0, "thread": "main", "sureness": "stated", "call": call, "call_key": call_key(call)}
    put(db, "call_rows", id=id, session_row=session, name=name, verdict=verdict, did=did, **known)


def text(
    line: int, role: str, words: str, *, name: str | None = None, call: str | None = None, day: int = 0
) -> WordedText:
    at_ms = AT_MS + day * DAY_MS + line * 1000
    return worded(SearchableText(line, line * 100, 0, ROLES[role], at_ms, name, call, words))


def found(db: sqlite3.Connection, query: str, **more: Any) -> list[tuple[int, int]]:
    """The logs and lines of all hits, in their order."""
    return [(hit.file, hit.line) for hit in search(db, read(query), **more).hits]


@pytest.mark.parametrize(
    ("query", "hits"),
    [
        ("parser", [(2, 3), (1, 4), (1, 3), (1, 1)]),
        ("PARSER fail", [(1, 1)]),
        ('"the parser"', [(1, 4), (1, 3), (1, 1)]),
        ("fail*", [(1, 3), (1, 1)]),
        ("parser -fixed -notes", [(1, 3), (1, 1)]),
        ("fixed OR notes", [(2, 3), (2, 2), (1, 4)]),
        ("header", [(1, 3)]),
        ("parseHeader", [(1, 3)]),
        ("parse_header", [(1, 3)]),
        ("valueerror", [(1, 3)]),
        ("cafe", [(2, 3)]),
        ("解析器", [(2, 1)]),
        ("析器", [(2, 1)]),
        ("器", [(2, 1)]),
        ("解器", []),
        ("🚀", [(2, 1)]),
        ("失敗 🚀", [(2, 1)]),
        ("3f9a2c1", [(2, 4)]),
        ("3f9a*", [(2, 4)]),
        ("nowhere", []),
    ],
)
def test_words_are_found_the_newest_first(
    db: sqlite3.Connection, query: str, hits: list[tuple[int, int]]
) -> None:
    assert found(db, query) == hits


@pytest.mark.parametrize(
    ("query", "hits"),
    [
        ("parser role:answer", [(1, 4)]),
        ("parser role:answer role:prompt", [(1, 4), (1, 1)]),
        ("parser -role:answer", [(2, 3), (1, 3), (1, 1)]),
        ("parser agent:codex", [(2, 3)]),
        ("tool:Bash", [(1, 3), (1, 2)]),
        ("tool:bash parser", [(1, 3)]),
        ("tool:mcp__files", [(2, 3), (2, 2)]),
        ("tool:mcp*", [(2, 3), (2, 2)]),
        ("-tool:Bash parser", [(2, 3), (1, 4), (1, 1)]),
        ("verdict:error", [(1, 3), (1, 2)]),
        ("verdict:ok verdict:error parser", [(2, 3), (1, 3)]),
        ("project:app parser", [(1, 4), (1, 3), (1, 1)]),
        ("-project:APP parser", [(2, 3)]),
        ("project:/home/dev parser role:answer", [(1, 4)]),
        ("project:elsewhere parser", []),
        ("session:22 parser", [(2, 3)]),
        ("session:% parser", []),
        ("model:opus parser", [(1, 4), (1, 3), (1, 1)]),
        ("model:gpt role:answer", [(2, 4)]),
        ("path:.codex parser", [(2, 3)]),
        ("path:test_app.py", [(1, 3), (1, 2)]),
        ("since:2026-03-02 parser", [(2, 3)]),
        ("until:2026-03-01 parser", [(1, 4), (1, 3), (1, 1)]),
        ("since:2026-03-01 until:2026-03-01 role:prompt", [(1, 1)]),
        ("since:2026-03-03", []),
        ("since:0001-01-01 until:9998-01-01 role:prompt", [(2, 1), (1, 1)]),
    ],
)
def test_filters_leave_what_fits(db: sqlite3.Connection, query: str, hits: list[tuple[int, int]]) -> None:
    assert found(db, query) == hits


def test_a_hit_says_all_about_its_place(db: sqlite3.Connection) -> None:
    (hit,) = search(db, read("parser role:answer")).hits
    assert hit[1:] == (
        1, 4, 400, 0, "answer", AT_MS + 4000, "claude", "1111", f"{CLAUDE}/projects/-app/one.jsonl",
    )  # fmt: skip


def test_only_the_logs_of_the_scope_are_asked(db: sqlite3.Connection) -> None:
    assert found(db, "parser", scope=scope_of([CODEX])) == [(2, 3)]
    assert found(db, "parser", scope=scope_of(["/home/dev"])) == found(db, "parser")
    assert found(db, "parser", scope=scope_of(["/nowhere"])) == []


def test_what_was_dropped_or_lies_in_the_past_is_not_found(db: sqlite3.Connection) -> None:
    drop_texts(db, 1, from_offset=300)
    db.execute("update log_files set state = 'past' where id = 2")
    assert found(db, "parser") == [(1, 1)]
    assert found(db, "since:2026-01-01") == [(1, 2), (1, 1)]


def test_more_hits_than_are_shown_are_counted(db: sqlite3.Connection) -> None:
    assert search(db, read("parser"), limit=2)[:2] == (4, True)


def many(db: sqlite3.Connection, n: int) -> None:
    put_texts(db, [(1, text(line, "result", "common word")) for line in range(10, 10 + n)])


def test_counting_ends_somewhere_and_says_so(db: sqlite3.Connection) -> None:
    many(db, COUNTED + 1)
    answer = search(db, read("common"), limit=5)
    assert (answer.total, answer.is_exact, len(answer.hits)) == (COUNTED, False, 5)


def test_counting_to_the_last_one_is_exact(db: sqlite3.Connection) -> None:
    many(db, COUNTED)
    assert search(db, read("common"), limit=5)[:2] == (COUNTED, True)


def test_a_time_limit_gives_what_was_found_by_then(db: sqlite3.Connection) -> None:
    many(db, 3000)
    assert search(db, read("common -role:result"), time_limit_s=0.0) == HitPage(0, False, [])


def test_after_a_time_limit_the_connection_is_as_before(db: sqlite3.Connection) -> None:
    many(db, 3000)
    search(db, read("common -role:result"), time_limit_s=0.0)
    assert db.execute("select count(*) from text_rows").fetchone() == (3008,)


def test_by_relevance_the_text_that_says_it_most_comes_first(db: sqlite3.Connection) -> None:
    put_texts(db, [(1, text(line, "result", "common word " * 100)) for line in range(10, 60)])
    put_texts(db, [(1, text(8, "result", "lexer lexer lexer lexer"))])
    put_texts(db, [(1, text(9, "result", "a lexer among many other words", day=3))])
    answer = search(db, read("lexer"), by="relevance")
    assert (answer.total, answer.is_exact, [hit.line for hit in answer.hits]) == (2, True, [8, 9])


def test_without_words_there_is_no_relevance_but_time(db: sqlite3.Connection) -> None:
    assert found(db, "role:answer", by="relevance") == [(2, 4), (1, 4)]


LETTERS = "abXYzé0 9_-./:ßДжλΩ日本語한국어ねこ🚀✅(\"'"


@given(text=st.text(LETTERS, min_size=1, max_size=40))
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_word_of_a_text_finds_it(words: sqlite3.Connection, text: str) -> None:
    words.execute("insert into words (words) values ('delete-all')")
    words.execute("insert into words (rowid, text, parts) values (1, ?, ?)", (text, parts_of(text.encode())))
    for word in re.findall(r"[^\W_]+|[🚀✅]", text):
        match = match_of(Query(((Term(word),),)))
        assert words.execute("select rowid from words where words match ?", (match,)).fetchall() == [(1,)], (
            word
        )


@pytest.fixture
def words() -> sqlite3.Connection:
    db = sqlite3.connect(":memory:")
    db.execute(
        "create virtual table words using fts5 "
        "(text, parts, content='', columnsize=0, tokenize='unicode61 remove_diacritics 2')"
    )
    return db
