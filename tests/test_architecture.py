"""The rules of the tree hold, but for the violations that `known_violations.txt` lists. That list may only get shorter."""

from __future__ import annotations

import ast

import pytest

from tests.architecture import (
    ENTRIES,
    EVERYBODY,
    FEATURES,
    LAYERS,
    RULES,
    SOURCE,
    Module,
    imported,
    known_violations,
    may_import,
    modules,
    strongly_connected,
    without_reason,
)


@pytest.mark.parametrize("rule", RULES)
def test_nothing_breaks_a_rule_that_is_not_known(rule: str) -> None:
    found, known = set(RULES[rule]()), known_violations().get(rule, frozenset())
    assert found - known == set(), "new: change the code, not the list"
    assert known - found == set(), "fixed: remove these lines from tests/known_violations.txt"


def test_the_list_names_only_rules() -> None:
    assert set(known_violations()) <= set(RULES)


def test_every_module_is_in_a_layer_or_is_an_entry() -> None:
    tops = {one.package for one in modules().values()} - {""}
    assert tops <= {*LAYERS, *FEATURES, *EVERYBODY, *ENTRIES}


def module(name: str) -> Module:
    return Module(name, SOURCE / f"{name.replace('.', '/')}.py", ast.parse(""), 0)


@pytest.mark.parametrize(
    ("one", "other", "may"),
    [
        ("views.cli.main", "app.usage", True),
        ("app.usage", "views.cli.main", False),
        ("ledger.report", "store.database", True),
        ("store.database", "ledger.report", False),
        ("ledger.report", "reading.verify", True),
        ("reading.verify", "ledger.report", False),
        ("sources.lines", "errors", True),
        ("sources.lines", "model.events", False),
        ("nowhere.lines", "model.events", False),
    ],
)
def test_a_module_may_import_what_the_layers_and_the_table_allow(one: str, other: str, may: bool) -> None:
    assert may_import(module(one), module(other)) is may


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import tracklog.model.events", [("model.events", False)]),
        ("from tracklog.model import events", [("model.events", False)]),
        ("from tracklog.model.events import Event", [("model.events", False)]),
        ("def f():\n    from tracklog.model import events", [("model.events", False)]),
        ("if TYPE_CHECKING:\n    import tracklog.model.events as e", [("model.events", False)]),
        ("from . import events", [(".", True)]),
        ("from ..model import events", [("model", True)]),
        ("import tracklog", [("", False)]),
        ("import json, os.path", [("json", False), ("os.path", False)]),
        ("import secrets\nfrom tracklog.secrets import find", [("/secrets", False), ("secrets", False)]),
    ],
)
def test_every_import_is_found(source: str, found: list[tuple[str, bool]]) -> None:
    assert list(imported(ast.parse(source), {"model.events"})) == found


@pytest.mark.parametrize(
    ("source", "without"),
    [
        ("def f():\n    import json", [2]),
        ("def f():\n    import json  # slow", []),
        ("def f():\n    # slow\n    import json\n    import csv", []),
        ("def f():\n    import csv  # slow\n\n    import json", [4]),
        ("# Lazy imports: slow.\ndef f():\n    import json", []),
        ("import json", []),
    ],
)
def test_an_import_inside_a_function_gives_its_reason(source: str, without: list[int]) -> None:
    assert list(without_reason(ast.parse(source), source.splitlines())) == without


def test_a_cycle_is_found_whoever_closes_it() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": set(), "e": {"a"}}
    assert strongly_connected(graph) == [{"a", "b", "c"}]
