"""An upgrade replaces our files under processes that run, and finds scripts that an earlier one installed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.run.fake_client import install
from tests.views.cli.command import TIME_LIMIT_S, environment

# As if our files had been replaced by others with other names: what was not loaded by then cannot be loaded any more.
_WITHOUT_ITS_FILES = """
import sys
from tracklog.run.child import Child
from tracklog.views.cli.main import main

class Replaced:
    def find_spec(self, name, path=None, target=None):
        if name.startswith("tracklog."):
            raise ModuleNotFoundError(name)

def get_ready_and_replace(child, get_ready=Child._get_ready):
    get_ready(child)
    sys.meta_path.insert(0, Replaced())

Child._get_ready = get_ready_and_replace
main()
"""


@pytest.mark.parametrize("how", [["--json"], ["--json", "--ask-here"], ["--json", "--max-cost", "5"]])
def test_a_run_that_listens_to_its_client_needs_our_files_no_more(how: list[str], tmp_path: Path) -> None:
    client = install(tmp_path / "bin")
    words = ["run", "sleep 0.5 write made.txt", "--client", str(client), "--trust", *how]
    env = environment(tmp_path, {"TRACKLOG_HOME": str(tmp_path / "ours")})
    ended = subprocess.run(
        [sys.executable, "-c", _WITHOUT_ITS_FILES, *words],
        cwd=tmp_path,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=TIME_LIMIT_S,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, b"")
    result = json.loads(ended.stdout)
    assert (result["ended_by"], result["calls"]) == ("completed", {"ok": 2})
    assert result["files_changed"] == [str(tmp_path / "made.txt")]


@pytest.mark.parametrize("entry", ["tracklog.views.cli", "tracklog.views.cli.main"])
def test_the_script_of_an_earlier_installation_starts_us(entry: str, tmp_path: Path) -> None:
    script = tmp_path / "tracklog"
    script.write_text(f"import sys\nfrom {entry} import main\nsys.exit(main())\n")
    command = [sys.executable, str(script), "--version"]
    said = subprocess.run(command, env=environment(tmp_path), capture_output=True, check=True)
    assert said.stdout.startswith(b"tracklog ")
