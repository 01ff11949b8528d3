"""How long `tracklog statusline` takes from nothing to its line, beside an interpreter that does nothing.

    python -m bench.cold_start [--rounds 20] [--json] [--imports]

Each run is a fresh process with what a client tells on stdin; `old client` tells no context, so the end of a log is
read. Goal: the median of each at most 80 ms. `--imports` says which modules take the time.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.measure import Contestant, as_document, as_table, command, race

GOAL_S = 0.080
LOG_BYTES = 2_000_000
ENTRY = ["-m", "tracklog", "statusline"]


def told(transcript: Path, **more: Any) -> dict[str, Any]:
    """What every client tells."""
    cost = {"total_cost_usd": 0.1239996, "total_lines_added": 2, "total_lines_removed": 1}
    model = {"id": "claude-sonnet-4-5-20250929", "display_name": "Sonnet 4.5"}
    return {"transcript_path": str(transcript), "cwd": "/", "model": model, "cost": cost, **more}


def write_log(path: Path) -> Path:
    """A long log with its last answer at the beginning of what is read of it: the most work there is."""
    usage = {"input_tokens": 9, "cache_read_input_tokens": 15_614, "cache_creation_input_tokens": 603}
    answered = {"type": "assistant", "message": {"usage": usage}}
    result = {"type": "user", "message": {"content": "x" * 3_000}, "toolUseResult": {"usage": usage}}
    line = json.dumps(result).encode() + b"\n"
    behind = line * (240_000 // len(line))
    path.write_bytes(line * (LOG_BYTES // len(line)) + json.dumps(answered).encode() + b"\n" + behind)
    return path


def started(name: str, arguments: Sequence[str], *, stdin: Path) -> Contestant:
    """A contestant that is an interpreter of its own and reads a file on stdin."""
    words = shlex.join([*environment(stdin.parent), sys.executable, *arguments])
    return command(name, ["/bin/sh", "-c", f"exec {words} < {shlex.quote(str(stdin))}"])


def environment(folder: Path) -> list[str]:
    """Compiled as an installed package is: the round that does not count writes what the others find."""
    return ["env", "-u", "PYTHONDONTWRITEBYTECODE", f"PYTHONPYCACHEPREFIX={folder / 'compiled'}"]


def contestants(folder: Path) -> list[Contestant]:
    log = write_log(folder / "log.jsonl")
    usage = {"input_tokens": 31, "cache_creation_input_tokens": 1248, "cache_read_input_tokens": 13_975}
    window = {"context_window_size": 200_000, "current_usage": usage}
    late, old = folder / "late.json", folder / "old.json"
    late.write_text(json.dumps(told(log, context_window=window)), "utf-8")
    old.write_text(json.dumps(told(log)), "utf-8")
    return [
        started("python -c pass", ["-c", "pass"], stdin=late),
        started("statusline", ENTRY, stdin=late),
        started("old client", ENTRY, stdin=old),
    ]


def verdicts(ran: Sequence[Contestant]) -> list[str]:
    """The goal with what was reached."""
    return [
        f"{'reached' if one.wall_s <= GOAL_S else 'MISSED '}  {one.name}: {one.wall_s * 1000:.0f} ms (goal <= 80),"
        f" {one.ratio_to(ran[0]):.1f} times an interpreter that does nothing"
        for one in ran[1:]
    ]


def slowest_imports(folder: Path, n: int = 12) -> str:
    """The modules with the most time of their own, as the interpreter counts them."""
    argv = [*environment(folder), sys.executable, "-X", "importtime", *ENTRY]
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
    head, *rows = done.stderr.splitlines()
    return "\n".join([head, *sorted(rows, key=lambda row: -int(row.split(":")[1].split("|")[0]))[:n]])


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--imports", action="store_true", help="which modules take the time")
    asked = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="tracklog-bench-") as scratch:
        ran = race(contestants(Path(scratch)), rounds=asked.rounds, warm=True)
        imports = [slowest_imports(Path(scratch))] if asked.imports else []
    if asked.json:
        print(json.dumps(as_document(ran)))
        return 0
    print("\n".join([as_table(ran), *verdicts(ran), *imports]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
