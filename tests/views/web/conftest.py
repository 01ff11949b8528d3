"""Processes that the web server starts (API, index, doctor) are forked from a warm one."""

from __future__ import annotations

import sys

import pytest

from tests import fork_server


@pytest.fixture(autouse=True)
def _warm_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", fork_server.warm_python())
