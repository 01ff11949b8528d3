"""What each agent's view of its processes says, through the contract that all features ask."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.live.live_home import ONE, LiveHome
from tracklog.agents.base import OpenSessions, SessionFacts
from tracklog.agents.supported import SUPPORTED, support_for

NOW = 1_800_000_000_000


def no_programs() -> dict[int, bytes]:
    return {1: b"init"}


@pytest.fixture
def home(tmp_path: Path) -> LiveHome:
    return LiveHome(tmp_path)


def test_an_agent_that_is_not_known_has_no_clients(tmp_path: Path) -> None:
    view = support_for("stranger").processes.view([tmp_path])
    view.refresh(NOW)
    assert (view.registered(), view.open_sessions(), view.writer_of("s")) == ({}, OpenSessions(), None)
    assert view.alive(SessionFacts("s")).life == "unknown"


@pytest.mark.parametrize("agent", SUPPORTED)
def test_where_no_client_runs_no_session_is_open(tmp_path: Path, agent: str) -> None:
    processes = support_for(agent).processes
    view = processes.view([tmp_path], programs=no_programs)
    view.refresh(NOW)
    assert (view.registered(), view.open_sessions(), view.writer_of("s")) == ({}, OpenSessions(), None)
    assert processes.opened_by([os.getpid()], homes=[tmp_path]) == {}
    assert view.alive(SessionFacts("s", [str(tmp_path / "s.jsonl")], does=lambda: "idle")).life == "gone"


def test_a_registered_session_is_open_in_its_process(home: LiveHome) -> None:
    home.prompt("one")
    home.register(os.getpid(), "busy")
    processes = support_for("claude").processes
    view = processes.view(programs=no_programs)
    view.add_logs([home.log()])
    view.refresh(NOW)
    assert view.open_sessions() == OpenSessions(ids={ONE})
    assert view.writer_of(ONE) == os.getpid()
    opened = processes.opened_by([1, os.getpid()], homes=[root.path for root in home.roots])
    assert opened == {os.getpid(): OpenSessions(ids={ONE})}


def test_a_home_is_read_again_only_with_the_next_refresh(home: LiveHome) -> None:
    home.prompt("one")
    view = support_for("claude").processes.view([root.path for root in home.roots], programs=no_programs)
    view.refresh(NOW)
    assert view.registered() == {}
    home.register(os.getpid(), "idle")
    assert view.registered() == {}
    view.refresh(NOW + 1)
    assert [one.pid for one in view.registered().values()] == [os.getpid()]


def test_a_session_that_a_kept_registry_does_not_name_has_left_after_some_silence(home: LiveHome) -> None:
    home.prompt("one")
    home.register(os.getpid(), "idle", session="another")
    view = support_for("claude").processes.view(programs=no_programs)
    view.refresh(NOW)
    logs = [str(home.log())]
    assert view.alive(SessionFacts(ONE, logs, last_ms=NOW - 1_000)).life == "unknown"
    assert view.alive(SessionFacts(ONE, logs, last_ms=NOW - 11_000)).has_left
    headless = SessionFacts(ONE, logs, last_ms=NOW - 1_000, does=lambda: "idle", entrypoint="sdk-cli")
    assert view.alive(headless).has_left
