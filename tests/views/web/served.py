"""A real server in a process of its own, and raw words to it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests import fork_server
from tests.views.cli.command import both_agents, command, environment
from tests.views.web.asking import Answer

PATIENCE_S = 60.0
_QUICK = {
    "tracklog.views.web.server.access_control:_WRONG_COSTS_S": 0.02
}  # a wrong token delays the answer for so long


@dataclass
class Served:
    """A server that runs."""

    process: fork_server.Process | subprocess.Popen[bytes]
    link: str
    own: Path  # tracklog's home

    @property
    def port(self) -> int:
        return urlsplit(self.link).port or 80

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def token(self) -> str:
        return (self.own / "token").read_text().strip()

    def connect(self) -> socket.socket:
        """A connection; the link is printed a moment before the server listens."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_S)
            except ConnectionRefusedError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)

    def say(self, *lines: str, body: bytes = b"") -> Answer:
        """Sends these lines as they are; the answer until the server closes, or is complete."""
        with self.connect() as connection:
            with suppress(OSError):  # a server that has heard enough may close while we still talk
                connection.sendall("\r\n".join([*lines, "", ""]).encode("latin-1") + body)
            return answer_on(connection)

    def get(self, target: str, **headers: str) -> Answer:
        """Asks as a client that has the token."""
        more = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        authorization = f"Authorization: Bearer {self.token}"
        return self.say(
            f"GET {target} HTTP/1.1", f"Host: {self.host}", authorization, "Connection: close", *more
        )

    def json(self, target: str) -> Any:
        return json.loads(self.get(target).body)

    def end(self, how: int = signal.SIGTERM) -> tuple[int, float]:
        """The exit code, and how many seconds it took to come."""
        began = time.monotonic()
        self.process.send_signal(how)
        return self.process.wait(PATIENCE_S), time.monotonic() - began


def answer_on(connection: socket.socket) -> Answer:
    """Reads one answer: to its stated length, else until the connection is closed."""
    data = b""
    with suppress(OSError):
        while not _is_complete(data) and (part := connection.recv(65536)):
            data += part
    head, _, body = data.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    if not lines[0]:
        return Answer()
    pairs = [line.partition(": ")[::2] for line in lines[1:]]
    return Answer(int(lines[0].split()[1]), [(name.lower(), value) for name, value in pairs], body)


def _is_complete(data: bytes) -> bool:
    head, end, body = data.partition(b"\r\n\r\n")
    lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length: ")]
    return bool(end and lengths) and len(body) >= int(lengths[0].partition(b": ")[2])


@contextmanager
def served(
    home: Path,
    *words: str | Path,
    env: Mapping[str, str] | None = None,
    makes_logs: bool = True,
    cold: bool = False,
    constants: Mapping[str, object] | None = None,
) -> Iterator[Served]:
    """`tracklog serve` with one small session of each agent; it has ended when the block has.

    It is forked from a warm process, as are the processes that it starts; `cold` starts a new interpreter.
    """
    if makes_logs:
        both_agents(home)
    own = home / "own"
    known = environment(home, {"TRACKLOG_HOME": str(own), **(env or {})})
    with (home / "stderr.txt").open("wb") as errors:
        process: fork_server.Process | subprocess.Popen[bytes]
        if cold:
            process = subprocess.Popen(
                command("serve", *words),
                env=known,
                cwd=home,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
            )
        else:
            process = fork_server.start(
                ["serve", *map(str, words)],
                env=known,
                cwd=home,
                stderr=errors,
                constants={**_QUICK, "sys:executable": fork_server.warm_python(), **(constants or {})},
            )
    with process:
        try:
            assert process.stdout is not None
            link = process.stdout.readline().decode().strip()
            assert link.startswith("http://"), (home / "stderr.txt").read_text()
            yield Served(process, link, own)
        finally:
            process.kill()


def until(is_so: Callable[[], bool]) -> None:
    """Waits for something that is about to happen."""
    deadline = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)


def words_of(pid: int) -> bytes:
    """What every user of the machine can read of a process."""
    return Path(f"/proc/{pid}/cmdline").read_bytes() + Path(f"/proc/{pid}/environ").read_bytes()


def open_files(pid: int) -> int:
    """How many descriptors a process has."""
    return len(os.listdir(f"/proc/{pid}/fd"))
