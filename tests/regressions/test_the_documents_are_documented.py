"""docs/cli.md promised shapes and left fields out.

It did not name the cost of turns and requests, nor `archive` of `verify`, and README showed the output of another session
than its command asked for. Here every field that the commands print for the shipped demo is looked up in the row of docs/cli.md,
and README's commands are run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.views.cli.command import tracklog

PROJECT = Path(__file__).parents[2]
ROWS = dict(
    re.findall(r"^\| `([a-z ]+)`[^|]* \| (.*) \|$", (PROJECT / "docs/cli.md").read_text("utf-8"), re.M)
)
FREE = {
    "input",
    "titles",
    "tokens",
    "steps",
    "book",
}  # what a tool was given, or names that stand in another row
SHARED = {"show": ROWS["sessions"]}  # `session` as above


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("demo")
    assert tracklog("demo", home / "logs", home=home).code == 0
    return home


def asked(demo: Path, *words: str | Path) -> Any:
    roots = [f"--root={demo / 'logs' / agent}" for agent in ("claude", "codex")]
    return tracklog(*words, *(() if words[0] == "prices" else roots), "--json", home=demo).json


def fields(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield name
            if name not in FREE:
                yield from fields(inner)
    elif isinstance(value, list):
        for one in value:
            yield from fields(one)


@pytest.mark.parametrize(
    "words",
    [
        ("sessions",),
        ("show", "64c2", "--thinking"),
        ("calls",),
        ("agents", "64c2"),
        ("graph", "64c2"),
        ("usage", "--uncertain"),
        ("carried", "64c2"),
        ("prices",),
        ("verify",),
        ("final", "64c2"),
    ],
    ids=lambda words: str(words[0]),
)
def test_every_field_of_a_document_is_named_in_the_reference(demo: Path, words: tuple[str, ...]) -> None:
    known = set(re.findall(r"\w+", ROWS[words[0]] + SHARED.get(words[0], "")))
    assert set(fields(asked(demo, *words))) - known == {"schema_version"}


def test_the_session_that_readme_shows_is_the_one_that_its_command_names(demo: Path) -> None:
    text = (PROJECT / "README.md").read_text("utf-8")
    found = re.search(r"^\$ tracklog show (\S+)\n(.+)$", text, re.M)
    assert found is not None
    roots = [f"--root={demo / 'logs' / agent}" for agent in ("claude", "codex")]
    assert tracklog("show", found[1], *roots, home=demo).out.splitlines()[0] == found[2]
