"""What a hostile log or file name can do to the terminal: nothing."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from tests.views.cli.command import on_a_terminal, tracklog, transcript_in, user_line, write

ATTACK = "\x1b[31m\x1b]0;owned\x07\x9b2J\u202e\u2028[bold red]\r\n"
NAME = b"a\x1b[2J\n\xff\xe2\x80\xae.jsonl"
HARMFUL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u202e\udc80-\udcff]")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home in which every name and every string attacks the terminal, with a pipe and a ring of links in it."""
    strange = {"type": f"kind{ATTACK}", "uuid": f"id{ATTACK}", "timestamp": f"at{ATTACK}"}
    lines = (
        json.dumps(strange).encode() + b"\n" + user_line(version=f"2.1{ATTACK}", **{f"key{ATTACK}": ATTACK})
    )
    write(transcript_in(tmp_path, NAME.decode(errors="surrogateescape")), lines + b'{"broken\x1b[31m\xff')
    os.mkfifo(transcript_in(tmp_path, f"pipe{ATTACK}"))
    transcript_in(tmp_path, "ring").symlink_to(".")
    return tmp_path


def log_in(home: Path) -> Path:
    return transcript_in(home, NAME.decode(errors="surrogateescape"))


WORDS = [
    ("places",),
    ("doctor", "--all"),
    ("doctor", "--by", "version"),
    ("verify",),
    ("sessions",),
    ("show", "@last", "--branch", "all", "--thinking"),
    ("final", "@last"),
    ("calls",),
    ("agents", "@last"),
    ("graph", "@last"),
    ("show", "no\x1b[31msession"),
    ("records", "@last", "--extra", "--raw"),
    (),
    ("path", "no\x1b[31msession"),
    ("records", "no\x1b[31m\nfile"),
]


@pytest.mark.parametrize("words", WORDS, ids=lambda words: " ".join(words[:1]) or "overview")
def test_nothing_harmful_reaches_a_pipe_or_stderr(home: Path, words: tuple[str, ...]) -> None:
    answer = tracklog(*words, home=home)
    assert HARMFUL.findall(answer.out + answer.err) == []


@pytest.mark.parametrize("words", WORDS, ids=lambda words: " ".join(words[:1]) or "overview")
def test_nothing_harmful_reaches_a_terminal(home: Path, words: tuple[str, ...]) -> None:
    shown = on_a_terminal(*words, home=home, env={"NO_COLOR": "1"})
    assert HARMFUL.findall(shown) == []
    assert "owned" not in on_a_terminal(*words, home=home).partition("\x1b]")[2]


@pytest.mark.parametrize(
    "words", [("places",), ("doctor",), ("verify",), ("records", "@last"), ("path", "@last")]
)
def test_json_is_ascii_and_holds_the_names_as_they_are(home: Path, words: tuple[str, ...]) -> None:
    answer = tracklog(*words, "--json", home=home)
    assert answer.out.isascii()
    assert HARMFUL.findall(answer.out) == []
    documents = answer.rows if words[0] == "records" else [answer.json]
    held = json.dumps(documents)
    assert {"records": f"kind{ATTACK}", "places": f"pipe{ATTACK}"}.get(
        words[0], str(log_in(home))
    ) in _strings(held)


def _strings(document: str) -> str:
    """All strings of a document, one behind another."""
    found: list[str] = []

    def collect(value: object) -> None:
        if isinstance(value, str):
            found.append(value)
        elif isinstance(value, list):
            for one in value:
                collect(one)
        elif isinstance(value, dict):
            collect([*value, *value.values()])

    collect(json.loads(document))
    return "\0".join(found)


def test_a_pipe_and_a_ring_of_links_are_named_and_the_rest_is_read(home: Path) -> None:
    document = tracklog("verify", "--json", home=home).json
    assert [one["why"] for one in document["skipped"]] == ["FIFO", "symbolic link"]
    assert [(file["path"], file["lines"], file["identical"]) for file in document["files"]] == [
        (str(log_in(home)), 3, True)
    ]


def test_twelve_thousand_kinds_are_bounded_in_number_and_length(tmp_path: Path) -> None:
    kinds = b"".join(b'{"type":"kind%d"}\n' % n for n in range(12_000))
    write(transcript_in(tmp_path), kinds)
    write(transcript_in(tmp_path, "0.jsonl"), b'{"type":"' + b"x" * 1_000_000 + b'"}\n')
    document = tracklog("doctor", "--json", home=tmp_path).json
    assert sum(row["lines"] for row in document["coverage"]) == 12_001
    assert (len(document["coverage"]) <= 10_001, len(document["unknown"]) <= 10_001) == (True, True)
    assert max(len(row["kind"]) for row in document["coverage"]) == 200
