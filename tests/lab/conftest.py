"""Plays scenarios with real clients for the tests that ask for them: each once, three at a time.

A test that takes `lab_run` is run for every release and scenario (or those its `lab_of` marker names). By default
the releases are the current ones, without the sittings in a terminal; `TRACKLOG_LAB_VERSIONS=all` adds those and
the older releases. A client that cannot be installed skips its tests with the reason; with `CI=true` it fails them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.lab.clients import PLAYS_ALL, Version, installed, releases, skipping_unobtainable
from tests.lab.run import LabRun, play
from tests.lab.scenarios import CLAUDE, CODEX
from tests.lab.words import Scenario

STORIES = {"claude": CLAUDE, "codex": CODEX}
AT_ONCE = 3  # clients wait as much as they work: this keeps two cores busy


@dataclass(frozen=True)
class Casting:
    """Which scenario is to be played with which release."""

    agent: str
    release: str
    scenario: Scenario

    @property
    def name(self) -> str:
        """As it stands in the test's id."""
        return f"{self.agent}-{self.release}-{self.scenario.name}"

    def play(self, root: Path) -> LabRun:
        """Gets the client and plays."""
        program = installed(self.agent, self.release)
        return play(self.agent, program, self.release, self.scenario, root=root / self.name)


def castings() -> list[Casting]:
    """Every pair of release and scenario that this run is about."""
    played = [Casting(a, r, s) for a in STORIES for r in releases(a) for s in STORIES[a] if _can_play(r, s)]
    return [c for c in played if PLAYS_ALL or not c.scenario.in_terminal]


def _can_play(release: str, scenario: Scenario) -> bool:
    return Version(scenario.since) <= Version(release)


def pytest_configure(config: pytest.Config) -> None:
    """Makes our own marker known."""
    config.addinivalue_line("markers", "lab_of(agent=…, scenarios=…): the runs that a lab test is about")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Gives every test that wants a run all the castings it is about."""
    if "lab_run" not in metafunc.fixturenames:
        return
    marker = metafunc.definition.get_closest_marker("lab_of")
    about = [c for c in castings() if marker is None or _is_about(c, **marker.kwargs)]
    params = [pytest.param(c, id=c.name, marks=_marks(c)) for c in about]
    metafunc.parametrize("lab_run", params, indirect=True, scope="session")


def _is_about(casting: Casting, *, agent: str | None = None, scenarios: tuple[str, ...] = ()) -> bool:
    return agent in (None, casting.agent) and (not scenarios or casting.scenario.name in scenarios)


def _marks(casting: Casting) -> list[pytest.MarkDecorator]:
    return [pytest.mark.lab, pytest.mark.xdist_group(casting.name)]


class Stage:
    """Plays ahead of the tests: all that the collected tests will ask for, in their order."""

    def __init__(self, root: Path, wanted: list[Casting]) -> None:
        self._root = root
        self._pool = ThreadPoolExecutor(AT_ONCE)
        self._plays: dict[str, Future[LabRun]] = {}
        for casting in wanted:
            self._play(casting)

    def run(self, casting: Casting) -> LabRun:
        """The played scenario, once it is over."""
        return self._play(casting).result()

    def close(self) -> None:
        """Starts nothing more."""
        self._pool.shutdown(cancel_futures=True)

    def _play(self, casting: Casting) -> Future[LabRun]:
        if casting.name not in self._plays:
            self._plays[casting.name] = self._pool.submit(casting.play, self._root)
        return self._plays[casting.name]


@pytest.fixture(scope="session")
def stage(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """The stage of this session. A worker of xdist does not know which tests it will get, so it plays on demand."""
    ahead = [] if "PYTEST_XDIST_WORKER" in os.environ else _collected(request.session.items)
    stage = Stage(tmp_path_factory.mktemp("lab"), ahead)
    yield stage
    stage.close()


def _collected(items: list[pytest.Item]) -> list[Casting]:
    params: list[dict[str, Any]] = [item.callspec.params for item in items if hasattr(item, "callspec")]
    return [p["lab_run"] for p in params if isinstance(p.get("lab_run"), Casting)]


@pytest.fixture(scope="session")
def lab_run(request: pytest.FixtureRequest, stage: Stage) -> LabRun:
    """A played scenario, shared by all tests."""
    with skipping_unobtainable():
        return stage.run(request.param)
