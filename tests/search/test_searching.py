from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.model.lines import Line, at, log, reply, result, use, user
from tests.search.test_query import read
from tracklog.agents.discovery import roots_at
from tracklog.home import Home
from tracklog.index.sync import sync
from tracklog.search.find import SearchResults, find
from tracklog.store.database import Database, writing

ONE = "11111111-aaaa-4aaa-8aaa-111111111111"


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with writing(Home(tmp_path / "home")) as database:
        yield database


def write_log(root: Path, *lines: Line | bytes, session: str = ONE) -> Path:
    path = root / "projects/-home-dev-project" / f"{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(log(lines) + b"\n")
    return path


def write_rollout(root: Path, *payloads: dict[str, Any]) -> Path:
    path = root / "sessions/2026/01/01" / f"rollout-2026-01-01T00-00-00-{ONE}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [
        json.dumps({"timestamp": f"2026-01-01T00:00:{n:02d}.000Z", **payload})
        for n, payload in enumerate(payloads)
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


def said(role: str, text: str) -> dict[str, Any]:
    part = {"type": "input_text" if role == "user" else "output_text", "text": text}
    return {"type": "response_item", "payload": {"type": "message", "role": role, "content": [part]}}


def read_in(database: Database, root: Path) -> None:
    sync(database, roots_at(root))


def snippets(answer: SearchResults) -> list[tuple[str, int, str]]:
    return [(shown.hit.role, shown.hit.line, shown.snippet.text) for shown in answer.hits]


def test_a_hit_shows_what_stands_in_the_log(tmp_path: Path, database: Database) -> None:
    write_log(
        tmp_path / "logs",
        user("u1", None, "Why does the build fail?", timestamp=at(1)),
        reply("a1", "u1", "m1", use("c1", command="make\n\tall"), timestamp=at(2)),
        result("u2", "a1", "c1", "make: *** build failed", timestamp=at(3)),
    )
    read_in(database, tmp_path / "logs")
    answer = find(database, read("build"))
    assert (answer.total, answer.is_exact, answer.n_gone) == (2, True, 0)
    assert snippets(answer) == [
        ("result", 3, "make: *** build failed"),
        ("prompt", 1, "Why does the build fail?"),
    ]
    assert answer.hits[0].snippet.marks == [(10, 15)]
    assert snippets(find(database, read("all"))) == [("input", 2, "command: make all")]


def test_a_prompt_that_codex_held_back_is_shown(tmp_path: Path, database: Database) -> None:
    meta = {"type": "session_meta", "payload": {"id": ONE, "cwd": "/p", "timestamp": "2026-01-01T00:00:00Z"}}
    write_rollout(tmp_path / "logs", meta, said("user", "Find the needle."), said("assistant", "Found it."))
    read_in(database, tmp_path / "logs")
    assert snippets(find(database, read("needle"))) == [("prompt", 2, "Find the needle.")]
    assert snippets(find(database, read("re:/n[e]{2}dle/"))) == [("prompt", 2, "Find the needle.")]


def test_a_log_that_is_gone_is_read_from_the_archive(tmp_path: Path, database: Database) -> None:
    path = write_log(tmp_path / "logs", user("u0", None, "First."), user("u1", "u0", "Where is the needle?"))
    read_in(database, tmp_path / "logs")
    path.unlink()
    read_in(database, tmp_path / "logs")
    assert snippets(find(database, read("needle"))) == [("prompt", 2, "Where is the needle?")]


def test_a_line_that_is_no_longer_there_is_left_out_and_counted(tmp_path: Path, database: Database) -> None:
    path = write_log(tmp_path / "logs", user("u0", None, "First."), user("u1", "u0", "Where is the needle?"))
    read_in(database, tmp_path / "logs")
    path.write_bytes(b"{}\n")
    assert find(database, read("needle")) == SearchResults(0, True, [], 1)


def test_what_a_fork_copied_is_shown_once(tmp_path: Path, database: Database) -> None:
    two = "22222222-bbbb-4bbb-8bbb-222222222222"
    line = user("u1", None, "Where is the needle?", timestamp=at(1))
    write_log(tmp_path / "logs", line)
    write_log(tmp_path / "logs", {**line, "sessionId": two}, session=two)
    read_in(database, tmp_path / "logs")
    assert snippets(find(database, read("needle"))) == [("prompt", 1, "Where is the needle?")]


@pytest.mark.parametrize(
    ("query", "lines"),
    [
        (r"re:/E\d{4}: .+ not found/", [2]),
        ("re:/not found/ role:prompt", [3]),
        ("re:/rror/", [1]),
        ("re:/^E/", [2]),
        ("re:/[0-9]+/ found", [2]),
        ("re:/[0-9]+/ found -thing", []),
        ("re:/nowhere/", []),
    ],
)
def test_a_pattern_finds_what_it_matches(
    tmp_path: Path, database: Database, query: str, lines: list[int]
) -> None:
    write_log(
        tmp_path / "logs",
        result("u1", None, "c1", "TypeError: bad", timestamp=at(1)),
        result("u2", "u1", "c2", "line one\nE4711: thing not found", timestamp=at(2)),
        user("u3", "u2", "It says: not found", timestamp=at(3)),
    )
    read_in(database, tmp_path / "logs")
    answer = find(database, read(query))
    assert [shown.hit.line for shown in answer.hits] == lines
    assert (answer.total, answer.is_exact) == (len(lines), True)


def test_the_match_of_a_pattern_is_marked(tmp_path: Path, database: Database) -> None:
    write_log(tmp_path / "logs", user("u1", None, f"{'x ' * 200}see E4711 and E4712."))
    read_in(database, tmp_path / "logs")
    (shown,) = find(database, read(r"re:/E\d+/")).hits
    assert [shown.snippet.text[first:last] for first, last in shown.snippet.marks] == ["E4711", "E4712"]


def test_a_pattern_that_never_ends_is_ended(tmp_path: Path, database: Database) -> None:
    write_log(
        tmp_path / "logs",
        user("u1", None, "a" * 60 + "!", timestamp=at(1)),
        user("u2", "u1", "aaa", timestamp=at(2)),
    )
    read_in(database, tmp_path / "logs")
    began = time.monotonic()
    answer = find(database, read("re:/^(a+)+$/"), time_limit_s=1.0)
    assert time.monotonic() - began < 60  # without a limit it takes years
    assert (answer.total, answer.is_exact, [shown.hit.line for shown in answer.hits]) == (1, False, [2])


def test_more_matches_than_are_shown_are_counted(tmp_path: Path, database: Database) -> None:
    lines = [user(f"u{n}", None, f"number {n}", timestamp=at(n)) for n in range(30)]
    write_log(tmp_path / "logs", *lines)
    read_in(database, tmp_path / "logs")
    answer = find(database, read(r"re:/\bnumber \d+/"), limit=3)
    assert (answer.total, answer.is_exact) == (30, True)
    assert [shown.hit.line for shown in answer.hits] == [30, 29, 28]


def test_a_pattern_that_names_no_whole_word_ends_with_the_likely_texts(
    tmp_path: Path, database: Database
) -> None:
    lines = [user(f"u{n}", None, f"number{n}", timestamp=at(n)) for n in range(5)]
    write_log(tmp_path / "logs", *lines)
    read_in(database, tmp_path / "logs")
    answer = find(database, read(r"re:/number\d/"), limit=3)
    assert (answer.is_exact, [shown.hit.line for shown in answer.hits]) == (False, [5, 4, 3])
