"""Honest measuring: every run in a fresh process, contestants in turn, medians, ratios beside the numbers.

    python bench/measure.py [--rounds 3] [--warm] [--json] [--bytes N] NAME=COMMAND [NAME=COMMAND ...]
    python bench/measure.py "ours=py:bench.read:typed_read logs/" "bare=py:bench.read:json_loads logs/"

COMMAND is run as it stands, without a shell; `py:module:function ARG ...` calls a Python function with strings, in a child
that measures the call alone, without the start of the interpreter. A function may return {"bytes": N} for MB/s.

Rules of this room
  1. The machine is noisy: contestants take turns within one run, the order turns with the round, and a ratio is the median
     of the rounds' own ratios to the first contestant. Believe the ratio before the number.
  2. Nobody inherits warmth: no two runs share a process. The page cache is shared; `--warm` fills it with a round that
     does not count.
  3. Memory is the child's peak. For a program Linux counts in what the parent held when it started it: nothing under
     20 MB can be seen, so this file stays small and imports nothing but the standard library.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import resource
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
_CHILD = "--child"


class RunError(Exception):
    """A contestant did not end well, so its time means nothing."""


@dataclass(frozen=True)
class Run:
    """One process, from start to end."""

    wall_s: float
    cpu_s: float
    peak_rss_bytes: int
    n_bytes: int = 0


@dataclass
class Contestant:
    """A name, and how to run it once."""

    name: str
    run: Callable[[], Run]
    runs: list[Run] = field(default_factory=list)

    @property
    def wall_s(self) -> float:
        return median(run.wall_s for run in self.runs)

    @property
    def cpu_s(self) -> float:
        return median(run.cpu_s for run in self.runs)

    @property
    def peak_rss_bytes(self) -> int:
        return max(run.peak_rss_bytes for run in self.runs)

    @property
    def mb_per_s(self) -> float | None:
        read = self.runs[0].n_bytes
        return read / 1e6 / self.wall_s if read else None

    def ratio_to(self, other: Contestant) -> float:
        """How many times as long as `other`, round against round."""
        return median(mine.wall_s / theirs.wall_s for mine, theirs in zip(self.runs, other.runs, strict=True))


def command(name: str, argv: Sequence[str], *, n_bytes: int = 0) -> Contestant:
    """A contestant that is a program."""
    return Contestant(name, lambda: run_command(argv, n_bytes=n_bytes))


def function(name: str, target: str, *args: str, n_bytes: int = 0) -> Contestant:
    """A contestant that is a Python function, named `module:function`."""
    return Contestant(name, lambda: run_function(target, *args, n_bytes=n_bytes))


def race(contestants: Sequence[Contestant], *, rounds: int = 3, warm: bool = False) -> Sequence[Contestant]:
    """Runs everybody `rounds` times, in turn."""
    if warm:
        for contestant in contestants:
            contestant.run()
    for n in range(rounds):
        first = n % len(contestants)
        for contestant in [*contestants[first:], *contestants[:first]]:
            contestant.runs.append(contestant.run())
    return contestants


def run_command(argv: Sequence[str], *, n_bytes: int = 0, accepts: Sequence[int] = (0,)) -> Run:
    """Runs a program to its end; its output goes nowhere. It must end with one of the codes that are accepted."""
    with tempfile.TemporaryFile() as complaints:
        began = time.perf_counter()
        child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=complaints)
        _, status, used = os.wait4(child.pid, 0)
        wall_s = time.perf_counter() - began
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode not in accepts:
            complaints.seek(0)
            said = complaints.read()[-2_000:].decode("utf-8", "replace")
            raise RunError(f"{shlex.join(argv)} ended with {child.returncode}\n{said}")
    return Run(wall_s, used.ru_utime + used.ru_stime, _in_bytes(used.ru_maxrss), n_bytes)


def _in_bytes(max_rss: int) -> int:
    return max_rss if sys.platform == "darwin" else max_rss * 1024


def run_function(target: str, *args: str, n_bytes: int = 0) -> Run:
    """Calls a function in a fresh interpreter, which measures the call alone."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        run_command([sys.executable, __file__, _CHILD, str(report), target, *args])
        seen: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
    return Run(seen["wall_s"], seen["cpu_s"], seen["peak_rss_bytes"], seen["n_bytes"] or n_bytes)


