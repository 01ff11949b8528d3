"""What a log tells of hooks and of the registry, as the real client was seen to behave."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.replay.replayed import BY_PERSON, REFUSED, Transcript
from tracklog.replay.cues import HookCall, StatusCue
from tracklog.replay.recording import recording_of


def asks_and_is_refused(made: Transcript) -> None:
    made.prompt("please write", 0)
    call = made.call("Write", 100, file_path="/x", content="y")
    made.result(call, REFUSED, 2000, is_error=True, toolUseResult="User rejected tool use")
    made.interrupted(2001)


def is_stopped_while_it_runs(made: Transcript) -> None:
    made.prompt("please run", 0)
    call = made.call("Bash", 100, command="sleep 9")
    made.result(call, REFUSED, 2000, is_error=True, toolUseResult="User rejected tool use")
    made.interrupted(2001, interruptedMessageId="msg_1")


def asks_twice_at_once(made: Transcript) -> None:
    made.prompt("please run both", 0)
    calls = [made.call("Bash", 100, command="one"), made.call("Bash", 101, command="two")]
    for n, call in enumerate(calls):
        made.result(call, "ok", 1000 * (n + 1), permissionDecision=BY_PERSON)
    made.says("ok", 2500)


def fails(made: Transcript) -> None:
    made.prompt("please fail", 0)
    ran = made.call("Bash", 100, command="false")
    made.result(ran, "Exit code 1", 300, is_error=True, toolUseResult="Error: Exit code 1")
    wrong = made.call("Bash", 400)
    made.result(wrong, "<tool_use_error>InputValidationError: …</tool_use_error>", 410, is_error=True)
    made.says("Both failed.", 900)


def asks_a_question_and_is_left(made: Transcript) -> None:
    made.prompt("please ask", 0)
    made.call("AskUserQuestion", 100, questions=[])


def leaves_a_shell_behind(made: Transcript) -> None:
    made.prompt("please serve", 0)
    call = made.call("Bash", 100, command="serve", run_in_background=True)
    text = "Command running in background with ID: b1."
    made.result(call, text, 200, toolUseResult={"stdout": "", "backgroundTaskId": "b1"})
    made.says("It runs.", 500)


def goes_on_after_a_stop(made: Transcript) -> None:
    made.prompt("please stop", 0)
    made.says("I stop.", 500)
    made.says("No, a hook made me go on.", 900)


def is_cut_and_asked_again(made: Transcript) -> None:
    made.prompt("please talk", 0)
    made.says("And then", 500, "max_tokens")
    made.says("and then the end.", 900)


CASES: list[tuple[Callable[[Transcript], None], list[str], list[str]]] = [
    (
        asks_and_is_refused,
        ["0 busy", "150 waiting (permission prompt)", "2031 idle"],
        ["0 UserPromptSubmit", "100 PreToolUse", "150 PermissionRequest"],
    ),
    (is_stopped_while_it_runs, ["0 busy", "2031 idle"], ["0 UserPromptSubmit", "100 PreToolUse"]),
    (
        asks_twice_at_once,
        [
            "0 busy",
            "150 waiting (permission prompt)",
            "940 busy",
            "940 waiting (permission prompt)",
            "1940 busy",
            "2530 idle",
        ],
        [
            "0 UserPromptSubmit",
            "100 PreToolUse",
            "101 PreToolUse",
            "150 PermissionRequest",
            "940 PermissionRequest",
            "1000 PostToolUse",
            "2000 PostToolUse",
            "2500 Stop",
        ],
    ),
    (
        fails,
        ["0 busy", "930 idle"],
        ["0 UserPromptSubmit", "100 PreToolUse", "300 PostToolUseFailure", "900 Stop"],
    ),
    (
        asks_a_question_and_is_left,
        ["0 busy", "150 waiting (input needed)"],
        ["0 UserPromptSubmit", "100 PreToolUse", "150 PermissionRequest"],
    ),
    (
        leaves_a_shell_behind,
        ["0 busy", "530 shell"],
        ["0 UserPromptSubmit", "100 PreToolUse", "200 PostToolUse", "500 Stop"],
    ),
    (
        goes_on_after_a_stop,
        ["0 busy", "930 idle"],
        ["0 UserPromptSubmit", "500 Stop", "900 Stop"],
    ),
    (is_cut_and_asked_again, ["0 busy", "930 idle"], ["0 UserPromptSubmit", "900 Stop"]),
]


@pytest.mark.parametrize(("story", "states", "hooks"), CASES, ids=lambda one: getattr(one, "__name__", ""))
def test_states_and_hooks_are_those_that_the_client_would_give(
    tmp_path_factory: pytest.TempPathFactory,
    story: Callable[[Transcript], None],
    states: list[str],
    hooks: list[str],
) -> None:
    made = Transcript()
    story(made)
    (session,) = made.write(tmp_path_factory.mktemp("home"))
    recording = recording_of(session)
    since = recording.first_ms
    told = [cue for cue in recording.cues if isinstance(cue, StatusCue)]
    assert [
        f"{cue.at_ms - since} {cue.status}" + (f" ({cue.waiting_for})" if cue.waiting_for else "")
        for cue in told
    ] == states
    called = [cue for cue in recording.cues if isinstance(cue, HookCall)]
    assert [f"{cue.at_ms - since} {cue.event}" for cue in called] == hooks


def test_a_prompt_in_a_headless_run_is_never_waited_for(tmp_path_factory: pytest.TempPathFactory) -> None:
    made = Transcript()
    asks_and_is_refused(made)
    for line in made.lines:
        line["entrypoint"] = "sdk-cli"
    (session,) = made.write(tmp_path_factory.mktemp("home"))
    cues = recording_of(session).cues
    assert [cue.status for cue in cues if isinstance(cue, StatusCue)] == ["busy", "idle"]
