"""Brings the index up to date, and says on stdout how far it is: a process of its own beside the server.

    python -P -m tracklog.views.web.index_child --home DIR --root DIR AGENT PART …

Rules of this room
  1. Each line of stdout is a JSON object: `total` and `done` are bytes, `stage` is what goes on, `end` the last word.
  2. It may be killed at any time: what it had committed stays.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from tracklog.errors import UserError
from tracklog.pipeline.recompressing import tend
from tracklog.pipeline.recovering import with_index
from tracklog.pipeline.settling import session_files, settle_sessions
from tracklog.pipeline.settling_ledger import settle_ledger
from tracklog.pipeline.sync import Synced, sync
from tracklog.sources.found import Agent, Root
from tracklog.store.database import Damaged, Database
from tracklog.store.home import Busy, Home
from tracklog.store.own_prices import NAME, prices_with
from tracklog.store.settings import setting

_TOLD_S = 0.1  # between two words about how far it is
_LOWEST = 10
_MUCH = 16_000_000  # bytes: who reads so many does not tidy as well


class _Telling:
    """Says how far it is, not too often."""

    def __init__(self) -> None:
        self._done = 0
        self._next = 0.0

    def say(self, **words: Any) -> None:
        try:
            sys.stdout.write(json.dumps(words) + "\n")
            sys.stdout.flush()
        except BrokenPipeError:  # the server is gone: nobody waits for the rest
            os._exit(0)

    def plan(self, n_bytes: int) -> None:
        self._done = 0
        self.say(total=n_bytes)

    def read(self, n_bytes: int) -> None:
        self._done += n_bytes
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + _TOLD_S
            self.say(done=self._done)


def _root_of(path: str, agent: str, part: str) -> Root:
    return Root(Path(path), cast(Agent, agent) if agent else None, part or None)


def bring_up_to_date(home: Home, roots: Sequence[Root], telling: _Telling) -> Synced:
    """Reads what is new, puts sessions together, counts what they spent."""
    prices = prices_with(home.path / NAME, must_exist=False, called=NAME)

    def work(database: Database) -> Synced:
        archives = setting(database.db, "archive") != "off"
        done = sync(database, roots, with_archive=archives, on_plan=telling.plan, on_read=telling.read)
        telling.say(stage="settling")
        settle_sessions(database)
        telling.say(stage="counting")
        settle_ledger(database, session_files(database), prices)
        if archives and not done.is_nothing and done.n_bytes < _MUCH:
            tend(database, now_ns=time.time_ns())
        return done

    def said(damage: Damaged, aside: Path) -> None:
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
