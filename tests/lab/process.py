"""One start of a client: its process group, its time limit, the signal it may get, the registry file it keeps.

Rules of this room
  1. The client runs in a process group of its own; only that group is ever signalled.
  2. Every wait has an end. A client that overstays is killed and the run says so in `timed_out`.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.lab.registry import GLANCE_S, Glimpse, RegistryWatch
from tests.lab.words import Json, Step

LAST_WORDS_S = 30.0  # a shell outside the group may hold the pipe a little longer


@dataclass
class ClientExit:
    """How one start of a client ended."""

    argv: list[str]
    code: int
    stdout: str
    stderr: str
    took_s: float
    timed_out: bool
    glimpses: list[Glimpse] = field(default_factory=list)

    @property
    def documents(self) -> list[Json]:
        """The JSON documents of stdout: one, or one per line; other lines are left out."""
        return [d for d in map(_document, self.stdout.splitlines()) if d is not None]


def start_client(
    argv: Sequence[str],
    step: Step,
    *,
    cwd: Path,
    environment: Mapping[str, str],
    registry: Path,
    held: threading.Event,
) -> ClientExit:
    """Runs the client to its end, or to the end that the step has in mind for it."""
    started = time.monotonic()
    client = subprocess.Popen(
        argv,
        cwd=cwd,
        env=dict(environment),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    watch = RegistryWatch(registry)
    watch.start()
    signaller = threading.Thread(target=_interrupt, args=(client, step, cwd, held), daemon=True)
    signaller.start()
    stdout, stderr, timed_out = _outputs(client, step)
    watch.stop()
    return ClientExit(
        argv=list(argv),
        code=client.returncode,
        stdout=stdout.decode(errors="replace"),
        stderr=stderr.decode(errors="replace"),
        took_s=time.monotonic() - started,
        timed_out=timed_out,
        glimpses=watch.glimpses,
    )


def _outputs(client: subprocess.Popen[bytes], step: Step) -> tuple[bytes, bytes, bool]:
    sent = "".join(json.dumps(m) + "\n" for m in step.messages).encode()
    try:
        return *client.communicate(sent, timeout=step.timeout_s), False
    except subprocess.TimeoutExpired:
        _signal_group(client, signal.SIGKILL)
        return *client.communicate(timeout=LAST_WORDS_S), True
    finally:
        _signal_group(client, signal.SIGKILL)  # shells that the client left behind


def _interrupt(client: subprocess.Popen[bytes], step: Step, cwd: Path, held: threading.Event) -> None:
    if step.interrupt is None:
        return
    name = step.interrupt.when_file
    ready: Callable[[], bool] = held.is_set if name is None else (cwd / name).exists
    while client.poll() is None and not ready():
        time.sleep(GLANCE_S)
    time.sleep(0.3)  # the client writes what it has before we strike
    if step.interrupt.signal == signal.SIGKILL:
        _signal_group(client, signal.SIGKILL)  # Codex's program on PATH is a wrapper: its child must die too
    elif client.poll() is None:
        os.kill(client.pid, step.interrupt.signal)


def _signal_group(client: subprocess.Popen[bytes], number: signal.Signals) -> None:
    try:
        os.killpg(client.pid, number)
    except ProcessLookupError:  # nobody of the group is left
        return


def _document(line: str) -> Json | None:
    try:
        document = json.loads(line)
    except ValueError:
        return None
    return document if isinstance(document, dict) else None
