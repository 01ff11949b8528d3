from __future__ import annotations

from typing import Any

import pytest

from tracklog.views.html.calls import form_of

TODO = [
    {"content": "Look <b>", "status": "completed", "activeForm": "Looking"},
    {"content": "Mend", "status": "in_progress"},
    {"content": "Rest", "status": "one_day"},
]
QUESTION = {
    "question": "Which <i>way</i>?",
    "header": "Way",
    "multiSelect": True,
    "options": [{"label": "Left", "description": "the long one"}, {"label": "Right"}],
}


def test_things_to_do_are_a_list_with_their_states() -> None:
    assert form_of("todos", TODO, tool="TodoWrite") == (
        '<ul class="to-do">'
        '<li class="to-do-completed"><span class="status">completed</span> Look &lt;b&gt;</li>'
        '<li class="to-do-in_progress"><span class="status">in progress</span> Mend</li>'
        '<li class="to-do-other"><span class="status">one day</span> Rest</li>'
        "</ul>"
    )
    assert form_of("plan", [{"step": "Look", "status": "pending"}], tool="update_plan") == (
        '<ul class="to-do"><li class="to-do-pending"><span class="status">pending</span> Look</li></ul>'
    )


def test_questions_have_their_options() -> None:
    assert form_of("questions", [QUESTION], tool="AskUserQuestion") == (
        '<div class="asked"><p><span class="status">Way</span> Which &lt;i&gt;way&lt;/i&gt;?'
        ' <span class="muted">several may be chosen</span></p>'
        '<ul><li><b>Left</b> <span class="muted">the long one</span></li><li><b>Right</b></li></ul></div>'
    )
    assert form_of("questions", [{"question": "Why?"}], tool="request_user_input") == (
        '<div class="asked"><p>Why?</p></div>'
    )


@pytest.mark.parametrize(
    ("key", "tool"), [("plan", "ExitPlanMode"), ("prompt", "Task"), ("prompt", "spawn_agent")]
)
def test_plans_and_tasks_are_prose(key: str, tool: str) -> None:
    form = form_of(key, "**now** <script>", tool=tool)
    assert form is not None
    assert "<strong>now</strong>" in form
    assert "<script" not in form


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("todos", [{**TODO[0], "owner": "me"}]),
        ("todos", [{"content": "x"}]),
        ("todos", [{"content": 1, "status": "pending"}]),
        ("todos", []),
        ("todos", "x"),
        ("todos", [None]),
        ("todos", [TODO[0]] * 501),
        ("questions", [{**QUESTION, "picture": "x"}]),
        ("questions", [{**QUESTION, "options": "x"}]),
        ("questions", [{**QUESTION, "options": [{"label": 1}]}]),
        ("questions", [{**QUESTION, "options": [{"label": "a", "more": "b"}]}]),
        ("questions", [{**QUESTION, "multiSelect": "yes"}]),
        ("questions", [{**QUESTION, "header": None}]),
        ("questions", [QUESTION] * 501),
        ("questions", {}),
        ("plan", "a plan of another tool"),
        ("prompt", "draw a cat"),
        ("other", TODO),
    ],
)
def test_what_a_form_would_not_show_whole_has_none(key: str, value: Any) -> None:
    assert form_of(key, value, tool="mcp__else__draw") is None
