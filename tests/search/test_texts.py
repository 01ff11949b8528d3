from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.contracts.logs import some_log
from tests.model.lines import Line, at, block, log, record, reply, result, use, user
from tracklog.agents.claude_code import records as claude_records
from tracklog.agents.claude_code.translate import translator as claude_translator
from tracklog.agents.codex import records as codex_records
from tracklog.agents.codex.translate import translator as codex_translator
from tracklog.search.texts import MOST_LETTERS, texts_of
from tracklog.sources.lines import cut
from tracklog.store.text import ROLE_NAMES
from tracklog.store.values import SearchableText

AT_MS = 1_794_736_801_500


def texts(*lines: Line | bytes) -> list[SearchableText]:
    translator = claude_translator.ClaudeTranslator("one.jsonl")
    pieces = claude_records.READER.read(cut([log(lines)]))
    return [text for piece in pieces for text in texts_of(piece, translator.translate(piece))]


def codex_texts(raw: bytes) -> list[SearchableText]:
    translator = codex_translator.CodexTranslator("rollout.jsonl")
    return [
        text
        for piece in codex_records.READER.read(cut([raw]))
        for text in texts_of(piece, translator.translate(piece))
    ]


def told(*lines: Line | bytes) -> list[tuple[str, str]]:
    return [(ROLE_NAMES[text.role], text.text) for text in texts(*lines)]


def test_a_text_knows_its_line_its_offset_its_moment_and_its_tool() -> None:
    first = user("u1", None, "Fix it.", timestamp=at(1))
    second = reply("a1", "u1", "m1", use("call_1", command="ls"), timestamp=at(1.5))
    offset = len(log([first])) + 1
    assert texts(first, second) == [
        SearchableText(1, 0, 0, 1, AT_MS - 500, None, None, "Fix it."),
        SearchableText(2, offset, 0, 4, AT_MS, "Bash", "call_1", "command: ls"),
    ]


def test_an_answer_its_thinking_and_a_result_have_their_roles() -> None:
    thinking = {"type": "thinking", "thinking": "Hm.", "signature": "x"}
    lines = [
        reply("a1", None, "m1", thinking),
        reply("a2", "a1", "m1", "Done."),
        result("u1", "a2", "call_1", "3 files"),
    ]
    assert told(*lines) == [("thinking", "Hm."), ("answer", "Done."), ("result", "3 files")]
    assert [text.name for text in texts(*lines)] == ["claude-x", "claude-x", None]


def test_titles_summaries_and_words_of_the_client_are_found_too() -> None:
    title = {"type": "custom-title", "customTitle": "Night shift", "sessionId": "s1"}
    summary = user("u1", None, "What happened before: much.", isCompactSummary=True)
    meta = user("u2", "u1", "<system-reminder>Mind the gap.</system-reminder>", isMeta=True)
    assert told(title, summary, meta) == [
        ("title", "Night shift"),
        ("summary", "What happened before: much."),
        ("context", "<system-reminder>Mind the gap.</system-reminder>"),
    ]


def test_the_last_prompt_that_is_noted_beside_the_conversation_is_no_second_prompt() -> None:
    assert told({"type": "last-prompt", "lastPrompt": "Fix it.", "sessionId": "s1"}) == []


def test_a_slash_command_is_one_prompt() -> None:
    content = "<command-name>/review</command-name>\n<command-message>review</command-message>\n<command-args>now</command-args>"
    assert told(user("u1", None, content)) == [("prompt", "/review now")]


@pytest.mark.parametrize(
    ("input", "text"),
    [
        ({"file_path": "/src/app.py", "content": "a\n\tü"}, "file_path: /src/app.py\ncontent: a\n\tü"),
        ({"edits": [{"old": "a"}, {"old": "b"}]}, "edits:\nold: a\nedits:\nold: b"),
        ({"command": ["bash", "-lc", "ls"]}, "command: bash\ncommand: -lc\ncommand: ls"),
        ({"n": 3, "all": True, "none": None}, "n: 3\nall: True"),
        ({}, ""),
    ],
)
def test_an_input_is_told_without_the_json_around_it(input: dict[str, Any], text: str) -> None:
    found = told(reply("a1", None, "m1", use("call_1", **input)))
    assert found == ([("input", text)] if text else [])


def test_an_input_that_is_very_deep_is_told_as_far_as_it_goes() -> None:
    deep = "[" * 200 + '"bottom"' + "]" * 200
    line = json.dumps(reply("a1", None, "m1", use("call_1", x="HERE"))).replace('"HERE"', deep)
    assert told(line.encode()) == [("input", "x")]


def test_of_a_huge_text_the_beginning_counts() -> None:
    ((_, text),) = told(result("u1", None, "call_1", "x" * (MOST_LETTERS + 5)))
    assert len(text) == MOST_LETTERS


@pytest.mark.parametrize(
    ("printed", "text"),
    [
        ("\x1b[31mError\x1b[0m: \x1b[1;38;5;9mbad", "Error: bad"),
        ("\x1b]8;;http://x\x07link\x1b]8;;\x1b\\ here", "link here"),
        ("\x1b]never ended", ""),
        ("\x1b[?25lspin", "spin"),
    ],
)
def test_colours_are_no_words(printed: str, text: str) -> None:
    assert told(result("u1", None, "call_1", f"a {printed}")) == [("result", f"a {text}")]


def test_several_texts_of_a_line_are_numbered() -> None:
    lines = user(
        "u1", None, [block("call_1", "one"), block("call_2", "two"), {"type": "text", "text": "three"}]
    )
    assert [(text.n, text.text) for text in texts(lines)] == [(0, "one"), (1, "two"), (2, "three")]


def test_blank_texts_are_none() -> None:
    assert told(result("u1", None, "call_1", " \n"), record("system", "s1", None, subtype="x")) == []


def test_the_piece_of_a_torn_line_has_its_own_offset() -> None:
    good = json.dumps(user("u2", None, "Second.")).encode()
    (text,) = texts(b'{"type":"user","uuid":"u1","mess' + good)
    assert (text.line, text.offset, text.text) == (1, 32, "Second.")


@given(raw=some_log("claude"))
def test_whatever_a_log_of_claude_holds_its_texts_can_be_stored(raw: bytes) -> None:
    for text in texts(*raw.split(b"\n")):
        assert text.text.encode()
        assert text.text.strip()


@given(raw=some_log("codex"))
def test_whatever_a_log_of_codex_holds_its_texts_can_be_stored(raw: bytes) -> None:
    for text in codex_texts(raw):
        assert text.text.encode()


@given(st.integers(0, 3))
def test_a_prompt_that_codex_holds_back_keeps_its_line(n: int) -> None:
    def item(role: str, text: str) -> bytes:
        part = {"type": "input_text" if role == "user" else "output_text", "text": text}
        payload = {"type": "message", "role": role, "content": [part]}
        line = {"timestamp": "2026-01-01T00:00:00.000Z", "type": "response_item", "payload": payload}
        return json.dumps(line).encode()

    raw = b"\n".join([*[b""] * n, item("user", "Hello."), item("assistant", "Hi.")])
    found = [(text.line, ROLE_NAMES[text.role], text.text) for text in codex_texts(raw)]
    assert found == [(n + 1, "prompt", "Hello."), (n + 2, "answer", "Hi.")]
