"""How long `tracklog statusline` takes from nothing to its line, beside an interpreter that does nothing.

    python -m bench.cold_start [--rounds 20] [--json]

Each run is a fresh process with what a client tells on stdin; `old client` tells no context, so the end of a log is
read. Goal: the median of each at most 80 ms. Then the modules that take the most time to import, for every command that must
answer fast, on the sample home with an index that is up to date.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench.measure import ROOT, Contestant, as_document, as_table, command, race

GOAL_S = 0.080
LOG_BYTES = 2_000_000
ENTRY = ["-m", "tracklog", "statusline"]
FAST: Mapping[str, Sequence[str]] = {
    "statusline": ["statusline"],
    "index, nothing new": ["index"],
    "usage": ["usage"],
    "usage tool": ["usage", "tool"],
    "sessions": ["sessions"],
    "calls": ["calls"],
    "search": ["search", "the"],
    "sql": ["sql", "SELECT 1"],
    "show": ["show", "@last"],
    "top --once": ["top", "--once"],
}
_IMPORT_ROUNDS, _DEAREST = 5, 12


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


class ImportCost(NamedTuple):
    """A module, and the time that it took itself, without what it imports."""

    module: str
    self_us: int


def import_costs(report: str) -> list[ImportCost]:
    """What `-X importtime` printed, the dearest module first."""
    rows = [
        line.removeprefix("import time:").split("|") for line in report.splitlines() if line.count("|") == 2
    ]
    return dearest_first(
        ImportCost(module.strip(), int(own)) for own, _, module in rows if own.strip().isdigit()
    )


def imports_of(words: Sequence[str], env: Mapping[str, str]) -> list[ImportCost]:
    """What one command imports; of several runs the least for each module, since noise only adds."""
    argv = [sys.executable, "-X", "importtime", "-m", "tracklog", *words]
    least: dict[str, int] = {}
    for n in range(1 + _IMPORT_ROUNDS):
        done = subprocess.run(
            argv, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True
        )
        if n:  # the first one compiles
            for one in import_costs(done.stderr):
                least[one.module] = min(one.self_us, least.get(one.module, one.self_us))
    return dearest_first(ImportCost(*one) for one in least.items())


def dearest_first(costs: Iterable[ImportCost]) -> list[ImportCost]:
    """In the order in which it pays to look at them."""
    return sorted(costs, key=lambda one: (-one.self_us, one.module))


def total_us(costs: Sequence[ImportCost]) -> int:
    """The time of all modules together."""
    return sum(one.self_us for one in costs)


def imports_of_all(folder: Path) -> dict[str, list[ImportCost]]:
    """What each fast command imports, on the sample home with an index that is up to date."""
    demo = folder / "demo"
    env = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(folder),
        "CLAUDE_CONFIG_DIR": str(demo / "claude"),
        "CODEX_HOME": str(demo / "codex"),
        "TRACKLOG_HOME": str(folder / "tracklog"),
        "PYTHONPATH": str(ROOT / "src"),
        "PYTHONPYCACHEPREFIX": str(folder / "compiled"),
    }
    for words in (["demo", str(demo)], ["index"]):
        argv = [sys.executable, "-m", "tracklog", *words]
        subprocess.run(argv, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    return {name: imports_of(words, env) for name, words in FAST.items()}


def import_table(imports: Mapping[str, Sequence[ImportCost]]) -> str:
    """For each command the modules with the most time of their own."""
    lines = []
    for name, costs in imports.items():
        lines.append(f"{name}: {len(costs)} modules, {total_us(costs) / 1000:.1f} ms of imports")
        lines += [f"{one.self_us / 1000:8.1f} ms  {one.module}" for one in costs[:_DEAREST]]
    return "\n".join(lines)


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="tracklog-bench-") as scratch:
        ran = race(contestants(Path(scratch)), rounds=asked.rounds, warm=True)
        imports = imports_of_all(Path(scratch))
    if asked.json:
        told_us = {name: [one._asdict() for one in costs] for name, costs in imports.items()}
        print(json.dumps({**as_document(ran), "imports": told_us}))
        return 0
    print("\n".join([as_table(ran), *verdicts(ran), import_table(imports)]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
