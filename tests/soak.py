"""Whether this is a soak run (`make soak`), in which tests try more than fits into a normal run."""

from __future__ import annotations

import os

IS_SOAK = os.environ.get("TRACKLOG_TEST_SOAK") == "1"


def examples(n: int) -> int:
    """Number of examples that Hypothesis draws: so many, and ten times as many in a soak run."""
    return n * 10 if IS_SOAK else n
