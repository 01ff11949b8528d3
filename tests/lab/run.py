"""Plays a scenario with a real client and says where everything lies afterwards."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.lab.anthropic_api import AnthropicApi
from tests.lab.homes import (
    Home,
    claude_environment,
    codex_environment,
    logs_below,
    make_home,
    write_claude_files,
    write_codex_files,
)
from tests.lab.loopback import Exchange, ScriptedApi
from tests.lab.openai_api import OpenAiApi
from tests.lab.process import ClientExit, start_client
from tests.lab.registry import Glimpse
from tests.lab.script import Script, filled
from tests.lab.terminal import sit
from tests.lab.words import Json, Scenario, Sitting, Step

CLAUDE_MODEL = "claude-sonnet-4-5-20250929"
UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True)
class LabRun:
    """A played scenario: the home it left, what the client printed, what the API answered."""

    agent: str
    version: str
    scenario: Scenario
    home: Home
    exits: list[ClientExit]
    exchanges: list[Exchange]
    requests: list[Json]
    strays: list[str]  # hosts outside loopback that the client asked for, in vain

    @property
    def config_dir(self) -> Path:
        """The client's own directory."""
        return self.home.claude if self.agent == "claude" else self.home.codex

    @property
    def logs(self) -> list[Path]:
        """Every log the client wrote, sorted."""
        below = ("projects",) if self.agent == "claude" else ("sessions", "archived_sessions")
        return sorted(path for name in below for path in (self.config_dir / name).rglob("*.jsonl"))

    @property
    def session_ids(self) -> list[str]:
        """The ids of the sessions, oldest first, as the file names say."""
        files = [p for p in self.logs if UUID.search(p.name)]
        return [UUID.findall(p.name)[0] for p in sorted(files, key=lambda p: p.stat().st_ctime)]

    @property
    def glimpses(self) -> list[Glimpse]:
        """What the registry files held while the client lived."""
        return [g for e in self.exits for g in e.glimpses]

    @property
    def final_text(self) -> str:
        """The last answer, as the client printed it."""
        return _final_text(self.exits[-1].documents)

    @property
    def as_told(self) -> bool:
        """Whether the client ended as the scenario says."""
        last = self.exits[-1]
        return last.code in self.scenario.ends and not any(e.timed_out for e in self.exits)

    def summary(self) -> str:
        """One line about the run."""
        codes = ",".join(str(e.code) for e in self.exits)
        took = sum(e.took_s for e in self.exits)
        sign = "ok " if self.as_told else "ODD"
        return (
            f"{sign} {self.agent} {self.version} {self.scenario.name}: exit {codes}, {took:.1f} s, "
            f"{len(self.exchanges)} requests, {len(self.logs)} logs, {self.final_text[:60]!r}"
        )

    def lines(self) -> Iterable[Json]:
        """Every line of every log, decoded plainly."""
        for path in self.logs:
            yield from map(json.loads, path.read_bytes().splitlines())

    def story(self) -> list[Exchange]:
        """The completed requests of the script: those a transcript must hold."""
        return [e for e in self.exchanges if e.kind == "story" and e.outcome == "complete"]


def play(agent: str, binary: Path, version: str, scenario: Scenario, *, root: Path) -> LabRun:
    """Plays a scenario with the client of this agent."""
    runner = run_claude if agent == "claude" else run_codex
    return runner(binary, version, scenario, root=root)


def run_claude(binary: Path, version: str, scenario: Scenario, *, root: Path) -> LabRun:
    """Plays a scenario with Claude Code in a home below `root`."""
    home = make_home(root, scenario)
    given = write_claude_files(home, scenario)
    script = Script(f"claude {version} {scenario.name}", scenario.threads)
    with AnthropicApi(script, home.holes()) as api:
        argvs = [[str(binary), *_claude_arguments(scenario, step), *given] for step in scenario.steps]
        exits = _starts(argvs, scenario, home=home, environment=claude_environment(home, api.url), api=api)
    return LabRun("claude", version, scenario, home, exits, api.exchanges, api.requests, api.strays)


def run_codex(binary: Path, version: str, scenario: Scenario, *, root: Path) -> LabRun:
    """Plays a scenario with Codex in a home below `root`."""
    home = make_home(root, scenario)
    script = Script(f"codex {version} {scenario.name}", scenario.threads)
    with OpenAiApi(script, home.holes()) as api:
        write_codex_files(home, scenario, api.url)
        argvs = [[str(binary), *_codex_arguments(scenario, step)] for step in scenario.steps]
        exits = _starts(argvs, scenario, home=home, environment=codex_environment(home, api.url), api=api)
    return LabRun("codex", version, scenario, home, exits, api.exchanges, api.requests, api.strays)


def _starts(
    argvs: list[list[str]],
    scenario: Scenario,
    *,
    home: Home,
    environment: dict[str, str],
    api: ScriptedApi,
) -> list[ClientExit]:
    """Starts the client once per step, each time with the id of the session before it."""
    environment = environment | filled(dict(scenario.env), home.holes())
    exits: list[ClientExit] = []
    for argv, step in zip(argvs, scenario.steps, strict=True):
        holes = home.holes() | {"session": _last_session(exits, home)}
        exits.append(
            _start(filled(argv, holes), filled(step, holes), home=home, environment=environment, api=api)
        )
    return exits


def _start(
    argv: list[str], step: Step | Sitting, *, home: Home, environment: dict[str, str], api: ScriptedApi
) -> ClientExit:
    registry = home.claude / "sessions"
    if isinstance(step, Sitting):
        return sit(step, argv, cwd=home.cwd, environment=environment, registry=registry)
    api.held.clear()
    return start_client(argv, step, cwd=home.cwd, environment=environment, registry=registry, held=api.held)


def _claude_arguments(scenario: Scenario, step: Step | Sitting) -> list[str]:
    allowed = ["--dangerously-skip-permissions"] if scenario.skip_permissions else []
    common = ["--model", scenario.model or CLAUDE_MODEL, *allowed, *step.args]
    if isinstance(step, Sitting):
        return common
    talk = ["--input-format", "stream-json"] if step.messages else [step.prompt]
    return ["-p", *talk, "--output-format", "stream-json", "--verbose", *common]


def _codex_arguments(scenario: Scenario, step: Step | Sitting) -> list[str]:
    allowed = ["--dangerously-bypass-approvals-and-sandbox"] if scenario.skip_permissions else []
    if isinstance(step, Sitting):
        return [*allowed, *step.args]
    if step.bare:
        return list(step.command)
    prompt = [step.prompt] if step.prompt else []
    return ["exec", "--json", "--skip-git-repo-check", *allowed, *step.args, *step.command, *prompt]


def _last_session(exits: list[ClientExit], home: Home) -> str:
    """The id of the session before: printed by the client, or of the newest log if it was killed."""
    for document in reversed([d for e in exits for d in e.documents]):
        if found := document.get("session_id") or document.get("thread_id"):
            return str(found)
    logs = sorted(logs_below(home.root), key=lambda p: p.stat().st_mtime)
    return next((m for p in reversed(logs) for m in UUID.findall(p.name)), "")


def _final_text(documents: list[Json]) -> str:
    for document in reversed(documents):
        if document.get("type") == "result":
            return str(document.get("result", ""))
        if document.get("type") == "item.completed" and document["item"].get("type") == "agent_message":
            return str(document["item"].get("text", ""))
    return ""
