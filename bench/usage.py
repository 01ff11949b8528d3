"""The cold token report, straight from the logs, beside native ccusage on the same files, in turn.

    python -m bench.usage [--mb 2200] [--rounds 3] [--logs DIR] [--peers .lab/peers] [--json]

Goal on 2 GB: at most 0.55 of its wall time, 0.5 of its CPU and 0.45 of its memory.

Rules of this room
  1. Both read the same homes with a temporary HOME, without an index; a round before the first fills the page cache.
  2. Ours may take two processes: their CPU is added up, and so is the memory that they hold at one moment; a page that
     they share counts once (PSS).
  3. A number that is wrong is not fast: our totals are compared with what was written into the logs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from bench.make_logs import make_logs

ROOT = Path(__file__).resolve().parents[1]
GOALS = {"wall": 0.55, "cpu": 0.5, "memory": 0.45}
_LOOK_S = 0.02


@dataclass(frozen=True)
class Run:
    """One process with its children, from start to end."""

    wall_s: float
    cpu_s: float
    peak_bytes: int
    said: bytes


def run(argv: Sequence[str], env: dict[str, str]) -> Run:
    """Runs a program to its end and looks at it all the while."""
    with tempfile.TemporaryFile() as out:
        began = time.perf_counter()
        child = subprocess.Popen(
            argv, env=env, stdout=out, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL
        )
        peak = 0
        while True:
            pid, status, used = os.wait4(child.pid, os.WNOHANG)
            if pid:
                break
            peak = max(peak, sum(map(_held, (child.pid, *_children(child.pid)))))
            time.sleep(_LOOK_S)
        wall_s = time.perf_counter() - began
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            raise SystemExit(f"usage: {argv[0]} ended with {child.returncode}")
        out.seek(0)
        return Run(wall_s, used.ru_utime + used.ru_stime, peak, out.read())


def _children(pid: int) -> list[int]:
    try:
        return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def _held(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), 0)


def contestants(logs: Path, peers: Path, home: Path) -> dict[str, tuple[list[str], dict[str, str]]]:
    """Who runs, with which command and environment."""
    homes = {"CLAUDE_CONFIG_DIR": str(logs / "claude"), "CODEX_HOME": str(logs / "codex")}
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "TRACKLOG_HOME": str(home / "tracklog"), **homes}
    found = sorted(peers.glob("node_modules/@ccusage/ccusage-*/bin/ccusage"))
    if not found:
        raise SystemExit(
            f"usage: no native ccusage in {peers}; `python -m tests.oracle.install {peers}` gets it"
        )
    ours = [sys.executable, "-m", "tracklog", "usage", "daily", "--json"]
    return {
        "ccusage": ([str(found[0]), "daily", "--json", "--offline"], env),
        "tracklog": (ours, {**env, "PYTHONPATH": str(ROOT / "src")}),
    }


def check(said: bytes, logs: Path) -> None:
    """Fails if our totals are not what the logs were made of."""
    total = json.loads(said)["total"]
    made = json.loads((logs / "made.json").read_text())
    tallies = [made[agent] for agent in ("claude", "codex") if agent in made]
    names = ("input_tokens", "output_tokens", "cache_write_tokens", "cache_read_tokens", "reasoning_tokens")
    wanted = {name: sum(tally["tokens"].get(name, 0) for tally in tallies) for name in names}
    wanted["requests"] = sum(tally["requests"] for tally in tallies)
    wrong = {name: (total[name], value) for name, value in wanted.items() if total[name] != value}
    if wrong:
        raise SystemExit(f"usage: totals are not what was made (said, made): {wrong}")


def measure(logs: Path, peers: Path, rounds: int) -> dict[str, list[Run]]:
    """The runs of each, in turn."""
    with tempfile.TemporaryDirectory() as home:
        everybody = contestants(logs, peers, Path(home))
        for argv, env in everybody.values():
            run(argv, env)
        runs: dict[str, list[Run]] = {name: [] for name in everybody}
        for n in range(rounds):
            names = list(everybody) if n % 2 else list(everybody)[::-1]
            for name in names:
                runs[name].append(run(*everybody[name]))
    check(runs["tracklog"][0].said, logs)
    return runs


def as_document(runs: dict[str, list[Run]], n_bytes: int) -> dict[str, Any]:
    """The result for programs; a ratio is the median of the rounds' own ratios."""
    pairs = list(zip(runs["tracklog"], runs["ccusage"], strict=True))
    return {
        "bytes": n_bytes,
        "rounds": len(pairs),
        "runs": {
            name: {
                "wall_s": round(median(one.wall_s for one in each), 3),
                "cpu_s": round(median(one.cpu_s for one in each), 3),
                "peak_mb": round(max(one.peak_bytes for one in each) / 1e6, 1),
            }
            for name, each in runs.items()
        },
        "ratios": {
            "wall": round(median(ours.wall_s / theirs.wall_s for ours, theirs in pairs), 3),
            "cpu": round(median(ours.cpu_s / theirs.cpu_s for ours, theirs in pairs), 3),
            "memory": round(median(ours.peak_bytes / theirs.peak_bytes for ours, theirs in pairs), 3),
        },
        "goals": GOALS,
    }


def show(document: dict[str, Any]) -> None:
    """The result for people."""
    print(f"{document['bytes'] / 1e6:.0f} MB of logs, {document['rounds']} rounds in turn, page cache warm")
    print(f"{'':10}{'wall s':>9}{'cpu s':>9}{'peak MB':>9}")
    for name, one in document["runs"].items():
        print(f"{name:10}{one['wall_s']:9.2f}{one['cpu_s']:9.2f}{one['peak_mb']:9.1f}")
    for name, ratio in document["ratios"].items():
        verdict = "ok" if ratio <= document["goals"][name] else "MISSED"
        print(f"{name:7} {ratio:5.2f} of ccusage's (goal {document['goals'][name]:.2f}): {verdict}")
    print("totals are those that were written into the logs")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="The cold token report beside native ccusage.")
    parser.add_argument("--mb", type=float, default=2200, help="how many megabytes to make (default: 2200)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--logs", type=Path, help="logs that bench.make_logs made before")
    parser.add_argument("--peers", type=Path, default=ROOT / ".lab" / "peers")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def main() -> int:
    """Makes the logs if there are none, and measures."""
    asked = _arguments()
    with tempfile.TemporaryDirectory() as folder:
        logs = asked.logs or Path(folder)
        if not (logs / "made.json").exists():
            make_logs(logs, n_bytes=int(asked.mb * 1e6), seed=1)
        made = json.loads((logs / "made.json").read_text())
        n_bytes = sum(tally["n_bytes"] for tally in made.values() if isinstance(tally, dict))
        document = as_document(measure(logs, asked.peers, asked.rounds), n_bytes)
    print(json.dumps(document, indent=1)) if asked.json else show(document)
    return 0


if __name__ == "__main__":
    sys.exit(main())
