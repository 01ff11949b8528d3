"""All cases of the oracle, each with its truth worked out by hand."""

from __future__ import annotations

from tests.oracle import (
    claude_chunks,
    claude_copies,
    claude_damage,
    claude_usage,
    codex_cases,
    codex_copies,
)
from tests.oracle.truth import Case

CASES: list[Case] = [
    *claude_chunks.cases(),
    *claude_copies.cases(),
    *claude_usage.cases(),
    *claude_damage.cases(),
    *codex_cases.cases(),
    *codex_copies.cases(),
]
