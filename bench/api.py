"""How fast the HTTP API answers each of its questions, one after another and many at once.

    python -m bench.api [--logs DIR …] [--before SRC] [--n 30]

The logs are those of the demo, or all below DIR. `--before` is the `src` of another checkout: its server and ours run side by
side, and are asked in turn, so that both meet the same noise of the machine.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import psutil

from tests.browser.serving import Homes, Served, serving
from tests.views.cli.command import SOURCE, tracklog

Json = dict[str, Any]
AT_ONCE = ("sessions", "usage", "search?q=the")
_THREADS = 8  # so many wait for an answer: the server sends more than 18 away


def questions(served: Served) -> list[str]:
    """All that can be asked, of the session with the most calls where it takes one."""
    sessions = served.api("sessions")["sessions"]
    session = max(sessions, key=lambda one: one["calls"])["id"]
    about_one = [f"{name}/{session}" for name in ("show", "final", "calls", "agents", "graph")]
    others = ["sessions", "calls", "usage", "usage/session", "search?q=the", "top?all=1", "doctor", "prices"]
    return [*others, "places", *about_one]


def measure(servers: dict[str, Served], *, n: int) -> Iterator[tuple[str, Json]]:
    """The times of each question, of each server in turn; then the memory of the servers."""
    for path in questions(servers["now"]):
        name = f"{path.partition('/')[0]} of a session" if "-" in path else path
        yield name, _compared(_in_turn(servers, path, n))
    for path in AT_ONCE:
        times = {name: _at_once(served, path, n) for name, served in servers.items()}
        yield f"{path}, {n} at once", _compared(times)
    yield "memory_mb", {name: _memory_mb(served) for name, served in servers.items()}


def _in_turn(servers: dict[str, Served], path: str, n: int) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {name: [] for name in servers}
    for _ in range(n):
        for name, served in servers.items():
            times[name].append(_asked(served, path))
    return times


def _at_once(served: Served, path: str, n: int) -> list[float]:
    with ThreadPoolExecutor(_THREADS) as threads:
        return list(threads.map(partial(_asked, served), [path] * n))


def _asked(served: Served, path: str) -> float:
    began = time.perf_counter()
    asking = http.client.HTTPConnection("127.0.0.1", served.port, timeout=150)
    asking.request("GET", f"/api/v1/{path}", headers={"Authorization": f"Bearer {served.token}"})
    answer = asking.getresponse()
    answer.read()
    asking.close()
    if answer.status not in (200, 404):  # a session may have no answer yet
        raise SystemExit(f"bench.api: {path} answered {answer.status}")
    return time.perf_counter() - began


def _compared(times: dict[str, list[float]]) -> Json:
    found: Json = {name: _summary(ours) for name, ours in times.items()}
    if "before" in times:
        found["times_faster"] = round(median(times["before"]) / median(times["now"]), 1)
    return found


def _summary(times: Sequence[float]) -> Json:
    ordered = sorted(times)
    return {
        "p50_ms": round(median(ordered) * 1000, 1),
        "p95_ms": round(ordered[int(len(ordered) * 0.95)] * 1000, 1),
    }


def _memory_mb(served: Served) -> float:
    return round(psutil.Process(served.process.pid).memory_info().rss / 1e6, 1)


def main() -> int:
    parser = argparse.ArgumentParser(description="How fast the HTTP API answers.")
    parser.add_argument("--logs", type=Path, nargs="*", default=[])
    parser.add_argument("--before", type=Path, help="the src of another checkout")
    parser.add_argument("--n", type=int, default=30)
    options = parser.parse_args()
    sources = {"before": options.before, "now": SOURCE}
    with (
        tempfile.TemporaryDirectory(prefix="tracklog-bench-", dir=os.environ.get("TMPDIR")) as scratch,
        ExitStack() as stack,
    ):
        servers = {}
        for name, source in sources.items():
            if source is not None:
                servers[name] = stack.enter_context(_server(Path(scratch) / name, source, options.logs))
        for served in servers.values():
            served.wait_until_indexed(600)
        for name, found in measure(servers, n=options.n):
            print(json.dumps({name: found}), flush=True)
    return 0


def _server(top: Path, source: Path, logs: Sequence[Path]) -> Any:
    homes = Homes(top)
    top.mkdir()
    roots = [word for folder in logs for word in ("--root", str(folder))]
    if not roots:
        assert tracklog("demo", top / "demo", home=top).code == 0
        roots = ["--root", str(top / "demo/claude"), "--root", str(top / "demo/codex")]
    return serving(homes, *roots, env={"PYTHONPATH": str(source.absolute())})


if __name__ == "__main__":
    sys.exit(main())
