"""What `tracklog run` adds to a bare `claude -p`, side by side against the scripted API of the lab.

    python -m bench.run [--rounds 20] [--json] [--imports]

Each run is a fresh process that asks for one answer: the client alone, with `--output-format json`, and the same client through
`tracklog run --json`, whole, from its start to its end. The figure is the median of the rounds' own differences. Goal: at most
150 ms. `--imports` says which modules take the time.
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
from statistics import median
from typing import Any

from bench.measure import ROOT, Contestant, as_document, as_table, command, race
from tests.lab.anthropic_api import AnthropicApi
from tests.lab.clients import CURRENT, Unobtainable, install
from tests.lab.homes import Home, claude_environment, make_home, write_claude_files
from tests.lab.run import CLAUDE_MODEL
from tests.lab.script import Script
from tests.lab.words import Scenario

GOAL_MS = 150.0
PROMPT = "please answer"
QUIET = Scenario(
    name="bench", steps=(), threads={}
)  # a request beyond the script is answered, and that is all
ENTRY = ["-m", "tracklog", "run"]


def in_home(home: Home, environment: dict[str, str], words: Sequence[str]) -> list[str]:
    """A command in the project of this home, with nothing but this environment."""
    settings = [f"{name}={value}" for name, value in environment.items()]
    inner = shlex.join(["env", "-i", *settings, *words])
    return ["/bin/sh", "-c", f"cd {shlex.quote(str(home.cwd))} && exec {inner}"]


def compiled(home: Home, environment: dict[str, str]) -> dict[str, str]:
    """Compiled as an installed package is: the round that does not count writes what the others find."""
    ours = {"PYTHONPATH": str(ROOT / "src"), "PYTHONPYCACHEPREFIX": str(home.root / "compiled")}
    return {**environment, **ours, "TRACKLOG_HOME": str(home.root / "ours")}


def contestants(home: Home, environment: dict[str, str], client: Path) -> list[Contestant]:
    program = str(client)
    bare = [program, "-p", "--output-format", "json", "--model", CLAUDE_MODEL, PROMPT]
    ours = [sys.executable, *ENTRY, "--json", "--client", program, "--model", CLAUDE_MODEL, PROMPT]
    return [
        command("claude -p", in_home(home, environment, bare)),
        command("tracklog run", in_home(home, compiled(home, environment), ours)),
    ]


def differences_ms(ran: Sequence[Contestant]) -> list[float]:
    """How much longer it took, round against round."""
    bare, ours = ran
    return [(mine.wall_s - theirs.wall_s) * 1000 for mine, theirs in zip(ours.runs, bare.runs, strict=True)]


def figures(ran: Sequence[Contestant]) -> dict[str, Any]:
    added = differences_ms(ran)
    return {
        "overhead_ms": round(median(added), 1),
        "overhead_ms_each": [round(one, 1) for one in added],
        "goal_ms": GOAL_MS,
        "is_reached": median(added) <= GOAL_MS,
    }


def slowest_imports(home: Home, environment: dict[str, str], n: int = 16) -> str:
    """The modules with the most time of their own, before the client could be started."""
    argv = in_home(
        home,
        compiled(home, environment),
        [sys.executable, "-X", "importtime", *ENTRY, "--client", "true", PROMPT],
    )
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    rows = [row for row in done.stderr.splitlines() if row.startswith("import time:")]
    head, *rest = rows
    return "\n".join([head, *sorted(rest, key=lambda row: -int(row.split(":")[1].split("|")[0]))[:n]])


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--imports", action="store_true", help="which modules take the time")
    asked = parser.parse_args(argv)
    try:
        version = CURRENT["claude"]
        client = install("claude", version)
    except Unobtainable as reason:
        print(f"bench.run: no client: {reason}", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="tracklog-bench-") as scratch:
        home = make_home(Path(scratch), QUIET)
        write_claude_files(home, QUIET)
        with AnthropicApi(Script("bench", QUIET.threads), home.holes()) as api:
            environment = claude_environment(home, api.url)
            ran = race(contestants(home, environment, client), rounds=asked.rounds, warm=True)
            imports = [slowest_imports(home, environment)] if asked.imports else []
    found = {"client": version, **as_document(ran), **figures(ran)}
    if asked.json:
        print(json.dumps(found))
        return 0
    verdict = "reached" if found["is_reached"] else "MISSED "
    print(
        "\n".join(
            [
                as_table(ran),
                f"{verdict}  {found['overhead_ms']:.0f} ms added (goal <= {GOAL_MS:.0f})",
                *imports,
            ]
        )
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
