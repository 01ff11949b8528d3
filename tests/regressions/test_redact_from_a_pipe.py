"""`redact` printed a traceback with stdin closed, and when its home could be read and not written."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.views.cli.command import command, environment, tracklog


def test_a_closed_stdin_is_said(tmp_path: Path) -> None:
    words = ["sh", "-c", 'exec "$@" <&-', "sh", *command("redact")]
    done = subprocess.run(words, env=environment(tmp_path), capture_output=True, timeout=60)
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr == b"tracklog: cannot read -: stdin is closed: name a FILE, or pipe something in\n"


def test_a_home_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    home = tmp_path / "ours"
    env = {"TRACKLOG_HOME": str(home)}
    assert tracklog("redact", home=tmp_path, env=env).code == 0  # makes the home with its key
    home.chmod(0o500)
    answer = tracklog("redact", home=tmp_path, env=env, is_mighty=False)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"tracklog: cannot keep what is read in {home}: permission denied; set ")
