"""`final` gave other words than the client: of an answer with two blocks of text it printed both.

The client's `result` and the payload of its Stop hook hold the last block ("Final two."), and `run` repeats them.
`final` joined the blocks of the log. A `result` line in a log, which states the answer itself, was not looked at.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.views.cli.command import ONE, tracklog, write


def line(type_: str, uuid: str, parent: str | None, **fields: Any) -> dict[str, Any]:
    at = f"2026-11-15T10:00:0{uuid[1:]}.000Z"
    return {"type": type_, "uuid": uuid, "parentUuid": parent, "sessionId": ONE, "timestamp": at, **fields}


def prompt() -> dict[str, Any]:
    return line("user", "u1", None, message={"role": "user", "content": "Go."})


def answer(uuid: str, parent: str, *texts: str, stop_reason: str | None = "end_turn") -> dict[str, Any]:
    content = [{"type": "text", "text": text} for text in texts]
    message = {
        "id": "msg_1",
        "model": "m",
        "role": "assistant",
        "content": content,
        "stop_reason": stop_reason,
    }
    return line("assistant", uuid, parent, message=message)


def final(tmp_path: Path, *lines: dict[str, Any], more: tuple[str, ...] = ()) -> str:
    write(
        tmp_path / f"claude/projects/-srv-app/{ONE}.jsonl",
        b"".join(json.dumps(one).encode() + b"\n" for one in lines),
    )
    return tracklog("final", ONE, "--root", tmp_path / "claude", *more, home=tmp_path).out


def test_the_answer_is_the_last_block_of_text_in_one_record_or_in_several(tmp_path: Path) -> None:
    in_one = [prompt(), answer("a2", "u1", "Final one.", "Final two.")]
    in_two = [prompt(), answer("a2", "u1", "Final one.", stop_reason=None), answer("a3", "a2", "Final two.")]
    for n, lines in enumerate((in_one, in_two)):
        assert final(tmp_path / str(n), *lines) == "Final two.\n"
        assert final(tmp_path / str(n), *lines, more=("--all-text",)) == "Final one.\nFinal two.\n"


def test_a_stop_payload_with_the_last_block_fits_the_log(tmp_path: Path) -> None:
    payload = write(tmp_path / "payload.json", json.dumps({"last_assistant_message": "Final two."}).encode())
    more = ("--stop-payload", str(payload), "--wait", "--json")
    document = json.loads(
        final(tmp_path, prompt(), answer("a2", "u1", "Final one.", "Final two."), more=more)
    )
    assert (document["text"], document["source"]) == ("Final two.", "log")


def test_a_result_line_in_a_log_states_the_answer(tmp_path: Path) -> None:
    result = {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "result": "As stated.",
        "session_id": ONE,
    }
    lines = [prompt(), answer("a2", "u1", "As written."), result]
    document = json.loads(final(tmp_path, *lines, more=("--json",)))
    assert (document["text"], document["source"]) == ("As stated.", "result_line")
    assert final(tmp_path, *lines, more=("--all-text",)) == "As written.\n"
    shown = tracklog("show", ONE, "--root", tmp_path / "claude", home=tmp_path).out
    assert "result: As stated." in shown


def test_the_result_line_of_an_earlier_turn_is_not_the_answer(tmp_path: Path) -> None:
    result = {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "result": "As stated.",
        "session_id": ONE,
    }
    again = line("user", "u3", "a2", message={"role": "user", "content": "Again."})
    later = answer("a4", "u3", "Later.")
    later["message"]["id"] = "msg_2"
    assert final(tmp_path, prompt(), answer("a2", "u1", "First."), result, again, later) == "Later.\n"


def test_an_empty_block_behind_the_answer_is_not_the_answer(tmp_path: Path) -> None:
    for n, last in enumerate(("", " \n")):
        assert final(tmp_path / str(n), prompt(), answer("a2", "u1", "One.", "Two.", last)) == "Two.\n"


def test_a_prompt_without_an_answer_does_not_change_the_stated_answer(tmp_path: Path) -> None:
    result = {"type": "result", "subtype": "success", "is_error": False, "result": "As stated."}
    again = line("user", "u3", "a2", message={"role": "user", "content": "Again."})
    lines = [prompt(), answer("a2", "u1", "As written."), result]
    assert final(tmp_path / "1", *lines) == final(tmp_path / "2", *lines, again) == "As stated.\n"
