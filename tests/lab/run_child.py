"""A place where children of `tracklog run` are started, by the Python API or by the command, against the scripted API.

Rules of this room
  1. All that runs here is known by its HOME, which is a folder of the test's own: whoever has it in their environment
     descends from a run, whatever became of their parents. Nobody else is ever signalled.
  2. Prices are written down here once more, so that our book is not measured by itself.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import psutil

from tests.lab.anthropic_api import AnthropicApi
from tests.lab.api_truth import Spent, charged_by_anthropic, charged_by_openai
from tests.lab.clients import CURRENT, installed_or_skip
from tests.lab.homes import (
    CODEX_MODEL,
    Home,
    claude_environment,
    codex_environment,
    make_home,
    write_claude_files,
    write_codex_files,
)
from tests.lab.loopback import Exchange, ScriptedApi
from tests.lab.openai_api import OpenAiApi
from tests.lab.run import CLAUDE_MODEL
from tests.lab.run_stories import Story
from tests.lab.script import Script, filled
from tests.lab.words import Json
from tests.views.cli.command import SOURCE, tracklog
from tracklog.run import Child, RunRequest, start

GONE_S = (
    60.0  # within this all of a run is gone, whoever died: twice five seconds of grace, and a busy machine
)
LEAVE_S = 30.0  # so long a process that nobody needs any more may take to end
LOOK_S = 0.05
MICRO_USD_PER_TOKEN = {  # input, output, cache read, cache write for 5 minutes, for an hour
    CLAUDE_MODEL: (3.0, 15.0, 0.30, 3.75, 6.0),
    CODEX_MODEL: (1.25, 10.0, 0.125, 0.0, 0.0),
    "gpt-5.5": (5.0, 30.0, 0.5, 0.0, 0.0),
}

Left = TypeVar("Left")


@dataclass
class Place:
    """A home with a client, and an API that it talks to."""

    agent: str
    version: str
    program: Path
    home: Home
    api: ScriptedApi
    env: dict[str, str] = field(default_factory=dict)

    @property
    def ours(self) -> Path:
        """TRACKLOG_HOME."""
        return self.home.root / "ours"

    @property
    def model(self) -> str | None:
        """What the child is told to use; for Codex it stands in config.toml."""
        return CLAUDE_MODEL if self.agent == "claude" else None

    def request(self, prompt: str = "please work", **more: Any) -> RunRequest:
        """A request for this client in this home."""
        given = {"model": self.model, "client": str(self.program), **more}
        return RunRequest(agent=self.agent, prompt=prompt, cwd=self.home.cwd, **given)  # type: ignore[arg-type]

    def start(self, prompt: str = "please work", **more: Any) -> Child:
        """Starts a child by the Python API."""
        return start(self.request(prompt, **more), home=self.ours, env=self.env)

    def command(self, verb: str, *arguments: str | Path) -> subprocess.Popen[bytes]:
        """Starts the command in a process of its own."""
        named = ["--model", self.model] if self.model and verb == "run" else []
        return subprocess.Popen(
            [
                sys.executable,
                "-m",
                "tracklog",
                verb,
                *named,
                "--client",
                str(self.program),
                *map(str, arguments),
            ],
            cwd=self.home.cwd,
            env={**self.env, "PYTHONPATH": str(SOURCE), "TRACKLOG_HOME": str(self.ours)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def answer(self, *arguments: str | Path) -> Any:
        """What a command of ours says of this home, as JSON."""
        return tracklog(*arguments, home=self.home.root, env={"TRACKLOG_HOME": str(self.ours)}).json

    def processes(self) -> list[psutil.Process]:
        """Everything that runs here."""
        return [one for one in psutil.process_iter() if _home_of(one) == str(self.home.root)]

    def supervisors(self) -> list[psutil.Process]:
        """The supervisors of the runs."""
        return [one for one in self.processes() if "--told" in _words_of(one)]

    def kill_all(self) -> None:
        """Ends whatever runs here, and waits until it is gone."""
        for one in self.processes():
            with suppress(psutil.NoSuchProcess):  # it may go while we look
                one.kill()
        wait_until(lambda: not self.processes(), "they do not die")

    def becomes_clean(self) -> None:
        """Waits until no process and no file of a run is left."""
        left = _what_stays(lambda: [*map(str, self.processes()), *self.leftovers()], within_s=GONE_S)
        assert left == [], f"left after {GONE_S:g} s"

    def staying(self) -> list[psutil.Process]:
        """What runs here and goes on to: a supervisor whose run was refused is still taking its leave."""
        return _what_stays(self.processes, within_s=LEAVE_S)

    def leftovers(self) -> list[str]:
        """What stands in the folders of running children."""
        now = self.ours / "runs" / "now"
        return [os.path.join(at, name) for at, folders, files in os.walk(now) for name in (*folders, *files)]

    def register(self) -> list[Json]:
        """What was written down of runs."""
        return [json.loads(line) for line in (self.ours / "runs" / "runs.jsonl").read_bytes().splitlines()]

    def at_work(self) -> None:
        """Wait until the long command runs and the log has its call."""
        wait_until(self.is_at_work, "the command was not started, or its call is in no log", within_s=60)

    def is_at_work(self) -> bool:
        """Whether the long command runs, or did, and the log has its call."""
        is_started = (self.home.cwd / "started").exists()
        return is_started and any(b"setsid" in log.read_bytes() for log in self.logs())

    def logs(self) -> list[Path]:
        """All logs that the client has written."""
        return [*self.home.claude.glob("projects/**/*.jsonl"), *self.home.codex.glob("sessions/**/*.jsonl")]

    def charged_micro_usd(self, exchanges: Iterable[Exchange] | None = None) -> float:
        """What the API charges for these requests, else for all that were answered to their end."""
        chosen = (
            [e for e in self.api.exchanges if e.outcome == "complete"] if exchanges is None else exchanges
        )
        charged = charged_by_anthropic if self.agent == "claude" else charged_by_openai
        return sum(_micro_usd(model, spent) for e in chosen for model, spent in charged(e))


def _what_stays(look: Callable[[], list[Left]], *, within_s: float) -> list[Left]:
    """What is still seen after a while; nothing as soon as nothing is."""
    deadline = time.monotonic() + within_s
    while (seen := look()) and time.monotonic() < deadline:
        time.sleep(LOOK_S)
    return seen


def _home_of(process: psutil.Process) -> str | None:
    try:
        return process.environ().get("HOME") if process.status() != psutil.STATUS_ZOMBIE else None
    except (psutil.Error, OSError):  # it has ended, or it is another user's
        return None


def _words_of(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except (psutil.Error, OSError):
        return []


def _micro_usd(model: str, spent: Spent) -> float:
    read, write_5m, write_1h = (
        spent.cache_read_tokens,
        spent.cache_write_5m_tokens,
        spent.cache_write_1h_tokens,
    )
    tokens = (spent.input_tokens, spent.output_tokens, read, write_5m, write_1h)
    return sum(n * rate for n, rate in zip(tokens, MICRO_USD_PER_TOKEN[model], strict=True))


def wait_until(is_so: Callable[[], bool], otherwise: str, *, within_s: float = GONE_S) -> None:
    """Waits until something is so, and fails when it does not become so."""
    deadline = time.monotonic() + within_s
    while not is_so():
        assert time.monotonic() < deadline, f"{otherwise} within {within_s:g} s"
        time.sleep(LOOK_S)


@contextmanager
def place_for(
    story: Story, root: Path, *, release: str | None = None, env: Mapping[str, str] | None = None
) -> Iterator[Place]:
    """A place in which a story can be played; whatever still runs there at the end is killed, and that is a failure."""
    version = release or CURRENT[story.agent]
    program = installed_or_skip(story.agent, version)
    scenario = story.scenario
    home = make_home(root / "it's home", scenario)
    script = Script(f"{story.agent} {scenario.name}", scenario.threads)
    api: ScriptedApi = (AnthropicApi if story.agent == "claude" else OpenAiApi)(script, home.holes())
    with api:
        if story.agent == "claude":
            write_claude_files(home, scenario)
            known = claude_environment(home, api.url)
        else:
            write_codex_files(home, scenario, api.url)
            known = codex_environment(home, api.url)
        told = {**known, **filled(dict(scenario.env), home.holes()), **(env or {})}
        place = Place(story.agent, version, program, home, api, told)
        try:
            yield place
        finally:
            left = place.staying()
            place.kill_all()
        assert not left, f"still running: {left}"
