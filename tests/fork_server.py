"""Run `tracklog` in a process of its own without paying for Python's start and imports each time.

A server process imports all of tracklog once and forks for each command. The fork gets its own arguments, environment,
directory and standard streams, and calls the same `main()` as `python -m tracklog`.

Rules
  1. A command that needs a cold interpreter or another locale is started with `subprocess` instead.
  2. The server imports and forks; it never runs a command itself, so no command sees what another one left behind.
  3. It ends when the tests do: its stdin is a pipe that the tests hold open. A process that it forked ends at the
     latest when the one that asked for it does.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import gc
import importlib
import io
import json
import os
import pkgutil
import runpy
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import IO, Any, NoReturn

import tracklog

START_S = 60.0
_PYTHON = sys.executable
_SOURCE = Path(tracklog.__file__).parents[1]
_PROJECT = Path(__file__).resolve().parents[1]
_PR_CAPBSET_DROP, _CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH = 24, 1, 2  # linux/prctl.h, linux/capability.h
_CAPABILITY_VERSION_3 = 0x20080522  # linux/capability.h
_NOT_PRELOADED = ("tracklog.__main__", "tracklog.demo")


def run(
    arguments: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: Path,
    timeout_s: float,
    stdin: bytes = b"",
    is_mighty: bool = True,
) -> subprocess.CompletedProcess[bytes]:
    """Run `tracklog` with these arguments to its end; unless mighty, it may read only what permissions allow."""
    given = subprocess.PIPE if stdin else subprocess.DEVNULL
    with start(arguments, env=env, cwd=cwd, stdin=given, is_mighty=is_mighty) as process:
        out, err = process.communicate(stdin, timeout_s)
        return subprocess.CompletedProcess(["tracklog", *arguments], process.wait(timeout_s), out, err)


def start(
    arguments: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: Path,
    stdin: int | IO[bytes] = subprocess.DEVNULL,
    stdout: int | IO[bytes] = subprocess.PIPE,
    stderr: int | IO[bytes] = subprocess.PIPE,
    constants: Mapping[str, object] | None = None,
    is_mighty: bool = True,
) -> Process:
    """Start `tracklog`; `constants` ("module:NAME") get other values in this process, for time limits above all."""
    request = {
        "arguments": list(arguments),
        "env": dict(env),
        "constants": dict(constants or {}),
        "is_mighty": is_mighty,
    }
    return Process(request, cwd, [stdin, stdout, stderr])


class Process:
    """A process that the server forked, to be used as `subprocess.Popen[bytes]` is."""

    def __init__(self, request: dict[str, Any], cwd: Path, streams: Sequence[int | IO[bytes]]) -> None:
        self.args = ["tracklog", *request["arguments"]]
        self.returncode: int | None = None
        self._code = b""
        self._ends: list[IO[bytes] | None] = []
        theirs = [self._stream(stream, is_input=n == 0) for n, stream in enumerate(streams)]
        folder = os.open(cwd, os.O_RDONLY)
        body = json.dumps({"module": "tracklog", **request}).encode()
        self._connection = socket.socket(socket.AF_UNIX)
        self._connection.connect(server_address())
        socket.send_fds(self._connection, [b"%d\n" % len(body)], [*theirs, folder])
        self._connection.sendall(body)
        for descriptor in (*theirs, folder):
            os.close(descriptor)
        self.stdin, self.stdout, self.stderr = self._ends
        self.pid = int(self._line())

    def _stream(self, stream: int | IO[bytes], *, is_input: bool) -> int:
        """Return the descriptor for the process, and keep our end of a pipe."""
        if stream != subprocess.PIPE:
            self._ends.append(None)
            if stream == subprocess.DEVNULL:
                return os.open(os.devnull, os.O_RDWR)
            return os.dup(stream if isinstance(stream, int) else stream.fileno())
        reading, writing = os.pipe()
        self._ends.append(os.fdopen(writing, "wb") if is_input else os.fdopen(reading, "rb"))
        return reading if is_input else writing

    def _line(self) -> bytes:
        while not self._code.endswith(b"\n"):
            part = self._connection.recv(1)
            if not part:
                raise ConnectionResetError("the fork server is gone")
            self._code += part
        line, self._code = self._code, b""
        return line

    def poll(self) -> int | None:
        """Return the exit code (negative: the signal), or None while the process runs."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self.wait(0)
        return None

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the exit code."""
        if self.returncode is None:
            self._connection.settimeout(timeout)
            try:
                self.returncode = int(self._line())
            except (TimeoutError, BlockingIOError) as error:
                raise subprocess.TimeoutExpired(self.args, timeout or 0) from error
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal, unless the process has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(self, input: bytes | None = None, timeout: float | None = None) -> tuple[bytes, bytes]:
        """Write to stdin, and read stdout and stderr to their ends."""
        if self.stdin is not None:
            threading.Thread(target=_feed, args=(self.stdin, input or b""), daemon=True).start()
        try:
            parts = _read_all([self.stdout, self.stderr], timeout)
            self.wait(timeout)
        except (TimeoutError, subprocess.TimeoutExpired) as error:
            self.kill()
            raise subprocess.TimeoutExpired(self.args, timeout or 0) from error
        return parts[0], parts[1]

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        for stream in self._ends:
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        self.wait(START_S)
        self._connection.close()


def _feed(stream: IO[bytes], data: bytes) -> None:
    with contextlib.suppress(OSError, ValueError), stream:
        stream.write(data)


def _read_all(streams: Sequence[IO[bytes] | None], timeout: float | None) -> list[bytes]:
    """Read pipes until all are closed."""
    deadline = None if timeout is None else time.monotonic() + timeout
    parts: list[list[bytes]] = [[] for _ in streams]
    with selectors.DefaultSelector() as ready:
        for n, stream in enumerate(streams):
            if stream is not None and not stream.closed:
                ready.register(stream, selectors.EVENT_READ, parts[n])
        while ready.get_map():
            events = ready.select(None if deadline is None else deadline - time.monotonic())
            if not events:
                raise TimeoutError
            for key, _ in events:
                part = os.read(key.fd, 1 << 16)
                key.data.append(part)
                if not part:
                    ready.unregister(key.fileobj)
    return [b"".join(one) for one in parts]


@cache
def warm_python() -> str:
    """Return a program for `sys.executable`: `-P -m MODULE …` of tracklog is forked, the rest runs as usual."""
    program = Path(server_address()).with_name("python")
    program.write_text(_WARM_PYTHON.format(python=_PYTHON, address=server_address()))
    program.chmod(0o700)
    return str(program)


_WARM_PYTHON = """#!{python} -IS
import os, sys
words = sys.argv[1:]
if words[:2] != ["-P", "-m"]:
    os.execv("{python}", ["{python}", *words])
