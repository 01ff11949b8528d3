from __future__ import annotations

import pytest

from tracklog.model.events import Place
from tracklog.model.session import Note, TodoList
from tracklog.views.cli.commands.read.conversation_text import event_words

HERE = Place("a.jsonl", 1)


@pytest.mark.parametrize(
    ("items", "words"),
    [
        ([], "todo 0/0"),
        ([("completed", "Look"), ("pending", "Act")], "todo 1/2"),
        (
            [("in_progress", "Look\nround"), ("in_progress", "\x1b[31m")],
            "todo 0/2 · in progress: Look round, \\x1b[31m",
        ),
    ],
)
def test_a_todo_list_is_told_by_how_far_it_came(items: list[tuple[str, str]], words: str) -> None:
    assert event_words(TodoList(at=None, place=HERE, items=items)) == words


def test_of_a_very_long_todo_list_only_the_change_is_told() -> None:
    todo = TodoList(at=None, place=HERE, items=[("pending", "Look")], is_whole=False)
    assert event_words(todo) == "todo · pending: Look"


@pytest.mark.parametrize(
    ("what", "value", "words"),
    [
        ("slash", "/clear", "command /clear"),
        ("continued_in", "3f2a", "continued in 3f2a"),
        ("worktree", "", "worktree left"),
        ("queue", "enqueue", ""),
    ],
)
def test_a_note_is_told_if_it_has_words(what: str, value: str, words: str) -> None:
    assert event_words(Note(what=what, value=value, at=None, place=HERE)) == words
