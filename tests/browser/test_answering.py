"""A real client asks, and a person answers on the board: two presses, and what was shown is what is done."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.browsing import browsing, follow, sign_in
from tests.browser.serving import Homes, serving
from tests.lab.test_answer import Asked, asked, read_by_the_model


class _HomesOf(Homes):
    """The homes of a run of the lab."""

    def __init__(self, top: Path, run: Asked) -> None:
        super().__init__(top)
        self._run = run

    @property
    def claude(self) -> Path:
        return self._run.home.root / ".claude"

    @property
    def ours(self) -> Path:
        return self._run.home.root / "ours"


@pytest.mark.lab
@pytest.mark.parametrize(
    ("verdict", "reason", "said", "judged"),
    [("allow", "", "Allowed", "ok"), ("deny", "not on this branch", "Denied", "blocked")],
)
def test_a_permission_is_answered_on_the_board(
    browser: Browser, tmp_path: Path, verdict: str, reason: str, said: str, judged: str
) -> None:
    with asked(tmp_path / "lab") as run, serving(_HomesOf(tmp_path / "server", run)) as served:
        with browsing(browser, served.base, sign_in(browser, served.link)) as (page, troubles):
            page.goto("/")
            page.wait_for_selector("#g-needs .b-asks", timeout=60_000)
            assert page.title() == "(1) Board · tracklog"
            follow(page.locator(f".b-asks a[href*='verdict={verdict}']"))
            assert page.locator(".answer-input").first.inner_text() == "touch made.txt"
            if reason:
                page.fill("input[name=reason]", reason)
            follow(page.locator(f"button[value={verdict}]"))
            assert page.locator("h1").inner_text() == said
            assert run.result()["ended_by"] == "completed"
            assert troubles.left() == []
        assert run.call()["verdict"] == judged
        assert ((run.home.cwd / "made.txt").exists(), reason in read_by_the_model(run)) == (
            verdict == "allow",
            True,
        )
