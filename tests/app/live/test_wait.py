from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from tests.live.live_home import ONE, TWO, LiveHome
from tracklog.app.live.wait import WaitEnd, wait_for_turn
from tracklog.app.scope.read_sessions import SessionQuery
from tracklog.app.talk import QUIET
from tracklog.errors import NotThere


@pytest.fixture
def home(tmp_path: Path) -> LiveHome:
    return LiveHome(tmp_path)


def waited(home: LiveHome, *, timeout_s: float | None = 20, or_waiting: bool = False) -> WaitEnd:
    query = SessionQuery(ONE[:8], [home.path], home=home.ours)
    return wait_for_turn(query, timeout_s=timeout_s, or_waiting=or_waiting, talk=QUIET)


def test_a_turn_that_has_ended_gives_its_answer_at_once(home: LiveHome) -> None:
    home.prompt("one")
    home.reply("A.")
    end = waited(home)
    assert (end.is_over, end.answer.session, end.answer.text, end.answer.source) == (True, ONE, "A.", "log")


def test_an_answer_that_comes_while_it_waits_is_given(home: LiveHome) -> None:
    home.prompt("one")
    home.register(os.getpid(), "busy")

    def answered() -> None:
        time.sleep(0.5)
        home.reply("A.")
        home.register(os.getpid(), "idle")

    writer = threading.Thread(target=answered)
    writer.start()
    end = waited(home)
    writer.join()
    assert (end.is_over, end.answer.text, end.state.state) == (True, "A.", "idle")


def test_a_turn_that_goes_on_when_the_time_is_over_has_no_answer(home: LiveHome) -> None:
    home.prompt("one")
    home.reply("A.")
    home.prompt("two")
    home.register(os.getpid(), "busy")
    end = waited(home, timeout_s=0.1)
    assert (end.is_over, end.answer.text, end.state.state) == (False, None, "working")


def test_a_session_that_waits_for_you_ends_the_wait_only_if_asked(home: LiveHome) -> None:
    home.prompt("one")
    home.call("t1", "Bash", command="rm x")
    home.register(os.getpid(), "waiting", waitingFor="permission prompt")
    patient, asked = waited(home, timeout_s=0.1), waited(home, or_waiting=True)
    assert [(one.is_over, one.state.state) for one in (patient, asked)] == [
        (False, "waiting"),
        (True, "waiting"),
    ]


def test_a_session_that_is_not_there_is_not_waited_for(home: LiveHome) -> None:
    home.prompt("one", session=TWO)
    with pytest.raises(NotThere, match="no session 11111111"):
        waited(home)
