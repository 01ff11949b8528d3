"""A real client at work while it is watched: what a person sees on its screen, and when things truly happened.

Rules of this room
  1. All moments are milliseconds of one clock, the machine's. The screen is read thirty times a second; what it shows is
     noted when the reading is over, so a fact is never noted before it could be seen.
  2. Nothing here asks tracklog what the client does: that is what the facts are held against.
"""

from __future__ import annotations

import dataclasses
import math
import re
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Literal, Self

import psutil

from tests.lab.anthropic_api import AnthropicApi
from tests.lab.clients import Unobtainable, installed
from tests.lab.homes import (
    Home,
    claude_environment,
    codex_environment,
    logs_below,
    make_home,
    write_claude_files,
    write_codex_files,
)
from tests.lab.live_watch import Told, Watcher, now_ms
from tests.lab.loopback import Exchange, ScriptedApi
from tests.lab.openai_api import OpenAiApi
from tests.lab.run import CLAUDE_MODEL
from tests.lab.script import Script
from tests.lab.terminal import Terminal
from tests.lab.words import Json, Scenario

Shown = Literal["idle", "working", "waiting", "nothing"]
GLANCE_S = 0.03
ANSWER_S = 20.0
KEPT_BACK_MS = 500  # on a busy machine Claude Code writes a call now and then only with its result
_SHOWS: tuple[tuple[Shown, re.Pattern[str]], ...] = (
    ("waiting", re.compile(r"Do you want to|Would you like to|[Ee]sc to cancel|enter to submit")),
    ("working", re.compile(r"esc to interrupt")),
    ("idle", re.compile(r"(mode|permissions) on\b|for shortcuts|^› |^[│ ]*> ", re.MULTILINE)),
)


@dataclass(frozen=True)
class Glance:
    """Since when the screen shows something to a person."""

    at_ms: int
    shows: Shown


class Eyes(threading.Thread):
    """Reads a screen again and again, and keeps when it began to show what."""

    def __init__(self, screen: Callable[[], str]) -> None:
        super().__init__(daemon=True)
        self.glances: list[Glance] = []
        self._screen = screen
        self._done = threading.Event()

    def run(self) -> None:
        while not self._done.wait(GLANCE_S):
            shows = shown_on(self._screen())
            if not self.glances or self.glances[-1].shows != shows:
                self.glances.append(Glance(now_ms(), shows))

    def stop(self) -> None:
        """Looks no longer."""
        self._done.set()
        self.join()


class LogEyes(threading.Thread):
    """Looks into the logs of a home again and again, and keeps when some words first stood there."""

    def __init__(self, home: Path, *words: str) -> None:
        super().__init__(daemon=True)
        self.seen_ms: dict[str, int] = {}
        self._home = home
        self._words = words
        self._done = threading.Event()

    def run(self) -> None:
        while not self._done.wait(GLANCE_S):
            text = b"".join(map(_bytes_of, logs_below(self._home)))
            for words in self._words:
                if words not in self.seen_ms and words.encode() in text:
                    self.seen_ms[words] = now_ms()

    def keeps_back(self, words: str, fact_ms: int) -> bool:
        """Whether the client wrote of a fact so late that nobody could tell of it by the log."""
        return self.seen_ms.get(words, math.inf) > fact_ms + KEPT_BACK_MS

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self.join()


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def shown_on(screen: str) -> Shown:
    """What a person takes from a screen."""
    return next((shows for shows, pattern in _SHOWS if pattern.search(screen)), "nothing")


class _NotesTimes(ScriptedApi):
    """Notes when the model was asked."""

    asked_ms: list[int]
    may_answer: Callable[[], bool] | None = None

    def record(self, exchange: Exchange, request: Json) -> None:
        if exchange.kind == "story":
            self.asked_ms.append(now_ms())
            self._wait_until_it_may_answer()
        super().record(exchange, request)

    def _wait_until_it_may_answer(self) -> None:
        until = time.monotonic() + ANSWER_S
        while self.may_answer and not self.may_answer() and time.monotonic() < until:
            time.sleep(GLANCE_S)


class _Anthropic(_NotesTimes, AnthropicApi):
    def __init__(self, script: Script, home: Home) -> None:
        super().__init__(script, home.holes())
        self.asked_ms = []


class _OpenAi(_NotesTimes, OpenAiApi):
    def __init__(self, script: Script, home: Home) -> None:
        super().__init__(script, home.holes())
        self.asked_ms = []


