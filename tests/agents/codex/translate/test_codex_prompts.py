"""Prompts are told once and are a person's; all else that stands in the user's name is the client's."""

from __future__ import annotations

from typing import Any

import pytest

from tests.model.translate.codex_log import (
    act,
    call,
    event,
    facts,
    item,
    line,
    meta,
    only,
    output,
    said,
    shown,
    translated,
)
from tracklog.agents.codex.translate.messages import injected_as
from tracklog.model.events import (
    CommandPrinted,
    CommandRun,
    HookRan,
    LogEvent,
    ModelReplied,
    PromptGiven,
    TaskSeen,
    TextInjected,
)

ENVIRONMENT = "<environment_context>\n  <cwd>/work</cwd>\n</environment_context>"


def prompts(told: list[LogEvent]) -> list[tuple[int, str]]:
    return [(one.place.line, one.text) for one in only(told, PromptGiven)]


def injected(told: list[LogEvent]) -> list[tuple[int, str]]:
    return [(one.place.line, one.why) for one in only(told, TextInjected)]


def test_of_a_prompt_and_its_mirror_the_mirror_is_told() -> None:
    told = translated(meta(), said("user", ENVIRONMENT), said("user", "hello"), shown("hello"))
    assert prompts(told) == [(4, "hello")]
    assert injected(told) == [(2, "environment")]


def test_the_older_mirror_counts_as_well() -> None:
    told = translated(
        meta(), said("user", "hello"), event("user_message", message="hello"), said("assistant", "hi")
    )
    assert prompts(told) == [(3, "hello")]


def test_without_mirrors_the_response_item_is_the_prompt() -> None:
    told = translated(
        meta(), said("user", "one"), said("assistant", "a"), said("user", "two"), said("assistant", "b")
    )
    assert prompts(told) == [(2, "one"), (4, "two")]
    assert [one.place.line for one in told if isinstance(one, (PromptGiven, ModelReplied))] == [2, 3, 4, 5]


def test_the_same_prompt_given_twice_is_two_prompts() -> None:
    once = (said("user", "go on"), shown("go on"))
    told = translated(meta(), *once, event("turn_aborted", reason="interrupted"), *once)
    assert prompts(told) == [(3, "go on"), (6, "go on")]


def test_a_mirror_that_comes_first_is_not_told_again() -> None:
    told = translated(
        meta(), event("user_message", message="hello"), said("user", "hello"), said("assistant", "hi")
    )
    assert prompts(told) == [(2, "hello")]


def test_in_a_file_with_mirrors_words_without_one_are_the_clients() -> None:
    told = translated(
        meta(), said("user", "hello"), shown("hello"), said("user", "a text of a client to come"), said("assistant", "hi")
    )  # fmt: skip
    assert prompts(told) == [(3, "hello")]
    assert injected(told) == [(4, "unmirrored")]


def test_a_prompt_beside_an_envelope_in_one_message_is_told_for_itself() -> None:
    told = translated(meta(), said("user", ENVIRONMENT, "hello"), said("assistant", "hi"))
    assert prompts(told) == [(2, "hello")]
    assert injected(told) == [(2, "environment")]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("# AGENTS.md instructions for /work\n\n<INSTRUCTIONS>\nx\n</INSTRUCTIONS>", "instructions"),
        ("<user_instructions>\nx\n</user_instructions>", "instructions"),
        (ENVIRONMENT, "environment"),
        ("<skill>\n<name>a</name>\n</skill>", "skill"),
        ("<turn_aborted>\nThe user interrupted\n</turn_aborted>", "interrupt"),
        ('<codex_internal_context source="goal">\nx\n</codex_internal_context>', "goal"),
        ("<external_note>x</external_note>", "external"),
        ('<hook_prompt hook_run_id="1">x</hook_prompt>', "hook"),
        ("<user_action>\n  <action>review</action>\n</user_action>", "review"),
        ("<permissions instructions>\nx\n</permissions instructions>", "permissions"),
        ("Another language model started to solve this problem and produced a summary", "summary"),
        ("<environment_context> is a tag that I want to read about", None),
        ("<div>my html</div>", None),
        ("hello", None),
    ],
)
def test_a_text_is_the_clients_only_if_it_is_all_markup(text: str, why: str | None) -> None:
    assert injected_as(text) == why


def test_what_the_client_states_about_a_text_counts_more_than_its_words() -> None:
    assert injected_as("hello", "generic.greeting") == "greeting"
    assert injected_as(ENVIRONMENT, "user.text") is None


def test_developers_are_never_persons() -> None:
    told = translated(meta(), said("developer", "<model_switch>\nx\n</model_switch>", "be kind"))
    assert injected(told) == [(2, "model"), (2, "developer")]
    assert prompts(told) == []


