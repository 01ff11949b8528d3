"""How long the board and reading take where many recent sessions stand in one folder: the time per log is flat.

    python -m bench.many [--logs 100,300,1000] [--rounds 3] [--json]

`top` is `tracklog top --once`, `all` the same with `--all`: the board shows the newest 200 sessions and compares them with
all others. `read` reads each session of the folder with `tracklog.read`. Each run is a fresh process. Goals: `top` takes
at most 1 s for 1,000 logs (on an idle machine), and the CPU time per log of `read` does not grow.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
import uuid
from collections.abc import Sequence
from pathlib import Path

from bench.cold_start import environment
from bench.measure import Contestant, as_document, as_table, command, function, race

GOAL_S = 1.0
GOAL_LOGS = 1_000
FLAT = 1.5  # times as long per log as with the fewest
_TURNS = 10


def write_home(home: Path, n_logs: int) -> Path:
    """A home of Claude Code with short sessions of the last minutes in one project."""
    folder = home / "projects" / "-w-many"
    folder.mkdir(parents=True)
    for _ in range(n_logs):
        session = str(uuid.uuid4())
        lines = (line for n in range(_TURNS) for line in _turn(session, n))
        (folder / f"{session}.jsonl").write_bytes(b"".join(lines))
    return home


def _turn(session: str, n: int) -> tuple[bytes, bytes]:
    at = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(time.time() - 600 + n))
    said = {"sessionId": session, "cwd": "/w/many", "version": "2.1.0", "timestamp": at, "parentUuid": None}
    asked = {"type": "user", "uuid": str(uuid.uuid4()), "message": {"role": "user", "content": "go on " * 50}}
    message = {
        "id": f"msg_{uuid.uuid4().hex}",
        "role": "assistant",
        "model": "claude-sonnet-4-5-20250929",
        "stop_reason": "end_turn",
        "content": [{"type": "text", "text": "it is done " * 200}],
        "usage": {"input_tokens": 10, "cache_read_input_tokens": 1_000, "output_tokens": 50},
    }
    answered = {"type": "assistant", "uuid": str(uuid.uuid4()), "message": message}
    return _line(said | asked), _line(said | answered)


def _line(value: object) -> bytes:
    return json.dumps(value).encode() + b"\n"


def read_each(home: str) -> None:
    """Reads every session of a home with the library."""
    import tracklog

    for log in sorted(Path(home).glob("projects/*/*.jsonl")):
        tracklog.read(log)


def contestants(folder: Path, sizes: Sequence[int]) -> list[Contestant]:
    runs = []
    own = folder / "tracklog"
    for n in sizes:
        home = write_home(folder / str(n), n)
        top = [
            *environment(folder),
            f"TRACKLOG_HOME={own}",
            sys.executable,
            "-m",
            "tracklog",
            "top",
            "--once",
        ]
        top += ["--root", str(home)]
        runs += [command(f"top {n}", top), command(f"all {n}", [*top, "--all"])]
        runs.append(function(f"read {n}", "bench.many:read_each", str(home)))
    return runs


def verdicts(ran: Sequence[Contestant]) -> list[str]:
    """The time per log, and the goals with what was reached; CPU time, since other work of the machine is not ours."""
    first = next(one for one in ran if one.name.startswith("read"))
    lines = []
    for one in ran:
        what, n_logs = one.name.split()
        a_log = one.cpu_s / int(n_logs)
        is_reached = True
        if what == "read":
            is_reached = a_log <= FLAT * first.cpu_s / int(first.name.split()[1])
        elif what == "top" and int(n_logs) <= GOAL_LOGS:
            is_reached = one.wall_s <= GOAL_S
        lines.append(
            f"{'reached' if is_reached else 'MISSED '}  {one.name} logs: {a_log * 1000:.2f} ms a log"
        )
    return lines


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--logs", default="100,300,1000", help="how many, several with commas")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="tracklog-bench-") as scratch:
        sizes = sorted(map(int, asked.logs.split(",")))
        ran = race(contestants(Path(scratch), sizes), rounds=asked.rounds, warm=True)
    if asked.json:
        print(json.dumps(as_document(ran)))
        return 0
    print("\n".join([as_table(ran), *verdicts(ran)]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
