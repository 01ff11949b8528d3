from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.test_ask_hook import ASKED, PATIENCE_S, SESSION, SILENT, Asking, asking, run_folder, said
from tests.views.cli.command import Answer, tracklog

OTHER = "3c999999-cd13-459b-a1e7-bac25d977021"
WHAT_TO_DO = "`tracklog answer` lists those there are, and only sessions that were started with `tracklog run --ask-here` have any"


def ask(home: Path, *arguments: str, env: dict[str, str] | None = None) -> Answer:
    return tracklog("answer", *arguments, home=home, env={"TRACKLOG_HOME": str(home), **(env or {})})


@pytest.fixture
def hook(tmp_path: Path) -> Iterator[Asking]:
    """A session that asks to touch a file."""
    with asking(run_folder(tmp_path), wait_s=120) as one:
        one.question()
        yield one


@pytest.mark.parametrize("name", [SESSION, "3c14", "@last", "0123456789abcdef", "0123"])
def test_a_session_is_meant_by_its_id_the_start_of_it_or_its_run(
    tmp_path: Path, hook: Asking, name: str
) -> None:
    assert ask(tmp_path, name, "allow") == (0, "allowed: Bash touch made.txt\n", "")
    assert said(hook.ended()) == {"behavior": "allow"}


def test_the_model_reads_the_reason_of_a_denial(tmp_path: Path, hook: Asking) -> None:
    assert ask(tmp_path, "3c14", "deny", "--reason", "not on é") == (0, "denied: Bash touch made.txt\n", "")
    assert said(hook.ended()) == {"behavior": "deny", "message": "not on é"}


def test_a_reason_for_an_allow_is_said_to_go_nowhere(tmp_path: Path, hook: Asking) -> None:
    answer = ask(tmp_path, "3c14", "allow", "--reason", "fine")
    assert (answer.code, answer.out) == (0, "allowed: Bash touch made.txt\n")
    assert "takes no reason with an allow" in answer.err


@pytest.mark.parametrize("arguments", [[], ["3c14"], ["@last"]])
def test_open_questions_are_listed_with_all_that_would_be_run(
    tmp_path: Path, hook: Asking, arguments: list[str]
) -> None:
    answer = ask(tmp_path, *arguments)
    head, times, *given = answer.out.splitlines()
    assert (answer.code, answer.err) == (0, "")
    assert head == f"3c14e9c8 asks for Bash, --call {hook.question().stem}"
    assert (times[:8], times[-19:]) == ("  asked ", " more, in /home/dev")
    assert given == ["  command: touch made.txt", "  description: Make é 😀"]
    assert hook.process.poll() is None


def test_the_list_as_a_document(tmp_path: Path, hook: Asking) -> None:
    place = hook.question()
    (row,) = ask(tmp_path, "--json").json["asks"]
    assert row.pop("at") < row.pop("until")
    assert row == {
        "id": place.stem,
        "agent": "claude",
        "session": SESSION,
        "run": "0123456789abcdef",
        "thread": "main",
        "cwd": "/home/dev",
        "mode": "default",
        "tool": "Bash",
        "input": ASKED["tool_input"],
        "input_is_cut": False,
        "suggestions": ASKED["permission_suggestions"],
        "path": str(place),
    }


def test_an_answer_as_a_document_is_the_question_and_what_became_of_it(tmp_path: Path, hook: Asking) -> None:
    (row,) = ask(tmp_path, "--json").json["asks"]
    told = {"verdict": "deny", "reason": "no", "taken": True, "fate": "taken"}
    assert ask(tmp_path, "@last", "deny", "--reason", "no", "--json").json == {
        "schema_version": 1,
        **row,
        **told,
    }


def test_nothing_open_is_said_with_what_to_do(tmp_path: Path) -> None:
    assert ask(tmp_path) == (0, "", "tracklog: no session asks for anything\n")
    assert ask(tmp_path, "--json").json == {"schema_version": 1, "asks": []}
    for arguments, whose in (
        (("@last", "allow"), "any session"),
        (("3c14", "allow"), "3c14"),
        (("3c14",), "3c14"),
    ):
        assert ask(tmp_path, *arguments) == (1, "", f"tracklog: no open question of {whose}: {WHAT_TO_DO}\n")


def test_another_session_is_not_answered(tmp_path: Path, hook: Asking) -> None:
    for name in ("3c15", "", "14e9"):
        assert ask(tmp_path, name, "allow").code == 1
    assert ask(tmp_path, "3c14", "allow", "--call", "another").code == 1
    assert hook.process.poll() is None


