"""How fast reading is: typed records against a bare `json.loads` loop, and the survey that `doctor` makes.

    python -m bench.read [--mb 200] [--logs DIR] [--rounds 3] [--json]

Makes logs unless DIR is given, then lets the contestants take turns in one run. Goals (2 cores, one used): typed
reading >= 150 MB/s and >= 1.7x the loop at <= 80 MB of memory; the survey >= 40 MB/s.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.asked import logs_asked_for
from bench.measure import Contestant, as_document, as_table, function, race


def logs_in(folder: str) -> Iterator[Path]:
    """The transcripts of a made home, in order."""
    yield from sorted(Path(folder).rglob("*.jsonl"))


def bare_loop(folder: str) -> dict[str, int]:
    """What everybody writes first."""
    n_bytes = 0
    for path in logs_in(folder):
        with path.open("rb") as stream:
            for line in stream:
                json.loads(line)
                n_bytes += len(line)
    return {"bytes": n_bytes}


def contestants(folder: str) -> list[Contestant]:
    return [
        function("typed reading", "bench.read_typed:typed_reading", folder),
        function("json.loads loop", "bench.read:bare_loop", folder),
        function("survey (doctor)", "bench.read_typed:survey", folder),
    ]


def verdicts(typed: Contestant, bare: Contestant, surveyed: Contestant) -> list[str]:
    """Each goal with what was reached."""
    memory_mb = typed.peak_rss_bytes / 1e6
    rows = [
        ("typed reading, MB/s", typed.mb_per_s or 0, ">=", 150),
        ("typed reading, times a json.loads loop", bare.ratio_to(typed), ">=", 1.7),
        ("typed reading, MB of memory", memory_mb, "<=", 80),
        ("survey of doctor, MB/s", surveyed.mb_per_s or 0, ">=", 40),
    ]
    return [
        f"{'reached' if (reached >= goal) == (sign == '>=') else 'MISSED '}  {name}: {reached:.1f} (goal {sign} {goal:g})"
        for name, reached, sign, goal in rows
    ]


def main(argv: Sequence[str]) -> int:
    with logs_asked_for(argv, __doc__) as (asked, folder):
        ran = race(contestants(folder), rounds=asked.rounds, warm=True)
    if asked.json:
        print(json.dumps(as_document(ran)))
        return 0
    print(as_table(ran))
    print("\n".join(verdicts(*ran)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
