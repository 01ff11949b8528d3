"""Raise every pin to the newest published version and print what changed: `make update-pins`.

    python -m tests.update_pins

Writes constraints.txt, tests/pins.toml and the `support.py` of each agent. The Makefile then runs what depends on them.
"""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tests.lab.clients import PACKAGES, PROJECT
from tests.lab.published import newest_on_npm, newest_on_pypi
from tests.pins import CONSTRAINTS, PINS_FILE
from tracklog.agents.supported import SUPPORTED

SDK = "claude-agent-sdk"
BUILD_TOOLS = ("pip", "hatchling", "editables")  # `pip install --editable` builds with the last two
RESOLVE_S = 1200
HEADER = """\
# Exact versions of all Python packages that development, tests and Anthropic's SDK use, with what they depend on.
# Written by `make update-pins`; tracklog itself accepts the ranges in pyproject.toml.
"""


def main() -> int:
    """Write the new pins and print old and new versions."""
    pins = {name: newest_on_npm(name) for name in ("ccusage",)}
    pins |= {name: newest_on_pypi(name) for name in ("agentsview", SDK)}
    clients = {agent: newest_on_npm(package) for agent, package in PACKAGES.items()}
    changes = [
        *raise_constraints(CONSTRAINTS, resolved_packages(pins[SDK])),
        *raise_versions(PINS_FILE, pins, pattern='(?m)^({name} = ")([^"]+)(")'),
        *(line for agent, version in clients.items() for line in raise_release(agent, version)),
    ]
    print("\n".join(changes) or "every pin is the newest already")
    return 0


def resolved_packages(sdk_version: str) -> dict[str, str]:
    """Newest versions of all packages that fit together, by name; resolved, not installed."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed"]
        command += ["--report", str(report), "--no-binary", SDK, "--group", "dev", str(PROJECT)]
        subprocess.run(
            [*command, *BUILD_TOOLS, f"{SDK}=={sdk_version}"], check=True, cwd=PROJECT, timeout=RESOLVE_S
        )
        installs = json.loads(report.read_text())["install"]
    found = {
        one["metadata"]["name"].lower().replace("_", "-"): one["metadata"]["version"] for one in installs
    }
    return {name: version for name, version in found.items() if name not in ("tracklog", SDK)}


def raise_constraints(path: Path, packages: Mapping[str, str]) -> list[str]:
    """Rewrite the constraints file; return a line for every package that changed."""
    lines = path.read_text().splitlines() if path.exists() else []
    before = dict(line.split("==", 1) for line in lines if "==" in line)
    path.write_text(HEADER + "".join(f"{name}=={packages[name]}\n" for name in sorted(packages)))
    names = sorted(before.keys() | packages.keys())
    return [_change(n, before.get(n), packages.get(n)) for n in names if before.get(n) != packages.get(n)]


def raise_versions(path: Path, versions: Mapping[str, str], *, pattern: str) -> list[str]:
    """Replace versions in a file, each where `pattern` finds its name; return a line for every change."""
    text, changes = path.read_text(), []
    for name, version in versions.items():
        place = re.search(pattern.format(name=re.escape(name)), text)
        if place is None:
            raise ValueError(f"{path.name} names no version of {name}")
        if place[2] != version:
            text = f"{text[: place.start(2)]}{version}{text[place.end(2) :]}"
            changes.append(_change(name, place[2], version))
    path.write_text(text)
    return changes


def raise_release(agent: str, version: str, *, path: Path | None = None) -> list[str]:
    """Replace the verified release of an agent's client; return a line if it changed."""
    place = path or Path(inspect.getfile(type(SUPPORTED[agent])))
    return raise_versions(place, {agent: version}, pattern='(verified_release = ")([^"]+)(")')


def _change(name: str, before: str | None, after: str | None) -> str:
    return f"{name:24} {before or 'new':>12} → {after or 'gone'}"


if __name__ == "__main__":
    sys.exit(main())
