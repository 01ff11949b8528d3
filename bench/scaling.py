"""How cost grows: every reading command, page and Python function on N, 2N and 4N made sessions.

    python -m bench.scaling [--n 100] [--shapes recent,old,folders,large] [--only TEXT] [--no-pages] [--rounds 1] [--json]

    recent    N sessions of the last minutes in one folder
    old       N small sessions of both agents in one folder, last written to 200 days ago
    folders   N small sessions, each in a folder of its own
    large     three sessions of 12 N lines each, two with subagents: N = 100 gives 2 MB

An exponent of 1 means: twice the logs, twice the cost; 0 means: they do not matter. That of CPU time is beyond start-up, which
is the cost of the same question about five small sessions; that of peak memory compares what each doubling adds. Goal: at most 1.15.

Rules of this room
  1. CPU time of the process and of those it waited for, never wall time: other work of the machine is not ours.
  2. What the goal is missed by is measured twice more, and the least of the rounds counts: noise only adds.
  3. What costs less than 80 ms beyond start-up even with 4 N, or of memory 4 MB more than with N, has no exponent: that
     would be noise. Ask again with a larger N.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from bench.measure import ROOT, Run, run_command, run_function
from bench.scaling_questions import newest_log, questions

GOAL = 1.15
LEAST_CPU_S, LEAST_BYTES = 0.08, 4_000_000
SHAPES = ("recent", "old", "folders", "large")
FUNCTIONS = ("read", "read_records", "read, by id", "sessions", "calls", "usage", "search", "sql")
_MORE_ROUNDS = 2
_LEAST_SHARE = 64  # what is nearly nothing with N counts as at least this part of what it is with 4 N


class Growth(NamedTuple):
    """What one question costs: about five small sessions, then about growing homes of one shape."""

    shape: str
    name: str
    start: Run
    runs: Sequence[Run]

    def cpu_exponent(self, sizes: Sequence[int]) -> float | None:
        """How CPU time grows with the size."""
        return exponent(sizes, [run.cpu_s - self.start.cpu_s for run in self.runs], least=LEAST_CPU_S)

    def memory_exponent(self) -> float | None:
        """How peak memory grows with the size; a peak of the start-up would hide what little the first size needs."""
        first, second, third = (run.peak_rss_bytes for run in self.runs)
        if third - first < LEAST_BYTES or second - first < LEAST_BYTES / 4:
            return None
        return math.log2(max(third - second, 1) / (second - first))

    def is_over(self, sizes: Sequence[int]) -> bool:
        """Whether it grows faster than its input."""
        return any((one or 0) > GOAL for one in (self.cpu_exponent(sizes), self.memory_exponent()))

    def least(self, other: Growth) -> Growth:
        """Of two measurements the least of each figure."""
        runs = [_least(one, two) for one, two in zip(self.runs, other.runs, strict=True)]
        return self._replace(start=_least(self.start, other.start), runs=runs)


def exponent(sizes: Sequence[int], beyond: Sequence[float], *, least: float) -> float | None:
    """The exponent of costs beyond start-up; None if even the last is too little to say.

    What the costs say is too high where the start-up took long by chance. If it misses the goal, what each doubling adds
    is asked too, which is too high where the first or second size took short: the lower one counts.
    """
    if beyond[-1] < least:
        return None
    first = max(beyond[0], beyond[-1] / _LEAST_SHARE)
    whole = math.log(beyond[-1] / first) / math.log(sizes[-1] / sizes[0])
    added = [later - earlier for earlier, later in pairwise(beyond)]
    return whole if whole <= GOAL or min(added) <= 0 else min(whole, math.log2(added[-1] / added[0]))


def _least(one: Run, two: Run) -> Run:
    return Run(0, min(one.cpu_s, two.cpu_s), min(one.peak_rss_bytes, two.peak_rss_bytes))


class HomeAsked:
    """Made homes in a folder, an index of them, and what questions about them cost."""

    def __init__(self, top: Path, shape: str, n: int) -> None:
        self.top = top
        run_function("bench.scaling_homes:make", shape, str(top), str(n))
        self.questions = {one.name: one for one in questions(top)}
        self._run(["index"], "tracklog")

    @property
    def names(self) -> Sequence[str]:
        """All that can be asked."""
        return [*self.questions, *(f"{name}()" for name in FUNCTIONS)]

    def ask(self, name: str) -> Run:
        """One question in a process of its own."""
        if name.endswith("()"):
            argv = ["-m", "bench.scaling_questions", name.removesuffix("()"), str(self.top)]
            return self._start(argv, "tracklog")
        question = self.questions[name]
        if question.grows:
            _append_a_line(newest_log(self.top))
        if not question.has_index:
            shutil.rmtree(self.top / "none", ignore_errors=True)
        return self._run(question.argv, "tracklog" if question.has_index else "none")

    def _run(self, argv: Sequence[str], home: str) -> Run:
        return self._start(["-m", "tracklog", *argv], home)

    def _start(self, argv: Sequence[str], home: str) -> Run:
        known = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": self.top,
            "LANG": "C.UTF-8",
            "CLAUDE_CONFIG_DIR": self.top / "claude",
            "CODEX_HOME": self.top / "codex",
            "TRACKLOG_HOME": self.top / home,
            "TRACKLOG_PORT": "0",
            "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}",
            "PYTHONPYCACHEPREFIX": self.top.parent / "compiled",
        }
        words = [f"{name}={value}" for name, value in known.items()]
        return run_command(["/usr/bin/env", "-i", *words, sys.executable, *argv], accepts=(0, 1))


def _append_a_line(log: Path) -> None:
    """Repeat the last line, without reading the whole log: what this process holds would count as memory of the next one."""
    with log.open("r+b") as stream:
        stream.seek(-min(1_000_000, log.stat().st_size), os.SEEK_END)
        last = stream.read().splitlines(keepends=True)[-1]
        stream.write(last)


class Bench:
    """Asks all questions about homes of growing size, and about a small one for the start-up."""

    def __init__(self, scratch: Path, sizes: Sequence[int], *, only: str, rounds: int) -> None:
        self.scratch, self.sizes, self.only, self.rounds = scratch, sizes, only, rounds
        self.small = HomeAsked(scratch / "small", "old", 5)

    def growths(self, shape: str, *, with_pages: bool) -> Iterator[Growth]:
        """Every question, about one shape."""
        homes = [HomeAsked(self.scratch / f"{shape}-{n}", shape, n) for n in self.sizes]
        for name in self.small.names:
            if self.only in name:
                yield self._measured(shape, name, homes)
        if with_pages:
            yield from self._pages(shape, homes)
        for home in homes:
            shutil.rmtree(home.top)

    def _measured(self, shape: str, name: str, homes: Sequence[HomeAsked]) -> Growth:
        def once() -> Growth:
            return Growth(shape, name, self.small.ask(name), [home.ask(name) for home in homes])

        growth = once()
        for _ in range(self.rounds - 1):
            growth = growth.least(once())
        for _ in range(_MORE_ROUNDS):
            if growth.is_over(self.sizes):
                growth = growth.least(once())
        return growth

    def _pages(self, shape: str, homes: Sequence[HomeAsked]) -> Iterator[Growth]:
        small, *each = (_of_pages(home.top) for home in (self.small, *homes))
        for name, start in small.items():
            if self.only in name:
                yield Growth(shape, name, start, [runs[name] for runs in each])


def _of_pages(top: Path) -> dict[str, Run]:
    """What pages cost, measured by a process of its own: here its modules would count as memory of what comes next."""
    path = f"{ROOT / 'src'}{os.pathsep}{ROOT}"
    argv = [sys.executable, "-m", "bench.scaling_pages", str(top)]
    done = subprocess.run(argv, env={**os.environ, "PYTHONPATH": path}, stdout=subprocess.PIPE, check=True)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return {name: Run(0, cpu_s, peak) for name, cpu_s, peak in rows}


def as_row(growth: Growth, sizes: Sequence[int]) -> str:
    """A line of the table."""
    cpu = "".join(f"{run.cpu_s:8.2f}" for run in (growth.start, *growth.runs))
    memory = "".join(f"{run.peak_rss_bytes / 1e6:7.0f}" for run in (growth.start, *growth.runs))
    exponents = [
        "     -" if one is None else f"{one:6.2f}"
        for one in (growth.cpu_exponent(sizes), growth.memory_exponent())
    ]
    mark = "  MISSED" if growth.is_over(sizes) else ""
    return f"{growth.shape:8} {growth.name:34} {cpu} {exponents[0]} {memory} {exponents[1]}{mark}"


def head(sizes: Sequence[int]) -> str:
    """The head of the table."""
    columns = ["start", *map(str, sizes)]
    cpu, memory = "".join(f"{one:>8}" for one in columns), "".join(f"{one:>7}" for one in columns)
    return f"{'':8} {'CPU seconds, peak MB':34} {cpu} {'exp':>6} {memory} {'exp':>6}"


def as_document(growth: Growth, sizes: Sequence[int]) -> dict[str, Any]:
    """The same for programs."""
    runs = (growth.start, *growth.runs)
    return {
        "shape": growth.shape,
        "question": growth.name,
        "cpu_s": [round(run.cpu_s, 4) for run in runs],
        "peak_mb": [round(run.peak_rss_bytes / 1e6, 1) for run in runs],
        "cpu_exponent": growth.cpu_exponent(sizes),
        "memory_exponent": growth.memory_exponent(),
    }


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--n", type=int, default=100, help="the least size; the others are twice and four times it"
    )
    parser.add_argument("--shapes", default=",".join(SHAPES))
    parser.add_argument("--only", default="", help="only questions with this in their names")
    parser.add_argument("--no-pages", action="store_true")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="one document for each line")
    asked = parser.parse_args(argv)
    sizes = [asked.n, 2 * asked.n, 4 * asked.n]
    if not asked.json:
        print(head(sizes), flush=True)
    n_over = 0
    with tempfile.TemporaryDirectory(prefix="tracklog-bench-", dir=os.environ.get("TMPDIR")) as scratch:
        bench = Bench(Path(scratch), sizes, only=asked.only, rounds=asked.rounds)
        for shape in asked.shapes.split(","):
            for growth in bench.growths(shape, with_pages=not asked.no_pages):
                n_over += growth.is_over(sizes)
                row = json.dumps(as_document(growth, sizes)) if asked.json else as_row(growth, sizes)
                print(row, flush=True)
    if not asked.json:
        print(
            f"{'MISSED ' if n_over else 'reached'}  {n_over} questions grow faster than their input (goal <= {GOAL})"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
