from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.run.machine import Machine, never, waited
from tracklog.app.run.child import run_child
from tracklog.app.run.resume import interactive_command, newest_session, session_to_continue
from tracklog.app.talk import QUIET
from tracklog.errors import UserError


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, monkeypatch)


def test_the_newest_session_of_a_folder_goes_on_by_the_clients_own_command(machine: Machine) -> None:
    result = run_child(machine.request("say hello"), machine.home, confirm=never, wait=waited, talk=QUIET)
    assert result.session is not None
    assert newest_session("claude", machine.work) == result.session
    session = session_to_continue(result.session[:8], agent=None, home=machine.home.path, talk=QUIET)
    words = interactive_command(session, machine.home, arguments=["--verbose"])
    assert Path(words[0]).name == "claude"
    assert words[1:] == ["--resume", result.session, "--verbose"]


def test_a_folder_without_a_session_has_none_to_go_on_with(machine: Machine) -> None:
    with pytest.raises(UserError, match=r"no session of claude in .* to go on with"):
        newest_session("claude", machine.work)
