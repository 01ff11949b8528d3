"""How long a search takes, in this process, with snippets and without.

    python -m bench.search [--mb 2200] [--logs DIR] [--home DIR] [--rounds 5] [--json]

Makes logs and an index of them unless they are given. Goals at 2 GB: p50 <= 5 ms, p95 <= 50 ms.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from statistics import quantiles
from typing import Any

from bench.make_logs import make_logs
from tracklog.agents.discovery import roots_at
from tracklog.app.scope.filters import moment_meant
from tracklog.home import Home
from tracklog.index.sync import sync
from tracklog.search.find import find
from tracklog.search.query import parse
from tracklog.search.tables import search
from tracklog.store.database import Database, reading, writing

GOALS = {50: 5.0, 95: 50.0}
WORDS = [
    "error",
    "the",
    "timeout",
    "import",
    "glyph",
    "checkpoint",
    "harbour",
    "retry",
    "zzyzx",
    "AssertionError",
]
QUERIES = [
    *WORDS,
    *(f"{one} {other}" for one, other in zip(WORDS, WORDS[3:], strict=False)),
    '"no such file"',
    '"assertion error"',
    "err*",
    "panic OR error -test",
    "getValue",
    "して",
    "✓",
    "error role:prompt",
    "error role:result",
    "error tool:Bash",
    "error verdict:error",
    "error agent:codex",
    "error since:7d",
    "error session:0",
    "tool:Bash verdict:error",
    "error model:opus",
]
PATTERNS = [r"re:/E\d+: /", r"re:/Error: \w+/", "re:/rror/"]


def took_ms(ask: Callable[[str], Any], queries: Sequence[str], rounds: int) -> list[float]:
    """The time of each query, the best of some rounds."""
    best = [float("inf")] * len(queries)
    for _ in range(rounds):
        for n, query in enumerate(queries):
            began = time.perf_counter()
            ask(query)
            best[n] = min(best[n], (time.perf_counter() - began) * 1000)
    return best


def measured(database: Database, rounds: int) -> dict[str, list[float]]:
    """Milliseconds of each query, by what was done."""
    read = partial(parse, moment_meant=partial(moment_meant, now=datetime.now(UTC)))
    shown: dict[str, Callable[[str], Any]] = {
        "hits": lambda query: search(database.db, read(query)),
        "hits with snippets": lambda query: find(database, read(query)),
        "by relevance": lambda query: search(database.db, read(query), by="relevance"),
    }
    times = {name: took_ms(ask, QUERIES, rounds) for name, ask in shown.items()}
    return times | {"patterns": took_ms(lambda query: find(database, read(query)), PATTERNS, 1)}


def lines(times: dict[str, list[float]]) -> list[str]:
    """Each with its middle, its slow end, and whether that is what was wanted."""
    told = []
    for name, took in times.items():
        cut = quantiles(took, n=100, method="inclusive")
        reached = all(cut[percent - 1] <= most for percent, most in GOALS.items())
        mark = ("reached" if reached else "MISSED ") if name.startswith("hits") else "       "
        told.append(f"{mark}  {name}: p50 {cut[49]:.1f} ms, p95 {cut[94]:.1f} ms, longest {max(took):.1f} ms")
    return told


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mb", type=int, default=2200)
    parser.add_argument("--logs", type=Path, help="a folder that bench/make_logs.py has made")
    parser.add_argument("--home", type=Path, help="a home of tracklog with an index of them")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="tracklog-bench-") as scratch:
        home = Home(asked.home or _made(Path(scratch), asked.logs, asked.mb))
        with reading(home) as database:
            assert database is not None
            times = measured(database, asked.rounds)
    print(json.dumps(times) if asked.json else "\n".join(lines(times)))
    return 0


def _made(scratch: Path, logs: Path | None, mb: int) -> Path:
    if logs is None:
        logs = scratch / "logs"
        logs.mkdir()
        print(f"making {mb} MB of logs …", file=sys.stderr)
        make_logs(logs, n_bytes=mb * 1_000_000, seed=1, agent="both")
    print("indexing …", file=sys.stderr)
    with writing(Home(scratch / "home")) as database:
        sync(database, [root for home in sorted(logs.iterdir()) for root in roots_at(home)])
    return scratch / "home"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
