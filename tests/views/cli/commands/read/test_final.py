from __future__ import annotations

import json
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.views.cli.command import ONE, TIME_LIMIT_S, command, environment, tracklog, write
from tests.views.cli.written import Log, tool, working_day

WAITS_S = 2.0  # for an answer that is not whole


def unanswered() -> Log:
    """A session whose last request only calls a tool."""
    log = (
        Log()
        .prompt("Go.")
        .answer("msg_1", "I begin.", tool("toolu_1", "Bash", command="ls"), stop="tool_use")
    )
    return log.result("toolu_1", "a").answer("msg_2", tool("toolu_2", "Bash", command="ls"), stop="tool_use")


def payload(home: Path, **given: Any) -> Path:
    return write(home / "payload.json", json.dumps(given).encode())


def test_the_text_of_the_last_request_is_all_that_stands_on_stdout(tmp_path: Path) -> None:
    working_day().write_in(tmp_path)
    assert tracklog("final", "@last", home=tmp_path) == (0, "In `app.py`.\n", "")


def test_the_document_says_the_session_the_text_its_source_and_the_request(tmp_path: Path) -> None:
    working_day().write_in(tmp_path)
    assert tracklog("final", ONE, "--json", home=tmp_path).json == {
        "schema_version": 1,
        "session": ONE,
        "text": "In `app.py`.",
        "source": "log",
        "request": "msg_3",
    }


def test_it_is_the_active_branch_that_counts(tmp_path: Path) -> None:
    log = Log().prompt("Begin.").answer("msg_1", "Begun.")
    fork = log.tip or ""
    log.prompt("Left.").answer("msg_2", "Went left.")
    log.back_to(fork).prompt("Right.").answer("msg_3", "Went right.").write_in(tmp_path)
    assert tracklog("final", ONE, home=tmp_path).out == "Went right.\n"


def test_without_text_it_is_exit_1_and_says_what_goes_further_back(tmp_path: Path) -> None:
    unanswered().write_in(tmp_path)
    said = f"tracklog: the last request of {ONE} has no text: --last-text goes further back\n"
    assert tracklog("final", ONE, home=tmp_path) == (1, "", said)
    in_json = tracklog("final", ONE, "--json", home=tmp_path)
    assert (in_json.code, in_json.err) == (1, said)
    assert in_json.json == {
        "schema_version": 1,
        "session": ONE,
        "text": None,
        "source": None,
        "request": "msg_2",
    }


def test_last_text_goes_further_back(tmp_path: Path) -> None:
    unanswered().write_in(tmp_path)
    assert tracklog("final", ONE, "--last-text", home=tmp_path) == (0, "I begin.\n", "")
    assert tracklog("final", ONE, "--last-text", "--json", home=tmp_path).json["request"] == "msg_1"


def test_a_session_without_any_text_is_exit_1_also_with_last_text(tmp_path: Path) -> None:
    Log().prompt("Go.").write_in(tmp_path)
    answer = tracklog("final", ONE, "--last-text", home=tmp_path)
    assert answer == (1, "", f"tracklog: nothing was answered in {ONE} yet\n")
    assert tracklog("final", ONE, home=tmp_path) == answer
    Log().prompt("Go.").answer("m", tool("t", "Bash", command="ls"), stop="tool_use").write_in(tmp_path)
    answer = tracklog("final", ONE, "--last-text", home=tmp_path)
    assert answer == (1, "", f"tracklog: no request of {ONE} has any text\n")


def test_what_the_client_said_in_the_model_s_place_is_no_answer(tmp_path: Path) -> None:
    log = Log().prompt("Go.").answer("msg_1", "Gone.").client("No response requested.")
    log.write_in(tmp_path)
    assert tracklog("final", ONE, home=tmp_path).out == "Gone.\n"
    assert tracklog("final", ONE, "--last-text", home=tmp_path).out == "Gone.\n"


def test_the_payload_of_a_stop_hook_fills_in_for_a_log_without_text(tmp_path: Path) -> None:
    unanswered().write_in(tmp_path)
    given = payload(tmp_path, session_id=ONE, last_assistant_message="All done.")
    assert tracklog("final", ONE, "--stop-payload", given, home=tmp_path) == (0, "All done.\n", "")
    assert tracklog("final", ONE, "--stop-payload", given, "--json", home=tmp_path).json == {
        "schema_version": 1,
        "session": ONE,
        "text": "All done.",
        "source": "stop_payload",
        "request": "msg_2",
    }


