"""Every page there is, with an address on the lab's home."""

from __future__ import annotations

from tests.browser.homes import LIVING, LONG_NAMED

DEMO_CLAUDE = (
    "64c2b3d3-02a7-45ea-9075-0b01f88daf64"  # with subagents, parallel calls and a background command
)
DEMO_CODEX = "01a1e154-a0c6-7710-adcf-811e5f7e7cdb"
DEMO_AGENT = "af3a9b1c6e80706b4"


def pages(short: str, *, running: str = LIVING["working"]) -> dict[str, str]:
    """Names and addresses; `short` is the session with every incident, `running` one that works."""
    return {
        "board": "/",
        "board of all": "/?all=1",
        "sessions": "/sessions",
        "sessions, filtered": "/sessions?agent=codex",
        "sessions, none": "/sessions?project=nothing-of-the-kind",
        "calls": "/calls",
        "calls, filtered": "/calls?verdict=error",
        "search": "/search",
        "search, found": "/search?q=test",
        "search, nothing": "/search?q=zzqqxxyy",
        "doctor": "/doctor",
        "session": f"/s/claude/{DEMO_CLAUDE}",
        "session with every incident": f"/s/claude/{short}",
        "session of codex": f"/s/codex/{DEMO_CODEX}",
        "session that runs": f"/s/claude/{running}",
        "session with long names": f"/s/claude/{LONG_NAMED}",
        "subagent": f"/s/claude/{DEMO_CLAUDE}?thread={DEMO_AGENT}",
        "raw": f"/raw/claude/{DEMO_CLAUDE}?seq=3",
        "no such session": "/s/claude/00000000-0000-4000-8000-000000000000",
        "no such page": "/nothing-is-here",
    }


NAMES = list(pages(""))
MISSING = ("no such session", "no such page")  # these answer 404
