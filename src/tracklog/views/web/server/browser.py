"""Open the sign-in link in the user's browser.

The arguments of a command can be read by every user of a machine, and a browser takes its time to start: another user
could use the code first. So the browser is given a private file to open, which leads on to the link
(docs/security.md#opening-the-browser).
"""

from __future__ import annotations

import os
import secrets
import sys
import time
from collections.abc import Callable, Mapping
from html import escape
from pathlib import Path
from threading import Thread

from tracklog.home import Home, make_private_folder, write_private

_KEPT_S = 60.0  # browsers that must be started first take their time
_LOOK_S = 0.1
_PAGE = """<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0;url={link}">
<title>tracklog</title>
<p><a href="{link}">To tracklog</a></p>
"""


def has_browser(environ: Mapping[str, str], platform: str = sys.platform) -> bool:
    """Whether a browser would open on the user's screen: not over ssh, nor without a screen."""
    if environ.get("BROWSER"):
        return True
    if environ.get("SSH_CONNECTION") or environ.get("SSH_TTY"):
        return False
    return platform == "darwin" or bool(environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY"))


class Opening:
    """A browser that is being opened; its file is deleted when `close` returns."""

    def __init__(
        self, link: str, home: Home, *, is_used: Callable[[], bool], say: Callable[[str], None]
    ) -> None:
        folder = home.path / "serve"
        make_private_folder(folder)
        for old in folder.glob("open-*.html"):  # of one that was killed
            old.unlink(missing_ok=True)
        self._page = folder / f"open-{secrets.token_hex(8)}.html"
        write_private(self._page, _PAGE.format(link=escape(link)).encode())
        self._is_used = is_used
        self._say = say
        self._is_over = False
        for work in (self._open, self._wait):
            Thread(target=work, daemon=True).start()

    def close(self) -> None:
        """Deletes the file at once."""
        self._is_over = True
        self._page.unlink(missing_ok=True)

    def wait(self, most_s: float = _KEPT_S) -> None:
        """Waits until the link was used, at most `most_s`."""
        deadline = time.monotonic() + most_s
        while not (self._is_over or self._is_used() or time.monotonic() > deadline):
            time.sleep(_LOOK_S)

    def _wait(self) -> None:
        self.wait()
        self.close()

    def _open(self) -> None:
        if not open_in_browser(self._page):
            self._say("no browser could be opened: open the link above")
            self.close()


def open_in_browser(page: Path) -> bool:
    """Opens a page and returns whether a browser took it; one in the foreground returns when it is closed."""
    import webbrowser  # only where a browser opens

    try:
        return webbrowser.open(page.as_uri())
    except (webbrowser.Error, OSError):
        return False


def opens_here() -> bool:
    """Whether a browser would open for the user of this process."""
    return has_browser(os.environ)
