"""How long the server takes for every page, with very many sessions, whatever is asked for."""

from __future__ import annotations

import http.client
import random
import re
import time
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any
from urllib.parse import quote

from tests.browser.serving import Served

N_ASKED = 200
Json = dict[str, Any]
_SORTS = ("last", "-last", "started", "-started", "cost", "-cost", "calls", "-calls", "title", "project")
_CALL_SORTS = ("time", "-time", "duration", "-duration")
_WORDS = (
    "ledger",
    "tooltip",
    "stale",
    "cache",
    "harbour crane",
    '"the cursor"',
    "tool:Bash error",
    "verdict:error",
    "token",
)


class Asked:
    """What may be asked for: taken from the server itself."""

    def __init__(self, served: Served) -> None:
        found: list[Json] = served.api("sessions")["sessions"]
        self.sessions = [f"{one['agent']}/{quote(one['id'], safe='')}" for one in found]
        self.projects = sorted({one["project"] for one in found if one["project"]})
        self.models = sorted({model for one in found for model in one["models"]})
        self.days = sorted({one["started_at"][:10] for one in found if one["started_at"]})
        self.dice = random.Random(1)

    def filters(self, sorts: tuple[str, ...]) -> str:
        """Some filters of a list, together."""
        pick = self.dice.choice
        all_of_them: dict[str, Callable[[], str]] = {
            "project": lambda: quote(pick(self.projects)),
            "agent": lambda: pick(("claude", "codex")),
            "model": lambda: quote(pick(self.models)),
            "verdict": lambda: pick(("ok", "error", "denied")),
            "tool": lambda: pick(("Bash", "Read", "Edit", "Grep")),
            "since": lambda: pick(self.days),
            "sort": lambda: pick(sorts),
        }
        names = self.dice.sample(sorted(all_of_them), self.dice.randint(0, 3))
        return "&".join(f"{name}={all_of_them[name]()}" for name in names)

    def session(self) -> str:
        return self.dice.choice(self.sessions)

    def words(self) -> str:
        return quote(self.dice.choice(_WORDS))


def pages(asked: Asked) -> dict[str, Callable[[], str]]:
    """Each page, with an address that differs every time."""
    return {
        "board": lambda: "/",
        "board rows": lambda: "/_/board",
        "sessions": lambda: f"/sessions?{asked.filters(_SORTS)}",
        "calls": lambda: f"/calls?{asked.filters(_CALL_SORTS)}",
        "session": lambda: f"/s/{asked.session()}",
        "rows": lambda: f"/_/s/{asked.session()}/rows?from=1&n=100",
        "find": lambda: f"/_/s/{asked.session()}/find?q={asked.words()}",
        "search": lambda: f"/search?q={asked.words()}",
        "results": lambda: f"/_/search?q={asked.words()}",
        "palette": lambda: f"/_/palette?q={asked.words()[:4]}",
        "doctor": lambda: "/doctor",
        "foot": lambda: "/_/foot",
    }


def measure(served: Served, *, n_asked: int = N_ASKED) -> dict[str, Json]:
    """The times of every page, over one connection, one after another."""
    asked = Asked(served)
    return {name: _summary(list(_times(served, address, n_asked))) for name, address in pages(asked).items()}


def _times(served: Served, address: Callable[[], str], n_asked: int) -> Iterator[float]:
    asking = http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)
    headers = {"Authorization": f"Bearer {served.token}"}
    for _ in range(n_asked):
        path = address()
        began = time.perf_counter()
        asking.request("GET", path, headers=headers)
        answer = asking.getresponse()
        answer.read()
        took = time.perf_counter() - began
        if answer.status != 200:
            raise SystemExit(f"bench.serve: {path} answered {answer.status}")
        yield took
    asking.close()


def _summary(times: list[float]) -> Json:
    ordered = sorted(times)
    ms = [round(one * 1000, 1) for one in (median(ordered), ordered[int(len(ordered) * 0.95)], ordered[-1])]
    return dict(zip(("p50_ms", "p95_ms", "max_ms"), ms, strict=True))


def followed(served: Served, page: str = "/sessions", *, limit: int = 5) -> list[str]:
    """Some links of a page, as a person would follow them."""
    return re.findall(r'href="(/sessions\?after=[^"]+)"', served.ask(page)[2].decode())[:limit]