def test_a_start_that_two_sessions_have_is_not_guessed(tmp_path: Path, hook: Asking) -> None:
    with asking(run_folder(tmp_path, "f" * 16), {**ASKED, "session_id": OTHER}, wait_s=120) as other:
        other.question()
        assert ask(tmp_path, "3c", "allow") == (
            2,
            "",
            f"tracklog: 3c is the start of several sessions that ask: {SESSION}, {OTHER}; name more of it\n",
        )
        assert ask(tmp_path, "@last", "allow").code == 0
        assert said(other.ended()) == {"behavior": "allow"}
    assert hook.process.poll() is None


def test_of_several_questions_one_has_to_be_chosen(tmp_path: Path) -> None:
    folder = run_folder(tmp_path)
    with ExitStack() as stack:
        hooks = {}
        for name in ("toolu_1", "toolu_2"):
            payload = {**ASKED, "tool_use_id": name, "tool_input": {"command": f"run {name}"}}
            hooks[name] = stack.enter_context(asking(folder, payload, wait_s=120))
        until = time.monotonic() + PATIENCE_S
        while len(list(folder.glob("asks/toolu_?.json"))) < 2 and time.monotonic() < until:
            time.sleep(0.01)
        answer = ask(tmp_path, "3c14", "allow")
        assert (answer.code, answer.out) == (2, "")
        assert "--call toolu_1 for Bash run toolu_1" in answer.err
        assert "--call toolu_2 for Bash run toolu_2" in answer.err
        assert ask(tmp_path, "3c14", "deny", "--call", "toolu_2") == (0, "denied: Bash run toolu_2\n", "")
        assert said(hooks["toolu_2"].ended())["behavior"] == "deny"
        assert ask(tmp_path, "3c14", "allow") == (0, "allowed: Bash run toolu_1\n", "")
        assert said(hooks["toolu_1"].ended()) == {"behavior": "allow"}


def test_an_answer_that_is_not_taken_is_no_success(tmp_path: Path, hook: Asking) -> None:
    hook.process.send_signal(signal.SIGSTOP)
    answer = ask(tmp_path, "@last", "allow", "--json")
    assert (answer.code, answer.json["taken"], answer.json["fate"]) == (1, False, "late")
    assert answer.err == "tracklog: nobody waits for this answer any more: the client has gone its own way\n"
    hook.reply(verdict="deny")
    assert ask(tmp_path, "@last", "allow") == (1, "", "tracklog: somebody else has answered it\n")
    hook.process.send_signal(signal.SIGCONT)
    assert said(hook.ended())["behavior"] == "deny"


def test_a_session_does_not_answer_its_own_questions(tmp_path: Path, hook: Asking) -> None:
    answer = ask(tmp_path, "@last", "allow", env={"TRACKLOG_RUN": "0123456789abcdef"})
    assert (answer.code, answer.out) == (2, "")
    assert "does not answer its own questions" in answer.err
    assert hook.process.poll() is None
    assert ask(tmp_path, "@last", "allow", env={"TRACKLOG_RUN": "f" * 16}).code == 0


def test_what_a_terminal_would_obey_is_spelled_out(tmp_path: Path) -> None:
    evil = {
        "session_id": "e\x1b[2Jvil",
        "agent_id": "a\x1b]0;x\x07",
        "tool_name": "Ba\x1b[8msh",
        "cwd": "/\x1b[1m",
        "tool_input": {"com\x1bmand": "rm x\r\x1b[Ktouch y\u202e\n\x9b2J"},
    }
    with asking(run_folder(tmp_path), {**ASKED, **evil}, wait_s=120) as hook:
        hook.question()
        listed = ask(tmp_path).out
        assert listed.replace("\n", "").isprintable()
        assert "com\\x1bmand: rm x\\r\\x1b[Ktouch y\\u202e" in listed
        assert ask(tmp_path, "@last", "allow").out.replace("\n", "").isprintable()


@pytest.mark.parametrize(
    ("given", "last"),
    [
        (
            {"command": "\n".join(f"echo {n}" for n in range(100)), "description": "x"},
            "  … 61 more lines: --json shows them",
        ),
        ({"a": "x" * 3000}, f"  a: {'x' * 2000} … 1000 more letters: --json shows them"),
        ({"a": "x" * 99_991}, "  … THIS IS ONLY THE BEGINNING: all of it is 100,000 bytes"),
    ],
)
def test_an_input_that_is_not_shown_whole_says_so(tmp_path: Path, given: dict[str, str], last: str) -> None:
    with asking(run_folder(tmp_path), {**ASKED, "tool_input": given}, wait_s=120) as hook:
        hook.question()
        assert ask(tmp_path).out.splitlines()[-1] == last
        (row,) = ask(tmp_path, "--json").json["asks"]
        assert row["input_is_cut"] is (row["input"] != given)


def test_a_question_that_waited_in_vain_is_not_listed(tmp_path: Path) -> None:
    with asking(run_folder(tmp_path), wait_s=0.1) as hook:
        assert hook.ended() == SILENT
    assert ask(tmp_path).err == "tracklog: no session asks for anything\n"
