"""docs/python.md names every public function, type and field, and its examples do what they say."""

from __future__ import annotations

import doctest
import inspect
import json
import os
import re
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

import tracklog
from tests.demo_home import demo_home
from tests.run.fake_client import install
from tracklog import run
from tracklog.app.library import questions, sessions

PAGE = Path(__file__).parent.parent / "docs/python.md"
ERRORS = {"NotReadable", "NotThere", "UserError"}
_CODE = re.compile(r"`([^`]+)`")


def sections() -> dict[str, str]:
    """The text below each heading of the third level."""
    parts = re.split(r"^### ", PAGE.read_text(), flags=re.MULTILINE)[1:]
    return {heading: body for heading, _, body in (part.partition("\n") for part in parts)}


def documented(body: str) -> set[str]:
    """The names in the first cells of a section's first table."""
    rows = [line for line in body.partition("\n## ")[0].splitlines() if line.startswith("| `")]
    return {name for row in rows for name in _CODE.findall(row.split(" | ")[0])}


def public_names(kind: type) -> set[str]:
    """Fields, properties and methods of a type, the methods with brackets."""
    names = {*getattr(kind, "__struct_fields__", ()), *getattr(kind, "_fields", ()), *fields_of(kind)}
    for name, member in inspect.getmembers(kind):
        if name.startswith("_") or name in names:
            continue
        if isinstance(member, property):
            names.add(name)
        elif inspect.isfunction(member):
            names.add(f"{name}()")
    return names


def fields_of(kind: type) -> set[str]:
    if kind is run.Child:
        return {"run", "agent"}
    return set(getattr(kind, "__dataclass_fields__", ()))


def types() -> dict[str, type]:
    found = {name: getattr(tracklog, name) for name in tracklog.__all__}
    kinds = {name: one for name, one in found.items() if isinstance(one, type) and name not in ERRORS}
    children = {
        f"run.{name}": getattr(run, name) for name in ("RunRequest", "Limits", "Result", "RunEvent", "Child")
    }
    return kinds | children


@pytest.mark.parametrize(("name", "kind"), types().items(), ids=str)
def test_every_public_field_of_a_type_is_documented(name: str, kind: type) -> None:
    assert documented(sections()[name]) == public_names(kind)


def test_every_section_is_that_of_a_public_type() -> None:
    assert sections().keys() == types().keys()


def test_every_function_and_its_parameters_are_named() -> None:
    text = PAGE.read_text()
    functions = [name for name in tracklog.__all__ if inspect.isfunction(getattr(tracklog, name))]
    assert [name for name in functions if f"`tracklog.{name}(" not in text] == []
    ours = [
        getattr(module, name)
        for module in (sessions, questions)
        for name in functions
        if hasattr(module, name)
    ]
    parameters = {parameter for one in ours for parameter in inspect.signature(one).parameters}
    prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    told = set(re.findall(r"\w+", " ".join(_CODE.findall(prose))))
    assert parameters - told == set()


def test_types_of_fields_are_public_too() -> None:
    text = " ".join(
        str(kind.__annotations__) for kind in types().values() if hasattr(kind, "__annotations__")
    )
    values = set(re.findall(r"tracklog\.model\.(?:session|usage)\.([A-Z]\w+)", text))
    assert values - {*tracklog.__all__} == set()


@pytest.fixture
def demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The sample home as the home of both agents."""
    return demo_home(tmp_path, monkeypatch)


@pytest.mark.usefixtures("demo")
def test_the_examples_print_what_the_page_says() -> None:
    blocks = "\n".join(re.findall(r"^```pycon\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL))
    example = doctest.DocTestParser().get_doctest(blocks, {}, PAGE.name, str(PAGE), 0)
    told: list[str] = []
    result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example, out=told.append)
    assert "".join(told) == ""
    assert result.attempted > 10


def test_the_example_of_watching_sees_a_line_that_is_written(
    demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = next((demo / "claude").rglob("12812c74*.jsonl"))
    watching = threading.Thread(
        target=exec, args=(python_block("tracklog.watch"), {"tracklog": tracklog}), daemon=True
    )
    watching.start()
    until = time.monotonic() + 60
    while watching.is_alive() and time.monotonic() < until:
        with log.open("a") as stream:
            stream.write(json.dumps(prompt(log.stem)) + "\n")
        watching.join(0.5)
    assert "12812c74" in capsys.readouterr().out


def test_the_example_of_running_prints_the_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    demo_home(tmp_path, monkeypatch)
    monkeypatch.setenv("PATH", f"{install(tmp_path / 'bin').parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("FAKE_CLIENT_STATE", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    exec(python_block("run.run("), {})
    assert capsys.readouterr().out.startswith("completed done: what is in this folder? ")


def prompt(session: str) -> dict[str, Any]:
    """A line of a person's prompt, at this moment."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    message = {"role": "user", "content": "go on"}
    return {
        "type": "user",
        "uuid": str(uuid4()),
        "parentUuid": None,
        "sessionId": session,
        "timestamp": now,
        "message": message,
    }


def python_block(word: str) -> str:
    blocks: list[str] = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    return next(block for block in blocks if word in block)
