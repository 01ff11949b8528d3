from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec import Raw

from tracklog.model.ids import MAIN, CallId, SessionId
from tracklog.model.session import Call, Stated, Verdict
from tracklog.views.text.calls import LONGEST, MARKS, reason_of, stated_words, verdict_words, what_it_did

HEAD = "Chunk ID: e6061f\nWall time: 0.0000 seconds\nProcess exited with code 1\nOriginal token count: 0\nOutput:\n"


def call(given: Any, **more: Any) -> Call:
    raw = Raw(json.dumps(given).encode())
    known: dict[str, Any] = {"verdict": "ok", "sureness": "stated", "why": "", "evidence": []}
    return Call(
        id=CallId("c"),
        session=SessionId("s"),
        agent="claude",
        thread=MAIN,
        name="T",
        input=raw,
        **{**known, **more},
    )


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"command": "make test", "description": "Run"}, "make test"),
        ({"command": ["bash", "-lc", "ls -l"]}, "ls -l"),
        ({"cmd": "ls"}, "ls"),
        ({"file_path": "/home/dev/app/src/a.py", "old_string": "x"}, "src/a.py"),
        ({"file_path": "/etc/hosts"}, "/etc/hosts"),
        ({"pattern": "def .*", "path": "/home/dev/app/src"}, "def .* in src"),
        ({"description": "Count", "prompt": "long"}, "Count"),
        ({"questions": [{"question": "Which one?"}]}, "Which one?"),
        ("*** Begin Patch\n*** Update File: a.py\n@@\n*** Add File: b.py\n", "a.py, b.py"),
        ({"input": "*** Begin Patch\n*** Delete File: a.py\n"}, "a.py"),
        ({"todos": [1, 2]}, "[1, 2]"),
        ({"other": [1, 2]}, '{"other": [1, 2]}'),
        ({}, ""),
        (None, ""),
        ([1], "[1]"),
        ({"command": 7}, "7"),
        ({"command": "a\x1b[31m\nb"}, "a\\x1b[31m\\nb"),
    ],
)
def test_the_most_telling_part_of_the_input_is_told(given: Any, told: str) -> None:
    assert what_it_did(call(given), cwd="/home/dev/app") == told


def test_a_huge_or_bottomless_input_is_told_in_few_words() -> None:
    assert len(what_it_did(call({"command": "x" * 1_000_000}), cwd=None)) == LONGEST
    deep = call(None)
    deep.input = Raw(b'{"x":' * 50_000 + b"1" + b"}" * 50_000)
    assert len(what_it_did(deep, cwd=None)) <= LONGEST


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({}, "ok"),
        ({"verdict": "lost", "sureness": "inferred"}, "lost (inferred)"),
        (
            {"verdict": "backgrounded", "outcome": "killed", "timed_out": True},
            "backgrounded, killed, time limit",
        ),
    ],
)
def test_a_verdict_is_told_with_all_that_belongs_to_it(more: dict[str, Any], words: str) -> None:
    assert verdict_words(call({}, **more)) == words


def test_every_verdict_has_a_mark() -> None:
    from typing import get_args

    assert set(MARKS) == set(get_args(Verdict))


@pytest.mark.parametrize(
    ("stated", "words"),
    [
        (None, ""),
        (Stated(took_ms=5.0), ""),
        (Stated(tokens=999), "999 tokens stated"),
        (Stated(tokens=999_949, tool_uses=1), "999.9k tokens, 1 tool stated"),
        (Stated(tokens=999_950, tool_uses=0), "1.0M tokens, 0 tools stated"),
    ],
)
def test_what_is_stated_of_a_subagent_is_told_in_few_words(stated: Stated | None, words: str) -> None:
    assert stated_words(call({}, stated=stated)) == words


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"verdict": "denied", "decision": "reject config", "why": "a rule"}, "reject config"),
        ({"verdict": "denied", "feedback": "not so", "error": "Error"}, "not so"),
        ({"verdict": "backgrounded", "decision": "accept config", "why": "x"}, ""),
        ({"verdict": "ok", "error": "x"}, ""),
        ({"verdict": "lost", "why": "it went on"}, "it went on"),
        ({"verdict": "error", "error": f"{HEAD}cat: no such file\n"}, "Exit code 1 / cat: no such file"),
        ({"verdict": "error", "error": HEAD}, "Exit code 1"),
        ({"verdict": "error", "error": "Wall time: 1 s\nOutput:\nbad"}, "bad"),
        ({"verdict": "error", "error": "Wall time: 1 s\nbad"}, "Wall time: 1 s / bad"),
    ],
)
def test_the_reason_is_told_where_a_call_did_not_end_well(more: dict[str, Any], words: str) -> None:
    assert reason_of(call({}, **more)) == words
