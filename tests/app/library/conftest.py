"""The sample home, as the home of both agents."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.demo_home import demo_home


@pytest.fixture
def demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the homes of both agents."""
    return demo_home(tmp_path, monkeypatch)
