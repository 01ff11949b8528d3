"""Whether the watcher keeps up with twenty logs that grow by 5 MB a second together, and what it costs when all is quiet.

    python -m bench.tail [--seconds 120] [--logs 20] [--mb-per-s 5] [--json]
    python -m bench.tail --idle [--seconds 30] [--json]

One process writes, in torn pieces, while logs are renamed, moved, cut, rewritten and begun; one watches and keeps the journal;
this one follows the journal. Goals: every line told once, 99 of 100 within 250 ms, memory flat. With --idle 5,000 logs in
3,000 folders stand still. Goals: 1 % of a core, and no file held open.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from bench.tail_load import Load
from tracklog.home import Home
from tracklog.live.journal import Following, LiveEvent
from tracklog.live.watch.shared import journal_of, live_events
from tracklog.sources.log_file import Root

GOAL_MS = 250.0
GOAL_IDLE = 1.0  # percent of a core
FLAT = 1.15  # so much may memory be above what it was after a quarter of the time
MOST_FILES = 40  # that a watcher may hold open
_CALM_S = 3.0
Written = dict[str, int]


def mark_of(event: LiveEvent) -> str | None:
    """The mark of the line that an event tells of."""
    if event.event in ("prompt_given", "model_replied"):
        return str(event.data.get("text", "")).partition(" ")[0]
    return str(event.data["call"]) if event.event == "tool_returned" else None


def roots_in(top: Path) -> list[Root]:
    return [Root(top / "claude", "claude"), Root(top / "codex", "codex")]


def home_in(top: Path) -> Home:
    return Home(top / "ours")


# The three processes:


def write(top: Path, *, seconds: float, n_logs: int, mb_per_s: float) -> None:
    """The writer: says that it is ready, waits for a line, writes, and leaves behind what it wrote."""
    load = Load(top, n_logs=n_logs)
    print("ready", flush=True)
    sys.stdin.readline()
    load.run(seconds, bytes_per_s=mb_per_s * 1e6)
    report = {"written": load.written, "cut": sorted(load.may_be_missing()), "bytes": load.n_bytes}
    (top / "written.json").write_text(json.dumps({**report, "acts": load.acts}))


def watch(top: Path) -> None:
    """The watcher: notes of each mark when the journal had it."""
    with (top / "told.txt").open("w") as told:
        for n, events in enumerate(live_events(roots_in(top), home_in(top))):
            if not n:
                print("ready", flush=True)
            now = time.monotonic_ns()
            told.writelines(f"{mark} {now}\n" for event in events if (mark := mark_of(event)))
            told.flush()


@contextmanager
def _started(*words: str) -> Iterator[subprocess.Popen[bytes]]:
    """One of these processes, when it has said that it is ready."""
    argv = [sys.executable, "-m", "bench.tail", *words]
    process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        if process.stdout.readline() != b"ready\n":
            raise SystemExit(f"bench.tail {words[0]} did not begin")
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


class Usage:
    """What a process uses, looked at again and again. Of memory only its own: how many others share the rest is not its doing."""

    def __init__(self, pid: int) -> None:
        self._process = psutil.Process(pid)
        self._began, self._used = time.monotonic(), self._cpu_s()
        self.own_mb: list[float] = []
        self.n_open = 0

    def look(self) -> None:
        self.own_mb.append(round(self._process.memory_full_info().uss / 1e6, 1))
        self.n_open = max(self.n_open, self._process.num_fds())

    def cpu_percent(self) -> float:
        """Of one core, since the beginning."""
        return round(100 * (self._cpu_s() - self._used) / (time.monotonic() - self._began), 2)

    def _cpu_s(self) -> float:
        used = self._process.cpu_times()
        return float(used.user + used.system)


# The load:


def measure_load(top: Path, *, seconds: float, n_logs: int, mb_per_s: float) -> dict[str, Any]:
    """Writes, watches and follows; what came of it."""
    asked = [f"--seconds={seconds}", f"--logs={n_logs}", f"--mb-per-s={mb_per_s}"]
    with _started("--write", str(top), *asked) as writer, _started("--watch", str(top)) as watcher:
        following = Following(journal_of(home_in(top), roots_in(top)))
        usage = Usage(watcher.pid)
        assert writer.stdin is not None
        writer.stdin.write(b"begin\n")
        writer.stdin.flush()
        followed = _follow_until_calm(following, writer, usage)
        if watcher.poll() is not None:
            raise SystemExit("bench.tail: the watcher ended")
        cpu = usage.cpu_percent()
    wrote = json.loads((top / "written.json").read_text())
    told = [line.split() for line in (top / "told.txt").read_text().splitlines()]
    figures = compared(wrote["written"], set(wrote["cut"]), [(mark, int(at)) for mark, at in told])
    return {
        "seconds": seconds,
        "mb_per_s": round(wrote["bytes"] / seconds / 1e6, 2),
        "acts": wrote["acts"],
        **figures,
        "follower_lost": following.lost,
        "follower_misses": sum((Counter(mark for mark, _ in told) - followed).values()),
        "own_mb": usage.own_mb[:: max(1, len(usage.own_mb) // 8)],
        "memory_grew": _growth(usage.own_mb),
        "cpu_percent": cpu,
        "open_files": usage.n_open,
    }


def _follow_until_calm(following: Following, writer: subprocess.Popen[bytes], usage: Usage) -> Counter[str]:
    followed: Counter[str] = Counter()
    looked = calm_since = time.monotonic()
    while writer.poll() is None or time.monotonic() - calm_since < _CALM_S:
        new = [mark for event in following.more() if (mark := mark_of(event))]
        followed.update(new)
        if new:
            calm_since = time.monotonic()
        if time.monotonic() - looked >= 1.0:
            looked = time.monotonic()
            usage.look()
        time.sleep(0.1)
    return followed


def compared(written: Written, may_be_missing: set[str], told: Sequence[tuple[str, int]]) -> dict[str, Any]:
    """What was told beside what was written."""
    times = Counter(mark for mark, _ in told)
    late_ms = sorted((at - written[mark]) / 1e6 for mark, at in told if mark in written)
    return {
        "lines": len(written),
        "lost": sum(mark not in times and mark not in may_be_missing for mark in written),
        "doubled": sum(n > 1 for n in times.values()),
        "never_written": sum(mark not in written for mark in times),
        "cut_away": len(may_be_missing),
        "p50_ms": round(late_ms[len(late_ms) // 2], 1) if late_ms else None,
        "p99_ms": round(late_ms[int(len(late_ms) * 0.99)], 1) if late_ms else None,
        "max_ms": round(late_ms[-1], 1) if late_ms else None,
    }


def _growth(own_mb: list[float]) -> float | None:
    """How many times as much memory is used at the end as after a quarter of the time."""
    early, late = own_mb[len(own_mb) // 4 :][:3], own_mb[-3:]
    return round(max(late) / max(early), 2) if early else None


def load_goals(found: dict[str, Any]) -> Iterator[tuple[bool, str]]:
    missed = ("lost", "doubled", "never_written", "follower_lost", "follower_misses")
    yield not any(found[name] for name in missed), "every line is told exactly once"
    yield (found["p99_ms"] or 1e9) <= GOAL_MS, f"99 of 100 lines are told within {GOAL_MS:.0f} ms"
    yield (found["memory_grew"] or 9.0) <= FLAT, f"memory is flat (at most {FLAT} times as much at the end)"
    yield found["open_files"] <= MOST_FILES, f"at most {MOST_FILES} files are open"


# When all is quiet:


def make_quiet_home(top: Path, *, n_projects: int = 1_000) -> None:
    """Five logs in three folders for each project; the newest twenty changed just now, the others long ago."""
    (top / "codex" / "sessions").mkdir(parents=True)
    for n in range(n_projects):
        session = f"{n:08x}-0000-4000-8000-000000000000"
        project = top / "claude" / "projects" / f"-srv-app{n}"
        beside = project / session / "subagents"
        beside.mkdir(parents=True)
        line = json.dumps(
            {
                "type": "user",
                "uuid": "u1",
                "sessionId": session,
                "timestamp": "2026-11-16T10:00:00.000Z",
                "message": {"role": "user", "content": "hello"},
            }
        )
        for path in (project / f"{session}.jsonl", *(beside / f"agent-a{k}.jsonl" for k in range(4))):
            path.write_text(f"{line}\n" * 20)
            if n >= 20:
                os.utime(path, (1_700_000_000, 1_700_000_000))


def measure_idle(top: Path, *, seconds: float) -> dict[str, Any]:
    """A watcher over many logs that stand still."""
    make_quiet_home(top)
    began = time.monotonic()
    with _started("--watch", str(top)) as watcher:
        ready_s = time.monotonic() - began
        time.sleep(2.0)
        usage = Usage(watcher.pid)
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            time.sleep(1.0)
            usage.look()
        return {
            "seconds": seconds,
            "files": sum(len(names) for _, _, names in os.walk(top / "claude")),
            "folders": sum(len(names) for _, names, _ in os.walk(top / "claude")),
            "ready_s": round(ready_s, 2),
            "cpu_percent": usage.cpu_percent(),
            "own_mb": usage.own_mb[-1],
            "open_files": usage.n_open,
        }


def idle_goals(found: dict[str, Any]) -> Iterator[tuple[bool, str]]:
    yield found["cpu_percent"] <= GOAL_IDLE, f"at most {GOAL_IDLE:.0f} % of a core"
    yield found["open_files"] <= MOST_FILES, f"at most {MOST_FILES} files are open"


def _asked(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--logs", type=int, default=20)
    parser.add_argument("--mb-per-s", type=float, default=5.0)
    parser.add_argument("--idle", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--write", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--watch", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args(argv)


def main(argv: Sequence[str]) -> int:
    asked = _asked(argv)
    if asked.write:
        write(asked.write, seconds=asked.seconds, n_logs=asked.logs, mb_per_s=asked.mb_per_s)
        return 0
    if asked.watch:
        watch(asked.watch)
        return 0
    with tempfile.TemporaryDirectory(prefix="tracklog-bench-") as scratch:
        top = Path(scratch)
        if asked.idle:
            found = measure_idle(top, seconds=asked.seconds or 30.0)
            goals = list(idle_goals(found))
        else:
            found = measure_load(
                top, seconds=asked.seconds or 120.0, n_logs=asked.logs, mb_per_s=asked.mb_per_s
            )
            goals = list(load_goals(found))
    if asked.json:
        print(json.dumps(found))
        return 0
    for name, value in found.items():
        print(f"{name:16} {value}")
    for reached, goal in goals:
        print(f"{'reached' if reached else 'MISSED '}  {goal}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
