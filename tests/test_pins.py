"""Pins are exact, complete, and raised without touching anything else."""

from __future__ import annotations

import inspect
import re
import tomllib
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement

from tests.pins import CONSTRAINTS, PINS_FILE
from tests.update_pins import HEADER, raise_constraints, raise_release, raise_versions
from tracklog.agents.supported import SUPPORTED

PROJECT = CONSTRAINTS.parent
EXACT = re.compile(r"[a-z0-9.-]+==[0-9][0-9a-z.]*")


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def constraints() -> dict[str, str]:
    lines = [line for line in CONSTRAINTS.read_text().splitlines() if not line.startswith("#")]
    assert [line for line in lines if not EXACT.fullmatch(line)] == []
    return {normal(name): version for name, version in (line.split("==") for line in lines)}


def test_every_package_that_development_uses_is_installed_in_its_pinned_version() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())
    named = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]
    used = {*map(normal, (Requirement(one).name for one in named))}
    waiting = list(used)
    while waiting:
        for one in map(Requirement, distribution(waiting.pop()).requires or ()):
            is_needed = one.marker is None or one.marker.evaluate({"extra": ""})
            if is_needed and normal(one.name) not in used:
                used.add(normal(one.name))
                waiting.append(normal(one.name))
    pinned = constraints()
    assert {name: distribution(name).version for name in used} == {name: pinned.get(name) for name in used}
    assert {"pip", "hatchling", "editables"} <= pinned.keys()


def test_only_drift_and_update_pins_look_for_newer_versions() -> None:
    rules = re.split(r"(?m)^(?=[a-z$(][^\t\n]*:)", (PROJECT / "Makefile").read_text())
    asking = [rule.partition(":")[0] for rule in rules if re.search("newest|latest", rule)]
    assert asking == ["drift", "update-pins"]


def test_constraints_are_rewritten_and_the_changes_told(tmp_path: Path) -> None:
    path = tmp_path / "constraints.txt"
    path.write_text(f"{HEADER}gone==1.0\nkept==2.0\nraised==3.0\n")
    changes = raise_constraints(path, {"raised": "3.1", "kept": "2.0", "new": "4.0"})
    assert path.read_text() == f"{HEADER}kept==2.0\nnew==4.0\nraised==3.1\n"
    assert [change.split() for change in changes] == [
        ["gone", "1.0", "→", "gone"],
        ["new", "new", "→", "4.0"],
        ["raised", "3.0", "→", "3.1"],
    ]


def test_a_version_is_raised_where_it_is_and_all_else_stays(tmp_path: Path) -> None:
    pins, clients = tmp_path / "pins.toml", tmp_path / "clients.py"
    pins.write_text(PINS_FILE.read_text())
    clients.write_text(Path(inspect.getfile(type(SUPPORTED["codex"]))).read_text())
    before = tomllib.loads(pins.read_text())
    raise_versions(pins, {"agentsview": "99.1"}, pattern='(?m)^({name} = ")([^"]+)(")')
    assert tomllib.loads(pins.read_text()) == {**before, "pypi": {**before["pypi"], "agentsview": "99.1"}}
    changes = raise_release("codex", "9.9.9", path=clients)
    assert [change.split() for change in changes] == [
        ["codex", SUPPORTED["codex"].verified_release, "→", "9.9.9"]
    ]
    assert 'verified_release = "9.9.9"' in clients.read_text()
