"""A report from the index, nothing having changed, from nothing to its last line, beside an interpreter that does nothing.

    python -m bench.warm_usage [--mb 2200] [--rounds 9] [--logs DIR] [--home DIR] [--json]

Goal on 2 GB: the median of `usage daily --json` at most 150 ms, the look at all folders and logs included.

Rules of this room
  1. The index is made first, by `tracklog index`, and the ledger settled by a first question; neither is timed.
  2. A number that is wrong is not fast: our totals are compared with what was written into the logs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from bench.make_logs import make_logs
from bench.usage import ROOT, Run, check, run

GOAL_S = 0.150
ASKED = {
    "nothing": ["-c", "pass"],
    "daily": ["-m", "tracklog", "usage", "daily", "--json"],
    "since 7d": ["-m", "tracklog", "usage", "--since", "7d", "--json"],
    "session": ["-m", "tracklog", "usage", "session", "--json", "--limit", "30"],
    "model": ["-m", "tracklog", "usage", "model", "--json"],
    "blocks": ["-m", "tracklog", "usage", "blocks", "--json"],
    "tool": ["-m", "tracklog", "usage", "tool", "--json"],
}


def measure(logs: Path, home: Path, rounds: int) -> dict[str, list[Run]]:
    """The runs of each question, in turn."""
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(home / "user"),
        "TRACKLOG_HOME": str(home / "tracklog"),
        "CLAUDE_CONFIG_DIR": str(logs / "claude"),
        "CODEX_HOME": str(logs / "codex"),
        "PYTHONPATH": str(ROOT / "src"),
        "PYTHONPYCACHEPREFIX": str(home / "compiled"),
    }
    subprocess.run(
        [sys.executable, "-m", "tracklog", "index"], env=env, check=True, stdout=subprocess.DEVNULL
    )
    for argv in ASKED.values():
        run([sys.executable, *argv], env)
    runs: dict[str, list[Run]] = {name: [] for name in ASKED}
    for _ in range(rounds):
        for name, argv in ASKED.items():
            runs[name].append(run([sys.executable, *argv], env))
    check(runs["daily"][0].said, logs)
    return runs


def main(arguments: Sequence[str] | None = None) -> None:
    """Makes the logs and the index unless they are given, asks, and says how long it took."""
    parser = argparse.ArgumentParser(prog="warm_usage", description=__doc__)
    parser.add_argument("--mb", type=int, default=2200)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--logs", type=Path)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args(arguments)
    with ExitStack() as stack:
        logs = args.logs or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        home = args.home or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        if args.logs is None:
            make_logs(logs, n_bytes=args.mb * 1_000_000, seed=1)
        runs = measure(logs, home, args.rounds)
    took = {name: round(1000 * median(one.wall_s for one in each)) for name, each in runs.items()}
    if args.json:
        print(json.dumps({"goal_ms": 1000 * GOAL_S, "median_ms": took}))
        return
    for name, ms in took.items():
        cpu = 1000 * median(one.cpu_s for one in runs[name])
        print(f"{name:>10}  {ms:5} ms  {cpu:5.0f} ms CPU")


if __name__ == "__main__":
    main()
