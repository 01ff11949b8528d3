"""The sample home as the home of both agents, its files as old as what they tell last."""

from __future__ import annotations

import os
import re
import shutil
from datetime import datetime
from pathlib import Path

import pytest

import tracklog

_TIME = re.compile(r'"timestamp":"([^"]+)"')


def demo_home(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write it into a folder, and let the agents' variables point there; nothing of this machine's is seen."""
    shutil.copytree(Path(tracklog.__file__).parent / "demo", folder / "demo")
    for log in (folder / "demo").rglob("*.jsonl"):
        times = _TIME.findall(log.read_text())
        if times:
            written = datetime.fromisoformat(max(times)).timestamp()
            os.utime(log, (written, written))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(folder / "demo/claude"))
    monkeypatch.setenv("CODEX_HOME", str(folder / "demo/codex"))
    monkeypatch.setenv("TRACKLOG_HOME", str(folder / "ours"))
    return folder / "demo"
