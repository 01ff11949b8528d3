"""What every supported agent answers, and what is answered for an agent that nobody supports."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tracklog.agents.base import AgentClient, AgentHooks, AgentSupport
from tracklog.agents.hooks.places import LEVELS, Machine
from tracklog.agents.supported import SUPPORTED, support_for
from tracklog.errors import UserError
from tracklog.model.run_request import RunRequest
from tracklog.model.usage import UsageRow

SESSION = "00000000-0000-4000-8000-000000000001"
AGENTS = [pytest.param(support, id=name) for name, support in SUPPORTED.items()]


@pytest.mark.parametrize("support", AGENTS)
def test_a_client_answers_everything_that_is_asked_to_start_it(support: AgentSupport, tmp_path: Path) -> None:
    client, env = support.client, {"HOME": str(tmp_path), "PATH": "/bin"}
    assert client.program
    assert client.project_folder.startswith(".")
    assert set(client.missing) <= set(RunRequest._fields)
    assert support.name is not None
    request = RunRequest(agent=support.name, prompt="secret words", cwd=tmp_path, resume=SESSION)
    given = client.arguments(request, session=SESSION, settings=None, schema=None)
    assert SESSION in given
    assert "secret words" not in given
    assert SESSION in client.interactive_arguments(SESSION)
    assert client.environment(env) == env
    assert client.usage_document(UsageRow(key=""))["output_tokens"] == 0
    assert list(client.risks(tmp_path, env)) == []
    assert all(root.agent == support.name for root in client.log_roots(env))


@pytest.mark.parametrize("support", AGENTS)
def test_a_stream_begins_with_nothing_and_survives_any_document(support: AgentSupport) -> None:
    stream = support.client.stream()
    documents: list[dict[str, Any]] = [{}, {"type": []}, {"type": "result", "result": 5}]
    for document in (*documents, {"type": "error", "message": {}}):
        assert isinstance(stream.add(document), str)
    assert (stream.session, stream.model, stream.text, stream.answer) == (None, None, None, None)
    assert stream.requests == {}


@pytest.mark.parametrize("support", AGENTS)
def test_hooks_have_their_sets_of_events_and_a_file_for_the_user(
    support: AgentSupport, tmp_path: Path
) -> None:
    hooks, machine = (
        support.hooks,
        Machine({"HOME": str(tmp_path)}, tmp_path / "project", tmp_path / "system"),
    )
    sets = hooks.event_sets
    assert {"default", "oldest", "all"} <= set(sets)
    assert set(sets["oldest"]) | set(sets["default"]) <= set(sets["all"])
    assert not set(hooks.blocking_events) & set(sets["all"])
    assert set(hooks.timeouts_s) <= set(sets["all"])
    assert hooks.suitable_events(machine) == ("default", None)
    file = hooks.file_for(machine, "user")
    assert file is not None
    assert (file.agent, file.level, file.path.parent) == (support.name, "user", hooks.home(machine.env))
    files = [one for level in LEVELS if (one := hooks.file_for(machine, level)) and level != "user"]
    assert [hooks.level_of(one.path) for one in files] == [one.level for one in files]
    assert list(hooks.installed(machine, lambda _: {})) == []


@pytest.mark.parametrize("agent", ["cursor", None])
def test_an_agent_that_nobody_supports_is_refused_or_has_nothing(agent: str | None, tmp_path: Path) -> None:
    support = support_for(agent)
    client, hooks, env = support.client, support.hooks, {"HOME": str(tmp_path)}
    request: Any = None
    refusals: list[Callable[[], object]] = [
        client.stream,
        lambda: client.arguments(request, session=None, settings=None, schema=None),
        lambda: client.interactive_arguments(SESSION),
        lambda: client.usage_document(UsageRow(key="")),
        lambda: client.risks(tmp_path, env),
        lambda: hooks.without_notify(""),
    ]
    for refused in refusals:
        with pytest.raises(UserError, match="does not support this agent"):
            refused()
    assert (client.log_of(SESSION, tmp_path, env), client.log_roots(env)) == (None, [])
    assert (hooks.home(env), hooks.file_for(Machine(env, tmp_path), "user")) == (None, None)


@pytest.mark.parametrize("support", AGENTS)
@pytest.mark.parametrize(("topic", "base"), [("client", AgentClient), ("hooks", AgentHooks)])
def test_an_agent_offers_nothing_that_the_contract_does_not_ask_for(
    topic: str, base: type, support: AgentSupport
) -> None:
    names = {name for name, _ in inspect.getmembers(getattr(support, topic)) if not name.startswith("_")}
    assert names == {name for name, _ in inspect.getmembers(base) if not name.startswith("_")}
