from __future__ import annotations

import json
from typing import Any

import pytest

from tests.model.lines import LOG, Line, attachment, record
from tracklog.agents.base import Attached
from tracklog.agents.claude_code.attached_contents import attached
from tracklog.agents.claude_code.records import READER
from tracklog.model.events import Place
from tracklog.sources.lines import cut


def seen(line: Line) -> Attached | None:
    (piece,) = READER.read(cut([json.dumps(line).encode()]))
    return attached(piece, LOG)


def test_the_words_that_were_sent_count_where_the_log_holds_them() -> None:
    line = attachment("a", None, "skill_listing", content="short") | {"rendered": [{"content": "é" * 50}]}
    assert seen(line) == Attached(Place(LOG, 1), "skill_listing", "", 100)


def test_what_was_rendered_to_nothing_was_not_sent() -> None:
    assert seen(attachment("a", None, "file", content="x") | {"rendered": []}) is None


@pytest.mark.parametrize(
    ("kind", "fields", "name", "n_bytes"),
    [
        ("file", {"filename": "/p/a.md", "content": {"file": {"content": "x" * 80}}}, "/p/a.md", 80),
        ("edited_text_file", {"filename": "a.py", "snippet": "y" * 20}, "a.py", 20),
        ("nested_memory", {"path": "/p/CLAUDE.md", "content": {"content": "z" * 9}}, "/p/CLAUDE.md", 9),
        ("hook_additional_context", {"hookName": "Stop", "content": ["one", "two"]}, "Stop", 6),
        ("hook_success", {"hookEvent": "SessionStart", "hookName": "S", "content": "hello"}, "S", 5),
    ],
)
def test_older_logs_are_measured_by_the_texts_of_the_content(
    kind: str, fields: dict[str, Any], name: str, n_bytes: int
) -> None:
    assert seen(attachment("a", None, kind, **fields)) == Attached(Place(LOG, 1), kind, name, n_bytes)


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("hook_success", {"hookEvent": "PostToolUse", "content": "hello"}),
        ("hook_system_message", {"content": "for the person"}),
        ("prompt_snapshot", {"systemPrompt": ["You are"]}),
        ("queued_command", {"prompt": "told as a prompt"}),
        ("structured_output", {"data": {"answer": "42"}}),
    ],
)
def test_what_the_client_makes_nothing_of_is_not_there(kind: str, fields: dict[str, Any]) -> None:
    assert seen(attachment("a", None, kind, **fields)) is None


def test_pictures_are_no_text() -> None:
    content = [{"type": "image", "source": {"data": "A" * 999}}, {"type": "text", "text": "x" * 6}]
    found = seen(attachment("a", None, "file", content=content))
    assert found is not None
    assert found.n_bytes == 6 + len("text")


def test_other_records_have_none() -> None:
    assert seen(record("user", "u", None, message={"role": "user", "content": "hi"})) is None
