"""The examples of docs/hooks-toolkit.md run as they stand there."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import tracklog.hooking
from tracklog.hooking import decisions

PAGE = (Path(__file__).parents[2] / "docs" / "hooks-toolkit.md").read_text("utf-8")


def test_the_examples_run() -> None:
    examples = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(examples) == 2
    known: dict[str, Any] = {"__name__": "documented"}
    for example in examples:
        exec(example, known)


def test_the_settings_are_json() -> None:
    (settings,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    assert set(json.loads(settings)["hooks"]) == {"PreToolUse", "Stop"}


def test_every_decision_has_its_row() -> None:
    rows = set(re.findall(r"^\| `(\w+)\(", PAGE, re.MULTILINE))
    made = {name for name in tracklog.hooking.__all__ if name.islower() and hasattr(decisions, name)}
    assert rows == made