def test_a_line_with_an_exclamation_mark_is_a_command_and_no_prompt() -> None:
    text = (
        "<user_shell_command>\n<command>\nls nosuch\n</command>\n<result>\nExit code: 2\nDuration: 0.1 seconds\n"
        "Output:\nno such file\n</result>\n</user_shell_command>"
    )
    command: dict[str, Any] = {"command": ["ls"], "source": "user_shell", "status": "failed", "exit_code": 2}
    told = translated(meta(), said("user", text), act("CommandExecution", "x1", **command))
    assert [facts(one, "kind", "name") for one in only(told, CommandRun)] == [("shell", "ls nosuch")]
    assert [one.is_error for one in only(told, CommandPrinted)] == [True]
    assert len(told) == 3  # with SessionDescribed


def test_a_prompt_with_a_picture_counts_it_and_drops_its_wrapping() -> None:
    content = [
        {"type": "input_text", "text": "<image name=[Image #1]>"},
        {"type": "input_image", "image_url": "data:image/png;base64,AA"},
        {"type": "input_text", "text": "</image>"},
        {"type": "input_text", "text": "what is it?"},
    ]
    told = translated(meta(), item("message", role="user", content=content), said("assistant", "A dog."))
    assert [facts(one, "text", "n_images") for one in only(told, PromptGiven)] == [("what is it?", 1)]


def test_the_picture_that_view_image_shows_in_the_users_name_is_no_prompt() -> None:
    picture = [{"type": "input_image", "image_url": "data:image/png;base64,AA"}]
    told = translated(
        meta(),
        said("user", "look"),
        event("user_message", message="look"),
        call("view_image"),
        output("attached local image path"),
        item("message", role="user", content=picture),
        event("user_message", message="", images=["data:image/png;base64,AA"]),
        said("assistant", "A dog."),
    )
    assert prompts(told) == [(3, "look")]
    assert injected(told) == [(6, "image")]


@pytest.mark.parametrize(
    ("source", "origin"),
    [
        ("cli", "typed"),
        ("exec", "sdk"),
        ({"subagent": {"thread_spawn": {"parent_thread_id": "t0"}}}, "agent"),
    ],
)
def test_who_gave_a_prompt_follows_from_the_source_of_the_session(source: object, origin: str) -> None:
    told = translated(meta(source=source), said("user", "hello"), shown("hello"))
    assert [one.origin for one in only(told, PromptGiven)] == [origin]


def test_mail_with_a_new_task_is_a_subagents_prompt_and_other_mail_is_not() -> None:
    def mail(kind: str, text: str) -> dict[str, object]:
        head = f"Message Type: {kind}\nTask name: /root/scout\nSender: /root\nPayload:\n"
        content = [
            {"type": "input_text", "text": head},
            {"type": "encrypted_content", "encrypted_content": text},
        ]
        return item("agent_message", author="/root", recipient="/root/scout", content=content)

    told = translated(meta(), mail("NEW_TASK", "look around"), mail("MESSAGE", "hurry"))
    assert prompts(told) == [(2, "look around")]
    assert injected(told) == [(3, "peer")]


def test_old_mail_that_triggers_a_turn_is_a_subagents_prompt() -> None:
    source = {"subagent": {"thread_spawn": {"parent_thread_id": "t0"}}}
    mail = {"author": "/root", "recipient": "/root/a", "content": "look", "trigger_turn": True}
    assert prompts(translated(meta(source=source), line("inter_agent_communication", mail))) == [(2, "look")]


def test_a_notification_tells_how_a_subagent_ended() -> None:
    text = '<subagent_notification>\n{"agent_path":"t2","status":{"errored":"no"}}\n</subagent_notification>'
    told = translated(meta(), said("user", text))
    assert injected(told) == [(2, "notification")]
    assert [facts(one, "task", "end", "text") for one in only(told, TaskSeen)] == [("t2", "error", "no")]


def test_a_review_is_a_prompt_of_the_main_thread_told_once() -> None:
    text = "Review the current code changes"
    told = translated(
        meta(),
        event(
            "entered_review_mode", target={"type": "uncommittedChanges"}, user_facing_hint="current changes"
        ),
        event("user_message", message=text),
        event("user_message", message=text),
        said("user", "<user_action>\n  <action>review</action>\n</user_action>"),
        event("exited_review_mode", review_output=None),
        said("assistant", "Fine."),
    )
    assert [facts(one, "text", "origin") for one in only(told, PromptGiven)] == [(text, "slash")]
    assert [facts(one, "name", "arguments") for one in only(told, CommandRun)] == [
        ("/review", "current changes")
    ]
    assert [facts(one, "text", "is_synthetic") for one in only(told, ModelReplied)] == [("Fine.", True)]


def test_what_a_hook_puts_into_the_conversation_is_told_as_the_hooks() -> None:
    told = translated(meta(), act("HookPrompt", "h1", fragments=[{"text": "go on", "hookRunId": "r1"}]))
    assert [facts(one, "name", "outcome", "text") for one in only(told, HookRan)] == [
        ("r1", "message", "go on")
    ]