def _measure_here(report: Path, target: str, args: Sequence[str]) -> None:
    """The child's part: call, look at the clocks, write down what they say."""
    module, _, name = target.partition(":")
    called: Callable[..., object] = getattr(importlib.import_module(module), name)
    wall, cpu = time.perf_counter(), time.process_time()
    value = called(*args)
    wall_s, cpu_s = time.perf_counter() - wall, time.process_time() - cpu
    n_bytes = value.get("bytes", 0) if isinstance(value, dict) else 0
    seen = {"wall_s": wall_s, "cpu_s": cpu_s, "peak_rss_bytes": _own_peak(), "n_bytes": n_bytes}
    report.write_text(json.dumps(seen), encoding="utf-8")


def _own_peak() -> int:
    """Peak memory of this process; Linux's own figure knows nothing of the parent."""
    status = Path("/proc/self/status")
    if status.exists():
        peak = next(
            line
            for line in status.read_text(encoding="ascii", errors="replace").splitlines()
            if line.startswith("VmHWM:")
        )
        return int(peak.split()[1]) * 1024
    return _in_bytes(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def as_document(contestants: Sequence[Contestant]) -> dict[str, Any]:
    """The result for programs."""
    return {"contestants": [_row(one, contestants[0]) for one in contestants]}


def _row(one: Contestant, first: Contestant) -> dict[str, Any]:
    return {
        "name": one.name,
        "rounds": len(one.runs),
        "wall_s": round(one.wall_s, 4),
        "wall_s_each": [round(run.wall_s, 4) for run in one.runs],
        "cpu_s": round(one.cpu_s, 4),
        "peak_rss_mb": round(one.peak_rss_bytes / 1e6, 1),
        "mb_per_s": round(one.mb_per_s, 1) if one.mb_per_s else None,
        "times_the_first": round(one.ratio_to(first), 3),
    }


def as_table(contestants: Sequence[Contestant]) -> str:
    """The result for people."""
    width = max(12, *(len(one.name) for one in contestants))
    head = (
        f"{'':{width}}  {'wall s':>8} {'min-max':>15} {'cpu s':>8} {'MB/s':>8} {'peak MB':>8} {'x first':>8}"
    )
    return "\n".join([head, *(_table_row(one, contestants[0], width) for one in contestants)])


def _table_row(one: Contestant, first: Contestant, width: int) -> str:
    walls = [run.wall_s for run in one.runs]
    speed = f"{one.mb_per_s:8.1f}" if one.mb_per_s else f"{'-':>8}"
    spread = f"{min(walls):.3f}-{max(walls):.3f}"
    numbers = f"{one.wall_s:8.3f} {spread:>15} {one.cpu_s:8.3f} {speed} {one.peak_rss_bytes / 1e6:8.1f}"
    return f"{one.name:{width}}  {numbers} {one.ratio_to(first):8.2f}"


def parse_contestant(text: str, *, n_bytes: int = 0) -> Contestant:
    """`NAME=COMMAND ARG ...` or `NAME=py:module:function ARG ...`."""
    name, _, rest = text.partition("=")
    argv = shlex.split(rest)
    if not argv:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=COMMAND")
    if argv[0].startswith("py:"):
        return function(name, argv[0].removeprefix("py:"), *argv[1:], n_bytes=n_bytes)
    return command(name, argv, n_bytes=n_bytes)


def _arguments(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Runs contestants in turn and compares them.")
    parser.add_argument("contestants", nargs="+", metavar="NAME=COMMAND")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each (default: 3)")
    parser.add_argument("--warm", action="store_true", help="one round first that does not count")
    parser.add_argument("--bytes", type=int, default=0, help="what each run reads, for MB/s")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args(argv)


def main(argv: Sequence[str]) -> int:
    """The command line."""
    if argv[:1] == [_CHILD]:
        _measure_here(Path(argv[1]), argv[2], argv[3:])
        return 0
    asked = _arguments(argv)
    try:
        contestants = [parse_contestant(text, n_bytes=asked.bytes) for text in asked.contestants]
        race(contestants, rounds=asked.rounds, warm=asked.warm)
    except (argparse.ArgumentTypeError, RunError) as why:
        print(f"measure: {why}", file=sys.stderr)
        return 2 if isinstance(why, argparse.ArgumentTypeError) else 1
    print(json.dumps(as_document(contestants), indent=1) if asked.json else as_table(contestants))
    return 0


if __name__ == "__main__":
    sys.path[0] = str(ROOT)  # `bench.…` is found, and no file of this folder shadows a library
    sys.exit(main(sys.argv[1:]))
