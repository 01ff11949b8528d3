"""How long a hook call takes while the machine is busy, and whether every call is spooled exactly once.

    python -m bench.hook [--calls 10000] [--at-once 2] [--busy 2] [--json]

Each call is the command that `tracklog hooks install` writes, a fresh shell and a fresh Python. Beside them, processes that do nothing but count keep the cores
busy. Goals: all lines there once, exit code 0, nothing on stdout or stderr, 99 of 100 within 150 ms.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tracklog.agents.hooks.command import recorder_for

GOAL_MS = 150.0
SESSION = "5e550000-0000-4000-8000-000000000000"


class Called(NamedTuple):
    """One call: how it ended, and how long it took."""

    exit_code: int
    took_ms: float


def payload(n: int) -> bytes:
    """What an agent tells before a command runs; every hundredth call carries a whole file."""
    command = f"echo {n} " + "x" * (100_000 if n % 100 == 0 else 300)
    told = {
        "session_id": SESSION,
        "transcript_path": f"/home/dev/.claude/projects/-srv-app/{SESSION}.jsonl",
        "cwd": "/srv/app",
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": command},
        "tool_use_id": f"toolu_{n}",
    }
    return json.dumps(told).encode()


def call(n: int, home: Path, printed: int) -> Called:
    """Starts the command that is installed, tells it its payload, and waits for its end."""
    argv, told = recorder_for(home).words("claude"), payload(n)
    began = time.perf_counter()
    process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=printed, stderr=printed)
    assert process.stdin is not None
    process.stdin.write(told)
    process.stdin.close()
    code = process.wait()
    return Called(code, (time.perf_counter() - began) * 1000)


@contextmanager
def busy(n: int) -> Iterator[None]:
    """Keeps so many cores busy."""
    counting = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(n)]
    try:
        yield
    finally:
        for process in counting:
            process.kill()
            process.wait()


def spooled(home: Path) -> Counter[str]:
    """How often each call stands in the spool."""
    lines = (home / "spool" / "hooks.jsonl").read_bytes().splitlines()
    return Counter(json.loads(line)["payload"]["tool_use_id"] for line in lines if line)


def measure(n_calls: int, *, at_once: int, n_busy: int) -> dict[str, Any]:
    """All calls, and what came of them."""
    with tempfile.TemporaryDirectory(prefix="tracklog-bench-") as scratch:
        home, paper = Path(scratch) / "home", Path(scratch) / "printed"
        printed = os.open(paper, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with busy(n_busy), ThreadPoolExecutor(at_once) as pool:
            called = list(pool.map(lambda n: call(n, home, printed), range(n_calls)))
        os.close(printed)
        took = sorted(one.took_ms for one in called)
        counted = spooled(home)
        return {
            "calls": n_calls,
            "at_once": at_once,
            "busy": n_busy,
            "spooled_once": sum(counted[f"toolu_{n}"] == 1 for n in range(n_calls)),
            "lines": counted.total(),
            "exit_codes": dict(Counter(one.exit_code for one in called)),
            "printed_bytes": paper.stat().st_size,
            "p50_ms": round(took[len(took) // 2], 1),
            "p99_ms": round(took[int(len(took) * 0.99)], 1),
            "max_ms": round(took[-1], 1),
        }


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--at-once", type=int, default=2)
    parser.add_argument("--busy", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args(argv)
    found = measure(asked.calls, at_once=asked.at_once, n_busy=asked.busy)
    if asked.json:
        print(json.dumps(found))
        return 0
    whole = found["spooled_once"] == found["lines"] == asked.calls
    silent = found["exit_codes"] == {0: asked.calls} and not found["printed_bytes"]
    for name, value in found.items():
        print(f"{name:14} {value}")
    for reached, goal in (
        (whole, "every call is spooled exactly once"),
        (silent, "exit code 0, and not a byte printed"),
        (found["p99_ms"] <= GOAL_MS, f"99 of 100 within {GOAL_MS:.0f} ms"),
    ):
        print(f"{'reached' if reached else 'MISSED '}  {goal}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
