"""No pattern has a possessive quantifier on a group: before Python 3.11.5, `re` matches `(…)++` wrongly.

It misses matches or raises SystemError (python/cpython#106052). The atomic group `(?>(…)+)` means the same and works everywhere.
On a single character or a class (`[a-z]++`) the quantifier is fine.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from re import _compiler, _parser  # type: ignore[attr-defined]  # no other way to see what a pattern is made of
from typing import Any

import tracklog
from tracklog.secrets.rules import shipped_rules

SOURCE = Path(tracklog.__file__).parent
# Behind a group, or where a piece of a pattern begins.
_IN_SOURCE = re.compile(r"""(?:\)|\b[rb]{1,2}["'])(?:[+*?]|\{[0-9,]+\})\+""")


def possessive_groups(pattern: str | bytes, flags: int = 0) -> Iterator[Any]:
    """The groups of a pattern that a possessive quantifier repeats."""
    return _in_tree(_parser.parse(pattern, flags))


def _in_tree(node: Any) -> Iterator[Any]:
    if isinstance(node, _parser.SubPattern | tuple | list):
        if len(node) == 2 and node[0] is _parser.POSSESSIVE_REPEAT and not _compiler._simple(node[1][2]):
            yield node[1][2]
        for part in node:
            yield from _in_tree(part)


def patterns_in(value: Any) -> Iterator[re.Pattern[Any]]:
    """The compiled patterns of a value, at any depth of tuples, lists and dictionaries."""
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, tuple | list):
        for part in value:
            yield from patterns_in(part)
    elif isinstance(value, Mapping):
        yield from patterns_in(list(value.values()))


def modules() -> list[str]:
    names = [found.name for found in pkgutil.walk_packages(tracklog.__path__, "tracklog.")]
    return [name for name in names if not name.endswith("__main__")]


def test_a_quantifier_on_a_group_is_found_and_one_on_a_class_is_not() -> None:
    wrong = [r"(?:ab)++", r"x(?:a|bc){0,4}+", r"(?=(?:ab)*+c)", r"(?:(?:ab)?+|c)+"]
    right = [r"[ab]++", r"a*+", r"(?>(?:ab)+)", r"(?:a|b){2,}+", r"\.?+"]
    assert [len(list(possessive_groups(pattern))) for pattern in (*wrong, *right)] == [1] * 4 + [0] * 5


def test_no_rule_repeats_a_group_possessively() -> None:
    book = shipped_rules()
    patterns = [
        book.placeholders,
        *(pattern for rule in book.rules for pattern in (rule.pattern, rule.back) if pattern),
    ]
    assert [one.pattern for one in patterns if any(possessive_groups(one.pattern, one.flags))] == []


def test_no_pattern_of_a_module_repeats_a_group_possessively() -> None:
    found = {
        one.pattern: name
        for name in modules()
        for one in patterns_in(dict(vars(importlib.import_module(name))))
        if any(possessive_groups(one.pattern, one.flags))
    }
    assert found == {}


def test_no_source_writes_a_possessive_quantifier_behind_a_group() -> None:
    found = [
        f"{path.relative_to(SOURCE)}:{number}"
        for path in sorted((*SOURCE.rglob("*.py"), *SOURCE.rglob("*.toml")))
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if _IN_SOURCE.search(line)
    ]
    assert found == []
