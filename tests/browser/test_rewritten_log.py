"""A log is rewritten in place while the page of its session is open: the page shows what the log holds now."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser

from tests.browser.browsing import browsing, sign_in, until
from tests.browser.serving import Homes, serving
from tests.live.live_home import TWO, LiveHome, append, now

IS_NEW = "() => document.querySelector('#rows')?.dataset.generation === '1'"
WORDS = "(words) => document.querySelector('#rows')?.innerText.includes(words)"


def test_a_page_shows_the_new_lines_of_a_log_that_was_rewritten_with_a_newline_at_its_old_end(
    browser: Browser, tmp_path: Path
) -> None:
    homes = Homes(tmp_path)
    live = LiveHome(homes.claude)
    log = live.log(TWO)
    first = line(1, "user", "Please do the thing. " + "And do it well. " * 30)
    old = [first, line(2, "assistant", "the first old answer"), line(3, "assistant", "the second old answer")]
    append(log, b"".join(old))
    with serving(homes) as served:
        served.wait_until_indexed()
        state = sign_in(browser, served.link)
        with browsing(browser, served.base, state) as (page, troubles):
            page.goto(f"/s/claude/{TWO}")
            assert until(page, WORDS, "the second old answer")
            size, inode = log.stat().st_size, log.stat().st_ino
            new = [first, joined(size - len(first)), line(3, "assistant", "the second new answer")]
            with log.open("r+b") as stream:
                stream.write(b"".join(new))
            data = log.read_bytes()
            assert (log.stat().st_ino, data[:256]) == (inode, b"".join(old)[:256])
            assert len(data) > size
            assert data[size - 1] == ord("\n")
            assert until(page, IS_NEW)
            assert until(page, WORDS, "the second new answer")
            shown = page.locator("#rows")
            assert shown.locator(".row").count() == 3
            assert "the first new answer" in shown.inner_text()
            assert "old answer" not in shown.inner_text()
            assert troubles.left() == []


def line(n: int, role: str, text: str) -> bytes:
    """A line of Claude Code's log."""
    said: dict[str, Any] = {"role": role, "content": text}
    if role == "assistant":
        said |= {"id": f"msg_{n}", "model": "claude-opus-4-5", "content": [{"type": "text", "text": text}]}
        said |= {"stop_reason": "end_turn", "usage": {"input_tokens": 10, "output_tokens": 5}}
    place = {"uuid": f"u{n}", "parentUuid": f"u{n - 1}" if n > 1 else None, "sessionId": TWO}
    about = {"timestamp": now(), "cwd": "/work/app", "version": "2.1.325"}
    return json.dumps({**place, **about, "type": role, "message": said}).encode() + b"\n"


def joined(length: int) -> bytes:
    """One line in place of two."""
    words = "the first new answer"
    return line(2, "assistant", words.ljust(len(words) + length - len(line(2, "assistant", words)), "."))