import json, socket
body = json.dumps(dict(module=words[2], arguments=words[3:], env=dict(os.environ), constants={{}})).encode()
server = socket.socket(socket.AF_UNIX)
server.connect("{address}")
socket.send_fds(server, [b"%d\\n" % len(body)], [0, 1, 2, os.open(".", os.O_RDONLY)])
server.sendall(body)
os.closerange(0, 3)
code = int(server.makefile().read().split()[1])
if code < 0:
    os.kill(os.getpid(), -code)
os._exit(code)
"""


@cache
def server_address() -> str:
    """Start the server of this test process, once, and return its socket."""
    folder = tempfile.TemporaryDirectory(prefix="fork-server-")
    address = os.path.join(folder.name, "socket")
    environment = {"PATH": os.defpath, "LANG": "C.UTF-8", "PYTHONPATH": f"{_SOURCE}{os.pathsep}{_PROJECT}"}
    server = subprocess.Popen(
        [_PYTHON, "-m", "tests.fork_server", address],
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
    """Fork a process for each connection and report its exit code there; kill it if the connection is closed."""

    def __init__(self, address: str) -> None:
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(address)
        self._listening.listen(64)
        self._waking, self._woken = socket.socketpair()
        for end in (self._waking, self._woken):
            end.setblocking(False)
        self._ready = selectors.DefaultSelector()
        self._running: dict[int, socket.socket] = {}

    def serve(self) -> None:
        """Work until stdin is closed."""
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._waking.fileno(), warn_on_full_buffer=False)
        for one in (0, self._listening, self._woken):
            self._ready.register(one, selectors.EVENT_READ)
        while True:
            for key, _ in self._ready.select():
                if key.fileobj == 0:
                    return
                if key.fileobj is self._listening:
                    self._fork(self._listening.accept()[0])
                elif key.fileobj is self._woken:
                    self._woken.recv(4096)
                else:
                    self._ready.unregister(key.fileobj)
                    os.kill(key.data, signal.SIGKILL)
            self._report_ended()

    def _fork(self, connection: socket.socket) -> None:
        request, descriptors = _received(connection)
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            ours = (self._listening, self._waking, self._woken, connection, *self._running.values())
            for one in ours:
                one.close()
            self._ready.close()
            _become(request, descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        self._running[pid] = connection
        self._ready.register(connection, selectors.EVENT_READ, pid)
        with contextlib.suppress(OSError):
            connection.sendall(b"%d\n" % pid)

    def _report_ended(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                connection = self._running.pop(ended[0])
                with contextlib.suppress(KeyError):
                    self._ready.unregister(connection)
                with contextlib.suppress(OSError), connection:
                    connection.sendall(b"%d\n" % os.waitstatus_to_exitcode(ended[1]))


def _received(connection: socket.socket) -> tuple[dict[str, Any], list[int]]:
    head, descriptors, _, _ = socket.recv_fds(connection, 1 << 16, 4)
    size, _, body = head.partition(b"\n")
    while len(body) < int(size):
        body += connection.recv(1 << 16)
    request: dict[str, Any] = json.loads(body)
    return request, descriptors


def _become(request: dict[str, Any], descriptors: list[int]) -> NoReturn:
    """Turn a fresh fork into the process that `python -m tracklog` would be."""
    try:
        *streams, folder = descriptors
        os.fchdir(folder)
        os.close(folder)
        for descriptor, stream in enumerate(streams):
            os.dup2(stream, descriptor)
            os.close(stream)
        sys.stdin = io.TextIOWrapper(
            io.BufferedReader(io.FileIO(0, "rb", closefd=False)), errors="surrogateescape"
        )
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(io.FileIO(1, "wb", closefd=False)),
            errors="surrogateescape",
            line_buffering=os.isatty(1),
        )
        sys.stderr = io.TextIOWrapper(
            io.BufferedWriter(io.FileIO(2, "wb", closefd=False)),
            errors="backslashreplace",
            line_buffering=True,
        )
        os.environ.clear()
        os.environ.update(request["env"])
        time.tzset()
        if not request.get("is_mighty", True):
            give_up_might()
        for name, value in request["constants"].items():
            module, _, constant = name.partition(":")
            assert hasattr(importlib.import_module(module), constant), name
            setattr(importlib.import_module(module), constant, value)
        sys.argv = ["tracklog", *request["arguments"]]
        if request["module"] == "tracklog":
            importlib.import_module("tracklog.views.cli.main").main()
        else:
            sys.modules.pop(request["module"], None)
            runpy.run_module(request["module"], run_name="__main__")
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        code = 1
    else:
        code = 0
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def give_up_might() -> None:
    """Let the permissions of files hold for this process and its children, even as root."""
    if os.geteuid() != 0:
        return
    system = ctypes.CDLL(None, use_errno=True)
    given_up = (_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH)
    for capability in given_up:  # of programs that are started from here
        if system.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0):
            raise OSError(ctypes.get_errno(), "cannot drop a capability")
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    sets = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable: capabilities 0 to 31, then the rest
    if system.capget(header, sets):
        raise OSError(ctypes.get_errno(), "cannot read the capabilities")
    for n in range(3):
        sets[n] &= ~sum(1 << capability for capability in given_up)
    if system.capset(header, sets):
        raise OSError(ctypes.get_errno(), "cannot give up capabilities")


def _import_everything() -> None:
    """Import all modules, and compile the rules for secrets: that takes longer than most commands."""
    for module in pkgutil.walk_packages(tracklog.__path__, "tracklog."):
        if not module.name.startswith(_NOT_PRELOADED):
            importlib.import_module(module.name)
    importlib.import_module("tracklog.secrets.rules").shipped_rules()


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
