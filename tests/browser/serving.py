"""A server of ours in a process of its own, with homes of its own: as a person starts it."""

from __future__ import annotations

import http.client
import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.views.cli.command import SOURCE

_LINK = re.compile(r"https?://\S+")
PATIENCE_S = 60.0


@dataclass
class Homes:
    """The homes of the agents, and ours."""

    top: Path
    logs: Path | None = None  # where the agents' homes are, if they stand elsewhere

    @property
    def claude(self) -> Path:
        return (self.logs or self.top) / "claude"

    @property
    def codex(self) -> Path:
        return (self.logs or self.top) / "codex"

    @property
    def ours(self) -> Path:
        return self.top / "tracklog"

    def environment(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        """All that a process may know of this machine."""
        known = {"PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8", "PYTHONPATH": str(SOURCE)}
        homes = {"HOME": str(self.top), "CLAUDE_CONFIG_DIR": str(self.claude), "CODEX_HOME": str(self.codex)}
        return {**known, **homes, "TRACKLOG_HOME": str(self.ours), **(more or {})}


@dataclass
class Served:
    """A server that runs."""

    homes: Homes
    process: subprocess.Popen[str]
    link: str  # signs in, once
    said: Path  # what it prints on stderr

    @property
    def base(self) -> str:
        """Where its pages are, without a slash at the end."""
        parts = urlsplit(self.link)
        return f"{parts.scheme}://{parts.netloc}"

    @property
    def port(self) -> int:
        return urlsplit(self.link).port or 80

    @property
    def token(self) -> str:
        """What lets a program in."""
        return (self.homes.ours / "token").read_text().strip()

    def ask(self, path: str, **headers: str) -> tuple[int, http.client.HTTPMessage, bytes]:
        """One request with the token, beside the browser."""
        assert self.process.poll() is None, self.said.read_text()
        asking = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        try:
            asking.request("GET", path, headers={"Authorization": f"Bearer {self.token}", **headers})
            answer = asking.getresponse()
            return answer.status, answer.msg, answer.read()
        finally:
            asking.close()

    def api(self, path: str) -> Any:
        """A document of the API."""
        status, _, body = self.ask(f"/api/v1/{path}")
        assert status == 200, body
        return json.loads(body)

    def wait_until_indexed(self, patience_s: float = 120.0) -> None:
        """Returns when a pass over all logs is over."""
        deadline = time.monotonic() + patience_s
        while time.monotonic() < deadline:
            _, _, body = self.ask("/_/foot")
            if b"up to date" in body:
                return
            time.sleep(0.1)
        raise AssertionError(f"not indexed after {patience_s} s: {body!r}")


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def is_listening(port: int) -> bool:
    """Whether somebody answers there."""
    with socket.socket() as one:
        one.settimeout(1.0)
        return one.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def serving(homes: Homes, *words: str, env: Mapping[str, str] | None = None) -> Iterator[Served]:
    """Starts `tracklog serve`, and ends it."""
    homes.top.mkdir(parents=True, exist_ok=True)
    said = homes.top / "serve.stderr"
    argv = [sys.executable, "-m", "tracklog", "serve", "--no-open", "--port", "0", *words]
    with said.open("w") as errors:
        process = subprocess.Popen(
            argv, env=homes.environment(env), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, text=True
        )  # fmt: skip
    try:
        served = Served(homes, process, _first_link(process, said), said)
        _wait_for_port(served)
        yield served
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _first_link(process: subprocess.Popen[str], said: Path) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        if found := _LINK.search(line):
            return found[0]
    raise AssertionError(f"serve ended without a link:\n{said.read_text()}")


def _wait_for_port(served: Served) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not is_listening(served.port):
        assert served.process.poll() is None, served.said.read_text()
        assert time.monotonic() < deadline, "nobody listens"
        time.sleep(0.02)
