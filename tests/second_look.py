"""Runs again, alone, what failed beside everything else: real clients and a real browser share two cores with it.

Rules of this room
  1. Few failures get a second look (MOST), and one. What fails again has failed.
  2. What passes only alone is named in the last lines: it depends on chance, and somebody has to look into it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

FAILED = Path(".pytest_cache/v/cache/lastfailed")
MOST = 5


def without_group(node_id: str) -> str:
    """The name of a test without the group that xdist puts behind it (`…::test_it[case]@browser`)."""
    name, at, group = node_id.rpartition("@")
    return name if at and "::" in name and "]" not in group else node_id


def to_look_at(failed: Iterable[str]) -> list[str]:
    """The tests that get a second look; none if they are too many, or if a module could not even be loaded."""
    names = sorted(map(without_group, failed))
    return names if len(names) <= MOST and all("::" in name for name in names) else []


def main() -> int:
    """Looks at what the last run of pytest left as failed; the exit code says whether all of it passes alone."""
    names = to_look_at(json.loads(FAILED.read_text())) if FAILED.exists() else []
    if not names:
        print("too much failed for a second look", file=sys.stderr)
        return 1
    print(f"\n{len(names)} failed beside the others; once more, alone:", *names, sep="\n  ", flush=True)
    code = subprocess.run([sys.executable, "-m", "pytest", "-n", "0", *names], check=False).returncode
    if code == 0:
        print("\nPASSED ONLY ALONE, so they depend on chance:", *names, sep="\n  ", flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main())
