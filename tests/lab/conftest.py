"""Play scenarios with real clients for the tests that ask for them: each once, ahead of the tests.

A test that takes `lab_run` is run for every release and scenario (or those its `lab_of` marker names). By default
the releases are the current ones, without the sittings in a terminal; `TRACKLOG_LAB_VERSIONS=all` adds those and
the older releases. A client that cannot be installed skips its tests with the reason; with `CI=true` it fails them.
"""

from __future__ import annotations

import fcntl
import os
import pickle
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

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
    """Play each scenario once for all test processes, ahead of the tests and in their order.

    All workers of xdist share the folder. NAME.pickle is the result of a play; the process that holds NAME.lock plays.
    """

    def __init__(self, root: Path, wanted: list[Casting], *, at_once: int) -> None:
        root.mkdir(parents=True, exist_ok=True)
        self._root = root
        self._pool = ThreadPoolExecutor(at_once)
        for casting in {one.name: one for one in wanted}.values():
            self._pool.submit(self._play_ahead, casting)

    def run(self, casting: Casting) -> LabRun:
        """The played scenario, once it is over."""
        with self._lock(casting) as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            return self._played(casting)

    def close(self) -> None:
        """Starts nothing more."""
        self._pool.shutdown(cancel_futures=True)

    def _play_ahead(self, casting: Casting) -> None:
        with self._lock(casting) as lock, suppress(BlockingIOError):  # another one plays it
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._played(casting)

    def _played(self, casting: Casting) -> LabRun:
        kept = self._root / f"{casting.name}.pickle"
        if not kept.exists():
            played = pickle.dumps(casting.play(self._root))
            aside = kept.with_suffix(".part")
            aside.write_bytes(played)
            aside.rename(kept)
        run: LabRun = pickle.loads(kept.read_bytes())
        return run

    def _lock(self, casting: Casting) -> IO[bytes]:
        return open(self._root / f"{casting.name}.lock", "ab")


@pytest.fixture(scope="session")
def stage(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """The stage of this session, which the tests of other folders and the other workers of xdist share."""
    base, is_worker = tmp_path_factory.getbasetemp(), "PYTEST_XDIST_WORKER" in os.environ
    stage = Stage(
        (base.parent if is_worker else base) / "lab",
        _collected(request.session.items),
        at_once=1 if is_worker else AT_ONCE,
    )
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
