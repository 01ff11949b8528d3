from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.app.run.machine import Machine, never, waited
from tracklog.app.run.child import Risk, run_child, with_final_texts
from tracklog.app.talk import QUIET
from tracklog.run.trust import Untrusted


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, monkeypatch)


def with_a_hook(folder: Path) -> None:
    hook = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}
    (folder / ".claude").mkdir()
    (folder / ".claude/settings.json").write_text(json.dumps(hook))


def test_a_child_runs_to_its_end(machine: Machine) -> None:
    result = run_child(machine.request("say hello"), machine.home, confirm=never, wait=waited, talk=QUIET)
    assert (result.text, result.ended_by, result.code) == ("hello", "completed", 0)


def test_nothing_starts_in_a_folder_that_nobody_confirms(machine: Machine) -> None:
    with_a_hook(machine.work)
    with pytest.raises(Untrusted):
        run_child(machine.request("say hello"), machine.home, confirm=never, wait=waited, talk=QUIET)
    assert machine.n_starts == 0


def test_a_folder_is_confirmed_once_with_all_its_risks(machine: Machine) -> None:
    with_a_hook(machine.work)
    asked: list[Sequence[Risk]] = []

    def confirm(risks: Sequence[Risk]) -> bool:
        asked.append(risks)
        return True

    for _ in range(2):
        request = machine.request("say hello")
        assert run_child(request, machine.home, confirm=confirm, wait=waited, talk=QUIET).is_success
    assert [[risk.detail for risk in risks] for risks in asked] == [["true"]]


def test_the_final_text_of_another_session_is_put_before_the_prompt(machine: Machine) -> None:
    first = run_child(
        machine.request("say the secret is 7"), machine.home, confirm=never, wait=waited, talk=QUIET
    )
    assert first.session is not None
    prompt = with_final_texts("Go on.", [first.session], machine.home.path, talk=QUIET)
    assert prompt.endswith("\n\nGo on.")
    assert "\nthe secret is 7\n" in prompt
    assert with_final_texts("Go on.", [], machine.home.path, talk=QUIET) == "Go on."
