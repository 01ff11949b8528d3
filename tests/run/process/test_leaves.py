"""Programs of ours that are started as files."""

from __future__ import annotations

import py_compile
from pathlib import Path

import pytest

from tracklog import supervisor
from tracklog.run.process.prestart import leaf


def test_what_was_compiled_is_started_if_it_was_made_of_this_very_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, compiled = tmp_path / "keeper.py", tmp_path / "keeper.pyc"
    monkeypatch.setattr(supervisor, "__file__", str(source))
    monkeypatch.setattr(supervisor.__spec__, "cached", str(compiled))
    source.write_text("x = 1\n")
    assert leaf(supervisor) == str(source)
    py_compile.compile(str(source), str(compiled))
    assert leaf(supervisor) == str(compiled)
    source.write_text("x = 12\n")
    assert leaf(supervisor) == str(source)
