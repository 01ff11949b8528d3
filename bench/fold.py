"""How fast a session is put together from its logs, and what one more line costs.

    python -m bench.fold [--mb 200] [--logs DIR] [--rounds 3] [--json]

Makes logs unless DIR is given, then lets the contestants take turns in one run. Goals (2 cores, one used): reading and
folding >= 60 MB/s; a line appended to a session of 50,000 records costs <= 2x what it costs in one of 10.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from bench.asked import logs_asked_for
from bench.measure import Contestant, as_document, as_table, function, race

SHORT, LONG = 10, 50_000


def contestants(folder: str) -> list[Contestant]:
    return [
        function("read and fold", "bench.fold_typed:folding", folder),
        function("and assemble", "bench.fold_typed:assembling", folder),
        function("json.loads loop", "bench.read:bare_loop", folder),
    ]


def append_costs() -> tuple[float, float]:
    """Microseconds for one more record of a short and of a long session, measured in turns."""
    from bench.fold_typed import append_cost

    short, long = zip(*((append_cost(SHORT), append_cost(LONG)) for _ in range(3)), strict=True)
    return min(short), min(long)


def verdicts(folding: Contestant, assembling: Contestant, *, short_us: float, long_us: float) -> list[str]:
    """Each goal with what was reached."""
    speed, ratio = folding.mb_per_s or 0, long_us / short_us
    return [
        f"{'reached' if speed >= 60 else 'MISSED '}  read and fold, MB/s: {speed:.1f} (goal >= 60)",
        f"         read, fold and assemble, MB/s: {assembling.mb_per_s or 0:.1f}",
        f"{'reached' if ratio <= 2 else 'MISSED '}  one more record, {LONG} against {SHORT}: {long_us:.1f} us against "
        f"{short_us:.1f} us, {ratio:.2f} times (goal <= 2)",
    ]


def main(argv: Sequence[str]) -> int:
    with logs_asked_for(argv, __doc__) as (asked, folder):
        ran = race(contestants(folder), rounds=asked.rounds, warm=True)
    short_us, long_us = append_costs()
    if asked.json:
        print(json.dumps(as_document(ran) | {"append_us": {str(SHORT): short_us, str(LONG): long_us}}))
        return 0
    print(as_table(ran))
    print("\n".join(verdicts(ran[0], ran[1], short_us=short_us, long_us=long_us)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
