from __future__ import annotations

import os
from pathlib import Path

import pytest

from tracklog.agents.roots import homes_from, user_home


def test_the_home_is_what_the_environment_says(tmp_path: Path) -> None:
    assert user_home({"HOME": str(tmp_path)}) == tmp_path


def test_without_home_the_system_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert user_home({}) == tmp_path


def test_homes_are_absolute_and_named_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    here = Path(os.getcwd())
    assert homes_from("a, b/../a ,,c/") == [here / "a", here / "c"]
    assert homes_from(" , ") == []
