"""Gets the peers into a folder of their own: `python -m tests.oracle.install DIR`. What cannot be had is said, and left out.

The versions are those that docs/accounting.md speaks of; newer ones may count otherwise.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from tests.pins import CONSTRAINTS, pinned

CCUSAGE = f"ccusage@{pinned('npm', 'ccusage')}"
AGENTSVIEW = f"agentsview=={pinned('pypi', 'agentsview')}"
CCUSAGE_PROGRAM = "node_modules/@ccusage/ccusage-*/bin/ccusage"
AGENTSVIEW_PROGRAM = "agentsview/agentsview/bin/agentsview"
_TIME_LIMIT_S = 600


def install(folder: Path) -> None:
    """Each peer that is not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "node_modules").exists():
        npm = ["install", "--no-audit", "--no-fund", "--silent", "--prefix", str(folder), CCUSAGE]
        _try(CCUSAGE, shutil.which("npm"), npm)
        for program in folder.glob(CCUSAGE_PROGRAM):
            program.chmod(0o755)  # npm leaves it to a script of the package's, which is not run for us
    if not (folder / "agentsview").exists():
        pip = ["-m", "pip", "install", "--quiet", "--constraint", str(CONSTRAINTS)]
        pip += ["--target", str(folder / "agentsview"), AGENTSVIEW]
        _try(AGENTSVIEW, sys.executable, pip)


def _try(what: str, program: str | None, arguments: list[str]) -> None:
    """A peer that cannot be installed is no failure of ours."""
    if program is None:
        print(f"{what} is left out: npm is not installed", file=sys.stderr)
        return
    try:
        done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=_TIME_LIMIT_S)
    except subprocess.TimeoutExpired:
        print(f"{what} is left out: it took longer than {_TIME_LIMIT_S} s", file=sys.stderr)
        return
    if done.returncode:
        said = done.stderr.strip().splitlines()
        print(f"{what} is left out: {said[-1] if said else 'no reason given'}", file=sys.stderr)


if __name__ == "__main__":
    install(Path(sys.argv[1]))