@dataclass(frozen=True)
class Workplace:
    """A home with a client that can be started in it, an API that answers, and a watch over both."""

    home: Home
    watcher: Watcher
    api: _NotesTimes
    argv: list[str]
    environment: dict[str, str]

    def answer_when_told_of_work(self) -> None:
        """Let the model answer only when the watch has said that the client works: no state is too short to be told."""
        self.api.may_answer = lambda: [one.state for one in self.watcher.states][-1:] == ["working"]

    @contextmanager
    def terminal(self, *arguments: str, has_eyes: bool = True) -> Iterator[tuple[Terminal, Eyes]]:
        """The client in a terminal, with somebody who looks at it all the time, unless that is not needed."""
        if shutil.which("tmux") is None:
            raise Unobtainable("tmux is not installed")
        argv = [*self.argv, *arguments]
        with Terminal(argv, cwd=self.home.cwd, environment=self.environment) as terminal:
            eyes = Eyes(terminal.screen)
            if not has_eyes:
                yield terminal, eyes
                return
            eyes.start()
            try:
                yield terminal, eyes
            finally:
                eyes.stop()

    @contextmanager
    def headless(self, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
        """The client without a terminal; it is gone at the end of the block."""
        client = subprocess.Popen(
            [*self.argv, *arguments],
            cwd=self.home.cwd,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            yield client
        finally:
            client.kill()
            client.wait()

    def written_ms(self, name: str, timeout_s: float = 60.0) -> int:
        """The moment that a tool wrote into this file of the project, once it has."""
        until = time.monotonic() + timeout_s
        path = self.home.cwd / name
        while not path.exists() or not path.read_text().endswith("\n"):
            assert time.monotonic() < until, f"no {name}: {[one.data for one in self.watcher.states]}"
            time.sleep(0.01)
        return int(path.read_text())


@contextmanager
def workplace(agent: str, version: str, scenario: Scenario, *, root: Path) -> Iterator[Workplace]:
    """Everything that a live play needs, in a home below `root` that may hold settings already."""
    program = installed(agent, version)
    home = make_home(root, scenario)
    script = Script(f"{agent} {version} {scenario.name}", scenario.threads)
    api = _Anthropic(script, home) if agent == "claude" else _OpenAi(script, home)
    with api, Watcher(home.root) as watcher:
        if agent == "claude":
            argv = [str(program), "--model", CLAUDE_MODEL, *write_claude_files(home, scenario)]
            environment = claude_environment(home, api.url)
        else:
            write_codex_files(home, scenario, api.url)
            argv, environment = [str(program)], codex_environment(home, api.url)
        yield Workplace(home, watcher, api, argv, environment | dict(scenario.env))


@dataclass(frozen=True)
class Disagreement:
    """A stretch of time in which the screen showed one thing and another was told."""

    took_ms: int
    shown: Shown
    told: str


def disagreements(
    glances: Sequence[Glance], told: Sequence[Told], *, from_ms: int, to_ms: int
) -> list[Disagreement]:
    """All stretches of a time in which what was told is not what a person saw."""
    moments = sorted({from_ms, to_ms, *(g.at_ms for g in glances), *(one.at_ms for one in told)})
    found: list[Disagreement] = []
    for begin, end in pairwise(moments):
        if begin < from_ms or end > to_ms:
            continue
        shown = _shown_at(glances, begin)
        said = next((one.state for one in reversed(told) if one.at_ms <= begin), "nothing")
        same = ("nothing", "ended", "crashed") if shown == "nothing" else (shown,)
        if said in same:
            continue
        if found and (found[-1].shown, found[-1].told) == (shown, said):
            found[-1] = Disagreement(found[-1].took_ms + end - begin, shown, said)
        else:
            found.append(Disagreement(end - begin, shown, said))
    return found


def as_one(told: Sequence[Told]) -> list[Told]:
    """The states of several sessions of one client as the person before it sees them: a session that ended is followed by another."""
    living: dict[str, Told] = {}
    seen: list[Told] = []
    for one in told:
        living.pop(one.session, None)
        if one.state not in ("ended", "crashed"):
            living[one.session] = one
        now = next(reversed(living.values()), one)
        seen.append(dataclasses.replace(now, at_ms=one.at_ms))
    return seen


def _shown_at(glances: Sequence[Glance], at_ms: int) -> Shown:
    return next((glance.shows for glance in reversed(glances) if glance.at_ms <= at_ms), "nothing")


def end_of(pids: set[int], timeout_s: float = 60.0) -> int:
    """When the last of these processes had ended, whether somebody has taken leave of it or not."""
    until = time.monotonic() + timeout_s
    assert pids
    while any(map(_lives, pids)):
        assert time.monotonic() < until, f"{pids} live on"
        time.sleep(0.01)
    return now_ms()


def _lives(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


@dataclass(frozen=True)
class Fact:
    """Something that happened, and how a state that tells of it is known."""

    name: str
    at_ms: int
    tells: Callable[[Told], bool]


def lateness(facts: list[Fact], told: list[Told]) -> dict[str, int]:
    """How long after each fact it was told, in milliseconds; states are looked through in their order."""
    late: dict[str, int] = {}
    rest = iter(told)
    for fact in facts:
        found = next((one for one in rest if fact.tells(one)), None)
        assert found is not None, f"{fact.name} was never told: {[(one.state, one.data) for one in told]}"
        late[fact.name] = found.at_ms - fact.at_ms
    return late


def is_state(state: str, *, doing: str | None = None, needs_call: bool = False) -> Callable[[Told], bool]:
    """Tells of this state, in a call that ends so."""

    def tells(one: Told) -> bool:
        does = str(one.data["doing"])
        return (
            one.state == state
            and (not doing or does.endswith(doing))
            and bool(one.data["call"] or not needs_call)
        )

    return tells
