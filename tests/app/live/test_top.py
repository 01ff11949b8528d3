from __future__ import annotations

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.live.live_home import ONE, LiveHome
from tests.test_ask_hook import ASKED, asking, run_folder
from tracklog.app.live.top import board_now, group_of
from tracklog.views.documents.board import top_document


@pytest.fixture
def home(tmp_path: Path) -> LiveHome:
    return LiveHome(tmp_path)


def test_a_session_with_a_permission_request_needs_you_whatever_else_its_state_is(home: LiveHome) -> None:
    home.prompt("one")
    with asking(run_folder(home.ours), {**ASKED, "session_id": ONE}) as hook:
        id = hook.question().stem
        (row,) = board_now([home.path], home=home.ours)
    assert [one.id for one in row.permission_requests] == [id]
    works = row._replace(state=replace(row.state, state="working"))
    assert [group_of(one) for one in (row, works, works._replace(permission_requests=()))] == [
        "needs",
        "needs",
        "working",
    ]


def test_the_document_of_the_board_has_the_money_as_a_number(home: LiveHome) -> None:
    home.prompt("one")
    home.reply("A.")
    home.register(os.getpid(), "busy")
    (row,) = top_document(board_now([home.path], home=home.ours))["sessions"]
    assert (row["id"], row["cost_micro_usd"], row["started_by"]) == (ONE, 175, None)
