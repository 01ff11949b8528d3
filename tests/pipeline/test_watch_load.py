"""What is written is told once, whatever happens to the logs meanwhile: a short run of what `bench/tail.py` measures."""

from __future__ import annotations

import json
import sys
import time
from contextlib import closing
from pathlib import Path
from threading import Thread

import pytest

from bench.tail import compared, home_in, mark_of, roots_in
from bench.tail_load import Load
from tests.few_watches import run_with
from tracklog.pipeline.watching import live_events

CALM_S = 0.7  # without a line, after all lines were told: what comes twice would come by then
LIMIT_S = 60.0


def told_while(load: Load, top: Path, *, seconds: float, **pace: float) -> list[tuple[str, int]]:
    """The marks that were told while the load ran, and when."""
    told: list[tuple[str, int]] = []
    writer = Thread(target=load.run, args=(seconds,), kwargs=pace)
    with closing(live_events(roots_in(top), home_in(top))) as stream:
        next(stream)
        writer.start()
        calm_since = time.monotonic()
        while writer.is_alive() or time.monotonic() - calm_since < (
            CALM_S if is_all(load, told) else LIMIT_S
        ):
            now, marks = time.monotonic_ns(), [mark_of(event) for event in next(stream)]
            told += [(mark, now) for mark in marks if mark]
            calm_since = time.monotonic() if marks or writer.is_alive() else calm_since
    return told


def is_all(load: Load, told: list[tuple[str, int]]) -> bool:
    """Whether every line was told that must be."""
    return load.written.keys() - load.may_be_missing() <= {mark for mark, _ in told}


@pytest.mark.parametrize(
    ("seed", "seconds"),
    [(1, 2.0), pytest.param(1, 8.0, marks=pytest.mark.soak), pytest.param(2, 8.0, marks=pytest.mark.soak)],
)
def test_every_line_is_told_once_while_logs_are_torn_moved_cut_and_rewritten(
    tmp_path: Path, seed: int, seconds: float
) -> None:
    load = Load(tmp_path, n_logs=8, seed=seed)
    told = told_while(load, tmp_path, seconds=seconds, bytes_per_s=1_000_000, act_every_s=0.05)
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
