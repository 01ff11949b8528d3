"""Todo lists over time, and questions with their answers."""

from __future__ import annotations

from typing import Any

import pytest

from tests.model.lines import LOG, REJECTED, Line, at, reply, result, session, use, user
from tracklog.model.events import Place
from tracklog.model.ids import CallId
from tracklog.model.session import Question, TodoList

GO = user("u", None, "go")


def work(*calls: tuple[str, Line, Any], is_error: bool = False) -> list[Line]:
    """A log in which calls are made one after the other; each has its tool, its input and its report."""
    lines = [GO]
    for n, (name, input, report) in enumerate(calls, start=1):
        lines.append(reply(f"a{n}", "u", f"m{n}", use(f"c{n}", name, **input), timestamp=at(n)))
        lines.append(result(f"r{n}", f"a{n}", f"c{n}", "x", is_error=is_error, toolUseResult=report))
    return lines


def lists(*calls: tuple[str, Line, Any], **more: Any) -> list[list[tuple[str, str]]]:
    return [[*todo.items] for todo in session(*work(*calls, **more)).todos]


def todo(status: str, text: str) -> Line:
    return {"status": status, "content": text, "activeForm": f"{text}ing"}


def test_each_todo_write_is_a_list_with_its_time_and_place() -> None:
    written = ("TodoWrite", {"todos": [todo("in_progress", "build"), todo("pending", "test")]}, None)
    assert session(*work(written)).todos == [
        TodoList(at=at(1), place=Place(LOG, 2), items=[("in_progress", "build"), ("pending", "test")])
    ]


def test_lists_follow_each_other() -> None:
    first, second = {"todos": [todo("pending", "build")]}, {"todos": [todo("completed", "build")]}
    assert lists(("TodoWrite", first, None), ("TodoWrite", second, None)) == [
        [("pending", "build")],
        [("completed", "build")],
    ]


def test_tasks_are_created_and_updated_one_by_one() -> None:
    assert lists(
        ("TaskCreate", {"subject": "build"}, {"task": {"id": "7", "subject": "build"}}),
        ("TaskCreate", {"subject": "test"}, {"task": {"id": 8}}),
        ("TaskUpdate", {"taskId": "7", "status": "in_progress"}, {"success": True}),
        ("TaskUpdate", {"taskId": "8", "subject": "test all"}, None),
        ("TaskUpdate", {"taskId": "7", "status": "deleted"}, None),
        ("TaskUpdate", {"taskId": "9", "status": "deleted"}, None),
    ) == [
        [("pending", "build")],
        [("pending", "build"), ("pending", "test")],
        [("in_progress", "build"), ("pending", "test")],
        [("in_progress", "build"), ("pending", "test all")],
        [("pending", "test all")],
    ]


def test_a_task_without_a_stated_id_is_counted() -> None:
    assert lists(
        ("TaskCreate", {"subject": "build"}, None),
        ("TaskCreate", {"subject": "test"}, "text"),
        ("TaskUpdate", {"taskId": "2", "status": "completed"}, None),
    )[-1] == [("pending", "build"), ("completed", "test")]


@pytest.mark.parametrize(
    "call",
    [
        ("TodoWrite", {"todos": [todo("pending", "x")]}, None),
        ("TaskCreate", {"subject": "x"}, None),
    ],
)
def test_a_call_that_failed_changes_no_list(call: tuple[str, Line, Any]) -> None:
    assert lists(call, is_error=True) == []


@pytest.mark.parametrize(
    ("input", "expected"),
    [({"todos": "x"}, []), ({"todos": [1, None, {}]}, [[("", "")]]), ({}, []), ({"todos": []}, [[]])],
)
def test_a_strange_list_never_raises(input: Line, expected: list[list[tuple[str, str]]]) -> None:
    assert lists(("TodoWrite", input, None)) == expected


ASKED = {
    "questions": [
        {"question": "Which colour?", "options": [{"label": "Blue"}, {"label": "Red"}]},
        {"question": "Which sizes?", "multiSelect": True, "options": []},
    ]
}


def test_questions_are_told_with_their_answers() -> None:
    answered = {"answers": {"Which colour?": "Blue", "Which sizes?": ["S", "M"]}}
    assert session(*work(("AskUserQuestion", ASKED, answered))).questions == [
        Question(call=CallId("c1"), question="Which colour?", options=["Blue", "Red"], answer="Blue"),
        Question(call=CallId("c1"), question="Which sizes?", options=[], answer="S, M"),
    ]


def test_a_question_that_was_dismissed_has_no_answer() -> None:
    lines = [
        GO,
        reply("a", "u", "m1", use("c1", "AskUserQuestion", **ASKED)),
        result("r", "a", "c1", REJECTED, is_error=True),
    ]
    assert [question.answer for question in session(*lines).questions] == [None, None]


@pytest.mark.parametrize("input", [{}, {"questions": "x"}, {"questions": [1, {"options": "no"}]}])
def test_a_strange_question_never_raises(input: Line) -> None:
    assert [question.question for question in session(*work(("AskUserQuestion", input, [1]))).questions] in (
        [],
        [""],
    )
