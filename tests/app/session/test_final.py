from __future__ import annotations

from pathlib import Path

import pytest

from tests.views.cli.command import ONE
from tests.views.cli.written import Log, tool, working_day
from tracklog.app.scope.read_sessions import SessionQuery
from tracklog.app.session.final import StopPayload, final, stop_payload, why_no_answer
from tracklog.errors import UserError


def asked(tmp_path: Path, log: Log) -> SessionQuery:
    log.write_in(tmp_path)
    return SessionQuery(ONE, [tmp_path / ".claude"], home=tmp_path / "home")


def test_the_last_block_of_text_is_the_answer_or_all_of_them(tmp_path: Path) -> None:
    query = asked(tmp_path, working_day())
    assert final(query)[:4] == (ONE, "In `app.py`.", "log", "msg_3")
    assert final(query, all_text=True).text == "A typo.\nIn `app.py`."


def test_without_an_answer_it_is_said_how_to_get_an_earlier_one(tmp_path: Path) -> None:
    log = Log().prompt("Go.").answer("msg_1", "I begin.")
    query = asked(tmp_path, log.answer("msg_2", tool("t", "Bash", command="ls"), stop="tool_use"))
    found = final(query)
    assert found.text is None
    assert why_no_answer(ONE, found.whole_session, last_text=False).endswith("--last-text goes further back")
    assert final(query, last_text=True).text == "I begin."


def test_the_payload_of_a_stop_hook_answers_where_the_log_has_no_answer_yet(tmp_path: Path) -> None:
    query = asked(tmp_path, Log().prompt("Go."))
    found = final(query, StopPayload(ONE, "Gone."))
    assert (found.text, found.source) == ("Gone.", "stop_payload")


def test_a_payload_is_an_object_with_the_session_and_the_answer() -> None:
    raw = b'{"session_id": "s", "last_assistant_message": "Done."}'
    assert stop_payload(raw, "-") == StopPayload("s", "Done.")
    assert stop_payload(b'{"last_assistant_message": " "}', "-") == StopPayload()
    with pytest.raises(UserError, match=r"p\.json is no JSON object"):
        stop_payload(b"[]", "p.json")
