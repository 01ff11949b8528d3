"""The status line of `tracklog`, with a note of what the client told, what was shown, and the numbers behind it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src"


def made_of(told: bytes, *arguments: str) -> str:
    """What `tracklog statusline` makes of it, as the client would run it."""
    argv = [sys.executable, "-m", "tracklog", "statusline", *arguments]
    known = {**os.environ, "PYTHONPATH": str(SOURCE)}
    done = subprocess.run(argv, input=told, env=known, stdout=subprocess.PIPE, check=True, timeout=20)
    return done.stdout.decode()


told = sys.stdin.buffer.read()
line, known = made_of(told), json.loads(made_of(told, "--json"))
note = (
    json.dumps({"told": json.loads(told), "line": line.removesuffix("\n"), "known": known}).encode() + b"\n"
)
file = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
os.write(file, note)
os.close(file)
sys.stdout.write(line)