def test_the_payload_answers_a_prompt_that_has_no_answer_in_the_log_yet(tmp_path: Path) -> None:
    working_day().prompt("And now?").write_in(tmp_path)
    given = payload(tmp_path, last_assistant_message="Now it is green.")
    assert tracklog("final", ONE, "--stop-payload", given, home=tmp_path).out == "Now it is green.\n"


def test_what_stands_in_the_log_beats_the_payload(tmp_path: Path) -> None:
    working_day().write_in(tmp_path)
    given = payload(tmp_path, last_assistant_message="Something else.")
    document = tracklog("final", ONE, "--stop-payload", given, "--json", home=tmp_path).json
    assert (document["source"], document["request"]) == ("log", "msg_3")


def test_the_payload_may_come_before_the_log(tmp_path: Path) -> None:
    done = subprocess.run(
        command("final", ONE, "--stop-payload", "-", "--json"),
        env=environment(tmp_path),
        input=json.dumps({"session_id": ONE, "last_assistant_message": "Hello."}).encode(),
        capture_output=True,
        timeout=TIME_LIMIT_S,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout) == {
        "schema_version": 1,
        "session": ONE,
        "text": "Hello.",
        "source": "stop_payload",
        "request": None,
    }


@pytest.mark.parametrize(
    ("content", "code", "said"),
    [
        (None, 1, "cannot read payload.json: does not exist"),
        (b"no json", 2, "payload.json is no JSON object: give what the Stop hook got on its stdin"),
        (b"[1]", 2, "payload.json is no JSON object: give what the Stop hook got on its stdin"),
        (b"[" * 100_000, 2, "payload.json is no JSON object: give what the Stop hook got on its stdin"),
    ],
)
def test_a_payload_that_is_none_is_said(tmp_path: Path, content: bytes | None, code: int, said: str) -> None:
    working_day().write_in(tmp_path)
    if content is not None:
        write(tmp_path / "payload.json", content)
    answer = tracklog("final", ONE, "--stop-payload", "payload.json", home=tmp_path)
    assert answer == (code, "", f"tracklog: {said}\n")


@pytest.mark.parametrize("given", [{}, {"last_assistant_message": None}, {"last_assistant_message": " "}])
def test_a_payload_without_a_message_changes_nothing(tmp_path: Path, given: dict[str, Any]) -> None:
    unanswered().write_in(tmp_path)
    answer = tracklog("final", ONE, "--stop-payload", payload(tmp_path, **given), home=tmp_path)
    assert (answer.code, answer.out) == (1, "")


def test_waiting_sees_an_answer_that_is_written_a_moment_later(tmp_path: Path) -> None:
    log = unanswered()
    path = log.write_in(tmp_path)
    before = path.stat().st_size
    late = log.result("toolu_2", "a").answer("msg_3", "Here it is.").content[before:]
    timer = threading.Timer(0.3, lambda: path.open("ab").write(late))
    timer.start()
    answer = tracklog("final", ONE, "--wait", home=tmp_path)
    timer.join()
    assert answer == (0, "Here it is.\n", "")


def test_waiting_ends_after_two_seconds(tmp_path: Path) -> None:
    unanswered().write_in(tmp_path)
    started = time.monotonic()
    assert tracklog("final", ONE, "--wait", home=tmp_path).code == 1
    assert time.monotonic() - started >= WAITS_S


def test_waiting_does_not_wait_for_an_answer_that_is_whole(tmp_path: Path) -> None:
    working_day().write_in(tmp_path)
    deadline = time.monotonic() + TIME_LIMIT_S
    took_s = WAITS_S
    while (
        took_s >= WAITS_S and time.monotonic() < deadline
    ):  # a busy machine may need longer, but not each time
        started = time.monotonic()
        assert tracklog("final", ONE, "--wait", home=tmp_path).code == 0
        took_s = time.monotonic() - started
    assert took_s < WAITS_S


def test_an_unknown_session_is_exit_1(tmp_path: Path) -> None:
    said = "tracklog: no session nosuch: `tracklog sessions` lists them, --root looks elsewhere\n"
    assert tracklog("final", "nosuch", home=tmp_path) == (1, "", said)


def test_escapes_in_an_answer_are_spelled_out_and_tabs_stay(tmp_path: Path) -> None:
    Log().prompt("Go.").answer("msg_1", "a\tb\r\n\x1b[31mred\x07\u202e").write_in(tmp_path)
    assert tracklog("final", ONE, home=tmp_path).out == "a\tb\n\\x1b[31mred\\x07\\u202e\n"
    assert tracklog("final", ONE, "--json", home=tmp_path).json["text"] == "a\tb\r\n\x1b[31mred\x07\u202e"
