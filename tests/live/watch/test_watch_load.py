"""What is written is told once, whatever happens to the logs meanwhile: a short run of what `bench/tail.py` measures."""

from __future__ import annotations

import json
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from threading import Thread

import pytest

from bench.tail import compared, home_in, mark_of, roots_in
from bench.tail_load import Load, Log
from tests.few_watches import run_with
from tracklog.live.watch.shared import live_events

CALM_S = 0.7  # without a line, after all lines were told: what comes twice would come by then
LIMIT_S = 60.0
STEPS_OF_AN_ACT = 20


class ReadLoad(Load):
    """A load that takes nothing away before it could be read, however slow the machine is."""

    def __init__(self, top: Path, *, n_logs: int, seed: int) -> None:
        self.told: set[str] = set()
        self._in_file: dict[str, set[str]] = defaultdict(
            set
        )  # by path: the marks in the file that is there now
        super().__init__(top, n_logs=n_logs, seed=seed)

    def write(self, n_steps: int) -> None:
        """Write so many pieces of lines; something happens to a log now and then, the same with each seed."""
        for n in range(n_steps):
            self.step()
            if n % STEPS_OF_AN_ACT == 0:
                self.act()
            time.sleep(0.001)
        self.finish()

    def is_told(self) -> bool:
        """Whether every line was told that must be."""
        return self.written.keys() - self.may_be_missing() <= self.told

    def _write_piece(self, log: Log) -> None:
        super()._write_piece(log)
        if not log.torn:
            self._in_file[str(log.path)].add(log.torn_mark)

    def _rename(self, log: Log) -> None:
        """Nobody looks for a log under its new name: the watcher must have found it before."""
        marks = self._in_file[str(log.path)]
        _wait_until(lambda: not marks or bool(marks & self.told))
        super()._rename(log)
        self._in_file.pop(str(log.path))

    def _move(self, log: Log) -> None:
        before = str(log.path)
        super()._move(log)
        self._in_file[str(log.path)] |= self._in_file.pop(before, set())

    def _cut(self, log: Log) -> None:
        """A line that was there for a second must have been told; others get older while we wait for it."""
        _wait_until(lambda: {mark for mark, _ in log.last if self._is_old(mark)} <= self.told)
        super()._cut(log)

    def _is_old(self, mark: str) -> bool:
        return mark in self.written and time.monotonic_ns() - self.written[mark] > 1_000_000_000


def _wait_until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LIMIT_S
    while not is_so() and time.monotonic() < deadline:
        time.sleep(0.005)


def told_while(load: ReadLoad, top: Path, *, n_steps: int) -> list[tuple[str, int]]:
    """The marks that were told while the load was written, and when."""
    told: list[tuple[str, int]] = []
    writer = Thread(target=load.write, args=(n_steps,))
    with closing(live_events(roots_in(top), home_in(top))) as stream:
        next(stream)
        writer.start()
        calm_since = time.monotonic()
        while writer.is_alive() or time.monotonic() - calm_since < (CALM_S if load.is_told() else LIMIT_S):
            now, marks = time.monotonic_ns(), [mark_of(event) for event in next(stream)]
            told += [(mark, now) for mark in marks if mark]
            load.told.update(mark for mark in marks if mark)
            calm_since = time.monotonic() if marks or writer.is_alive() else calm_since
    return told


@pytest.mark.parametrize(
    ("seed", "n_steps"),
    [
        (1, 1_000),
        pytest.param(1, 5_000, marks=pytest.mark.soak),
        pytest.param(2, 5_000, marks=pytest.mark.soak),
    ],
)
def test_every_line_is_told_once_while_logs_are_torn_moved_cut_and_rewritten(
    tmp_path: Path, seed: int, n_steps: int
) -> None:
    load = ReadLoad(tmp_path, n_logs=8, seed=seed)
    told = told_while(load, tmp_path, n_steps=n_steps)
    found = compared(load.written, load.may_be_missing(), told)
    assert found["lines"] > 300
    assert set(load.acts) == {"rename", "cut", "rewrite_aside", "rewrite_in_place", "retire", "move"}
    assert {name: found[name] for name in ("lost", "doubled", "never_written")} == {
        "lost": 0,
        "doubled": 0,
        "never_written": 0,
    }
    assert min(at for _, at in told) < max(load.written.values()), "told only when all was written"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has so few watches")
def test_without_watches_nothing_is_lost_either() -> None:
    asked = ("--seconds=2", "--logs=6", "--mb-per-s=1", "--json")
    found = json.loads(run_with("watches", 2, "-m", "bench.tail", *asked))
    assert found["lines"] > 100
    assert {name: found[name] for name in ("lost", "doubled", "never_written", "follower_lost")} == {
        "lost": 0,
        "doubled": 0,
        "never_written": 0,
        "follower_lost": 0,
    }
