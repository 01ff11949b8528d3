"""Bring the index up to date in a child process of the server, with progress on stdout.

    python -P -m tracklog.app.index.refresh_process --home DIR --root DIR AGENT PART …

Rules
  1. Each line of stdout is a JSON object: `total` and `done` are bytes, `stage` the current step, `end` comes last.
  2. It may be killed at any time: what it had committed stays.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from tracklog.errors import UserError
from tracklog.home import Busy, Home
from tracklog.index.ingest import OnRead
from tracklog.index.rebuild import with_index
from tracklog.index.refresh import RefreshSteps, Stage, refresh
from tracklog.index.sync import OnPlan, Synced
from tracklog.ledger.prices.rates import NAME, prices_with
from tracklog.sources.log_file import Agent, Root
from tracklog.store.database import DamagedIndex, Database

_TOLD_S = 0.1  # between two lines of progress
_LOWEST = 10


class _Telling:
    """Prints progress, not too often."""

    def __init__(self) -> None:
        self._done = 0
        self._next = 0.0

    def say(self, **words: Any) -> None:
        try:
            sys.stdout.write(json.dumps(words) + "\n")
            sys.stdout.flush()
        except BrokenPipeError:  # the server is gone: nobody waits for the rest
            os._exit(0)

    @contextmanager
    def stage(self, name: Stage) -> Iterator[tuple[OnPlan, OnRead]]:
        """Callbacks for the bytes of a stage: printed for logs; of other stages, only the name is."""
        if name == "indexing":
            yield self.plan, self.read
        else:
            self.say(stage=name)
            yield _ignore, _ignore

    def plan(self, n_bytes: int) -> None:
        self._done = 0
        self.say(total=n_bytes)

    def read(self, n_bytes: int) -> None:
        self._done += n_bytes
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + _TOLD_S
            self.say(done=self._done)


def _ignore(_n_bytes: int) -> None:
    pass


def _root_of(path: str, agent: str, part: str) -> Root:
    return Root(Path(path), cast(Agent, agent) if agent else None, part or None)


def bring_up_to_date(home: Home, roots: Sequence[Root], telling: _Telling) -> Synced:
    """All steps; what was read."""
    prices = prices_with(home.path / NAME, must_exist=False, called=NAME)

    def work(database: Database) -> Synced:
        steps = RefreshSteps(load_prices=lambda: prices, tends_archive=True)
        return refresh(database, roots, steps, on_stage=telling.stage).synced

    def said(damage: DamagedIndex, aside: Path) -> None:
        telling.say(damaged=f"{damage}; it is now {aside.name}, and a new one is made")

    return with_index(home, work, on_damage=said)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs once; the exit code says whether it could."""
    options = argparse.ArgumentParser()
    options.add_argument("--home", type=Path, required=True)
    options.add_argument("--root", nargs=3, action="append", default=[])
    given = options.parse_args(arguments)
    os.nice(_LOWEST)
    telling, roots = _Telling(), [_root_of(*one) for one in given.root]
    try:
        done = bring_up_to_date(Home(given.home), roots, telling)
    except Busy:
        telling.say(end="busy")
        return 1
    except UserError as error:
        telling.say(end="failed", why=str(error))
        return 1
    unused = {root.path for root in roots if root.agent is not None and not root.path.exists()}
    skipped = [f"{one.path}: {one.why}" for one in done.skipped if one.path not in unused]
    telling.say(end="fresh", problems=[*done.problems, *skipped][:200])
    return 0


if __name__ == "__main__":
    sys.exit(main())
