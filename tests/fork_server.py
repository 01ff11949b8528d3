"""Run `tracklog` in a process of its own without paying for Python's start and imports each time.

A server process imports all of tracklog once and forks for each command. The fork gets its own arguments, environment,
directory and standard streams, and calls the same `main()` as `python -m tracklog`.

Rules
  1. A command that needs a cold interpreter, fewer rights or another locale is started with `subprocess` instead.
  2. The server imports and forks; it never runs a command itself, so no command sees what another one left behind.
  3. It ends when the tests do: its stdin is a pipe that the tests hold open.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import io
import json
import os
import pkgutil
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

import tracklog

START_S = 60.0
_SOURCE = Path(tracklog.__file__).parents[1]
_PROJECT = Path(__file__).resolve().parents[1]
_NOT_PRELOADED = ("tracklog.__main__", "tracklog.demo")


def run(
    arguments: Sequence[str], *, env: Mapping[str, str], cwd: Path, timeout_s: float
) -> subprocess.CompletedProcess[bytes]:
    """Run `tracklog` with these arguments to its end, with nothing on stdin."""
    out_read, out_write = os.pipe()
    err_read, err_write = os.pipe()
    with socket.socket(socket.AF_UNIX) as connection, open(os.devnull, "rb") as nothing:
        connection.connect(_server_address())
        request = json.dumps({"arguments": list(arguments), "env": dict(env), "cwd": str(cwd)}).encode()
        socket.send_fds(connection, [b"%d\n" % len(request)], [nothing.fileno(), out_write, err_write])
        connection.sendall(request)
        for descriptor in (out_write, err_write):
            os.close(descriptor)
        answer = connection.makefile("r")
        pid = int(answer.readline())
        try:
            out, err = _read_both(out_read, err_read, deadline=time.monotonic() + timeout_s)
            connection.settimeout(timeout_s)
            code = int(answer.readline())
        except TimeoutError as error:
            os.kill(pid, signal.SIGKILL)
            raise subprocess.TimeoutExpired(["tracklog", *arguments], timeout_s) from error
        finally:
            os.close(out_read)
            os.close(err_read)
    return subprocess.CompletedProcess(["tracklog", *arguments], code, out, err)


def _read_both(out: int, err: int, *, deadline: float) -> tuple[bytes, bytes]:
    """Read two pipes until both are closed."""
    parts: dict[int, list[bytes]] = {out: [], err: []}
    with selectors.DefaultSelector() as ready:
        for descriptor in parts:
            ready.register(descriptor, selectors.EVENT_READ)
        while ready.get_map():
            events = ready.select(deadline - time.monotonic())
            if not events:
                raise TimeoutError
            for key, _ in events:
                part = os.read(key.fd, 1 << 16)
                parts[key.fd].append(part)
                if not part:
                    ready.unregister(key.fd)
    return b"".join(parts[out]), b"".join(parts[err])


@cache
def _server_address() -> str:
    """Start the server of this test process, once."""
    folder = tempfile.TemporaryDirectory(prefix="fork-server-")
    address = os.path.join(folder.name, "socket")
    environment = {"PATH": os.defpath, "LANG": "C.UTF-8", "PYTHONPATH": f"{_SOURCE}{os.pathsep}{_PROJECT}"}
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.fork_server", address],
        env=environment,
        cwd=folder.name,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert server.stdout is not None
    assert server.stdin is not None
    assert server.stdout.readline() == b"ready\n", "the fork server did not start"

    def end() -> None:
        assert server.stdin is not None
        server.stdin.close()
        server.wait(START_S)
        folder.cleanup()

    atexit.register(end)
    return address


class Server:
    """Fork a process for each connection and report its exit code there."""

    def __init__(self, address: str) -> None:
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(address)
        self._listening.listen(64)
        self._waking, self._woken = socket.socketpair()
        for end in (self._waking, self._woken):
            end.setblocking(False)
        self._running: dict[int, socket.socket] = {}

    def serve(self) -> None:
        """Work until stdin is closed."""
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._waking.fileno(), warn_on_full_buffer=False)
        with selectors.DefaultSelector() as ready:
            for one in (0, self._listening, self._woken):
                ready.register(one, selectors.EVENT_READ)
            while True:
                for key, _ in ready.select():
                    if key.fileobj == 0:
                        return
                    if key.fileobj is self._listening:
                        self._fork(self._listening.accept()[0])
                    else:
                        self._woken.recv(4096)
                self._report_ended()

    def _fork(self, connection: socket.socket) -> None:
        request, streams = _received(connection)
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for one in (self._listening, self._waking, self._woken, connection, *self._running.values()):
                one.close()
            _become(request, streams)
        for descriptor in streams:
            os.close(descriptor)
        connection.sendall(b"%d\n" % pid)
        self._running[pid] = connection

    def _report_ended(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                connection = self._running.pop(ended[0])
                with contextlib.suppress(BrokenPipeError), connection:
                    connection.sendall(b"%d\n" % os.waitstatus_to_exitcode(ended[1]))


def _received(connection: socket.socket) -> tuple[dict[str, Any], list[int]]:
    head, streams, _, _ = socket.recv_fds(connection, 1 << 16, 3)
    size, _, body = head.partition(b"\n")
    while len(body) < int(size):
        body += connection.recv(1 << 16)
    request: dict[str, Any] = json.loads(body)
    return request, streams


def _become(request: dict[str, Any], streams: list[int]) -> NoReturn:
    """Turn a fresh fork into the process that `python -m tracklog` would be."""
    try:
        for descriptor, stream in enumerate(streams):
            os.dup2(stream, descriptor)
            os.close(stream)
        sys.stdin = io.TextIOWrapper(
            io.BufferedReader(io.FileIO(0, "rb", closefd=False)), errors="surrogateescape"
        )
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(io.FileIO(1, "wb", closefd=False)), errors="surrogateescape"
        )
        sys.stderr = io.TextIOWrapper(
            io.BufferedWriter(io.FileIO(2, "wb", closefd=False)),
            errors="backslashreplace",
            line_buffering=True,
        )
        os.environ.clear()
        os.environ.update(request["env"])
        time.tzset()
        os.chdir(request["cwd"])
        sys.argv = ["tracklog", *request["arguments"]]
        importlib.import_module("tracklog.views.cli").main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        code = 1
    else:
        code = 0
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _import_everything() -> None:
    for module in pkgutil.walk_packages(tracklog.__path__, "tracklog."):
        if not module.name.startswith(_NOT_PRELOADED):
            importlib.import_module(module.name)


def main() -> None:
    """Import, say that we are ready, and serve."""
    _import_everything()
    gc.collect()
    gc.freeze()
    server = Server(sys.argv[1])
    print("ready", flush=True)
    with contextlib.suppress(KeyboardInterrupt):
        server.serve()
    os._exit(0)


if __name__ == "__main__":
    main()
