from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from tests.app.run.machine import Machine, never, waited
from tests.live.live_home import TWO
from tracklog.app.run.detached import start_detached
from tracklog.app.talk import QUIET
from tracklog.errors import UserError
from tracklog.live.run_entries import Parent, Started
from tracklog.live.run_register import note_started
from tracklog.run.parent import parent_of_us


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, monkeypatch)


def test_a_detached_child_leaves_its_result_where_it_said(machine: Machine) -> None:
    request = machine.request("say hello")
    found = start_detached(request, machine.home, confirm=never, wait=waited, talk=QUIET)
    path, until = Path(found.result_path), time.monotonic() + 30
    while not path.exists() and time.monotonic() < until:
        time.sleep(0.02)
    document = json.loads(path.read_text())
    assert (document["result"], document["session_id"]) == ("hello", found.session_id)
    assert path.stat().st_mode & 0o077 == 0


def test_a_process_that_started_a_detached_child_still_finds_its_own_parent(machine: Machine) -> None:
    start_detached(machine.request("say hello"), machine.home, confirm=never, wait=waited, talk=QUIET)
    note_started(machine.home, Started(run="00000000000000aa", agent="claude", session=TWO))
    env = {**os.environ, "TRACKLOG_RUN": "00000000000000aa"}
    assert parent_of_us(env, home=machine.home) == Parent("claude", TWO)


def test_what_cannot_be_started_is_an_error_at_once(machine: Machine) -> None:
    request = machine.request("say hello")._replace(client="/nowhere/claude")
    with pytest.raises(UserError, match="/nowhere/claude"):
        start_detached(request, machine.home, confirm=never, wait=waited, talk=QUIET)
