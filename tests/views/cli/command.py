"""Runs the real command in a process of its own, with a home of its own; writes small homes for it."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import tracklog as package
from tests import fork_server

ONE = "11111111-aaaa-4aaa-8aaa-111111111111"
TWO = "22222222-bbbb-4bbb-8bbb-222222222222"
SOURCE = Path(package.__file__).parents[1]
TIME_LIMIT_S = 60
_NEEDS_A_NEW_INTERPRETER = ("PYTHON", "LANG", "LC_")  # variables that only a new interpreter reads


class Answer(NamedTuple):
    """How a command ended: its exit code, and what it printed where."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one document on stdout."""
        return json.loads(self.out)

    @property
    def rows(self) -> list[Any]:
        """The documents on stdout, one per line."""
        return [json.loads(line) for line in self.out.splitlines()]


def environment(home: Path, more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Everything that the command may know of this machine."""
    known = {"PATH": os.defpath, "HOME": str(home), "PYTHONPATH": str(SOURCE), "LANG": "C.UTF-8"}
    known["TRACKLOG_PORT"] = "0"  # many tests at once
    return {**known, **(more or {})}


def command(*arguments: str | Path) -> list[str]:
    """The words that start it."""
    return [sys.executable, "-m", "tracklog", *map(str, arguments)]


def tracklog(
    *arguments: str | Path,
    home: Path,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    is_mighty: bool = True,
    cold: bool = False,
) -> Answer:
    """Run `tracklog` to its end, forked from a warm process; `cold` starts a new interpreter.

    Unless it is mighty, the permissions of files hold for it even as root.
    """
    known = environment(home, env)
    if cold or any(name.startswith(_NEEDS_A_NEW_INTERPRETER) for name in env or ()):
        done = subprocess.run(
            command(*arguments),
            env=known,
            cwd=cwd or home,
            capture_output=True,
            timeout=TIME_LIMIT_S,
            stdin=subprocess.DEVNULL,
            preexec_fn=None if is_mighty else fork_server.give_up_might,
        )
    else:
        done = fork_server.run(
            [*map(str, arguments)], env=known, cwd=cwd or home, timeout_s=TIME_LIMIT_S, is_mighty=is_mighty
        )
    return Answer(done.returncode, done.stdout.decode("utf-8", "surrogateescape"), done.stderr.decode())


@contextmanager
def out_of_reach() -> Iterator[Path]:
    """A folder with `secret.jsonl`, which may not be read, and `locked/log.jsonl` in a folder not to be entered.

    The superuser can read everything: as root, run the command with `is_mighty=False`.
    """
    with tempfile.TemporaryDirectory() as name:
        top = Path(name)
        write(top / "secret.jsonl", user_line()).chmod(0)
        write(top / "locked/log.jsonl", user_line())
        (top / "locked").chmod(0)
        top.chmod(0o755)
        try:
            yield top
        finally:
            (top / "locked").chmod(0o700)


def on_a_terminal(
    *arguments: str | Path, home: Path, columns: int = 80, env: Mapping[str, str] | None = None
) -> str:
    """What a terminal of this width gets to see, stdout and stderr together; what would serve on is interrupted."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    known = environment(home, {"TERM": "xterm-256color", **(env or {})})
    with fork_server.start(
        [*map(str, arguments)], env=known, cwd=home, stdin=theirs, stdout=theirs, stderr=theirs
    ) as started:
        os.close(theirs)
        try:
            shown = _all_of(ours, serving=lambda: started.send_signal(signal.SIGINT))
            started.wait(TIME_LIMIT_S)
        finally:
            started.kill()  # one that goes on was never to
    os.close(ours)
    return shown.decode().replace("\r\n", "\n")


def _all_of(descriptor: int, *, serving: Callable[[], None]) -> bytes:
    shown = b""
    is_serving = False
    while True:
        is_heard, _, _ = select.select([descriptor], [], [], TIME_LIMIT_S)
        assert is_heard, f"silent for {TIME_LIMIT_S:g} s after {shown!r}"
        try:
            part = os.read(descriptor, 65536)
        except OSError:  # how Linux says that the other end is closed
            return shown
        if not part:
            return shown
        shown += part
        if not is_serving and b"until Ctrl-C" in shown:
            is_serving = True
            serving()


def user_line(text: str = "hi", *, uuid: str = "u-1", version: str = "2.1.100", **more: Any) -> bytes:
    """A prompt as Claude Code writes it, with its newline."""
    line = {
        "parentUuid": None,
        "isSidechain": False,
        "userType": "external",
        "cwd": "/home/dev/project",
        "sessionId": ONE,
        "version": version,
        "type": "user",
        "message": {"role": "user", "content": text},
        "uuid": uuid,
        "timestamp": "2026-03-01T17:24:42.000Z",
        **more,
    }
    return json.dumps(line).encode() + b"\n"


def codex_lines(version: str = "0.98.0") -> bytes:
    """The beginning of a rollout as Codex writes it: two lines."""
    meta = {
        "id": TWO,
        "timestamp": "2026-03-01T17:24:42Z",
        "cwd": "/home/dev/project",
        "cli_version": version,
    }
    said = {"type": "user_message", "message": "hi"}
    lines = [
        {"timestamp": "2026-03-01T17:24:42.000Z", "type": "session_meta", "payload": meta},
        {"timestamp": "2026-03-01T17:24:43.000Z", "type": "event_msg", "payload": said},
    ]
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def write(path: Path, content: bytes) -> Path:
    """Writes a file with the folders it needs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def transcript_in(home: Path, name: str = f"{ONE}.jsonl") -> Path:
    """Where Claude Code would keep this file in the one project of `home`."""
    return home / ".claude" / "projects" / "-home-dev-project" / name


def rollout_in(home: Path) -> Path:
    """Where Codex would keep the session TWO."""
    return home / ".codex" / "sessions" / "2026" / "03" / "01" / f"rollout-2026-03-01T17-24-42-{TWO}.jsonl"


def with_old_folders(home: Path) -> Path:
    """As if the folders of a home were made long ago: what changed a moment ago is looked at once more."""
    for folder in (home, *(path for path in home.rglob("*") if path.is_dir())):
        os.utime(folder, (1_700_000_000, 1_700_000_000))
    return home


def both_agents(home: Path) -> Path:
    """A home with one session of each agent: one line of Claude Code, two of Codex."""
    write(transcript_in(home), user_line())
    write(rollout_in(home), codex_lines())
    return home
