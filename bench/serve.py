"""How fast the browser's pages are: the start beside agentsview, many sessions, many listeners, one very long session.

    python -m bench.serve [--only start,pages,streams,browser] [--peers DIR] [--mb 275]

Bars of the plan: the first useful page 2 s after the start on 275 MB that were never read; with 20,000 sessions every page
within 200 ms (p95); 100 streams of which 10 stall; a line that is appended in the page within 250 ms (p99); of a session of
50,000 records the first paint within 1 s, any jump within 500 ms, at most 6,000 elements and 300 MB.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from bench import serve_browser, serve_pages, serve_start, serve_streams
from bench.made.long_session import write_claude
from bench.made.many_sessions import write_many
from bench.make_logs import make_logs
from tests.browser.browsing import launch, sign_in
from tests.browser.homes import LIVING, living
from tests.browser.serving import Homes, serving
from tests.oracle.install import AGENTSVIEW_PROGRAM

Json = dict[str, Any]
N_SESSIONS = 20_000
N_RECORDS = 50_000
_JUMPS = (25_000, 49_990, 1, 12_345, 33_333, 40_001, 7_777, 48_000)


def start(scratch: Path, options: argparse.Namespace) -> Json:
    """From nothing to a page that is of use, ours and theirs."""
    logs = scratch / "logs"
    make_logs(logs, n_bytes=options.mb * 1_000_000, seed=1)
    found: Json = {"tracklog": serve_start.ours(logs, scratch)}
    program = options.peers / AGENTSVIEW_PROGRAM
    if program.exists():
        found["agentsview"] = serve_start.agentsview(program, logs, scratch)
    return found


def pages(scratch: Path, _: argparse.Namespace) -> Json:
    """Every page of a server that knows very many sessions."""
    homes = Homes(scratch / "many")
    write_many(homes.top, n_sessions=N_SESSIONS, seed=1)
    with serving(homes) as served:
        served.wait_until_indexed(600)
        served.ask("/sessions")
        return serve_pages.measure(served)


def streams(scratch: Path, _: argparse.Namespace) -> Json:
    """A hundred listeners, some of which do not listen."""
    homes = Homes(scratch / "streams")
    with living(homes) as live, serving(homes) as served:
        served.wait_until_indexed()
        return serve_streams.measure(served, live.log(LIVING["growing"]), LIVING["growing"])


def browser(scratch: Path, _: argparse.Namespace) -> Json:
    """What a person sees, in a real browser."""
    homes = Homes(scratch / "browser")
    with living(homes) as live, sync_playwright() as playwright:
        made = write_claude(homes.claude, n_records=N_RECORDS, seed=1)
        with serving(homes) as served:
            chromium = launch(playwright)
            state = sign_in(chromium, served.link)
            served.wait_until_indexed()
            address = f"/s/claude/{made.id}"
            with serve_browser.opened(chromium, served, state) as page:
                found: Json = {"first": [serve_browser.first_rows(page, address) for _ in range(5)]}
                found["jumps_ms"] = [round(serve_browser.jump(page, seq)) for seq in _JUMPS]
                found |= serve_browser.scroll_through(page)
                found |= serve_browser.memory(page)
                found["renderer_mb"] = serve_browser.renderer_mb()
            growing = LIVING["growing"]
            with serve_browser.opened(chromium, served, state) as page:
                page.goto(f"/s/claude/{growing}")
                page.wait_for_timeout(2000)
                late = serve_browser.appends(page, live.log(growing), growing)
                found["append"] = serve_browser.summary(late)
            chromium.close()
    return found


PARTS: dict[str, Callable[[Path, argparse.Namespace], Json]] = {
    "start": start,
    "pages": pages,
    "streams": streams,
    "browser": browser,
}


def main() -> int:
    parser = argparse.ArgumentParser(description="How fast the browser's pages are.")
    parser.add_argument("--only", default=",".join(PARTS), help="some of start, pages, streams, browser")
    parser.add_argument("--peers", type=Path, default=Path(".lab/peers"))
    parser.add_argument("--mb", type=int, default=275)
    options = parser.parse_args()
    options.peers = options.peers.absolute()
    for name in options.only.split(","):
        with tempfile.TemporaryDirectory(prefix="tracklog-bench-", dir=os.environ.get("TMPDIR")) as scratch:
            print(json.dumps({name: PARTS[name](Path(scratch), options)}, indent=1), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
