from __future__ import annotations

from pathlib import Path

import pytest

from tests.views.cli.command import ONE
from tests.views.cli.written import working_day
from tracklog.app.scope.read_sessions import SessionQuery
from tracklog.app.session.show import agents, graph, show
from tracklog.errors import NotThere


def asked(tmp_path: Path, session: str = ONE) -> SessionQuery:
    working_day().write_in(tmp_path)
    return SessionQuery(session, [tmp_path / ".claude"], home=tmp_path / "home")


def test_a_conversation_comes_with_its_turns_costs_and_outputs(tmp_path: Path) -> None:
    found = show(asked(tmp_path))
    first, second = found.chosen.turns
    assert (first.prompt, second.prompt) == ("Fix the test.", "Why was it red?")
    costs = [found.costs.sum_over(found.chosen.requests_of(turn)).cost_pico_usd for turn in (first, second)]
    assert sum(cost or 0 for cost in costs) == found.costs.sum.cost_pico_usd
    outputs = [found.outputs.of(call) for call in found.chosen.thread.calls]
    assert [full.text for full in outputs if full] == ["Exit code 2\nmake: *** [test] Error 2", "1\tcode"]
    assert not found.is_only_here


def test_the_last_session_is_the_one_that_is_meant_by_last(tmp_path: Path) -> None:
    assert graph(asked(tmp_path, "@last")).id == ONE


def test_threads_come_with_the_runs_that_were_started(tmp_path: Path) -> None:
    tree = agents(asked(tmp_path))
    assert [thread.id for thread in tree.session.threads] == ["main"]
    assert tree.lineage.started == []


def test_a_thread_or_branch_that_is_not_there_is_said(tmp_path: Path) -> None:
    query = asked(tmp_path)
    with pytest.raises(NotThere, match="no thread nobody in this session"):
        show(query, thread="nobody")
    with pytest.raises(NotThere, match="no branch nowhere in this session"):
        show(query, branch="nowhere")


def test_nothing_is_printed(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    query = asked(tmp_path)
    show(query)
    agents(query)
    graph(query)
    assert capfd.readouterr() == ("", "")
