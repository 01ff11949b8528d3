"""The session page in a real browser: how fast a line appears, how fast 50,000 records do, what it holds.

Rules of this room
  1. Times are the browser's own clock (`performance.timeOrigin` + `now`), which is that of the machine.
  2. What a person sees counts: a row in the viewport, not an answer of the server.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import psutil
from playwright.sync_api import Browser, CDPSession, Page

from bench.serve_streams import line
from tests.browser.browsing import Troubles, browsing, until
from tests.browser.serving import Served

Json = dict[str, Any]
N_APPENDS = 120

# Tells when a row with these words stands in the page.
_WATCH = """() => {
  const clock = () => performance.timeOrigin + performance.now();
  globalThis.seenAt = new Map();
  const look = (root) => {
    for (const word of (root.textContent ?? "").match(/appended-\\d+-/g) ?? [])
      if (!seenAt.has(word)) seenAt.set(word, clock());
  };
  look(document.body);
  new MutationObserver((changes) => {
    for (const { addedNodes, target } of changes) addedNodes.length ? addedNodes.forEach(look) : look(target);
  }).observe(document.querySelector("main"), { childList: true, subtree: true, characterData: true });
}"""
# Whether rows are in the viewport, in its upper, its middle and its lower part.
ROWS_IN_VIEW = """() => {
  const boxes = [...document.querySelectorAll(".row")].map((row) => row.getBoundingClientRect()).filter((box) => box.height);
  const covered = (y) => boxes.some((box) => box.top - 40 <= y && box.bottom + 40 >= y);
  return [0.35, 0.6, 0.85].every((share) => covered(innerHeight * share));
}"""
ALIVE = "() => document.getElementsByTagName('*').length"


def appends(page: Page, log: Path, session: str, *, n: int = N_APPENDS, gap_s: float = 0.12) -> list[float]:
    """How many milliseconds after each write its row was in the page."""
    page.evaluate(_WATCH)
    wrote: dict[str, float] = {}
    for k in range(n):
        word = f"appended-{k}-"
        with log.open("ab") as stream:
            wrote[word] = time.time() * 1000
            stream.write(line(session, f"{word} {k}"))
        page.wait_for_timeout(gap_s * 1000)
    if not until(page, "(n) => seenAt.size >= n", n):
        raise SystemExit("bench.serve: not every line came into the page")
    seen: dict[str, float] = page.evaluate("() => Object.fromEntries(seenAt)")
    return sorted(seen[word] - at for word, at in wrote.items())


def first_rows(page: Page, address: str) -> Json:
    """From the wish for a page to its first paint, and to rows in view."""
    page.goto(address, wait_until="commit")
    if not until(page, ROWS_IN_VIEW):
        raise SystemExit(f"bench.serve: no rows at {address}")
    shown: float = page.evaluate("() => performance.now()")
    painted = "performance.getEntriesByName('first-contentful-paint')[0]"
    if not until(page, f"() => {painted}"):
        raise SystemExit(f"bench.serve: nothing is painted at {address}")
    paint: float = page.evaluate(f"() => {painted}.startTime")
    return {"paint_ms": round(paint, 1), "rows_ms": round(shown, 1)}


def jump(page: Page, seq: int) -> float:
    """Milliseconds until the row of a line is in view, from the wish to go there."""
    took: float = page.evaluate(
        """async (seq) => {
          const began = performance.now();
          location.hash = `#L${seq}`;
          const inView = () => {
            const row = [...document.querySelectorAll(`[data-seq="${seq}"]`)].find((one) => one.getBoundingClientRect().height);
            const box = row?.getBoundingClientRect();
            return box && box.bottom > 0 && box.top < innerHeight;
          };
          while (!inView()) {
            if (performance.now() - began > 10000) return -1;
            await new Promise(requestAnimationFrame);
          }
          return performance.now() - began;
        }""",
        seq,
    )
    return took


def scroll_through(page: Page, *, steps: int = 40, patience_ms: int = 500) -> Json:
    """From the beginning to the end in great leaps: where no row came in time, and what was alive meanwhile."""
    holes, most = [], 0
    for n in range(steps + 1):
        page.evaluate(
            "share => scrollTo(0, (document.documentElement.scrollHeight - innerHeight) * share)", n / steps
        )
        if not until(page, ROWS_IN_VIEW, patience_ms=patience_ms):
            holes.append(round(n / steps, 3))
        most = max(most, page.evaluate(ALIVE))
    return {"holes": holes, "most_nodes": most}


def memory(page: Page) -> Json:
    """What the page holds: its objects, and the process that draws it."""
    session: CDPSession = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    session.send("Performance.enable")
    metrics = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
    session.detach()
    return {"heap_mb": round(metrics["JSHeapUsedSize"] / 1e6, 1), "nodes": int(metrics["Nodes"])}


def renderer_mb() -> float:
    """The largest of the processes that draw pages for us, in MB that are its own."""
    ours = psutil.Process().children(recursive=True)
    found = [one.memory_full_info().uss / 1e6 for one in ours if "--type=renderer" in one.cmdline()]
    return round(max(found), 1)


@contextmanager
def opened(browser: Browser, served: Served, state: Any) -> Iterator[Page]:
    """A page that is signed in; whatever it complains of ends the run."""
    with browsing(browser, served.base, state) as (page, troubles):
        yield page
        _must_be_calm(troubles)


def _must_be_calm(troubles: Troubles) -> None:
    if troubles.left():
        raise SystemExit(f"bench.serve: the page complains: {troubles.left()[:5]}")


def summary(late_ms: list[float]) -> Json:
    """The usual figures."""
    return {
        "n": len(late_ms),
        "p50_ms": round(median(late_ms), 1),
        "p99_ms": round(late_ms[min(len(late_ms) - 1, int(len(late_ms) * 0.99))], 1),
        "max_ms": round(late_ms[-1], 1),
    }
