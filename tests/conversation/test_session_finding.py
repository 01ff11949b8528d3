from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.model.lines import Line, at, reply, result, use, user
from tests.search.test_searching import ONE, said, write_log, write_rollout
from tracklog.agents.discovery import find_at
from tracklog.agents.registry import identified
from tracklog.conversation.lines import ThreadLines
from tracklog.conversation.navigate import FoundLines, find_in
from tracklog.sources.log_file import LogFile

EVER = 60.0


def lines_of(*paths: Path) -> ThreadLines:
    return ThreadLines([_file(path) for path in paths])


def _file(path: Path) -> LogFile:
    found = next(find_at(path))
    assert isinstance(found, LogFile)
    return identified(found)


def found(lines: ThreadLines, text: str, **more: Any) -> list[tuple[int, int]]:
    """The lines that hold a text, and how often."""
    answer = find_in(lines, text, patience_s=EVER, **more)
    assert answer.is_all
    return list(zip(answer.seqs, answer.counts, strict=True))


@pytest.fixture
def lines(tmp_path: Path) -> ThreadLines:
    path = write_log(
        tmp_path / "logs",
        user("u1", None, "Why does the Build fail? build!", timestamp=at(1), cwd="/home/dev/build"),
        reply("a1", "u1", "m1", "The BUILD is old.", use("c1", command="make\n\tall"), timestamp=at(2)),
        result("u2", "a1", "c1", 'make: "all" failed in src/app', timestamp=at(3)),
        {"type": "progress", "uuid": "p1", "parentUuid": "u2", "sessionId": "s1", "data": {"build": 1}},
        b'{"type": "user", broken build',
        reply("a2", "u2", "m2", "Été – 解析器 ✓", timestamp=at(4)),
    )
    return lines_of(path)


@pytest.mark.parametrize(
    ("text", "hits"),
    [
        ("build", [(1, 2), (2, 1)]),
        ("BUILD", [(1, 2), (2, 1)]),
        ("the build", [(1, 1), (2, 1)]),
        ("make all", [(2, 1)]),
        ("  make \n all ", [(2, 1)]),
        ("all make", []),
        ('"all"', [(3, 1)]),
        ("src/app", [(3, 1)]),
        ("/", [(3, 1)]),
        ('"', [(3, 2)]),
        ("été", [(6, 1)]),
        ("ÉTÉ", [(6, 1)]),
        ("解析器", [(6, 1)]),
        ("✓", [(6, 1)]),
        ("home", []),  # where it works is no part of what is said
        ("u1", []),
        ("assistant", []),
        ("nowhere", []),
        ("", []),
        (" \t", []),
    ],
)
def test_words_are_found_in_what_is_said_whatever_their_case(
    lines: ThreadLines, text: str, hits: list[tuple[int, int]]
) -> None:
    assert found(lines, text) == hits


def test_letters_that_a_log_escapes_are_found(tmp_path: Path) -> None:
    line = {"type": "user", "uuid": "u1", "parentUuid": None, "sessionId": "s1"}
    told = json.dumps(line | {"message": {"role": "user", "content": "Größe <b> 解析 🚀 a/b"}})
    path = write_log(tmp_path / "logs", told.replace("/", "\\/").replace("<", "\\u003C").encode())
    lines = lines_of(path)
    for text in ("größe", "GRÖSSE"[:3], "解析", "🚀", "a/b", "<", "<b>"):
        assert (text, found(lines, text)) == (text, [(1, 1)])


def test_a_prompt_that_codex_says_once_is_found_in_its_line(tmp_path: Path) -> None:
    meta = {"type": "session_meta", "payload": {"id": ONE, "cwd": "/p", "timestamp": "2026-01-01T00:00:00Z"}}
    path = write_rollout(
        tmp_path / "logs", meta, said("user", "Find the needle."), said("assistant", "Found it.")
    )
    assert found(lines_of(path), "needle") == [(2, 1)]


def test_lines_are_counted_over_all_logs_of_the_thread(tmp_path: Path) -> None:
    one = write_log(tmp_path / "a", user("u1", None, "word"), user("u2", "u1", "other"), session=ONE)
    two = write_log(tmp_path / "b", user("u3", None, "other"), user("u4", "u3", "word word"), session=ONE)
    assert found(lines_of(one, two), "word") == [(1, 1), (4, 2)]


def test_what_is_asked_from_a_line_on_begins_there(tmp_path: Path) -> None:
    path = write_log(tmp_path / "logs", *(user(f"u{n}", None, "word") for n in range(10)))
    assert found(lines_of(path), "word", start=9) == [(9, 1), (10, 1)]


def test_an_answer_without_patience_says_how_far_it_looked_and_the_parts_are_the_whole(
    tmp_path: Path,
) -> None:
    words = ("word" if n % 3 else "main" for n in range(200))
    path = write_log(tmp_path / "logs", *(user(f"u{n}", None, text) for n, text in enumerate(words)))
    lines, seqs, start, n_parts = lines_of(path), [], 1, 0
    while start <= lines.n:
        answer = find_in(lines, "word", start=start, patience_s=0.0)
        seqs += answer.seqs
        assert answer.checked_to >= start
        assert answer.is_all == (answer.checked_to == lines.n)
        start, n_parts = answer.checked_to + 1, n_parts + 1
    assert n_parts > 1
    assert seqs == [seq for seq, _ in found(lines, "word")]


def test_no_more_lines_are_told_than_are_asked_for(tmp_path: Path) -> None:
    path = write_log(tmp_path / "logs", *(user(f"u{n}", None, "word") for n in range(10)))
    answer = find_in(lines_of(path), "word", most=3, patience_s=EVER)
    assert answer == FoundLines([1, 2, 3], [1, 1, 1], 3, is_all=False)


def test_a_log_that_has_nothing_holds_nothing(tmp_path: Path) -> None:
    path = write_log(tmp_path / "logs", user("u1", None, "x"))
    path.write_bytes(b"")
    assert find_in(lines_of(path), "x") == FoundLines([], [], 0, is_all=True)


WORDS = st.text(st.sampled_from('abAB é"/\\解\n<🚀'), min_size=1, max_size=4)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(WORDS, min_size=1, max_size=5), wanted=WORDS, is_ascii=st.booleans())
def test_what_is_found_is_what_reading_every_line_finds(
    tmp_path: Path, texts: list[str], wanted: str, is_ascii: bool
) -> None:
    told: list[Line] = [user(f"u{n}", None, text) for n, text in enumerate(texts)]
    path = write_log(tmp_path / "logs", *(json.dumps(one, ensure_ascii=is_ascii).encode() for one in told))
    plain = [" ".join(text.lower().split()) for text in texts]
    looked = " ".join(wanted.lower().split())
    expected = [n for n, text in enumerate(plain, 1) if looked and looked in text]
    assert [seq for seq, _ in found(lines_of(path), wanted)] == expected
