"""Pictures of every page: light, dark and 390 px wide, to be looked at.

    python -m tests.browser.screenshots [OUT] [--only NAME]

Rules of this room
  1. All of them go to OUT (`.lab/pictures`); those that the README shows go to `docs/pictures`, too.
  2. What is shown is made here or by the lab: no log of a person.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright

from bench.made.many_sessions import write_many
from tests.browser.browsing import browsing, launch, sign_in
from tests.browser.homes import LONG_NAMED, lab_home
from tests.browser.morning import morning
from tests.browser.pages import MISSING, pages
from tests.browser.serving import Homes, Served, serving

ROOT = Path(__file__).parents[2]
N_SESSIONS = 160
MENDS = "/s/claude/12812c74-436a-4cd3-84e7-11cc1634cb62"
UNFOLDED = {"session that mends": ("Edit",)}  # calls that are opened, by their words
# Which of them the README shows.
IN_README = {
    "board": "board-light.png",
    "session": "session-that-mends-dark.png",
    "search": "search-found-light.png",
}
LOOKS: dict[str, dict[str, Any]] = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "390": {
        "color_scheme": "light",
        "viewport": {"width": 390, "height": 844},
        "is_mobile": True,
        "has_touch": True,
        "device_scale_factor": 2,
    },
}


def main() -> int:
    """Takes all pictures and says where they are."""
    parser = argparse.ArgumentParser(description="Takes pictures of every page.")
    parser.add_argument("out", type=Path, nargs="?", default=ROOT / ".lab/pictures")
    parser.add_argument("--only", default="", help="pages whose name holds this")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="tracklog-pictures-", dir=os.environ.get("TMPDIR")) as top:
        homes = Homes(Path(top))
        with morning(homes) as running:
            made = lab_home(homes, n_long=0)
            write_many(homes.top, n_sessions=N_SESSIONS, seed=5, n_projects=9)
            addresses = pages(made["short"].id, running=running[2]) | {"session that mends": MENDS}
            with serving(homes) as served, sync_playwright() as playwright:
                browser = launch(playwright)
                served.wait_until_indexed()
                state = sign_in(browser, served.link)
                for name, address in addresses.items():
                    if asked.only in name and LONG_NAMED not in address:  # that one is only for tests
                        take(browser, served, state, name=name, address=address, out=asked.out)
                browser.close()
    for name, picture in IN_README.items():
        if (asked.out / picture).exists():
            shutil.copyfile(asked.out / picture, ROOT / "docs" / "pictures" / f"{name}.png")
    print(asked.out)
    return 0


def take(browser: Browser, served: Served, state: Any, *, name: str, address: str, out: Path) -> None:
    """One page in every look."""
    for look, options in LOOKS.items():
        with browsing(browser, served.base, state, **options) as (page, troubles):
            troubles.expected = ("status of 404",) if name in MISSING else ()
            page.goto(address)
            page.wait_for_timeout(500)
            for words in UNFOLDED.get(name, ()):
                page.locator("details.row[data-call]", has_text=words).first.locator(".line").click()
                page.wait_for_timeout(300)
            page.screenshot(path=out / f"{re.sub('[^a-z]+', '-', name)}-{look}.png")
            if troubles.left():
                raise SystemExit(f"screenshots: {address} complains: {troubles.left()}")


if __name__ == "__main__":
    sys.exit(main())
