"""On a loaded machine a run did not hear of the client's Stop hook.

The supervisor removed the private folder as soon as the client had ended. If tracklog had not been given the processor since
the hook ran, the payload was gone before it was read: with eight busy processes on two cores in four of ten runs.
"""

from __future__ import annotations

import os
import select
import shlex
import sys
import time
from pathlib import Path

from tracklog.run.process.private_dir import Fifo, hook_words
from tracklog.run.process.supervise import SupervisedClient, start_supervised

LIMIT_S = 60.0


def wait_until_over(kept: SupervisedClient) -> None:
    until = time.monotonic() + LIMIT_S
    while not kept.is_over:
        assert time.monotonic() < until
        select.select([kept.reports], [], [], 0.5)
        kept.read_reports()


def test_a_payload_can_be_read_after_the_client_has_ended(tmp_path: Path) -> None:
    folder = tmp_path / "private"
    folder.mkdir(0o700)
    os.mkfifo(folder / "stop.fifo", 0o600)
    fifo = Fifo(folder / "stop.fifo")
    words = [sys.executable, "-c", "pass"]
    hooked = f"echo last words | {shlex.join(hook_words(folder / 'stop.fifo'))}; exec {shlex.join(words)}"
    kept = start_supervised(["/bin/sh", "-c", hooked], cwd=tmp_path, env=dict(os.environ), folder=folder)
    try:
        wait_until_over(kept)
        assert (kept.exit_code, fifo.read_payloads()) == (0, [b"last words\n"])
    finally:
        kept.close()
        fifo.close()
    assert not folder.exists()


def test_the_folder_goes_with_tracklog_though_nobody_closes_the_run(tmp_path: Path) -> None:
    folder = tmp_path / "private"
    folder.mkdir(0o700)
    (folder / "settings.json").write_text("{}")
    code = (
        "import os, select, signal, sys\n"
        "from pathlib import Path\n"
        "from tracklog.run.process.supervise import start_supervised\n"
        f"kept = start_supervised(['/bin/sh', '-c', 'exit 3'], cwd=Path('/'), env=dict(os.environ), folder=Path({str(folder)!r}))\n"
        "while not kept.is_over:\n"
        "    select.select([kept.reports], [], [], 0.5)\n"
        "    kept.read_reports()\n"
        f"print(os.path.exists({str(folder)!r}), flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    descriptor, into = os.pipe()
    child = os.posix_spawn(
        sys.executable,
        [sys.executable, "-c", code],
        dict(os.environ),
        file_actions=[(os.POSIX_SPAWN_DUP2, into, 1)],
    )
    os.close(into)
    with open(descriptor, "rb") as out:
        assert out.read() == b"True\n"
    os.waitpid(child, 0)
    until = time.monotonic() + LIMIT_S
    while folder.exists():
        assert time.monotonic() < until
        time.sleep(0.02)
