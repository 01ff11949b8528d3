"""Imports look upstream only: a room knows the rooms before it in the stream, and no agent knows another."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "tracklog"
STREAM = ["errors", "sources", "records", "model", "store", "live", "pipeline", "run", "team", "views"]
AGENTS = {"claude_code", "codex"}
LEAVES = {
    "__init__",
    "__main__",
    "ask_hook",
    "hook",
    "hooking",
    "keeper",
    "statusline",
    "demo",
}  # doors and data: no room rests on them


DOORS = {SOURCE / "__init__.py", SOURCE / "__main__.py"}  # they lead into every room


def modules() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def name_of(path: Path) -> str:
    parts = ("tracklog", *path.relative_to(SOURCE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(source: str, module: str, *, is_package: bool) -> Iterator[str]:
    """Every module that a piece of code imports, by its full name; `from a import b` names `a.b` too."""
    for node in _statements(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(node, module, is_package=is_package)
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


def _statements(block: ast.AST) -> Iterator[ast.stmt]:
    """All statements in a block, at any depth; expressions hold none."""
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        for node in getattr(block, field, ()):
            if isinstance(node, ast.stmt):
                yield node
            yield from _statements(node)


@cache
def imports_in(path: Path) -> tuple[str, ...]:
    """What a module of ours imports; each is parsed once."""
    return tuple(imports_of(path.read_text("utf-8"), name_of(path), is_package=path.name == "__init__.py"))


def _absolute(node: ast.ImportFrom, module: str, *, is_package: bool) -> str:
    if not node.level:
        return node.module or ""
    parts = module.split(".")
    kept = parts[: len(parts) - node.level + is_package]
    return ".".join([*kept, *([node.module] if node.module else [])])


def room_of(module: str) -> str | None:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[0] == "tracklog" and parts[1] in STREAM else None


def violations(imported: Iterable[str], module: str) -> list[str]:
    """What a module imports against the stream, or from another agent."""
    room = room_of(module)
    found = []
    for target in imported:
        there = room_of(target)
        if room and there and STREAM.index(there) > STREAM.index(room):
            found.append(f"{module} ({room}) imports {target} ({there})")
        if (mine := agent_of(module)) and (theirs := agent_of(target)) and mine != theirs:
            found.append(f"{module} imports {target}: agents do not know one another")
    return found


def agent_of(module: str) -> str | None:
    return next((part for part in module.split(".")[2:] if part in AGENTS), None)


def test_a_module_imports_only_from_upstream() -> None:
    found = [violations(imports_in(path), name_of(path)) for path in modules() if path not in DOORS]
    assert [one for of_module in found for one in of_module] == []


def test_every_module_stands_in_a_room_or_is_a_door() -> None:
    tops = {path.relative_to(SOURCE).parts[0].removesuffix(".py") for path in modules()}
    assert tops <= {*STREAM, *LEAVES}


@pytest.mark.parametrize(
    ("source", "module"),
    [
        ("import tracklog.views.cli", "tracklog.sources.lines"),
        ("from tracklog import views", "tracklog.sources.lines"),
        ("from tracklog.pipeline import reading", "tracklog.records.base"),
        ("from ..views import cli", "tracklog.sources.lines"),
        ("from .. import records", "tracklog.sources.lines"),
        ("def f():\n    from tracklog.views.cli import app", "tracklog.pipeline.reading"),
        ("if True:\n    import tracklog.records as r", "tracklog.sources.files"),
        ("from tracklog.records import codex", "tracklog.records.claude_code.reader"),
        ("from ..codex import READER", "tracklog.records.claude_code.reader"),
        ("from tracklog.sources.codex import find", "tracklog.sources.claude_code"),
    ],
)
def test_an_import_against_the_stream_is_found(source: str, module: str) -> None:
    assert len(violations(imports_of(source, module, is_package=False), module)) >= 1


@pytest.mark.parametrize(
    ("source", "module"),
    [
        ("from tracklog.sources import lines", "tracklog.records.reading"),
        ("from . import lines", "tracklog.sources.files"),
        ("from tracklog.errors import UserError", "tracklog.sources.places"),
        ("import json", "tracklog.records.base"),
        ("from tracklog.records import claude_code, codex", "tracklog.records.detect"),
    ],
)
def test_an_import_along_the_stream_is_fine(source: str, module: str) -> None:
    assert violations(imports_of(source, module, is_package=False), module) == []


def test_sources_know_no_json() -> None:
    for path in (SOURCE / "sources").glob("*.py"):
        names = set(imports_in(path))
        assert not names & {"json", "msgspec.json"}, path.name


def test_records_open_no_files() -> None:
    forbidden = {"io", "os", "pathlib", "sqlite3", "time", "tracklog.sources.files"}
    for path in (SOURCE / "records").rglob("*.py"):
        names = set(imports_in(path))
        assert not names & forbidden, path.name
