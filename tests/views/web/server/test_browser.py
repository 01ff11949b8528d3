from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tracklog.home import Home
from tracklog.views.web.server.browser import Opening, has_browser

LINK = "http://127.0.0.1:7717/sign-in?code=SECRET"


def until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("environ", "platform", "expected"),
    [
        ({}, "linux", False),
        ({"DISPLAY": ":0"}, "linux", True),
        ({"WAYLAND_DISPLAY": "wayland-0"}, "linux", True),
        ({"DISPLAY": ":0", "SSH_CONNECTION": "1 2 3 4"}, "linux", False),
        ({"DISPLAY": ":0", "SSH_TTY": "/dev/pts/0"}, "linux", False),
        ({}, "darwin", True),
        ({"SSH_CONNECTION": "1 2 3 4"}, "darwin", False),
        ({"BROWSER": "x", "SSH_CONNECTION": "1 2 3 4"}, "linux", True),
    ],
)
def test_a_browser_opens_where_its_user_sits(environ: dict[str, str], platform: str, expected: bool) -> None:
    assert has_browser(environ, platform) is expected


@pytest.fixture
def browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A browser that writes down its words, and what stands in the file that it is to open."""
    script = tmp_path / "browser"
    script.write_text(
        "#!/bin/sh\n"
        f'printf "%s" "$*" > {tmp_path}/words\n'
        f'stat -c %a "${{1#file://}}" > {tmp_path}/mode\n'
        f'cat "${{1#file://}}" > {tmp_path}/page.part && mv {tmp_path}/page.part {tmp_path}/page\n'
    )
    script.chmod(0o755)
    monkeypatch.setenv("BROWSER", str(script))
    monkeypatch.setattr("webbrowser._tryorder", None)  # it looks at the environment once
    return tmp_path


def test_the_code_is_not_among_the_words_of_the_browser(browser: Path) -> None:
    used: list[bool] = []
    said: list[str] = []
    opening = Opening(LINK, Home(browser / "own"), is_used=lambda: bool(used), say=said.append)
    until((browser / "page").exists)
    words = (browser / "words").read_text()
    assert ("SECRET" in words, words.startswith("file:///")) == (False, True)
    assert ((browser / "mode").read_text(), said) == ("600\n", [])
    assert f'<meta http-equiv="refresh" content="0;url={LINK}">' in (browser / "page").read_text()
    used.append(True)
    until(lambda: os.listdir(browser / "own/serve") == [])
    opening.close()


def test_a_browser_that_does_not_start_is_said_and_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webbrowser._tryorder", [])
    monkeypatch.setattr("webbrowser._browsers", {})
    said: list[str] = []
    Opening(LINK, Home(tmp_path), is_used=lambda: False, say=said.append).wait()
    until(lambda: os.listdir(tmp_path / "serve") == [])
    assert said == ["no browser could be opened: open the link above"]


def test_what_a_killed_server_left_is_removed(browser: Path) -> None:
    left = browser / "own/serve/open-1.html"
    left.parent.mkdir(parents=True)
    left.write_text("old")
    opening = Opening(LINK, Home(browser / "own"), is_used=lambda: False, say=print)
    opening.close()
    assert os.listdir(left.parent) == []
    until((browser / "words").exists)  # it has started, and finds nothing
