"""A machine with a fake client, for use cases that run children in this process."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.run.fake_client import install
from tracklog.app.run.child import Risk
from tracklog.home import Home
from tracklog.model.run_request import RunRequest

if TYPE_CHECKING:
    from tracklog.app.run.child import Child, Result


class Machine:
    """Its environment is that of this process, as long as the test runs."""

    def __init__(self, top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.work, self.home = top / "work", Home(top / "home")
        self.state = top / "state"
        self.work.mkdir()
        self.state.mkdir()
        program = install(top / "bin")
        for name, value in {
            "HOME": str(top),
            "PATH": f"{program.parent}:{os.environ['PATH']}",
            "CLAUDE_CONFIG_DIR": str(top / ".claude"),
            "CODEX_HOME": str(top / ".codex"),
            "TRACKLOG_HOME": str(self.home.path),
            "FAKE_CLIENT_STATE": str(self.state),
        }.items():
            monkeypatch.setenv(name, value)

    def request(self, prompt: str) -> RunRequest:
        return RunRequest(agent="claude", prompt=prompt, cwd=self.work)

    @property
    def n_starts(self) -> int:
        """How often the client was started."""
        starts = self.state / "starts"
        return len(starts.read_text().splitlines()) if starts.exists() else 0


def waited(begin: Callable[[], Child]) -> Result:
    """Start a child and wait, without signals and without a terminal."""
    return begin().result()


def never(risks: Sequence[Risk]) -> bool:
    return False
