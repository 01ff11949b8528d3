"""What the words of the client say about work in the background."""

from __future__ import annotations

import pytest

from tests.model.lines import notice
from tracklog.agents.claude_code.translate.texts import (
    TaskNotice,
    command_of,
    end_of,
    inside,
    kind_of,
    notice_of,
)
from tracklog.model.events import End


@pytest.mark.parametrize(
    ("status", "end"),
    [
        ("completed", "ok"),
        ("failed", "error"),
        ("error", "error"),
        ("killed", "killed"),
        ("stopped", "killed"),
        ("cancelled", "killed"),
        ("running", "running"),
        ("pending", "running"),
        ("fancy", None),
        ("", None),
        (None, None),
    ],
)
def test_each_status_has_its_end(status: str | None, end: End | None) -> None:
    assert end_of(status) == end


def test_a_notice_tells_task_call_end_and_exit_code() -> None:
    summary = 'Background command "x" failed with exit code 7'
    text = notice("b1", "failed", tool_use_id="c1", summary=summary)
    assert notice_of(text) == TaskNotice("b1", "c1", "error", summary, 7, summary)


def test_what_a_result_inside_a_notice_quotes_is_not_believed() -> None:
    quoted = "I saw <status>killed</status> and <task-id>b9</task-id>"
    text = notice("a1", "completed", result=quoted)
    assert notice_of(text) == TaskNotice("a1", None, "ok", None, None, quoted)


def test_an_agent_stopped_by_the_person_is_known_by_its_description() -> None:
    text = 'Background agent "sub "quoted" work" was stopped by the user.'
    assert notice_of(text) == TaskNotice(None, None, "killed", 'sub "quoted" work', None, text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "the build failed",
        "<task-notification>\n<task-id>b1</task-id>\n</task-notification>",
        notice("b1", "shining"),
        "x" * 300 + notice("b1", "killed"),
        'He said: Background agent "x" was stopped by the user.',
    ],
)
def test_what_names_no_end_is_no_notice(text: str) -> None:
    assert notice_of(text) is None


def test_a_tag_that_is_never_closed_holds_the_rest() -> None:
    assert (inside("<a>x<b>y", "a"), inside("<a>x</a>y</a>", "a"), inside("x", "a")) == ("x<b>y", "x", None)


def test_a_command_is_known_by_its_message_where_its_name_is_missing() -> None:
    assert command_of("<command-message>init</command-message>") == ("/init", "")


@pytest.mark.parametrize(
    "text", ["<tick" * 20_000, "<tick>" * 20_000, "<goal>x</goal>" * 5_000 + "x", "<" * 100_000]
)
def test_words_made_to_be_slow_are_judged_at_once(text: str) -> None:
    assert kind_of(text) in (None, "tick")
