"""Save time: processes that the server starts are forked from a warm one, and a wrong token costs little."""

from __future__ import annotations

import sys

import pytest

from tests import fork_server
from tracklog.views.web.server import access_control


@pytest.fixture(autouse=True)
def _warm_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", fork_server.warm_python())


@pytest.fixture(autouse=True)
def _quick_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access_control, "_WRONG_COSTS_S", 0.01)
