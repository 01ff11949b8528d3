"""What the newest releases bring: plays everything with them and says what tracklog does not know yet.

    python -m tests.lab.latest

Exit 1 when something is unknown or a scenario ended otherwise than it says, 0 when all was read.
"""

from __future__ import annotations

import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.lab.clients import KNOWN, PACKAGES, Unobtainable, install, newest
from tests.lab.drift import drift_of
from tests.lab.run import LabRun, play
from tests.lab.scenarios import scenarios_for


def main() -> int:
    """Looks at both clients; one report each."""
    news = 0
    for agent in PACKAGES:
        try:
            news += _look_at(agent, newest(agent))
        except Unobtainable as reason:
            print(f"{agent}: cannot be had: {reason}", file=sys.stderr)
            news += 1
    return 1 if news else 0


def _look_at(agent: str, version: str) -> int:
    print(f"{agent} {version} ({'known' if version == KNOWN[agent] else f'new: {KNOWN[agent]} is known'})")
    with tempfile.TemporaryDirectory(prefix="lab-latest-") as root:
        runs = _played(agent, version, Path(root))
        odd = [run.summary() for run in runs if not run.as_told]
        strange = [f"{run.scenario.name}: {words}" for run in runs for words in drift_of(run)]
        n_lines = sum(1 for run in runs for _ in run.lines())
    for line in [*odd, *strange]:
        print(f"  {line}")
    print(f"  {len(runs)} scenarios, {n_lines} lines, {len(strange)} unknown things, {len(odd)} odd endings")
    return len(odd) + len(strange)


def _played(agent: str, version: str, root: Path) -> list[LabRun]:
    program = install(agent, version)
    with ThreadPoolExecutor(2) as pool:
        return list(
            pool.map(
                lambda s: play(agent, program, version, s, root=root / s.name), scenarios_for(agent, version)
            )
        )


if __name__ == "__main__":
    sys.exit(main())
