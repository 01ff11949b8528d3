"""What the tests beside the SDK need: the SDK, or a reason; where `CI=true`, a reason is a failure."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.lab.conftest import lab_run, pytest_configure, pytest_generate_tests, stage
from tests.sdk.environment import Unobtainable, installed

__all__ = ["lab_run", "pytest_configure", "pytest_generate_tests", "stage"]  # the lab plays here too


@pytest.fixture(scope="session")
def sdk() -> Path:
    """The folder that holds the SDK."""
    try:
        return installed()
    except Unobtainable as reason:
        missing = f"no claude-agent-sdk: {reason}"
    if os.environ.get("CI") == "true":
        pytest.fail(missing, pytrace=False)
    pytest.skip(missing)
