"""`sessions` read the names of all processes up to six times for each answer, and so cost a seventh more than it had to.

Whether the index still holds was decided with one look, the list was made with another, between which a process could
end; and each look read all names once more where one of them was a client's.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.views.cli.command import both_agents, environment, with_old_folders

COUNTING = """
import sys
def count(event, values):
    if event == "os.listdir" and values[0] == "/proc":
        print("a look", file=sys.stderr)
sys.addaudithook(count)
from tracklog.views.cli.main import main
main()
"""

linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are listed in /proc")


def looks(home: Path, *words: str) -> int:
    done = subprocess.run(
        [sys.executable, "-c", COUNTING, *words],
        env=environment(home),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stderr.count("a look\n")


@pytest.fixture
def client() -> Iterator[None]:
    """A process that is called as Codex is, and has no log open."""
    words = ["codex", "-S", "-c", "import time; time.sleep(60)"]
    process = subprocess.Popen(words, executable=sys.executable)
    try:
        yield
    finally:
        process.kill()
        process.wait()


@linux
@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("command", ["sessions", "calls", "sessions --no-sync"])
def test_an_answer_looks_at_processes_once(tmp_path: Path, command: str) -> None:
    with_old_folders(both_agents(tmp_path))
    looks(tmp_path, "index")
    looks(tmp_path, "sessions")
    assert looks(tmp_path, *command.split()) == 1


@linux
def test_an_answer_about_money_does_not_look_at_processes(tmp_path: Path) -> None:
    with_old_folders(both_agents(tmp_path))
    looks(tmp_path, "index")
    looks(tmp_path, "usage")
    assert looks(tmp_path, "usage") == 0
