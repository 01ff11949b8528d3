"""What `make drift` prints."""

from __future__ import annotations

from tests.lab.clients import CURRENT
from tests.lab.drift import Finding, PlayedClient, as_markdown, as_text

PLAYED = PlayedClient(
    "claude",
    "99.0.0",
    2,
    1_234,
    [
        (Finding("unnamed key", "user brandNew", 3), ["hooks", "agents"]),
        (Finding("odd ending", "ODD a|b"), ["kill"]),
    ],
)
CLEAN = PlayedClient("codex", CURRENT["codex"], 38, 10, [])


def test_a_report_names_each_finding_with_its_count_and_scenarios() -> None:
    assert as_text(PLAYED).splitlines() == [
        f"claude 99.0.0 (verified: {CURRENT['claude']})",
        "  unnamed key user brandNew (3×): hooks and 1 more",
        "  odd ending ODD a|b (1×): kill",
        "  2 scenarios, 1,234 lines, 2 findings",
    ]
    assert as_text(CLEAN).splitlines()[0] == f"codex {CURRENT['codex']} (verified)"


def test_the_table_has_a_row_for_each_finding_and_one_for_a_clean_client() -> None:
    assert as_markdown([PLAYED, CLEAN]).splitlines()[2:] == [
        f"| claude 99.0.0 | {CURRENT['claude']} | unnamed key | `user brandNew` | 3 | hooks, agents |",
        f"| claude 99.0.0 | {CURRENT['claude']} | odd ending | `ODD a b` | 1 | kill |",
        f"| codex {CURRENT['codex']} | {CURRENT['codex']} | nothing unknown | | 0 | 38 scenarios |",
    ]
