"""A client went on spending when tracklog and the process that keeps it were killed at the same time.

The README said that no process is left "whoever is killed". With `kill -9` of both at once nobody was left to end the client:
Claude Code made 18 more requests within 20 seconds, and would have worked to its end. Now Linux itself terminates the
client when its supervisor dies, and the next run kills what the client had started.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.views.cli.command import SOURCE, command, environment
from tracklog.run.process.supervise import MARK

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs prctl")

CLIENT = """#!{python} -IS
import os, subprocess, sys, time
if os.path.exists("is-second"): sys.exit(0)
child = subprocess.Popen(["sleep", "600"], start_new_session=True)
with open("started", "w") as file: file.write(f"{{os.getpid()}} {{child.pid}}\\n")
time.sleep(600)
"""


def _living(pids: list[int]) -> list[psutil.Process]:
    found = [psutil.Process(pid) for pid in pids if psutil.pid_exists(pid)]
    return [one for one in found if one.status() != psutil.STATUS_ZOMBIE]


def test_the_client_ends_and_the_next_run_kills_what_it_started(tmp_path: Path) -> None:
    client = tmp_path / "client"
    client.write_text(CLIENT.format(python=sys.executable))
    client.chmod(0o755)
    env = environment(tmp_path, {"TRACKLOG_HOME": str(tmp_path / "ours"), "PYTHONPATH": str(SOURCE)})
    words = command("run", "x", "--client", str(client))
    with subprocess.Popen(words, env=env, cwd=tmp_path, stdin=subprocess.DEVNULL) as ours:
        started = tmp_path / "started"
        while not (started.exists() and started.read_text().endswith("\n")):
            assert ours.poll() is None
        pids = [int(word) for word in started.read_text().split()]
        supervisor = psutil.Process(pids[0]).parent()
        assert supervisor is not None
        both = (psutil.Process(ours.pid), supervisor)
        for one in both:
            one.suspend()  # so that neither sees the other die
        run = psutil.Process(pids[0]).environ()[MARK]
        for one in both:
            one.kill()
    psutil.wait_procs(_living(pids[:1]), timeout=120)
    assert _living(pids[:1]) == []
    assert (tmp_path / "ours/runs/now" / run).is_dir()
    (tmp_path / "is-second").touch()
    subprocess.run(words, env=env, cwd=tmp_path, stdin=subprocess.DEVNULL, check=False, timeout=120)
    psutil.wait_procs(_living(pids), timeout=120)
    assert _living(pids) == []
    assert list((tmp_path / "ours/runs/now").iterdir()) == []
