"""How fast secrets are found and taken out, on one core.

    python -m bench.redact [--mb 200] [--logs DIR] [--rounds 3] [--json]

Makes logs unless DIR is given. Goals (one core): scanning >= 20 MB/s, cleaning >= 20 MB/s.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from bench.asked import logs_asked_for
from bench.measure import Contestant, as_document, as_table, function, race

GOAL_MB_PER_S = 20


def contestants(folder: str) -> list[Contestant]:
    return [
        function("scan", "bench.redact_clean:scan", folder),
        function("private things", "bench.redact_clean:private", folder),
        function("clean", "bench.redact_clean:clean", folder),
        function("clean in chunks", "bench.redact_clean:chunks", folder),
    ]


def verdicts(ran: Sequence[Contestant]) -> list[str]:
    """Each goal with what was reached."""
    rows = [(one.name, one.mb_per_s or 0) for one in ran]
    return [
        f"{'reached' if speed >= GOAL_MB_PER_S else 'MISSED '}  {name}, MB/s: {speed:.1f} (goal >= {GOAL_MB_PER_S})"
        for name, speed in rows
    ]


def main(argv: Sequence[str]) -> int:
    with logs_asked_for(argv, __doc__) as (asked, folder):
        ran = race(contestants(folder), rounds=asked.rounds, warm=True)
    if asked.json:
        print(json.dumps(as_document(ran)))
        return 0
    print(as_table(ran))
    print("\n".join(verdicts(ran)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
